//! Finds what applies or renders directories of the repository as they are: hcoplan's own files must not be put there.

use globset::escape;

use super::Repo;
use super::applied_changes::role_of;
use super::candidate::{is_candidate, is_of_tests};
use super::charts::is_chart;
use super::scan::{FoundKind, scan};

use super::gitops::{self, Applied, Controller, Source, of_object, phrase, reads_file};
use super::paths::{files_of, parent, shown_path};
use crate::prelude::*;
use crate::repo::fields;

/// The controllers, charts and generators that would apply or render files of directories, were there any.
#[derive(Debug)]
pub struct Appliers<'r> {
    repo: &'r Repo,
    /// The repository's name, if known. An object that reads a repository with another name applies nothing here. Only
    /// the last part of addresses is compared, as a repository has several.
    repository: Option<String>,
}

/// What applies or renders a directory.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppliedBy {
    /// A controller's object, `the Application prod in argocd/prod.yaml`.
    #[error("{0} applies it")]
    Controller(String, Controller),
    /// The Helm chart of this directory renders it.
    #[error("the Helm chart in {} renders it", shown_path(.0))]
    Chart(Utf8PathBuf),
    /// It belongs to the role of Ansible in this directory.
    #[error("it belongs to the Ansible role {0}")]
    Role(Utf8PathBuf),
}

/// Whether a controller's object of a tree applies a directory or file of it, or something below that.
pub fn is_applied_from_top(tree: &dyn Tree, below: &Utf8Path) -> bool {
    let mut files = files_of(tree);
    files.retain(|file| !is_of_tests(file));
    let gitops = gitops::read(tree, &files);
    let file = below.join("a.yaml");
    gitops.applied.iter().any(|by| {
        let is_below = |source: &Source| source.real.as_ref().is_some_and(|real| real.starts_with(below));
        by.here().any(is_below) || by.reaches(tree, &file)
    })
}

/// Whether files in the directories above one have the facts about its clusters, an inventory or what installs HCO, and
/// none below it has.
pub fn has_facts_above(tree: &dyn Tree, below: &Utf8Path) -> bool {
    // Directories beside the way there aren't listed: outside of git, the current directory may hold everything.
    let beside = |at: &Utf8Path| {
        let all = escape(parent(at).join("").as_str()) + "*";
        [format!("/{all}/"), format!("!/{}/", escape(at.as_str()))]
    };
    let ways = below.ancestors().filter(|at| !at.as_str().is_empty());
    let walk = Walk { ignore: ways.flat_map(beside).collect(), ..Walk::default() };
    let files = tree.list(&walk).map(|listing| listing.files).unwrap_or_default();
    let is_above = |file: &Utf8Path| below.ancestors().skip(1).any(|above| above == parent(file));
    let has_fact = |file: &Utf8Path| {
        let found = scan(tree, file).found;
        found.iter().any(|found| matches!(found.what, FoundKind::Inventory(_) | FoundKind::Statement(_)))
    };
    let candidates = || files.iter().filter(|file| is_candidate(file));
    candidates().any(|file| is_above(file) && has_fact(file))
        && !candidates().any(|file| file.starts_with(below) && has_fact(file))
}

impl Repo {
    /// What applies or renders directories of the repository, according to its files. `repository` is its name,
    /// `clusters` of `git@example.com:team/clusters.git`; without it each object is assumed to be about this repository.
    pub fn appliers(&self, repository: Option<String>) -> Appliers<'_> {
        Appliers { repo: self, repository }
    }
}

impl Appliers<'_> {
    /// What applies a directory; `None` if nothing is known to.
    pub fn of(&self, directory: &Utf8Path) -> Option<AppliedBy> {
        if let Some(chart) = self.chart_of(directory) {
            return Some(AppliedBy::Chart(chart.to_owned()));
        }
        if let Some(role) = role(directory) {
            return Some(AppliedBy::Role(role.to_owned()));
        }
        let applied = self.applied_with(directory);
        let by =
            applied.iter().find(|a| self.sources(a).any(|source| a.applies(source, &*self.repo.tree, directory)))?;
        Some(AppliedBy::Controller(phrase(&by.document), by.kind.controller()))
    }

    /// The ApplicationSet whose generator creates an Application from this file, such as `the ApplicationSet all in
    /// apps/all.yaml`.
    pub fn reader_of(&self, file: &Utf8Path) -> Option<String> {
        let reads = |document: &&Arc<Document>| {
            let generators = document.root.below("spec.generators");
            document.text("kind") == "ApplicationSet" && generators.is_some_and(|node| reads_file(node, file))
        };
        self.repo.gitops().documents.iter().find(reads).map(|document| phrase(document))
    }

    /// Whether any controller's object is in the repository.
    pub fn has_controllers(&self) -> bool {
        !self.repo.gitops().applied.is_empty()
    }

    /// What controllers would apply if the directory had a file.
    fn applied_with(&self, directory: &Utf8Path) -> Vec<Applied> {
        let existing = self.repo.files.iter().map(|file| file.path.to_path_buf());
        let files: Vec<Utf8PathBuf> = existing.chain([directory.join("new")]).collect();
        let documents = self.repo.gitops().documents.iter();
        documents.flat_map(|document| of_object(document, &*self.repo.tree, &files)).collect()
    }

    /// What an object reads of this repository.
    fn sources<'a>(&self, applied: &'a Applied) -> impl Iterator<Item = &'a Source> {
        // One of a GitRepository that isn't declared here may be of this repository.
        applied.here().filter(|source| {
            let addresses = self.repo.gitops().addresses(applied.kind, &source.node);
            let is_ours =
                |address: &&str| self.repository.as_ref().is_none_or(|own| gitops::is_same_repository(own, address));
            addresses.is_empty() || addresses.iter().any(is_ours)
        })
    }

    /// The chart whose templates are in a directory.
    fn chart_of<'a>(&self, directory: &'a Utf8Path) -> Option<&'a Utf8Path> {
        directory.ancestors().find_map(|part| {
            let chart = part.parent()?;
            let rendered = matches!(part.file_name()?, "templates" | "crds");
            (rendered && is_chart(&*self.repo.tree, chart)).then_some(chart)
        })
    }
}

/// The Ansible role that a directory belongs to.
fn role(directory: &Utf8Path) -> Option<&Utf8Path> {
    let role = role_of(directory)?;
    let part = directory.strip_prefix(role).ok()?.iter().next()?;
    fields::has("ansible.role", part).then_some(role)
}
