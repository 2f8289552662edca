//! `hcoplan init`: writes `hcoplan.yaml`, and an inventory from a dump of the nodes if given.

use super::dump;
use super::init_ci::{GITLAB_CI, NOT_PUBLISHED, Service, in_a_stage, is_release};
use super::output::Output;
use crate::adopt::{Configuration, HEADINGS, ignored, inventory_path, rows};
use crate::prelude::*;
use crate::repo::{self, CONFIG_FILE, ClusterRef, Loaded, Repo};
use crate::source::{Revision, SourceFile, reject_links};
use hcoplan_analysis::{atomic_file, finding_with_help, open_unconfigured};
use hcoplan_kubernetes::text::last_part;
use hcoplan_lint::fix::Rewritten;
use hcoplan_report::document::{Block, Cell, Document, Table, Text};
use hcoplan_report::fixes;
use hcoplan_report::terminal;
use hcoplan_rule_pages::rules::CONFIGURATION_INVALID;
use std::io::ErrorKind;

/// Write hcoplan.yaml, so that `hcoplan plan` needs no options
///
/// It prints a table of the clusters, with a `?` where the repository doesn't say something, and writes a line to correct
/// for each into hcoplan.yaml. Helm is switched on where a chart has a HyperConverged. A second run adds what is new.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hcoplan init --dry-run          print what would be written
  hcoplan init --release 4.20     for clusters whose manifests name no release
  hcoplan init clusters/prod --nodes must-gather.local.123
                                  write the cluster's nodes to an inventory, too")]
pub(super) struct Arguments {
    /// The repository, or the directory of a cluster
    #[arg(value_name = "DIR", default_value = ".")]
    directory: Utf8PathBuf,

    /// Release of clusters whose manifests name none: of HCO (1.16) or of OpenShift Virtualization (4.20)
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,

    /// Write an inventory from a dump of the cluster: a must-gather, or the output of `oc get nodes -o json`
    #[arg(long, value_name = "DUMP")]
    nodes: Vec<Utf8PathBuf>,

    /// Also write the CI job of this service
    #[arg(long, value_name = "SERVICE")]
    ci: Option<Service>,

    /// Print what would be written, as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    if let Some(name) = &arguments.release {
        repo::known_release(name)?;
    }
    repo::check_links(&arguments.directory)?;
    let place = Place::whole(&arguments.directory);
    let (repo, has_charts) = open_unconfigured(&place.root, output)?;
    let below = place.below.as_deref();
    let is_here = |path: &Utf8Path| below.is_none_or(|below| path.starts_with(below));
    let is_its = |cluster: &&ClusterRef| below.is_none_or(|below| repo.is_within(cluster, below));
    let clusters: Vec<&ClusterRef> = repo.clusters().iter().filter(is_its).collect();
    let fatal = repo.problems().iter().filter(|problem| problem.fatal).map(|problem| &problem.finding);
    let broken: Vec<_> = fatal.filter(|f| f.location.as_ref().is_none_or(|place| is_here(place.file.path()))).collect();
    for finding in &broken {
        if clusters.is_empty() {
            output.error(finding_with_help(finding));
        } else {
            output.warning(finding_with_help(finding));
        }
    }
    if clusters.is_empty() && !broken.is_empty() {
        return Ok(Exit { unreadable: true, ..Exit::default() });
    }
    if clusters.is_empty() {
        return Ok(nothing(&repo, below, &arguments.directory, output));
    }
    let mut loaded = Vec::new();
    for cluster in &clusters {
        match repo.load(cluster) {
            Ok(one) => loaded.push((*cluster, one)),
            Err(problem) => output.warning(format_args!("{}: {}", cluster.path(), problem.finding.message)),
        }
    }
    for finding in repo.findings().iter().filter(|f| f.rule.name == CONFIGURATION_INVALID.name) {
        output.warning(finding_with_help(finding));
    }
    let named = loaded.iter().filter(|_| arguments.release.is_some() && below.is_some());
    for (cluster, release) in named.filter_map(|(cluster, one)| Some((cluster, one.identity.release.as_ref()?))) {
        if !release.is_configured() {
            output.warning(format_args!("{}: the release is {release}, so --release isn't written", cluster.name()));
        }
    }
    let mut files: Vec<(Utf8PathBuf, String)> = Vec::new();
    let mut configuration = Configuration::new(&repo, &loaded, has_charts, arguments.release.clone());
    let table = |loaded: &[(&ClusterRef, Loaded)], inventory: Option<&Utf8Path>| {
        let rows = rows(&repo, loaded, inventory).into_iter().map(|row| row.map(Cell::from).into());
        let header = HEADINGS.map(Text::from).into();
        let table = Table { caption: String::new(), header, rows: rows.collect(), sortable: false };
        let document = Document { blocks: vec![Block::Table(table)], ..Document::default() };
        output.print(terminal::print(&document, output.terminal()))
    };
    if arguments.nodes.is_empty() {
        table(&loaded, None)?;
    } else {
        let ([cluster], [(_, one)]) = (clusters.as_slice(), loaded.as_mut_slice()) else {
            table(&loaded, None)?;
            return Err(dump::not_one(&arguments.directory, &clusters));
        };
        if let Some(file) = cluster.inventory_files().first().filter(|_| cluster.has_inventory()) {
            let message = format!("{} has an inventory, {file}", cluster.name());
            return Err(Failure::usage(message, format!("update it: hcoplan import DUMP --out {file}")));
        }
        let dumped = dump::cluster(&arguments.nodes, Some(one), output)?;
        let path = inventory_path(cluster);
        one.identity = dumped.identity.clone();
        configuration.add_dump(cluster, &path, &dumped);
        table(&loaded, Some(&path))?;
        files.push((path, dumped.inventory_of(cluster)));
    }
    files.push((CONFIG_FILE.into(), String::new()));
    if let Some(service) = arguments.ci {
        let root = place.root.canonicalize_utf8().ok();
        let main = root.and_then(|root| Revision::branch_point(&root));
        let main = main.as_ref().map(|(name, ..)| last_part(name, '/')).filter(|name| *name != "HEAD");
        files.extend(service.files(main));
        if !is_release() {
            output.note(NOT_PUBLISHED);
        }
    }
    let ignored = ignored(&repo, &place.root);
    let ignore_file = ignored.as_ref().map(|(path, _)| path.clone());
    files.extend(ignored.map(|(path, lines)| (path, lines.to_owned())));
    // Write all files or none.
    let mut planned = Vec::new();
    for (path, text) in files {
        let full = place.root.join(&path);
        let now = existing(&full)?;
        let text = match &now {
            now if path == CONFIG_FILE => configuration.new_text(now.as_deref().unwrap_or_default()),
            None => Some(text),
            Some(now) => {
                let lines = match path.as_str() {
                    GITLAB_CI => (!now.contains("hcoplan")).then(|| format!("\n{}", in_a_stage(&text, now))),
                    _ if ignore_file.as_ref() == Some(&path) => missing(&text, now),
                    _ => None,
                };
                let end = if now.is_empty() || now.ends_with('\n') { "" } else { "\n" };
                lines.map(|lines| format!("{now}{end}{lines}"))
            }
        };
        planned.push((full, now, text));
    }
    for (path, now, text) in planned {
        write(&path, now, text, arguments.dry_run, output)?;
    }
    Ok(Exit::default())
}

/// The text of a file, if there is one.
pub(super) fn existing(path: &Utf8Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            reject_links(path).map_err(|e| Failure::Write(path.to_string(), e)).map(|()| None)
        }
        text => text.map_err(|e| Failure::Read(path.to_string(), e)).map(Some),
    }
}

/// Writes a new text of a file, if any. A dry run prints the change.
pub(super) fn write(
    path: &Utf8Path,
    now: Option<String>,
    text: Option<String>,
    is_dry_run: bool,
    output: &Output,
) -> Result<(), Failure> {
    let shown = path.strip_prefix(".").unwrap_or(path);
    let [planned, done] = if now.is_some() { ["change", "changed"] } else { ["write", "written"] };
    let said = match text {
        None => format!("unchanged: {shown}\n"),
        Some(text) if is_dry_run => {
            let file = Rewritten { before: SourceFile::new(shown, now.unwrap_or_default()), text };
            format!("would {planned}: {shown}\n{}", fixes::diff_of(Utf8Path::new(""), None, &file))
        }
        Some(text) => {
            let written = match now {
                Some(_) => reject_links(path).and_then(|()| atomic_file::replace(path, text.as_bytes())),
                None => atomic_file::create(path, text.as_bytes()),
            };
            written.map_err(|e| Failure::Write(path.to_string(), e))?;
            format!("{done}: {shown}\n")
        }
    };
    Ok(output.print_lines(&said)?)
}

/// Reports that no cluster was found, and whether a build could have one.
fn nothing(repo: &Repo, below: Option<&Utf8Path>, directory: &Utf8Path, output: &Output) -> Exit {
    let is_unplanned = repo.unplanned(below).next().is_some();
    if is_unplanned {
        output.error(format_args!(
            "no HyperConverged that could be planned is in {directory}\n  help: `hcoplan lint` names what has to build it"
        ));
    } else {
        output.error(format_args!("no HyperConverged found in {directory}"));
    }
    Exit { nothing_planned: is_unplanned, nothing_found: !is_unplanned, ..Exit::default() }
}

/// The lines that a file lacks.
fn missing(lines: &str, now: &str) -> Option<String> {
    let lines = lines.lines().filter(|line| !now.lines().any(|l| l.trim_end() == *line));
    Some(lines.map(|line| format!("{line}\n")).collect()).filter(|lines: &String| !lines.is_empty())
}
