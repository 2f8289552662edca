//! Deleting the HyperConverged would delete every virtual machine.

use super::prelude::*;
use hcoplan_repository::repo::{SYNC_OPTIONS, has_sync_option};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("uninstallStrategy");
    if field.text() != Some("RemoveWorkloads") {
        return;
    }
    let message = "uninstallStrategy is RemoveWorkloads: deleting the HyperConverged deletes every \
                   VirtualMachine and DataVolume";
    let mut finding = cx
        .finding(message)
        .at(field.value_place())
        .label("deletes the workloads, too")
        .help("use BlockUninstallIfWorkloadsExist, which blocks the deletion while there are workloads");
    let keep = suggested_text(
        "write BlockUninstallIfWorkloadsExist, which blocks the deletion while there are workloads",
        field.value_place(),
        "BlockUninstallIfWorkloadsExist",
    );
    finding = finding.fix(keep);
    if !is_kept(cx)
        && let Some(application) = pruning(cx)
    {
        let prune = application.locate(&Path::dotted(PRUNE));
        finding = finding.error().related(prune, "deletes what git no longer has");
    }
    out.report(finding);
}

const PRUNE: &str = "spec.syncPolicy.automated.prune";

/// Whether an annotation prevents Argo CD from deleting the HyperConverged.
fn is_kept(cx: &Context<'_>) -> bool {
    let options = cx.annotation(SYNC_OPTIONS);
    let options = options.and_then(|a| a.text()).unwrap_or_default();
    ["Prune=false", "Delete=false"].iter().all(|wanted| has_sync_option(options, wanted))
}

/// An Argo CD Application that deletes objects removed from git.
fn pruning<'c>(cx: &'c Context<'_>) -> Option<&'c Document> {
    let all = cx.other_objects().of_kind("Application").iter();
    all.map(|d| &**d).find(|d| {
        let prune = d.root.below(PRUNE);
        let version = d.root.text_at("apiVersion");
        version.is_some_and(|v| v.starts_with("argoproj.io/")) && prune.is_some_and(Node::is_true)
    })
}
