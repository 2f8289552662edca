//! Reads files given on the command line: a dump of a running cluster, or a ClusterInventory.

use crate::prelude::*;
use std::fs::File;

use super::output::Output;
use crate::adopt::DumpedCluster;
use crate::finding::Finding;
use crate::inventory::{self, Node, Source, SourceKind};
use crate::repo::{self, ClusterRef, Dump, Loaded, Trust};
use crate::source::{SourceFile, read_limited};
use crate::yaml::{self, Document};
use hcoplan_analysis::finding_line;
use hcoplan_diagnostics::words::list;

/// The dump of a given cluster.
pub(super) fn cluster(
    paths: &[Utf8PathBuf],
    manifests: Option<&Loaded>,
    output: &Output,
) -> Result<DumpedCluster, Failure> {
    let dump = read(paths, output)?;
    let nodes = nodes(&dump, paths, output)?;
    let cluster = DumpedCluster::new(dump, nodes, manifests);
    if let (Some(found), Some(used)) = (&cluster.contradicted, &cluster.identity.release) {
        output.warning(format_args!("the dump's release is {found}, but {used} is used: correct the wrong one"));
    }
    Ok(cluster)
}

/// The error that a directory has not one cluster, of which a dump is.
pub(super) fn not_one(directory: &Utf8Path, clusters: &[&ClusterRef]) -> Failure {
    let paths: Vec<&Utf8Path> = clusters.iter().map(|cluster| cluster.named_path()).collect();
    let message = format!("{directory} has {} clusters, and a dump is of one", paths.len());
    Failure::usage(
        message,
        format!("name the cluster's directory or file: {}", list(&paths, 10)).trim_end_matches(": "),
    )
}

/// Reads the files of a dump.
pub(super) fn read(paths: &[Utf8PathBuf], output: &Output) -> Result<Dump, Failure> {
    let mut dump = Dump::default();
    for path in paths {
        repo::check_links(path)?;
        if path.is_dir() {
            dump.add_directory(path)?;
            continue;
        }
        let bytes = match path.as_str() {
            "-" => read_limited(&mut std::io::stdin().lock()),
            _ => File::open(path).and_then(|mut file| read_limited(&mut file)),
        };
        let bytes = bytes.map_err(|error| repo::Error::File(path.to_owned(), error.into()))?;
        let before = dump.broken.len();
        dump.add(&SourceFile::from_bytes(path, bytes));
        // A file given by name has to be readable.
        if let Some(problem) = dump.broken.get(before) {
            return Err(Failure::Unreadable(problem.clone()));
        }
    }
    for problem in &dump.broken {
        output.warning(format_args!("{problem}; what is in it is not imported"));
    }
    Ok(dump)
}

/// The nodes of a dump.
pub(super) fn nodes(dump: &Dump, paths: &[Utf8PathBuf], output: &Output) -> Result<Vec<Node>, Failure> {
    let (loaded, findings) = dump.nodes();
    say(&findings, output);
    if loaded.inventory.nodes.is_empty() {
        let paths: Vec<_> = paths.iter().map(|p| p.as_str()).collect();
        return Err(Failure::usage(
            format!("{}: there is no node in it", paths.join(", ")),
            "kubectl get nodes -o json prints them",
        ));
    }
    if loaded.valid {
        Ok(loaded.inventory.nodes)
    } else {
        Err(Failure::usage("the nodes can't be understood", "fix what the warnings name"))
    }
}

/// The ClusterInventory of a file.
pub(super) fn inventory_in(path: &Utf8Path, output: &Output) -> Result<Document, Failure> {
    let bytes = repo::read_named(Utf8Path::new("."), path, &Trust::Files)?;
    let file = SourceFile::from_bytes(path, bytes);
    let parsed = yaml::parse(&file);
    if let Some(problem) = parsed.fatal(&file) {
        return Err(Failure::Unreadable(problem));
    }
    let is_inventory =
        |d: &Document| SourceKind::of(d.text("apiVersion"), d.text("kind")) == Some(SourceKind::Declared);
    let Some(document) = parsed.documents.into_iter().find(is_inventory) else {
        return Err(Failure::usage(format!("{path}: there is no ClusterInventory in it"), "hcoplan import makes one"));
    };
    let source = Source { kind: SourceKind::Declared, document: document.clone().into() };
    let (loaded, findings) = inventory::load(&[source]);
    say(&findings, output);
    if loaded.valid {
        Ok(document)
    } else {
        Err(Failure::usage(format!("{path} can't be understood"), "fix what the warnings name"))
    }
}

/// Prints the findings of a file.
fn say(findings: &[Finding], output: &Output) {
    findings.iter().for_each(|finding| output.warning(finding_line(finding)));
}
