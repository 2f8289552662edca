//! What controllers give to clusters: patches, and what Argo CD applies where their HyperConverged goes.
//!
//! An Application whose path holds a HyperConverged says where that cluster is; what others of the same repository
//! apply there is the cluster's, too: virtual machines, storage classes, bundles. A destination that several
//! HyperConvergeds have says nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobBuilder;

use super::helm::{Template, list_elements};
use super::objects::ClusterRef;
use super::patches::Patch;
use crate::finding::Finding;
use crate::source::normal;
use crate::yaml::Node;

/// A directory that Argo CD applies somewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Applied {
    repository: String,
    path: Utf8PathBuf,
    /// The cluster's name, or its address.
    destination: String,
}

/// What an Application, or each one of an ApplicationSet, applies where; `directories` are all that there are.
pub(super) fn applied(root: &Node, directories: &BTreeSet<&Utf8Path>) -> Vec<Applied> {
    let mut out = Vec::new();
    if text(root, "kind") == "Application" {
        out.extend(
            root.get("spec")
                .into_iter()
                .flat_map(|s| each(s, &Template::default())),
        );
        return out;
    }
    let Some(spec) = root.below("spec.template.spec") else {
        return out;
    };
    let mut elements = Vec::new();
    let generators = root.below("spec.generators").map_or(&[][..], Node::items);
    list_elements(generators, &mut elements);
    git_directories(generators, directories, &mut elements);
    out.extend(elements.iter().flat_map(|element| each(spec, element)));
    out
}

fn each(spec: &Node, template: &Template) -> Vec<Applied> {
    let at = |path: &str| spec.below(path).and_then(Node::as_str);
    let destination = at("destination.name").or_else(|| at("destination.server"));
    let Some(destination) = destination.and_then(|d| template.fill(d)) else {
        return Vec::new();
    };
    let sources = spec.get("sources").map_or(&[][..], Node::items).iter();
    let applied = |source: &Node| {
        let path = source.get("path").and_then(Node::as_str)?;
        Some(Applied {
            repository: template.fill(text(source, "repoURL"))?,
            path: normal(Utf8Path::new(&template.fill(path)?))?,
            destination: destination.clone(),
        })
    };
    sources
        .chain(spec.get("source"))
        .filter_map(applied)
        .collect()
}

/// What the git generators of an ApplicationSet give for each directory that fits.
fn git_directories(list: &[Node], directories: &BTreeSet<&Utf8Path>, out: &mut Vec<Template>) {
    for generator in list {
        let chosen = generator
            .below("git.directories")
            .map_or(&[][..], Node::items);
        let patterns = |excluded: bool| {
            let of = chosen.iter().filter(move |entry| {
                entry.get("exclude").is_some_and(|e| e.to_json() == true) == excluded
            });
            let globs = of.filter_map(|entry| {
                let glob = GlobBuilder::new(text(entry, "path"))
                    .literal_separator(true)
                    .build();
                Some(glob.ok()?.compile_matcher())
            });
            globs.collect::<Vec<_>>()
        };
        let (wanted, excluded) = (patterns(false), patterns(true));
        let fits = directories.iter().filter(|d| {
            wanted.iter().any(|w| w.is_match(d)) && !excluded.iter().any(|e| e.is_match(d))
        });
        let template = |directory: &&Utf8Path| {
            let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            let name = directory.file_name().unwrap_or_default();
            Template {
                values: BTreeMap::from([
                    own("path", directory.as_str()),
                    own("path.path", directory.as_str()),
                    own("path.basename", name),
                ]),
            }
        };
        out.extend(fits.map(template));
    }
}

/// Gives clusters what is applied where their HyperConverged is.
pub(super) fn give(applied: &[Applied], clusters: &mut [ClusterRef]) {
    let home = |cluster: &ClusterRef| {
        let own = applied
            .iter()
            .filter(|a| cluster.path().starts_with(&a.path));
        let all: BTreeSet<_> = own.map(|a| (&a.repository, &a.destination)).collect();
        let mut all = all.into_iter();
        all.next().filter(|_| all.next().is_none())
    };
    if applied.is_empty() {
        return;
    }
    let homes: Vec<_> = clusters.iter().map(home).collect();
    let mut counts = BTreeMap::new();
    for home in homes.iter().flatten() {
        *counts.entry(*home).or_insert(0) += 1;
    }
    let mut given = Vec::new();
    for (cluster, home) in clusters.iter().zip(&homes) {
        let Some(home) = home.filter(|home| counts.get(home) == Some(&1)) else {
            given.push(BTreeSet::new());
            continue;
        };
        let there = applied
            .iter()
            .filter(|a| (&a.repository, &a.destination) == home);
        let is_nobodys = |a: &&Applied| {
            let path = &a.path;
            !path.starts_with(cluster.directory())
                && !clusters.iter().any(|c| c.path().starts_with(path))
        };
        given.push(there.filter(is_nobodys).map(|a| a.path.clone()).collect());
    }
    for (cluster, given) in clusters.iter_mut().zip(given) {
        let own = std::mem::take(&mut cluster.also);
        cluster.also = given
            .into_iter()
            .chain(own)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
    }
}

/// Gives the patches to the clusters that they are for, and says which can't be told: those of several objects for
/// one HyperConverged are several clusters.
pub(super) fn give_patches(patches: Vec<Patch>, clusters: &mut [ClusterRef]) -> Vec<Finding> {
    let patches: Vec<Arc<Patch>> = patches.into_iter().map(Arc::new).collect();
    let mut findings = Vec::new();
    for cluster in clusters.iter_mut() {
        let own: Vec<_> = patches
            .iter()
            .filter(|p| p.is_for(cluster.path()))
            .cloned()
            .collect();
        let is_one = own.iter().all(|p| p.is_beside(&own[0]));
        match is_one {
            true => cluster.patches = own,
            false => findings.extend(own.iter().map(|p| {
                p.not_planned(
                    "several do, each for a cluster of its own; it is planned without them",
                )
            })),
        }
    }
    findings
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Options, Repo};
    use crate::source::Memory;

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
        let tree: Memory = all
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        let repo = Repo::from_tree(Arc::new(tree), &Options::default()).expect("a repository");
        let shown = repo.clusters().iter().map(|cluster| {
            let loaded = repo.load(cluster).expect("loaded");
            let neighbours = repo.neighbours(cluster, &loaded);
            let vms = neighbours.of_kind("VirtualMachine").iter();
            let names: Vec<_> = vms
                .filter_map(|vm| vm.root.below("metadata.name")?.as_str())
                .collect();
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
        let local = all
            .concat()
            .replace("{name: east}", "{name: here}")
            .replace("{name: west}", "{name: here}");
        assert_eq!(machines(&[("apps.yaml", local)]), none);
        let sets = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec:\n  generators:\n  - git: {directories: \
                    [{path: 'PATH/*'}]}\n  template:\n    spec:\n      source: {repoURL: r, path: '{{path}}'}\n      \
                    destination: {name: '{{path.basename}}'}\n---\n";
        let sets = [
            sets.replace("PATH", "clusters"),
            sets.replace("PATH", "vms"),
        ];
        assert_eq!(machines(&[("sets.yaml", sets.concat())]), both);
    }
}
