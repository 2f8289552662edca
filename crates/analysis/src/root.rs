//! Finds the root directory: the one with the configuration, at or above the given path.

use super::selection::Selection;
use crate::notices::Notices;
use crate::prelude::*;
use std::fmt::Display;

/// A path and its root.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// The base of names and paths, relative to the current directory.
    pub root: Utf8PathBuf,
    /// The path to examine, relative to the root; `None` if it is the root.
    pub below: Option<Utf8PathBuf>,
}

impl Place {
    /// The place with the nearest directory with hcoplan.yaml as root, up to the git work tree.
    pub fn configured(path: &Utf8Path) -> Option<Self> {
        Self::find(path, |directory| directory.join(CONFIG_FILE).is_file())
    }

    /// The place with the directory of a given configuration file as root if it is above the path; else as without the
    /// file, so that a cluster keeps its name.
    pub fn configured_by(path: &Utf8Path, file: &Utf8Path) -> Option<Self> {
        let file = file.canonicalize_utf8().ok();
        let directory = file.as_deref().and_then(Utf8Path::parent);
        Self::find(path, |d| Some(d) == directory).or_else(|| Self::configured(path))
    }

    /// The place with the git work tree as root; outside of one, the path itself.
    pub fn work_tree(path: &Utf8Path) -> Self {
        Self::find(path, is_work_tree).unwrap_or_else(|| Self::itself(path))
    }

    /// The place with the current directory as root if it is above the path.
    pub fn current(path: &Utf8Path) -> Option<Self> {
        Self::find(path, is_current)
    }

    /// The place with the nearest directory with hcoplan.yaml as root, else the git work tree; outside of one, the path
    /// itself.
    pub fn whole(path: &Utf8Path) -> Self {
        Self::configured(path).unwrap_or_else(|| Self::work_tree(path))
    }

    /// The path itself as root.
    pub fn itself(path: &Utf8Path) -> Self {
        Self { root: path.to_owned(), below: None }
    }

    /// The place with the nearest matching directory as root, up to the git work tree, or else the current directory.
    pub fn find(path: &Utf8Path, is_root: impl Fn(&Utf8Path) -> bool) -> Option<Self> {
        let real = path.canonicalize_utf8().ok()?;
        // A configuration above the work tree doesn't belong to it.
        let top = real.ancestors().find(|d| is_work_tree(d));
        let top = top.or_else(|| real.ancestors().find(|d| is_current(d)))?;
        let within = real.ancestors().take_while(|d| d.starts_with(top));
        let (steps, root) = (0..).zip(within).find(|(_, d)| d.is_dir() && is_root(d))?;
        Some(match real.strip_prefix(root) {
            Ok(below) if !below.as_str().is_empty() => {
                Self { root: up(path, steps, root), below: Some(below.to_owned()) }
            }
            _ => Self::itself(path),
        })
    }
}

/// The findings about unreadable files below a directory; of builds, those of selected clusters.
pub(super) fn problems<'r>(
    repo: &'r Repo,
    below: Option<&'r Utf8Path>,
    selection: &'r Selection,
) -> impl Iterator<Item = &'r repo::Problem> {
    let is_other = |f: &Finding| {
        let mut names = f.cluster_names().peekable();
        is_of_meant(f) && names.peek().is_some() && !names.any(|name| selection.has(name))
    };
    repo.problems().iter().filter(move |p| is_about(&p.finding, below) && !is_other(&p.finding))
}

/// Whether a finding is about a file below a directory, or about no file. A failed build belongs to its directory
/// although its files may be above it.
pub(super) fn is_about(finding: &Finding, below: Option<&Utf8Path>) -> bool {
    if is_of_meant(finding) || finding.rule.name == hcoplan_rule_pages::rules::HELM_TEMPLATE_FAILED.name {
        return true;
    }
    match (below, &finding.location) {
        (Some(below), Some(place)) => place.file.path().starts_with(below),
        _ => true,
    }
}

/// Whether a finding concerns selected clusters only; only those are built.
pub(super) fn is_of_meant(finding: &Finding) -> bool {
    let rules = [&hcoplan_rule_pages::rules::KUSTOMIZE_NOT_BUILT, &hcoplan_rule_pages::rules::KUSTOMIZE_BUILD_FAILED];
    rules.iter().any(|r| r.name == finding.rule.name)
}

/// A finding on one line, with its help below.
pub fn finding_with_help(finding: &Finding) -> String {
    with_help(crate::finding_line(finding), finding.help.as_ref())
}

/// A text with help below.
pub(super) fn with_help(text: String, help: Option<impl Display>) -> String {
    match help {
        Some(help) => format!("{text}\n  help: {help}"),
        None => text,
    }
}

fn is_work_tree(directory: &Utf8Path) -> bool {
    directory.join(".git").exists()
}

fn is_current(directory: &Utf8Path) -> bool {
    std::env::current_dir().is_ok_and(|current| current == directory)
}

/// The directory `steps` above a path, in its shortest form; `real` if links are involved.
fn up(path: &Utf8Path, steps: usize, real: &Utf8Path) -> Utf8PathBuf {
    let mut out = path.to_owned();
    for _ in 0..steps {
        let named = out.file_name().is_some();
        out = match out.parent().filter(|_| named) {
            Some(parent) => parent.to_owned(),
            None if out == "." || out.as_str().is_empty() => "..".into(),
            None => out.join(".."),
        };
    }
    if out.as_str().is_empty() {
        out = ".".into();
    }
    match out.canonicalize_utf8() {
        Ok(found) if found == real => out,
        _ => real.to_owned(),
    }
}

/// What was searched, similar files, and help.
pub(super) fn nothing_found(repo: &Repo, directory: &Utf8Path) -> String {
    /// Maximum number of similar files named.
    const MAX_SHOWN: usize = 5;
    let (near, count) = repo.nearest_misses();
    let noun = if count == 1 { "file" } else { "files" };
    let mut text = format!("no HyperConverged found in {directory}: looked through {count} YAML or JSON {noun}");
    for (kind, path) in near.iter().take(MAX_SHOWN) {
        text.push_str(&format!("\n  near: {path} has a {kind}, which belongs to no HyperConverged"));
    }
    if let Some(more @ 1..) = near.len().checked_sub(MAX_SHOWN) {
        text.push_str(&format!("\n  near: {more} more"));
    }
    text + "\n  help: name the directory that has one (`kind: HyperConverged`, of hco.kubevirt.io), write one, or render charts \
            with --helm"
}

/// Lists the files that were read, paired and skipped.
pub(super) fn show_files(repo: &Repo, selection: &Selection, notices: &dyn Notices) {
    for file in repo.files() {
        notices.show(format_args!("{}: {}", file.path, file.what));
    }
    for cluster in repo.clusters() {
        let name = cluster.name();
        if !selection.has(name) {
            notices.show(format_args!("{name}: not chosen"));
            continue;
        }
        let inventory: Vec<_> = cluster.inventory_files().iter().map(|f| f.as_str()).collect();
        let why = match cluster.pairing() {
            repo::Pairing::Adjacent => " (next to it)".to_owned(),
            repo::Pairing::Above(directory) if directory.as_str().is_empty() => " (in the root)".to_owned(),
            repo::Pairing::Above(directory) => format!(" (in {directory}, above it)"),
            repo::Pairing::Configured => " (hcoplan.yaml says so)".to_owned(),
            repo::Pairing::Given => " (the command line says so)".to_owned(),
            repo::Pairing::Machines => " (machine sets only)".to_owned(),
            repo::Pairing::None => String::new(),
        };
        let inventory = if inventory.is_empty() { "no inventory".to_owned() } else { inventory.join(", ") };
        let path = cluster.path();
        notices.show(format_args!("{name}: {path} with {inventory}{why}"));
        if let Ok(loaded) = repo.load(cluster) {
            notices.show(format_args!("{name}: {}", loaded.identity));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_configuration_up_to_the_work_tree() {
        let directory = tempfile::tempdir().expect("a directory");
        let top = Utf8Path::from_path(directory.path()).expect("UTF-8");
        let top = top.canonicalize_utf8().expect("it is there");
        let deep = top.join("repo/fleet/clusters/east");
        std::fs::create_dir_all(&deep).expect("made");
        std::fs::write(top.join(CONFIG_FILE), "").expect("written");
        let place = |root: Utf8PathBuf, below: &str| Place { root, below: (!below.is_empty()).then(|| below.into()) };
        // Without a work tree, directories above don't count.
        assert_eq!(Place::whole(&deep), place(deep.clone(), ""));
        std::fs::create_dir(top.join("repo/.git")).expect("made");
        assert_eq!(Place::configured(&deep), None);
        let repo = top.join("repo");
        assert_eq!(Place::whole(&deep), place(repo.clone(), "fleet/clusters/east"));
        assert_eq!(Place::work_tree(&repo), place(repo.clone(), ""));
        std::fs::write(repo.join("fleet").join(CONFIG_FILE), "").expect("written");
        let fleet = repo.join("fleet");
        assert_eq!(Place::whole(&deep), place(fleet.clone(), "clusters/east"));
        assert_eq!(Place::whole(&fleet), place(fleet.clone(), ""));
        std::fs::write(deep.join("a.yaml"), "").expect("written");
        let file = deep.join("a.yaml");
        assert_eq!(Place::whole(&file), place(fleet, "clusters/east/a.yaml"));
    }

    #[test]
    fn prints_a_short_path_of_the_root() {
        let here = Utf8PathBuf::from(".").canonicalize_utf8().expect("here");
        assert_eq!(up("src/cli".into(), 2, &here), ".");
        let above = here.parent().expect("above");
        assert_eq!(up(".".into(), 1, above), "..");
        assert_eq!(up("src".into(), 2, above), "..");
    }
}
