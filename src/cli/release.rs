//! `hcoplan release`: the HCO releases that are modelled.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use crate::release::{Phase, Platform, Release};
use crate::repo::{self, named_release};

/// The HCO releases that are modelled
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List them with the patch level that is modelled
    List,
    /// Show what is known about one
    Show {
        /// The release line
        #[arg(value_name = "X.Y")]
        release: String,
    },
    Import(Import),
}

/// Make a release's data from an OLM bundle, or from collected facts
///
/// With --bundle, behaviour comes from --base, and images, versions, schemas and golden images
/// from a vendor's bundle. `--release ./DIR` then uses what was written.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("from").required(true))]
struct Import {
    /// Directory with a bundle's ClusterServiceVersion and CRDs
    #[arg(long, value_name = "DIR", group = "from", requires = "base")]
    bundle: Option<Utf8PathBuf>,

    /// Directory with the golden images' DataImportCronTemplates, as the operator's image has it
    #[arg(long, value_name = "DIR", requires = "bundle")]
    templates: Option<Utf8PathBuf>,

    /// Directory of facts, of one release or of several
    #[arg(long, value_name = "DIR", group = "from")]
    facts: Option<Utf8PathBuf>,

    /// The release whose behaviour is taken over
    #[arg(long, value_name = "X.Y")]
    base: Option<String>,

    /// Where to write; with --facts each release gets a directory in it [default with --facts:
    /// schemas/releases where there is one, else releases]
    #[arg(long, value_name = "DIR", required_unless_present = "facts")]
    out: Option<Utf8PathBuf>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    match &arguments.command {
        Command::List => {
            for name in Release::known_names() {
                let release = named_release(name)?;
                output.print(format!("{name}  {}\n", release.version()))?;
            }
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
    let own = Utf8Path::new("schemas/releases");
    let out = match &arguments.out {
        Some(out) => out,
        None if own.is_dir() => own,
        None => Utf8Path::new("releases"),
    };
    let mut made = Vec::new();
    if let (Some(bundle), Some(base)) = (&arguments.bundle, &base) {
        let imported = repo::from_bundle(base, bundle, arguments.templates.as_deref())?;
        made.push((out.to_owned(), imported));
    }
    if let Some(facts) = &arguments.facts {
        for directory in repo::facts_directories(facts)? {
            let imported = repo::from_facts(&directory, base.as_deref())?;
            made.push((out.join(&imported.name), imported));
        }
    }
    for (out, imported) in made {
        imported.release().map_err(repo::ImportError::Base)?;
        imported.write(&out)?;
        output.print(format!(
            "HCO {} ({}) in {out}\n",
            imported.name, imported.version
        ))?;
        for note in &imported.notes {
            output.note(note);
        }
    }
    Ok(())
}

fn page(release: &Release) -> String {
    let mut out = format!("HCO {} ({})\n", release.name(), release.version());
    let versions = release
        .schema_names()
        .filter_map(|n| n.strip_prefix("hyperconverged."))
        .collect::<Vec<_>>();
    out.push_str(&format!("\nHyperConverged: {}\n", versions.join(", ")));
    for platform in [Platform::OpenShift, Platform::Kubernetes] {
        let operands: Vec<_> = release.work_order().on(platform).collect();
        let operands = operands.join(", ");
        out.push_str(&format!(
            "\nOperands on {}, in order of work:\n",
            platform.as_str()
        ));
        for line in wrapped(&operands, 76) {
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

/// Breaks a list at its spaces.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
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
