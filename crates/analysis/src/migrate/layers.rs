//! `hcoplan fix --migrate v1` for kustomize builds: rewrites every layer, builds again, and compares each cluster.

use super::{applied, load};
use crate::clusters::Clusters;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::fixes::FixResult;
use crate::notices::Notices;
use crate::prelude::*;
use crate::shown_path::shown_path;
use crate::trials::texts;
use hcoplan_lint::fix::{
    UnmigratableLayer, is_same, kustomization_by_hand, operation_by_hand, resource_to_v1, without_place,
};
use hcoplan_planner::hyperconverged::version_of;
use hcoplan_repository::repo::{BuildLayer, LayerKind};
use hcoplan_yaml::{Path, parse};
use serde_json::Value as Json;

/// A cluster that kustomize builds.
struct BuiltCluster {
    loaded: Loaded,
    release: Arc<Release>,
    layers: Vec<BuildLayer>,
    is_chosen: bool,
}

impl BuiltCluster {
    fn files(&self) -> impl Iterator<Item = &Utf8Path> {
        self.layers.iter().map(|l| l.document.file.path())
    }
}

/// Files before and after.
type Files = BTreeMap<Utf8PathBuf, Rewritten>;

/// Rewrites the layers of every selected cluster, together with all clusters that share a layer, since a base has one
/// API version. If a cluster of such a group would change, none of the group's files is written, and every obstacle is
/// reported.
pub(super) fn migrate(
    mut found: Clusters,
    migrated: &mut FixResult,
    verdict: &mut Exit,
    notices: &dyn Notices,
) -> Result<(), Failure> {
    for group in groups(built(&found, verdict, notices)) {
        let names: Vec<&str> = group.iter().map(|c| &*c.loaded.name).collect();
        let names = names.join(", ");
        let files = match rewritten(&group) {
            Ok(files) if files.is_empty() => continue,
            Ok(files) => files,
            Err(stuck) => {
                verdict.failed = true;
                for (place, why) in stuck {
                    let (path, at) = (shown_path(&found.root, &place.file), place.start());
                    notices.error(format_args!("{path}:{at}: {why}; still in v1beta1: {names}"));
                }
                continue;
            }
        };
        if let Some(unbuilt) = unbuilt(&found, &group) {
            verdict.failed = true;
            notices.error(format_args!("{unbuilt}: its form in v1 is unknown; still in v1beta1: {names}"));
            continue;
        }
        let rewritten = found.edited(texts(&files))?;
        let wrong: Vec<String> = group.iter().filter_map(|c| differs(&rewritten, c)).collect();
        if !wrong.is_empty() {
            verdict.failed = true;
            for why in wrong {
                notices.error(format_args!("{why}; still in v1beta1: {names}"));
            }
            continue;
        }
        found = rewritten;
        for (place, field, release) in dropped(&group) {
            let (path, at) = (shown_path(&found.root, &place.file), place.start());
            notices.warning(format_args!(
                "{path}:{at}: {field} is left out: v1 has no place for it, and {release} doesn't keep it"
            ));
        }
        for cluster in &group {
            let Loaded { name, document, .. } = &cluster.loaded;
            let place = document.root.get("apiVersion").map(|v| document.location(v.span));
            let title = format!("write the layers of {name} in hco.kubevirt.io/v1");
            migrated.applied.push(applied(title, place.and_then(|p| p.origin().or(Some(p)))));
        }
        migrated.files.extend(files);
    }
    Ok(())
}

/// All clusters built by kustomize.
fn built(found: &Clusters, verdict: &mut Exit, notices: &dyn Notices) -> Vec<BuiltCluster> {
    let mut out = Vec::new();
    for cluster in found.repo.clusters() {
        let Some(layers) = found.repo.build_layers(cluster.path()) else {
            continue;
        };
        if let Some((loaded, release)) = load(found, cluster, verdict, notices)
            && version_of(&loaded.json) == "v1beta1"
        {
            let is_chosen = found.has(cluster.name());
            out.push(BuiltCluster { loaded, release, layers: layers.to_vec(), is_chosen });
        }
    }
    out
}

/// Groups clusters that share a layer; omits groups without a selected cluster.
fn groups(clusters: Vec<BuiltCluster>) -> Vec<Vec<BuiltCluster>> {
    let mut out: Vec<Vec<BuiltCluster>> = Vec::new();
    for cluster in clusters {
        let files: BTreeSet<Utf8PathBuf> = cluster.files().map(ToOwned::to_owned).collect();
        let shares = |group: &Vec<BuiltCluster>| group.iter().any(|c| c.files().any(|f| files.contains(f)));
        let (near, others): (Vec<_>, Vec<_>) = out.into_iter().partition(shares);
        out = others;
        let mut group: Vec<BuiltCluster> = near.into_iter().flatten().collect();
        group.push(cluster);
        out.push(group);
    }
    out.retain(|group| group.iter().any(|c| c.is_chosen));
    out
}

/// The message if a failed build uses one of the group's files.
fn unbuilt(found: &Clusters, group: &[BuiltCluster]) -> Option<String> {
    let users = found.repo.users_of_files();
    let files: BTreeSet<&Utf8Path> = group.iter().flat_map(BuiltCluster::files).collect();
    files.into_iter().find_map(|file| {
        let mut users = users.get(file)?.iter();
        let (name, _) = users.find(|(_, origins)| origins.is_none())?;
        Some(format!("{file} goes into {name}, too, which can't be built"))
    })
}

/// The fields of a group's layers that v1 doesn't have, once each, with the release that ignores it.
fn dropped(group: &[BuiltCluster]) -> Vec<(Location, String, String)> {
    let mut out: Vec<(Location, String, String)> = Vec::new();
    for cluster in group {
        for layer in cluster.layers.iter().filter(|l| matches!(l.what, LayerKind::Object | LayerKind::Merge)) {
            let root = &layer.document.root;
            let object = root.to_json();
            if object["kind"] != "HyperConverged" || version_of(&object) != "v1beta1" {
                continue;
            }
            for field in without_place(&object) {
                let Some(key) = root.key_at(&Path::dotted(&field)) else {
                    continue;
                };
                let place = layer.place(key.span);
                let is_known = out.iter().any(|(known, ..)| known.is_same(&place));
                if !is_known {
                    out.push((place, field, cluster.release.display_name()));
                }
            }
        }
    }
    out
}

/// The files of a group's layers in v1, or all locations that can't be rewritten.
fn rewritten(group: &[BuiltCluster]) -> Result<Files, Vec<(Location, String)>> {
    let mut files = Files::new();
    let mut stuck = Vec::new();
    let mut seen = BTreeSet::new();
    for cluster in group {
        for layer in cluster.layers.iter().filter(|l| !l.is_inline()) {
            let document = &layer.document;
            let (path, index) = (document.file.path(), document.index);
            if !seen.insert((path.to_owned(), index)) {
                continue;
            }
            // Another document of the file may already be rewritten.
            let current = files.get(path).map(|f: &Rewritten| f.text.clone());
            let current = current.unwrap_or_else(|| document.file.text().to_owned());
            let file = SourceFile::new(path, current);
            let parsed = parse(&file).documents;
            let Some(now) = parsed.get(index) else {
                continue;
            };
            match rewrite(&cluster.release, layer, now) {
                Ok(None) => {}
                Ok(Some(text)) => {
                    let before = Arc::clone(&document.file);
                    let entry = files.entry(path.to_owned());
                    entry.or_insert(Rewritten { before, text: String::new() }).text = text;
                }
                Err(UnmigratableLayer { span, why }) => {
                    stuck.push((Location::new(&file, span), why));
                }
            }
        }
    }
    if stuck.is_empty() { Ok(files) } else { Err(stuck) }
}

fn rewrite(release: &Release, layer: &BuildLayer, document: &Document) -> Result<Option<String>, UnmigratableLayer> {
    match layer.what {
        LayerKind::Object | LayerKind::Merge => resource_to_v1(release, document),
        LayerKind::Operations if layer.is_for("HyperConverged") => {
            operation_by_hand(&document.root).map_or(Ok(None), Err)
        }
        // The build shows whether these need a change.
        LayerKind::Operations | LayerKind::Replacements => Ok(None),
        LayerKind::Fields => {
            let is_meant = |selector: &_| repo::selects(selector, "HyperConverged");
            kustomization_by_hand(&document.root, &is_meant).map_or(Ok(None), Err)
        }
    }
}

/// The first difference of a cluster after rewriting its layers.
fn differs(found: &Clusters, before: &BuiltCluster) -> Option<String> {
    let Loaded { name, document, inventory, .. } = &before.loaded;
    let clusters = found.repo.clusters();
    let Some(cluster) = clusters.iter().find(|c| c.name() == name) else {
        let mut failed = found.repo.failed_builds().iter();
        let failed = failed.find(|f| ClusterName::of_directory(&f.directory) == *name);
        let why = failed.map(|f| f.finding.message.clone());
        let why = why.unwrap_or_else(|| "it isn't built any more".to_owned());
        return Some(format!("{name}: its layers don't fit together in v1: {why}"));
    };
    let after: Json = match found.repo.load(cluster) {
        Ok(loaded) => loaded.document.root.to_json(),
        Err(problem) => return Some(format!("{name}: {}", problem.finding.message)),
    };
    let old = document.root.to_json();
    is_same(&before.release, &inventory.inventory, &old, &after).err().map(|why| format!("{name}: {why}"))
}
