//! Rewrites HyperConvergeds in another API version: files, or layers of kustomize builds.

mod layers;

use super::fixes::FixResult;
use crate::clusters::Clusters;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::root::finding_with_help;
use hcoplan_lint::fix::{AppliedFix, to_v1};
use hcoplan_planner::hyperconverged::version_of;

impl Clusters {
    /// Rewrites every selected HyperConverged in v1 if possible, and reports why others can't be.
    ///
    /// # Errors
    /// If the repository can't be read again with the rewritten layers.
    pub fn migrate(self, verdict: &mut Exit, notices: &dyn Notices) -> Result<FixResult, Failure> {
        let mut migrated = files(&self, verdict, notices);
        if self.is_built() {
            layers::migrate(self, &mut migrated, verdict, notices)?;
        }
        Ok(migrated)
    }
}

/// An applied migration, for the report.
fn applied(title: String, location: Option<Location>) -> AppliedFix {
    AppliedFix { build_edits: Vec::new(), rule: "migrate", title, location }
}

/// A cluster in v1beta1 and its release. Reports why one of them is unknown if the cluster is selected.
fn load(
    found: &Clusters,
    cluster: &ClusterRef,
    verdict: &mut Exit,
    notices: &dyn Notices,
) -> Option<(Loaded, Arc<Release>)> {
    let (finding, fault) = match found.repo.load(cluster) {
        Ok(loaded) if version_of(&loaded.json) == "v1" => return None,
        Ok(loaded) => match loaded.release.clone() {
            Ok(release) => return Some((loaded, release)),
            Err(finding) => (*finding, &mut verdict.unusable),
        },
        Err(problem) => (problem.finding, &mut verdict.unreadable),
    };
    if found.has(cluster.name()) {
        notices.error(finding_with_help(&finding));
        *fault = true;
    }
    None
}

/// Rewrites the files of HyperConvergeds without a build.
fn files(found: &Clusters, verdict: &mut Exit, notices: &dyn Notices) -> FixResult {
    let mut all = FixResult::default();
    // For a build, its layers are rewritten instead.
    let is_built = |c: &&ClusterRef| found.repo.build_layers(c.path()).is_some();
    for cluster in found.chosen().into_iter().filter(|c| !is_built(c)) {
        let name = cluster.name();
        let Some((loaded, release)) = load(found, cluster, verdict, notices) else {
            continue;
        };
        let inventory = &loaded.inventory.inventory;
        let document = &loaded.document;
        let path = document.file.path().to_owned();
        if all.files.contains_key(&path) {
            notices
                .warning(format_args!("{name}: {path} holds another HyperConverged, too: run it again for this one"));
            continue;
        }
        match to_v1(&release, inventory, document) {
            // The patch has fields of another version, and the loaded text isn't a file.
            Ok(_) if document.file.is_generated() => {
                verdict.failed = true;
                let why = "it consists of more than this file: migrate it by hand";
                notices.error(format_args!("{name}: {path} stays in v1beta1: {why}"));
            }
            Ok(migrated) => {
                for field in &migrated.dropped {
                    notices.warning(format_args!(
                        "{name}: {field} is left out: v1 has no place for it, and {} doesn't keep it",
                        release.display_name()
                    ));
                }
                let before = Arc::clone(&document.file);
                all.files.insert(path, Rewritten { before, text: migrated.text });
                let location = document.root.get("apiVersion").map(|v| Location::new(&document.file, v.span));
                all.applied.push(applied("write it in hco.kubevirt.io/v1".to_owned(), location));
            }
            Err(why) => {
                verdict.failed = true;
                notices.error(format_args!("{name}: {path} stays in v1beta1: {why}"));
            }
        }
    }
    all
}
