//! Clusters for a subcommand: found and chosen. What is wrong on the way is said here.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::Failure;
use super::arguments::Sources;
use super::exit::Verdict;
use super::output::Output;
use super::selection::Selection;
use crate::emit;
use crate::repo::{self, ClusterRef, Options, Repo};
use crate::source::read_limited;

/// The clusters of a run.
#[derive(Debug)]
pub(super) struct Clusters {
    /// The repository that they are in.
    pub(super) repo: Repo,
    /// What the paths of the repository are relative to.
    pub(super) root: Utf8PathBuf,
    /// Whether no cluster was left out by choice.
    pub(super) everything: bool,
    /// What happened on the way.
    pub(super) verdict: Verdict,
    selection: Selection,
    directory: Utf8PathBuf,
    options: Options,
}

/// Finds the clusters in the given place; some files are no sources, wherever they lie.
pub(super) fn find(
    sources: &Sources,
    left_out: Vec<Utf8PathBuf>,
    output: &Output,
) -> Result<Clusters, Failure> {
    let selection = Selection::new(sources)?;
    let options = Options {
        release: match &sources.release {
            Some(name) => Some(repo::named_release(name)?),
            None => None,
        },
        inventory: sources.inventory.clone(),
        left_out,
        ..Options::default()
    };
    let root = root(&sources.directory);
    let opened = match sources.directory.as_str() {
        "-" => {
            let read = read_limited(&mut std::io::stdin().lock());
            let bytes = read.map_err(|e| Failure::Read("standard input".to_owned(), e))?;
            Repo::from_stream(bytes, &options)
        }
        _ => Repo::open(&sources.directory, &options),
    };
    let repo = opened.map_err(|error| Failure::opening(error, &root))?;
    if sources.show_files {
        show_files(&repo, &selection, output);
    }
    let mut verdict = Verdict {
        unreadable: repo.problems().iter().any(|p| p.fatal),
        ..Verdict::default()
    };
    let names = repo.clusters().iter().map(ClusterRef::name);
    if repo.clusters().is_empty() {
        output.error(format_args!(
            "no HyperConverged found in {}",
            sources.directory
        ));
        verdict.nothing_found = true;
    } else if let Some(pattern) = selection.unmatched(names.clone()) {
        return Err(Failure::usage(
            format!("--cluster {pattern} matches no cluster"),
            format!("there are {}", some(names)),
        ));
    }
    Ok(Clusters {
        root,
        everything: selection.is_everything(),
        verdict,
        selection,
        directory: sources.directory.clone(),
        options,
        repo,
    })
}

/// The clusters of a stream that is in memory.
pub(super) fn of_stream(bytes: Vec<u8>, options: Options) -> Result<Clusters, Failure> {
    let repo = Repo::from_stream(bytes, &options)?;
    Ok(everything(repo, Utf8PathBuf::from("-"), options))
}

/// Every cluster of a repository that was opened.
pub(super) fn everything(repo: Repo, directory: Utf8PathBuf, options: Options) -> Clusters {
    Clusters {
        root: Utf8PathBuf::from("."),
        everything: true,
        verdict: Verdict {
            unreadable: repo.problems().iter().any(|p| p.fatal),
            ..Verdict::default()
        },
        selection: Selection::everything(),
        directory,
        options,
        repo,
    }
}

/// What paths are relative to: the directory, or the one that a file is in.
fn root(path: &Utf8Path) -> Utf8PathBuf {
    if path == "-" {
        return Utf8PathBuf::from(".");
    }
    match path.parent().filter(|_| path.is_file()) {
        Some(parent) if parent.as_str().is_empty() => Utf8PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path.to_owned(),
    }
}

/// The first names of a list that may be long.
fn some<'n>(names: impl Iterator<Item = &'n str> + Clone) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<_> = names.clone().take(SHOWN).collect();
    match names.count().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

fn show_files(repo: &Repo, selection: &Selection, output: &Output) {
    for file in repo.files() {
        output.show(format_args!("{}: {}", file.path, file.what));
    }
    for cluster in repo.clusters() {
        let name = cluster.name();
        if !selection.has(name) {
            output.show(format_args!("{name}: not chosen"));
            continue;
        }
        let inventory: Vec<_> = cluster
            .inventory_files()
            .iter()
            .map(|f| f.as_str())
            .collect();
        let why = match cluster.pairing() {
            repo::Pairing::Beside => " (beside it)".to_owned(),
            repo::Pairing::Above(directory) if directory.as_str().is_empty() => {
                " (in the root)".to_owned()
            }
            repo::Pairing::Above(directory) => format!(" (in {directory}, above it)"),
            repo::Pairing::Configured => " (hcoplan.yaml says so)".to_owned(),
            repo::Pairing::Given => " (the command line says so)".to_owned(),
            repo::Pairing::Machines => " (machine sets only)".to_owned(),
            repo::Pairing::None => String::new(),
        };
        let inventory = match inventory.is_empty() {
            true => "no inventory".to_owned(),
            false => inventory.join(", "),
        };
        let path = cluster.path();
        output.show(format_args!("{name}: {path} with {inventory}{why}"));
    }
}

impl Clusters {
    /// The same clusters, read again with other content in some files.
    pub(super) fn edited(self, files: BTreeMap<Utf8PathBuf, Vec<u8>>) -> Result<Self, Failure> {
        let mut options = self.options;
        options.edited.extend(files);
        let repo = Repo::open(&self.directory, &options);
        let repo = repo.map_err(|error| Failure::opening(error, &self.root))?;
        Ok(Self {
            repo,
            options,
            ..self
        })
    }

    /// Whether they come from standard input.
    pub(super) fn is_stream(&self) -> bool {
        self.repo.is_stream()
    }

    /// Those that are meant, by name.
    pub(super) fn chosen(&self) -> Vec<&ClusterRef> {
        let all = self.repo.clusters().iter();
        all.filter(|c| self.selection.has(c.name())).collect()
    }

    /// The names of the others that were found.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        let all = self.repo.clusters().iter().map(ClusterRef::name);
        all.filter(|n| !self.selection.has(n))
    }

    /// The directories of an output tree that belong to none of the clusters.
    pub(super) fn without(&self, mut directories: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
        let names = self.repo.clusters().iter().map(ClusterRef::name);
        let known: std::collections::BTreeSet<_> = names
            .filter_map(|n| emit::cluster_directory(n).ok())
            .collect();
        directories.retain(|d| !known.contains(d));
        directories
    }
}
