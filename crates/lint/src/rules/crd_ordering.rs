//! The HyperConverged is applied together with the Subscription that installs its CRD.

use super::prelude::*;
use hcoplan_repository::repo::{SYNC_OPTIONS, has_sync_option};

const WAVE: &str = "argocd.argoproj.io/sync-wave";
const SKIP: &str = "SkipDryRunOnMissingResource=true";

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let document = cx.document();
    let directory = document.file.path().parent();
    // Files that a kustomization doesn't include aren't synced with it.
    let built = cx.built_files();
    let is_built = |d: &Document| built.has(&d.file);
    let mut beside =
        cx.subscriptions().filter(|d| d.file.path().parent() == directory && is_built(d) && is_built(document));
    let subscription = beside.next()?;
    // Tools other than Argo CD retry, and need no waves.
    let of_application = cx.other_objects().skips_dry_run;
    if of_application.is_none() && annotation(document, WAVE).or(annotation(subscription, WAVE)).is_none() {
        return None;
    }
    let skips =
        of_application == Some(true) || annotation(document, SYNC_OPTIONS).is_some_and(|o| has_sync_option(o, SKIP));
    let (own, first) = (wave(document), wave(subscription));
    if skips && own > first {
        return None;
    }
    // Argo CD stops at a wave that fails, here because of the missing CRD.
    let is_before = own < first;
    let finding = if is_before {
        cx.finding("the HyperConverged is synced before the Subscription that installs its CRD").warning()
    } else {
        cx.finding("the HyperConverged is synced together with the Subscription that installs its CRD")
    };
    let finding = finding
        .at(match annotation(document, WAVE) {
            Some(_) => document.locate(&Path::annotation(WAVE)),
            None => cx.whole_location(),
        })
        .label(if is_before {
            "a new cluster never gets to the wave of the Subscription"
        } else {
            "its kind doesn't exist yet when a new cluster is synced"
        })
        .help(format!("give it a later sync wave and the sync option {SKIP}"))
        .related(subscription.locate(&Path::dotted("spec.name")), "the CRD comes with this operator");
    let mut changes = Vec::new();
    if own <= first {
        let later = first.saturating_add(1).to_string();
        changes.push(Change::Set(Path::annotation(WAVE), later.into()));
    }
    if !skips {
        let options = match annotation(document, SYNC_OPTIONS) {
            Some(options) if !options.is_empty() => format!("{options},{SKIP}"),
            _ => SKIP.to_owned(),
        };
        changes.push(Change::Set(Path::annotation(SYNC_OPTIONS), options.into()));
    }
    Some(finding.fixes(cx.change(Applicability::Suggestion, &changes)))
}

fn annotation<'d>(document: &'d Document, name: &str) -> Option<&'d str> {
    document.root.str_at(&Path::annotation(name))
}

fn wave(document: &Document) -> i64 {
    let text = annotation(document, WAVE);
    text.and_then(|t| t.trim().parse().ok()).unwrap_or(0)
}
