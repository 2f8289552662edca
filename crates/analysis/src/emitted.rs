//! Writes a cluster's objects to the output tree, checks a tree on disk, and prints objects.

use super::cluster_result::ClusterResult;
use super::cluster_task::ClusterTask;
use crate::planned::Planned;
use crate::prelude::*;
use hcoplan_diagnostics::secret::InputText;
use hcoplan_planner::hyperconverged;
use hcoplan_repository::emit::{ClusterFiles, DiskTree, cluster_directory};

/// Produces the requested output, and records stale files.
pub(super) fn write<'p>(
    work: &ClusterTask<'_>,
    loaded: &Loaded,
    plan: &Plan,
    created: impl Fn() -> Option<Planned<'p>>,
    outcome: &mut ClusterResult,
) -> Result<(), emit::Error> {
    if !outcome.is_rendered {
        if let Some(tree) = work.tree {
            tree.keep(loaded.name.id())?;
        }
        return Ok(());
    }
    if !work.emits() {
        return Ok(());
    }
    let files_of = |plan: &Plan| {
        let files = ClusterFiles::new(loaded.name.id(), plan, work.wanted());
        if work.kustomization { files.with_kustomization() } else { files }
    };
    let files = files_of(plan);
    outcome.objects = files.files.len();
    if let Some(tree) = work.tree {
        tree.write(&files)?;
    }
    for disk in work.check {
        let mut differing = stale(disk, &files)?;
        if !differing.is_empty()
            && let Some(created) = created()
            && stale(disk, &files_of(created.plan()))?.is_empty()
        {
            differing.clear();
        }
        outcome.stale.append(&mut differing);
    }
    if work.yaml {
        outcome.printed = yaml_stream(&loaded.name, &files);
    }
    Ok(())
}

/// The objects as one YAML stream.
fn yaml_stream(cluster: &str, files: &ClusterFiles) -> String {
    let mut out = format!("# cluster: {}\n{}", InputText::new(cluster).line(), emit::HEADER);
    for file in &files.files {
        out.push_str("---\n");
        out.push_str(file.text.strip_prefix(emit::HEADER).unwrap_or(&file.text));
    }
    out
}

/// The files of a tree on disk that would be written differently, or the directory if it is missing; none for a cluster
/// without output.
fn stale(disk: &DiskTree, files: &ClusterFiles) -> Result<Vec<Utf8PathBuf>, emit::Error> {
    let Ok(directory) = cluster_directory(&files.cluster) else {
        return Ok(Vec::new());
    };
    if !disk.directories().any(|d| *d == directory) {
        return Ok(vec![disk.root().join(directory)]);
    }
    let mut out = Vec::new();
    let manifest = (emit::CLUSTER_MANIFEST, files.manifest.as_str());
    let kustomization = files.kustomization.as_deref();
    let kustomization = kustomization.map(|text| (emit::KUSTOMIZATION, text));
    let objects = files.files.iter().map(|f| (f.name.as_str(), &*f.text));
    for (name, text) in objects.chain(kustomization).chain([manifest]) {
        if disk.text(&directory, name)?.as_deref() != Some(text) {
            out.push(disk.root().join(&directory).join(name));
        }
    }
    for name in disk.names(&directory) {
        if !files.files.iter().any(|f| f.name == *name) {
            out.push(disk.root().join(&directory).join(name));
        }
    }
    Ok(out)
}

/// The HyperConverged as the API server would store it; empty if it is rejected.
pub(super) fn stored(cluster: &str, release: &Release, plan: &Plan, force: bool) -> String {
    let admission = &plan.admission;
    let forced = admission.forced.as_ref().filter(|_| force);
    let Some(object) = admission.stored.as_ref().or(forced) else {
        return String::new();
    };
    let mut out = format!("# cluster: {}\n{STORED}---\n", InputText::new(cluster).line());
    hcoplan_yaml::emit_to(&hyperconverged::in_storage_version(release, object), &mut out);
    out
}

const STORED: &str = "# As the API server would store it: pruned, defaulted, mutated, converted.\n";
