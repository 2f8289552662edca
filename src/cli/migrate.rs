//! `hcoplan fix --migrate v1`: HyperConvergeds rewritten in another API version.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::ValueEnum;

use super::output::Output;
use crate::finding::Finding;
use crate::fix::{Applied, NotMigrated, Rewritten, to_v1};
use crate::repo::ClusterRef;
use crate::source::{Location, SourceFile};
use hcoplan_analysis::{Clusters, Exit};

/// The version to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TargetVersion {
    /// hco.kubevirt.io/v1, which releases from 1.18 on serve
    V1,
}

/// What was rewritten.
#[derive(Debug, Default)]
pub(super) struct Migrated {
    /// Files by path, as they were read and as they are to be.
    pub(super) files: BTreeMap<Utf8PathBuf, Rewritten>,
    /// What was done.
    pub(super) applied: Vec<Applied>,
}

/// Rewrites every chosen cluster's HyperConverged that can be; says why the others can't.
pub(super) fn all(found: &Clusters, _to: TargetVersion, verdict: &mut Exit, output: &Output) -> Migrated {
    let mut all = Migrated::default();
    let say = |finding: &Finding| {
        let help = finding.help.as_ref().map(|h| format!("\n  help: {h}"));
        output.error(format_args!("{}{}", finding.message, help.unwrap_or_default()));
    };
    let mut seen: BTreeMap<Utf8PathBuf, Arc<SourceFile>> = BTreeMap::new();
    // What a build is made of is rewritten instead.
    let is_built = |c: &&ClusterRef| found.repo.build_layers(c).is_some();
    for cluster in found.chosen().into_iter().filter(|c| !is_built(c)) {
        let name = cluster.name();
        let loaded = match found.repo.load(cluster) {
            Ok(loaded) => loaded,
            Err(problem) => {
                say(&problem.finding);
                verdict.unreadable = true;
                continue;
            }
        };
        let release = match &loaded.release {
            Ok(release) => release,
            Err(finding) => {
                say(finding);
                verdict.unusable = true;
                continue;
            }
        };
        let inventory = &loaded.inventory.inventory;
        let document = &loaded.document;
        let path = document.file.path().to_owned();
        if seen.contains_key(&path) {
            output.warning(format_args!("{name}: {path} holds another HyperConverged, too: run it again for this one"));
            continue;
        }
        match to_v1(release, inventory, document) {
            // The patch's fields would be none of v1, and what is loaded is no file's text.
            Ok(_) if document.file.is_generated() => {
                verdict.failed = true;
                let why = "it is put together of more than this file: carry it over by hand";
                output.error(format_args!("{name}: {path} stays in v1beta1: {why}"));
            }
            Ok(migrated) => {
                for field in &migrated.dropped {
                    output.warning(format_args!(
                        "{name}: {field} is left out: v1 has no place for it, and {} doesn't keep it",
                        release.display_name()
                    ));
                }
                let before = Arc::clone(&document.file);
                seen.insert(path.clone(), Arc::clone(&before));
                let text = migrated.text;
                all.files.insert(path, Rewritten { before, text });
                all.applied.push(Applied {
                    build_edits: Vec::new(),
                    rule: "migrate",
                    title: "write it in hco.kubevirt.io/v1".to_owned(),
                    location: document.root.get("apiVersion").map(|v| Location::new(&document.file, v.span)),
                });
            }
            Err(NotMigrated::Version(version)) if version == "v1" => {}
            Err(why) => {
                verdict.failed = true;
                output.error(format_args!("{name}: {path} stays in v1beta1: {why}"));
            }
        }
    }
    all
}
