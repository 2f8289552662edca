//! An object that HCO deletes is still in git.

use hcoplan_planner::release::RemovedObject;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "removed-object-in-git",
    group: Group::Upgrade,
    severity: Severity::Warning,
    predicts: Prediction::Silent("HCO deletes it in the upgrade, and git creates it again"),
    needs: Needs::Document,
    summary: "git still has an object that HCO deletes when it is upgraded to this release",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for removed in &cx.release().upgrade().removed_objects {
        let of_kind = cx.neighbours().of_kind(&removed.kind).iter();
        for document in of_kind.filter(|d| is_it(cx, removed, d)) {
            let release = cx.release().label();
            let message = format!("{} {} is gone in {release}", removed.kind, removed.name);
            let finding = finding_about(&RULE, document, message)
                .label("HCO deletes it, git creates it again")
                .help("delete the manifest");
            out.report(finding);
        }
    }
}

fn is_it(cx: &Context<'_>, removed: &RemovedObject, document: &Document) -> bool {
    let group = text_at(document, "apiVersion").map(|v| v.split_once('/').map_or("", |(g, _)| g));
    let namespace = namespace_of(document);
    let own = cx.object().pointer("/metadata/namespace");
    let here = own.and_then(|n| n.as_str()) == Some(namespace);
    group == Some(removed.group.as_str())
        && text_at(document, "metadata.name") == Some(removed.name.as_str())
        && (namespace == removed.namespace || (here && removed.namespace != "default"))
}
