//! `hcoplan release`: the HCO releases that are modelled, and the distributions that are built from them.

use clap::{Args, Subcommand};
use serde_json::json;

use super::output::Output;
use crate::release::{Distribution, ImageSource, Phase, Platform, Release};
use crate::repo::named_release;
use hcoplan_analysis::{Exit, Failure, ReleaseDiff, release_diff};
use hcoplan_report::wrap_lines;

/// Show the supported releases, of HCO and of its distributions
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = "Examples:
  hcoplan release list
  hcoplan release diff 4.20 4.22"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the distributions with their versions: the HCO release that each is built from, its state, whether hcoplan
    /// models it, and the source
    #[command(after_long_help = "Examples:
  hcoplan release list --format json")]
    List {
        /// human or json
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Form,
    },
    /// Show the facts about one
    #[command(after_long_help = "Examples:
  hcoplan release show 1.18
  hcoplan release show 4.20.3                  with its assumed values")]
    Show {
        /// The release: of HCO (1.16), or of OpenShift Virtualization (4.20)
        #[arg(value_name = "X.Y")]
        release: String,
    },
    /// Show the changes from one release to another: defaults, feature gates, fields, objects, alerts, rejections
    ///
    /// Objects are those of an empty HyperConverged, in a cluster of six nodes. For a cluster of yours, `hcoplan diff
    /// --release A..B` and `hcoplan plan --upgrade-to B` compare its own.
    #[command(after_long_help = "Examples:
  hcoplan release diff 4.20 4.22
  hcoplan release diff 1.16 1.19 --format json")]
    Diff {
        /// The old release
        #[arg(value_name = "A")]
        before: String,
        /// The new release
        #[arg(value_name = "B")]
        after: String,
        /// human or json
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Form,
    },
}

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For people.
    Human,
    /// For programs.
    Json,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::List { format } => output.print(list(*format))?,
        Command::Diff { before, after, format } => {
            let diff = release_diff(&named_release(before)?, &named_release(after)?);
            output.print(match format {
                Form::Human => differences(&diff),
                Form::Json => hcoplan_report::visible_json::text(&json!(diff)),
            })?;
        }
        Command::Show { release } => {
            let release = named_release(release)?;
            output.print(page(&release))?;
        }
    }
    Ok(Exit::default())
}

/// The distributions and their versions.
fn list(format: Form) -> String {
    let mut out = String::new();
    let mut all = Vec::new();
    for distribution in Distribution::all() {
        out.push_str(&format!("{}\n", distribution.title));
        for line in distribution.lines() {
            let version = &distribution.versions[line];
            let release = &version.release.value;
            let modelled = Release::known(release);
            let modelled = modelled.as_ref().map(|r| r.version());
            let phase = version.phase.value.as_str();
            let source = |key: &str| distribution.sources.get(key).map_or("", |s| s.url.as_str());
            let sources = [source(&version.release.source), source(&version.phase.source)];
            let built = if distribution.is_upstream() { String::new() } else { format!("HCO {release}  ") };
            let known = match modelled {
                Some(patch) => format!("modelled at {patch}"),
                None => "not modelled".to_owned(),
            };
            out.push_str(&format!("  {line:<8} {built}{phase:<9} {known:<19} {}\n", sources[0]));
            all.push(json!({
                "distribution": distribution.name,
                "title": distribution.title,
                "version": line,
                "hcoRelease": release,
                "phase": phase,
                "modelled": modelled,
                "sources": sources,
            }));
            if distribution.is_upstream() {
                let of_line = Release::patch_names().filter_map(Release::patch);
                for patch in of_line.filter(|patch| patch.name() == line) {
                    one_patch(&patch, &mut out, &mut all);
                }
            }
        }
    }
    match format {
        Form::Human => out,
        Form::Json => hcoplan_report::visible_json::text(&json!(all)),
    }
}

/// A published version of a line, or what is to be the next line.
fn one_patch(release: &Release, out: &mut String, all: &mut Vec<serde_json::Value>) {
    let Some(patch) = release.patched() else {
        return;
    };
    let phase = if patch.moving { "moving" } else { "released" };
    let known = format!("modelled at {}", release.version());
    out.push_str(&format!("  {:<8} {phase:<9} {known:<19} {}\n", patch.name, patch.source));
    all.push(json!({
        "distribution": release.distribution().name,
        "title": release.distribution().title,
        "version": patch.name,
        "hcoRelease": release.name(),
        "phase": phase,
        "modelled": release.version(),
        "sources": [patch.source],
    }));
}

/// What changed, for people.
fn differences(diff: &ReleaseDiff) -> String {
    /// Longer values are cut: what they are in full is in the JSON.
    const MOST: usize = 80;
    let cut = |text: &str| match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    };
    let mut out = format!("{} → {}\n", diff.before, diff.after);
    for (heading, list) in diff.sections() {
        out.push_str(&format!("\n{heading}\n"));
        if list.is_empty() {
            out.push_str("  as they were\n");
        }
        for one in list {
            let sign = match one.change {
                "add" => '+',
                "remove" => '-',
                _ => '~',
            };
            let value = match (one.before.as_deref(), one.after.as_deref()) {
                (None, None) => String::new(),
                (Some(was), Some(is)) => format!(": {} → {}", cut(was), cut(is)),
                (None, Some(is)) => format!(": {}", cut(is)),
                (Some(was), None) => format!(" (was {})", cut(was)),
            };
            out.push_str(&format!("  {sign} {}{value}\n", one.what));
        }
    }
    out
}

fn page(release: &Release) -> String {
    let mut out = if release.label() == release.name() {
        format!("HCO {} ({})\n", release.name(), release.version())
    } else {
        format!("{}\n", release.title())
    };
    vendor(release, &mut out);
    let versions = release.schema_names().filter_map(|n| n.strip_prefix("hyperconverged.")).collect::<Vec<_>>();
    out.push_str(&format!("\nHyperConverged: {}\n", versions.join(", ")));
    for platform in [Platform::OpenShift, Platform::Kubernetes] {
        let operands: Vec<_> = release.work_order().operands_of(platform).collect();
        let operands = operands.join(", ");
        out.push_str(&format!("\nOperands on {}, in order of work:\n", platform.as_str()));
        for line in wrap_lines(&operands, 76) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push_str("\nGolden images:\n");
    for template in release.golden_images() {
        let metadata = &template["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default();
        let architectures = &metadata["annotations"]["ssp.kubevirt.io/dict.architectures"];
        match architectures.as_str() {
            Some(list) => out.push_str(&format!("  {name} ({list})\n")),
            None => out.push_str(&format!("  {name}\n")),
        }
        let mut own = release.distribution().golden_images.iter();
        if let Some(image) = own.find(|image| image.name == name) {
            let from = match &image.image {
                ImageSource::Url { url } => url.value.clone(),
                ImageSource::Stream { image_stream, from, .. } => {
                    format!("the ImageStream {} of {}", image_stream.value, from.value)
                }
            };
            out.push_str(&format!(
                "    DataSource {}, instance type {}, preference {}\n    from {from}\n",
                image.data_source.value, image.instancetype.value, image.preference.value
            ));
        }
    }
    out.push_str("\nFeature gates:\n");
    for gate in &release.tables().feature_gates {
        let phase = match gate.phase {
            Phase::Alpha => "alpha",
            Phase::Beta => "beta",
            Phase::Ga => "GA",
            Phase::Deprecated => "deprecated",
            Phase::Discontinued => "discontinued",
        };
        out.push_str(&format!("  {:<36} {phase}\n", gate.name));
    }
    out
}

/// What is particular to a vendor's version.
fn vendor(release: &Release, out: &mut String) {
    let distribution = release.distribution();
    if distribution.is_upstream() {
        return;
    }
    let facts = [
        ("operator's namespace", distribution.namespace.value.as_str()),
        ("golden images in", &release.ssp().golden_images_namespace),
        ("common templates in", &release.tables().common_templates_namespace),
        ("runbooks", &distribution.runbooks.value),
    ];
    out.push('\n');
    for (what, value) in facts {
        out.push_str(&format!("  {what:<21} {value}\n"));
    }
    if !release.assumed().is_empty() {
        out.push_str("\nAssumed, because only the vendor's bundle has these values:\n");
    }
    for value in release.assumed() {
        out.push_str(&format!("  {:<36} {}\n", value.name, value.value));
    }
}
