//! What maintainers run: `cargo run -p xtask -- release …` makes a release's data.

mod release;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser};
use hcoplan_planner::release::Release;
use hcoplan_repository::repo::known_release;

use self::release::{ImportError, Imported, from_files, write_file};

/// The address of HCO's sources, without a tag or a commit.
const TREE: &str = "https://github.com/kubevirt/hyperconverged-cluster-operator/tree";

/// What maintainers run.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo run -p xtask --")]
enum Task {
    Release(Box<Import>),
}

/// Make a release's data from files that the projects publish
///
/// --files has what was downloaded: HCO's ClusterServiceVersion or deploy/operator.yaml, CRDs, lists of versions and gates,
/// golden images, upgrade patches, SSP's common templates. `oc get csv -n openshift-cnv -o yaml > csv.yaml` is enough, too.
/// What only the operators' code says is taken over from the base, and listed with the place to read.
#[derive(Debug, Args)]
struct Import {
    /// The directory with the published files, or one file
    #[arg(long, value_name = "DIR|FILE")]
    files: Utf8PathBuf,

    /// The release whose data is taken over: of HCO (1.16), or of OpenShift Virtualization (4.20)
    /// [default: that of the operator's version]
    #[arg(long, value_name = "X.Y")]
    base: Option<String>,

    /// What people wrote of the release by reading its code (schemas/behaviour/1.19): it replaces the base,
    /// is kept out of --out, and is brought up to date with the CRDs. A directory that doesn't exist begins with what
    /// they wrote of the base
    #[arg(long, value_name = "DIR", conflicts_with = "changes")]
    behaviour: Option<Utf8PathBuf>,

    /// Write one file with what differs from the base's release line, as schemas/patch-releases has them, and
    /// call it so (1.17.3); a name that ends with -dev is a branch in development
    #[arg(long, value_name = "NAME")]
    changes: Option<String>,

    /// The address of the sources, for --changes [default: the version's tag]. Where nothing has
    /// changed since --base, it is the base's
    #[arg(long, value_name = "URL", requires = "changes")]
    source: Option<String>,

    /// Where to write
    #[arg(long, value_name = "DIR")]
    out: Utf8PathBuf,
}

fn main() -> ExitCode {
    let Task::Release(arguments) = Task::parse();
    match import(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn import(arguments: &Import) -> Result<(), Box<dyn Error>> {
    let base = arguments.base.as_deref().map(known_release).transpose()?;
    let mut imported = from_files(base.clone(), &arguments.files, arguments.behaviour.as_deref())?;
    match &arguments.changes {
        Some(name) => write_changes(name, &imported, base.as_deref(), arguments),
        None => {
            imported.call_by_line()?;
            write(&imported, base.as_deref(), arguments)
        }
    }
}

/// Writes all files of a release.
fn write(imported: &Imported, base: Option<&Release>, arguments: &Import) -> Result<(), Box<dyn Error>> {
    let out = &arguments.out;
    imported.release().map_err(ImportError::Base)?;
    match &arguments.behaviour {
        Some(behaviour) => imported.write_apart(out, behaviour, base)?,
        None => imported.write(out)?,
    }
    report(&imported.name, imported, out)
}

/// Writes the differences of a release from its line.
fn write_changes(
    name: &str,
    imported: &Imported,
    base: Option<&Release>,
    arguments: &Import,
) -> Result<(), Box<dyn Error>> {
    imported.release().map_err(ImportError::Base)?;
    let mut patch = imported.changes()?;
    let known = base.and_then(Release::patched).filter(|known| known.name == name);
    patch.source = match (&arguments.source, known) {
        (_, Some(known)) if known.changes == patch.changes => known.source.clone(),
        (Some(source), _) => source.clone(),
        (None, _) if name.ends_with("-dev") => {
            return Err(format!("{name} is no tag: name its commit with --source {TREE}/COMMIT").into());
        }
        (None, _) => format!("{TREE}/v{}", imported.version),
    };
    let path = arguments.out.join(format!("{name}.json"));
    write_file(&path, &format!("{:#}\n", serde_json::json!(patch)))?;
    report(name, imported, &path)
}

/// Reports the written files and their sources.
fn report(name: &str, imported: &Imported, out: &Utf8Path) -> Result<(), Box<dyn Error>> {
    writeln!(io::stdout(), "HCO {name} ({}) in {out}", imported.version)?;
    for note in &imported.notes {
        writeln!(io::stderr(), "note: {note}")?;
    }
    Ok(())
}
