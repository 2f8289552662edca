//! An API version that the cluster's release doesn't serve yet.

use std::sync::Arc;

use hcoplan_planner::admission::{GROUP, Reason as Refused};
use hcoplan_planner::hyperconverged::version_of;
use hcoplan_planner::release::Release;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "hco-api-v1-too-new",
    group: Group::Upgrade,
    severity: Severity::Error,
    predicts: Prediction::Refusal("no matches for kind \"HyperConverged\" in version \"hco.kubevirt.io/v1\""),
    needs: Needs::Document,
    summary: "the HyperConverged is written in an API version that only a later release serves",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // First, since it needs no other release.
    let Some(finding) = cx.refused(&RULE, |reason| reason == Refused::UnknownKind) else {
        return;
    };
    let version = version_of(cx.object());
    let serves = |release: &&Arc<Release>| {
        let served = &release.tables().hyperconverged.served_versions;
        served.iter().any(|v| v == version)
    };
    let kind = cx.object().get("kind").and_then(serde_json::Value::as_str);
    let of_group = cx.api_version() == format!("{GROUP}/{version}") && kind == Some("HyperConverged");
    let siblings = cx.release().releases_of_distribution();
    let Some(first) = siblings.iter().find(serves).filter(|_| of_group) else {
        return;
    };
    let first = first.label();
    let served = &cx.release().tables().hyperconverged.served_versions;
    let finding = finding
        .at(cx.document().locate(&Path::dotted("apiVersion")))
        .label(format!("served from {first} on"))
        .help(format!("write it in {} until the cluster runs {first}", and(served)));
    out.explain(Incident::Refusal, finding);
}
