//! `hcoplan release`: the HCO releases that are modelled, and the distributions that are built from them.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use serde_json::json;

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use crate::app::{ReleaseDiff, release_diff};
use crate::release::{Distribution, ImageSource, Phase, Platform, Release};
use crate::repo::{self, named_release};

/// The releases that are modelled, of HCO and of what is built from it
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
    /// List the distributions with their versions: the HCO release that each is built from, how far it
    /// has come, what is modelled, and where that was read
    #[command(after_long_help = "Examples:
  hcoplan release list --format json")]
    List {
        /// human or json
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Form,
    },
    /// Show what is known about one
    #[command(after_long_help = "Examples:
  hcoplan release show 1.18
  hcoplan release show 4.20.3                  with what is assumed of it")]
    Show {
        /// The release: of HCO (1.16), or of OpenShift Virtualization (4.20)
        #[arg(value_name = "X.Y")]
        release: String,
    },
    /// Show what changed from one to another: defaults, feature gates, fields, objects, alerts, refusals
    ///
    /// Objects are those of a HyperConverged that says nothing, in a cluster of six nodes. For a cluster of
    /// yours, `hcoplan diff --release A..B` and `hcoplan plan --upgrade-to B` compare its own.
    #[command(after_long_help = "Examples:
  hcoplan release diff 4.20 4.22
  hcoplan release diff 1.16 1.19 --format json")]
    Diff {
        /// The release that is there
        #[arg(value_name = "A")]
        before: String,
        /// The one that is to come
        #[arg(value_name = "B")]
        after: String,
        /// human or json
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Form,
    },
    Import(Box<Import>),
}

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For people.
    Human,
    /// For programs.
    Json,
}

/// Make a release's data from the operators' sources, or from an OLM bundle
///
/// With --hco and --ssp, checkouts of the operators, everything that their manifests and assets say is
/// read; what only their code says is taken over from the base, and listed with the place to look at.
///
/// With --bundle, behaviour comes from the base, and images, versions, schemas and golden images
/// from a vendor's bundle; on a running cluster, `oc get csv -n openshift-cnv -o yaml > csv.yaml` and
/// `--bundle csv.yaml` are enough. `--release ./DIR` then uses what was written.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("from").required(true))]
#[command(after_long_help = "Examples:
  hcoplan release import --bundle csv.yaml --out releases/4.20.3
  hcoplan release import --bundle bundle/manifests --templates templates --out releases/own
  hcoplan release import --hco ~/src/hco --ssp ~/src/ssp --base 1.19 --out releases/1.20")]
struct Import {
    /// A checkout of kubevirt/hyperconverged-cluster-operator
    #[arg(long, value_name = "DIR", group = "from")]
    hco: Option<Utf8PathBuf>,

    /// A checkout of kubevirt/ssp-operator, of the version that this HCO deploys
    #[arg(long, value_name = "DIR", requires = "hco")]
    ssp: Option<Utf8PathBuf>,

    /// A checkout of kubevirt/kubevirt, of the version that this HCO deploys: it has the feature gates' phases
    #[arg(long, value_name = "DIR", requires = "hco")]
    kubevirt: Option<Utf8PathBuf>,

    /// A checkout of kubevirt/containerized-data-importer, of the version that this HCO deploys: it has the schemas
    /// of golden images
    #[arg(long, value_name = "DIR", requires = "hco")]
    cdi: Option<Utf8PathBuf>,

    /// What people wrote of the release by reading its code (schemas/behaviour/1.19): it stands in for the base,
    /// is kept out of --out, and is brought up to date with the CRDs
    #[arg(long, value_name = "DIR", requires = "hco", conflicts_with = "changes")]
    behaviour: Option<Utf8PathBuf>,

    /// What conformance/record wrote with these checkouts: it has the Go types and the constant objects
    #[arg(long, value_name = "DIR", requires = "hco")]
    recording: Option<Utf8PathBuf>,

    /// Write one file with what differs from the base's release line, as schemas/patch-releases has them, and
    /// call it so (1.17.3); what ends with -dev is a branch that still moves
    #[arg(long, value_name = "NAME", requires = "hco")]
    changes: Option<String>,

    /// The address of the sources, for --changes [default: the tag of the version]
    #[arg(long, value_name = "URL", requires = "changes")]
    source: Option<String>,

    /// A bundle's directory, or a file: its ClusterServiceVersion is enough, as `oc get csv -o yaml`
    /// prints it; CRDs are used where they are there
    #[arg(long, value_name = "DIR|FILE", group = "from")]
    bundle: Option<Utf8PathBuf>,

    /// Directory with the golden images' DataImportCronTemplates, as the operator's image has it
    #[arg(long, value_name = "DIR", requires = "bundle")]
    templates: Option<Utf8PathBuf>,

    /// The release whose behaviour is taken over: of HCO (1.16), or of OpenShift Virtualization (4.20)
    /// [default with --bundle: that of the CSV's version]
    #[arg(long, value_name = "X.Y")]
    base: Option<String>,

    /// Where to write
    #[arg(long, value_name = "DIR")]
    out: Utf8PathBuf,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    match &arguments.command {
        Command::List { format } => output.print(list(*format))?,
        Command::Diff { before, after, format } => {
            let diff = release_diff(&named_release(before)?, &named_release(after)?);
            output.print(match format {
                Form::Human => differences(&diff),
                Form::Json => format!("{:#}\n", json!(diff)),
            })?;
        }
        Command::Show { release } => {
            let release = named_release(release)?;
            output.print(page(&release))?;
        }
        Command::Import(arguments) => import(arguments, output)?,
    }
    Ok(Verdict::default())
}

fn import(arguments: &Import, output: &mut Output) -> Result<(), Failure> {
    let base = arguments.base.as_deref().map(named_release).transpose()?;
    let out = &arguments.out;
    let imported = if let Some(hco) = &arguments.hco {
        let mut imported = repo::from_sources(
            base.clone(),
            &repo::Sources {
                hco,
                ssp: arguments.ssp.as_deref(),
                kubevirt: arguments.kubevirt.as_deref(),
                cdi: arguments.cdi.as_deref(),
                recording: arguments.recording.as_deref(),
                behaviour: arguments.behaviour.as_deref(),
            },
        )?;
        if let Some(name) = &arguments.changes {
            return changes(name, arguments, base.as_deref(), &imported, out, output);
        }
        imported.call_by_line()?;
        imported
    } else {
        let bundle = arguments.bundle.as_deref().unwrap_or(Utf8Path::new("."));
        repo::from_bundle(base, bundle, arguments.templates.as_deref())?
    };
    imported.release().map_err(repo::ImportError::Base)?;
    match &arguments.behaviour {
        Some(behaviour) => imported.write_apart(out, behaviour)?,
        None => imported.write(out)?,
    }
    output.print(format!("HCO {} ({}) in {out}\n", imported.name, imported.version))?;
    for note in &imported.notes {
        output.note(note);
    }
    Ok(())
}

/// Writes what differs in an imported release from its line.
fn changes(
    name: &str,
    arguments: &Import,
    base: Option<&Release>,
    imported: &repo::Imported,
    out: &Utf8Path,
    output: &mut Output,
) -> Result<(), Failure> {
    const TAGS: &str = "https://github.com/kubevirt/hyperconverged-cluster-operator/tree";
    imported.release().map_err(repo::ImportError::Base)?;
    let known = base.and_then(Release::patched).map(|p| p.source.clone());
    let source = arguments.source.clone().or(known);
    let source = source.unwrap_or_else(|| format!("{TAGS}/v{}", imported.version));
    let path = out.join(format!("{name}.json"));
    imported.write_changes(&path, source)?;
    output.print(format!("HCO {name} ({}) in {path}\n", imported.version))?;
    for note in &imported.notes {
        output.note(note);
    }
    Ok(())
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
        Form::Json => format!("{:#}\n", json!(all)),
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
        out.push_str("\nAssumed, since only the vendor's bundle says it:\n");
    }
    for value in release.assumed() {
        out.push_str(&format!("  {:<36} {}\n", value.name, value.value));
    }
}

/// Breaks a list at its spaces.
pub(super) fn wrap_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() || line.len() + 1 + word.len() <= width {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
