//! The descheduler's profile LongLifecycle without background evictions.

use super::prelude::*;

const SWITCH: &str = "profileCustomizations.devEnableEvictionsInBackground";

pub(super) fn find(cx: &Context<'_>, descheduler: &Descheduler<'_>) -> Option<Finding> {
    let profiles = descheduler.profiles();
    let knows = |p: &&str| p.ends_with("KubeVirtRelieveAndMigrate");
    let on = descheduler.get(SWITCH).is_some_and(Node::is_true);
    if !profiles.contains(&"LongLifecycle") || profiles.iter().any(knows) || on {
        return None;
    }
    let document = descheduler.document;
    let profile = items(descheduler.get("profiles")).iter().find(|n| n.as_str() == Some("LongLifecycle"));
    let place = match (descheduler.get(SWITCH), profile) {
        (Some(node), _) | (None, Some(node)) => document.location(node.span),
        (None, None) => document.locate(&descheduler.spec),
    };
    let message =
        "the KubeDescheduler's profile LongLifecycle without evictions in the background starts too many migrations";
    let mut finding = cx
        .finding_about(document, message)
        .at(place)
        .label("every eviction of a virtual machine looks like a failure")
        .help(format!("set {SWITCH}: true"));
    if !descheduler.is_watched {
        finding = finding.info();
    }
    let set = [Change::Set(descheduler.spec.below(SWITCH), true.into())];
    Some(finding.fixes(unsafe_fix(document, format!("set {SWITCH}: true"), &set)))
}
