//! What maintainers run: `cargo run -p xtask -- release …` makes a release's data.

mod release;

use std::error::Error;
use std::io::{self, Write};
use std::process::{Command, ExitCode};

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser};
use hcoplan_planner::release::Release;
use hcoplan_repository::repo::named_release;

use self::release::{ImportError, Imported, Sources, from_bundle, from_sources, write_file};

/// The address of HCO's sources, without a tag or a commit.
const TREE: &str = "https://github.com/kubevirt/hyperconverged-cluster-operator/tree";

/// What maintainers run.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo run -p xtask --")]
enum Task {
    Release(Box<Import>),
}

/// Make a release's data from the operators' sources, or from an OLM bundle
///
/// With --hco and --ssp, checkouts of the operators, everything that their manifests and assets say is
/// read; what only their code says is taken over from the base, and listed with the place to examine.
///
/// With --bundle, behaviour comes from the base, and images, versions, schemas and golden images
/// from a vendor's bundle; `oc get csv -n openshift-cnv -o yaml > csv.yaml` and `--bundle csv.yaml` are enough.
/// `hcoplan --release ./DIR` then uses what was written.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("from").required(true))]
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

    /// What people wrote of the release by reading its code (schemas/behaviour/1.19): it replaces the base,
    /// is kept out of --out, and is brought up to date with the CRDs. A directory that doesn't exist begins with what
    /// they wrote of the base
    #[arg(long, value_name = "DIR", requires = "hco", conflicts_with = "changes")]
    behaviour: Option<Utf8PathBuf>,

    /// What conformance/record wrote with these checkouts: it has the Go types and the constant objects
    #[arg(long, value_name = "DIR", requires = "hco")]
    recording: Option<Utf8PathBuf>,

    /// Write one file with what differs from the base's release line, as schemas/patch-releases has them, and
    /// call it so (1.17.3); a name that ends with -dev is a branch in development
    #[arg(long, value_name = "NAME", requires = "hco")]
    changes: Option<String>,

    /// The address of the sources, for --changes [default: the version's tag, or the branch's commit; where nothing
    /// has changed since --base, the base's]
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
    let base = arguments.base.as_deref().map(named_release).transpose()?;
    let Some(hco) = &arguments.hco else {
        let bundle = arguments.bundle.as_deref().unwrap_or(Utf8Path::new("."));
        let imported = from_bundle(base.clone(), bundle, arguments.templates.as_deref())?;
        return write(&imported, base.as_deref(), arguments);
    };
    let sources = Sources {
        hco,
        ssp: arguments.ssp.as_deref(),
        kubevirt: arguments.kubevirt.as_deref(),
        cdi: arguments.cdi.as_deref(),
        recording: arguments.recording.as_deref(),
        behaviour: arguments.behaviour.as_deref(),
        changes: arguments.changes.as_deref(),
    };
    let mut imported = from_sources(base.clone(), &sources)?;
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
        (Some(source), _) => source.clone(),
        (None, Some(known)) if known.changes == patch.changes => known.source.clone(),
        (None, _) if name.ends_with("-dev") => {
            let hco = arguments.hco.as_deref().unwrap_or(Utf8Path::new("."));
            let commit =
                commit(hco).ok_or_else(|| format!("{hco} has no commit: name it with --source {TREE}/COMMIT"))?;
            format!("{TREE}/{commit}")
        }
        (None, _) => format!("{TREE}/v{}", imported.version),
    };
    let path = arguments.out.join(format!("{name}.json"));
    write_file(&path, &format!("{:#}\n", serde_json::json!(patch)))?;
    report(name, imported, &path)
}

/// The commit that is checked out in a directory.
fn commit(checkout: &Utf8Path) -> Option<String> {
    let git = Command::new("git").arg("--git-dir").arg(checkout.join(".git")).args(["rev-parse", "HEAD"]).output();
    let out = git.ok().filter(|out| out.status.success())?;
    Some(String::from_utf8(out.stdout).ok()?.trim().to_owned())
}

/// Reports the written files and their sources.
fn report(name: &str, imported: &Imported, out: &Utf8Path) -> Result<(), Box<dyn Error>> {
    writeln!(io::stdout(), "HCO {name} ({}) in {out}", imported.version)?;
    for note in &imported.notes {
        writeln!(io::stderr(), "note: {note}")?;
    }
    Ok(())
}
