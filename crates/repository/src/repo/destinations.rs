//! What controllers give to clusters: patches, and what Argo CD applies where their HyperConverged goes.
//!
//! An Application whose path holds a HyperConverged says where that cluster is; what others of the same repository
//! apply there is the cluster's, too: virtual machines, storage classes, bundles. A destination that several
//! HyperConvergeds have says nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::normalize_path;
use hcoplan_yaml::{Document, Node, Value};

use super::appliers::file_pattern;
use super::generators::{Files, Template, elements};
use super::objects::{ClusterRef, parent};
use super::patches::Patch;

/// A directory that Argo CD applies somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AppliedDirectory {
    /// The Application that does: `the Application east in apps.yaml`, or one of an ApplicationSet.
    application: Arc<str>,
    repository: String,
    path: Utf8PathBuf,
    /// The cluster's name, or its address.
    destination: Option<String>,
    /// Whether it takes the directories below, too.
    is_deep: bool,
    include: Option<String>,
    exclude: Option<String>,
}

impl AppliedDirectory {
    /// Whether a file is among what is applied.
    fn covers(&self, file: &Utf8Path) -> bool {
        let is_match = |pattern: &str| {
            let below = file.strip_prefix(&self.path).unwrap_or(file);
            file_pattern(pattern).is_some_and(|p| p.is_match(below))
        };
        (parent(file) == self.path || self.is_deep && file.starts_with(&self.path))
            && self.include.as_deref().is_none_or(is_match)
            && !self.exclude.as_deref().is_some_and(is_match)
    }
}

/// What an Application, or each one of an ApplicationSet, applies where.
pub(super) fn applied(document: &Document, files: &Files<'_>) -> Vec<AppliedDirectory> {
    let root = &document.root;
    let name = root.below("metadata.name").and_then(Node::as_str);
    let (kind, name) = (text(root, "kind"), name.unwrap_or_default());
    let application = format!("the {kind} {name} in {}", document.file.path());
    if kind == "Application" {
        let spec = root.get("spec").into_iter();
        return spec.flat_map(|spec| each(spec, &Template::default(), &application)).collect();
    }
    let Some(spec) = root.below("spec.template.spec") else {
        return Vec::new();
    };
    let elements = elements(root, files);
    let applied = elements.iter().zip(1..).flat_map(|(element, number)| {
        let application = match elements.len() {
            1 => application.clone(),
            _ => format!("an Application (no. {number}) of {application}"),
        };
        each(spec, element, &application)
    });
    applied.collect()
}

fn each(spec: &Node, template: &Template, application: &str) -> Vec<AppliedDirectory> {
    let at = |path: &str| spec.below(path).and_then(Node::as_str);
    let destination = at("destination.name").or_else(|| at("destination.server"));
    let application: Arc<str> = application.into();
    let sources = spec.get("sources").map_or(&[][..], Node::items).iter();
    let applied = |source: &Node| {
        let path = source.get("path").and_then(Node::as_str)?;
        let of = |path: &str| Some(source.below(path)?.as_str()?.to_owned());
        let recurse = source.below("directory.recurse").map(|n| &n.value);
        Some(AppliedDirectory {
            application: Arc::clone(&application),
            repository: template.fill(text(source, "repoURL"))?,
            path: normalize_path(Utf8Path::new(&template.fill(path)?))?,
            destination: destination.and_then(|d| template.fill(d)),
            is_deep: matches!(recurse, Some(Value::Bool(true))),
            include: of("directory.include"),
            exclude: of("directory.exclude"),
        })
    };
    sources.chain(spec.get("source")).filter_map(applied).collect()
}

/// What Argo CD applies, by directory.
#[derive(Debug, Default)]
pub(super) struct AllApplied(HashMap<Utf8PathBuf, Vec<AppliedDirectory>>);

impl FromIterator<AppliedDirectory> for AllApplied {
    fn from_iter<I: IntoIterator<Item = AppliedDirectory>>(all: I) -> Self {
        let mut out = Self::default();
        for applied in all {
            out.0.entry(applied.path.clone()).or_default().push(applied);
        }
        out
    }
}

impl AllApplied {
    /// Those of the directories that a path lies in.
    fn around<'a>(&'a self, path: &'a Utf8Path) -> impl Iterator<Item = &'a AppliedDirectory> {
        let all = path.ancestors().filter_map(|directory| self.0.get(directory));
        all.flatten()
    }

    /// The Applications that apply a file.
    pub(super) fn of<'a>(&'a self, file: &'a Utf8Path) -> impl Iterator<Item = Arc<str>> {
        let all = self.around(file).filter(move |a| a.covers(file));
        all.map(|a| Arc::clone(&a.application))
    }

    /// Gives clusters what is applied where their HyperConverged is, and what the same Application applies.
    pub(super) fn assign_to(&self, clusters: &mut [ClusterRef]) {
        if self.0.is_empty() {
            return;
        }
        let homes: Vec<_> = clusters
            .iter()
            .map(|cluster| {
                let own = || self.around(cluster.path());
                let home = only(own().map(AppliedDirectory::home)).flatten();
                (home, only(own().map(|a| (&a.repository, &a.application))))
            })
            .collect();
        let (mut at_home, mut counts) = (HashMap::<_, Vec<_>>::new(), HashMap::new());
        for (home, _) in &homes {
            *counts.entry(*home).or_insert(0) += 1;
        }
        let mut together = HashMap::<_, Vec<_>>::new();
        for applied in self.0.values().flatten() {
            at_home.entry(applied.home()).or_default().push(applied);
            let application = (&applied.repository, &applied.application);
            together.entry(application).or_default().push(applied);
        }
        let taken = clusters.iter().flat_map(|c| c.path().ancestors());
        let taken: HashSet<&Utf8Path> = taken.collect();
        let given = clusters.iter().zip(&homes).map(|(cluster, (home, own))| {
            let home = home.filter(|home| counts.get(&Some(*home)) == Some(&1));
            let there = home.and_then(|home| at_home.get(&Some(home)));
            let beside = own.and_then(|own| together.get(&own));
            let all = there.into_iter().chain(beside).flatten();
            let is_nobodys = |path: &&Utf8PathBuf| !path.starts_with(cluster.directory()) && !taken.contains(&***path);
            all.map(|a| &a.path).filter(is_nobodys).cloned().collect()
        });
        let given: Vec<BTreeSet<Utf8PathBuf>> = given.collect();
        for (cluster, mut given) in clusters.iter_mut().zip(given) {
            given.extend(std::mem::take(&mut cluster.also));
            cluster.also = given.into_iter().collect();
        }
    }
}

impl AppliedDirectory {
    /// The cluster that it goes to, as far as the repository is this one.
    fn home(&self) -> Option<(&str, &str)> {
        Some((&self.repository, self.destination.as_deref()?))
    }
}

/// What all of some are; `None` where they differ, and where there are none.
fn only<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// Gives the patches to the clusters that they are for, and says which can't be told: those of several objects for
/// one HyperConverged are several clusters, and one that is for none that is here.
pub(super) fn give_patches(patches: Vec<Patch>, clusters: &mut [ClusterRef]) -> Vec<Finding> {
    let patches: Vec<Arc<Patch>> = patches.into_iter().map(Arc::new).collect();
    let mut by_target = BTreeMap::<&Utf8Path, Vec<usize>>::new();
    for (patch, number) in patches.iter().zip(0..) {
        for target in patch.targets() {
            by_target.entry(target).or_default().push(number);
        }
    }
    let (mut findings, mut used) = (Vec::new(), BTreeSet::<usize>::new());
    for cluster in clusters.iter_mut() {
        let path = Arc::clone(&cluster.path);
        let own = path.ancestors().filter_map(|above| by_target.get(above));
        let own: BTreeSet<usize> = own.flatten().copied().collect();
        used.extend(&own);
        let own: Vec<_> = own.into_iter().map(|i| Arc::clone(&patches[i])).collect();
        let is_one = own.iter().all(|p| p.is_beside(&own[0]));
        if is_one {
            cluster.patches = own;
        } else {
            findings.extend(
                own.iter()
                    .map(|p| p.not_planned("several do, each for a cluster of its own; it is planned without them")),
            );
        }
    }
    let unused = patches.iter().zip(0..).filter(|(_, i)| !used.contains(i));
    let unused = unused.filter(|(patch, _)| patch.says_which());
    findings.extend(unused.map(|(p, _)| p.not_planned("isn't among the clusters that are planned")));
    findings
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hcoplan_diagnostics::source::Memory;

    use super::super::{Options, Repo};

    const HC: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged, \
                      namespace: kubevirt-hyperconverged}\n";
    const VM: &str = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: NAME}\n";

    fn application(name: &str, path: &str, destination: &str) -> String {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n  source: {{repoURL: \
             r, path: {path}}}\n  destination: {{name: {destination}}}\n---\n"
        )
    }

    /// The clusters with their virtual machines.
    fn machines(files: &[(&str, String)]) -> Vec<String> {
        let vm = |name: &str| VM.replace("NAME", name);
        let own = [
            ("clusters/east/hc.yaml", HC.to_owned()),
            ("clusters/west/hc.yaml", HC.to_owned()),
            ("vms/east/a.yaml", vm("a")),
            ("vms/west/b.yaml", vm("b")),
        ];
        let all: Vec<_> = own.iter().chain(files).collect();
        let tree: Memory = all.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let repo = Repo::from_tree(Arc::new(tree), &Options::default()).expect("a repository");
        let shown = repo.clusters().iter().map(|cluster| {
            let loaded = repo.load(cluster).expect("loaded");
            let neighbours = repo.neighbours(cluster, &loaded);
            let vms = neighbours.of_kind("VirtualMachine").iter();
            let names: Vec<_> = vms.filter_map(|vm| vm.root.below("metadata.name")?.as_str()).collect();
            format!("{}: {}", cluster.name(), names.join(" "))
        });
        shown.collect()
    }

    #[test]
    fn what_is_applied_to_one_cluster_is_its_own() {
        let none = ["clusters/east: ", "clusters/west: "];
        let both = ["clusters/east: a", "clusters/west: b"];
        assert_eq!(machines(&[]), none);
        let all = [
            application("e", "clusters/east", "east"),
            application("w", "clusters/west", "west"),
            application("ve", "vms/east", "east"),
            application("vw", "vms/west", "west"),
        ];
        assert_eq!(machines(&[("apps.yaml", all.concat())]), both);
        // Each cluster has an Argo CD of its own: nobody can tell.
        let local = all.concat().replace("{name: east}", "{name: here}").replace("{name: west}", "{name: here}");
        assert_eq!(machines(&[("apps.yaml", local)]), none);
        let sets = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec:\n  generators:\n  - git: {directories: \
                    [{path: 'PATH/*'}]}\n  template:\n    spec:\n      source: {repoURL: r, path: '{{path}}'}\n      \
                    destination: {name: '{{path.basename}}'}\n---\n";
        let sets = [sets.replace("PATH", "clusters"), sets.replace("PATH", "vms")];
        assert_eq!(machines(&[("sets.yaml", sets.concat())]), both);
    }
}
