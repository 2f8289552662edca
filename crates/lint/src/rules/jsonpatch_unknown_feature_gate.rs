//! A patch that adds a feature gate which KubeVirt doesn't have.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-unknown-feature-gate",
    group: Group::Jsonpatch,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the gate switches nothing, and nothing says so"),
    fix: FixKind::Suggested,
    claims: Claim::HasEffect,
    summary: "a jsonpatch adds a feature gate that KubeVirt doesn't know",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let kubevirt = cx.release().kubevirt();
    for applied in cx.applied().filter(|a| a.kind() == "KubeVirt") {
        let Some(gates) = applied.gates() else {
            continue;
        };
        for gate in &gates.added {
            let rendered = gates.twice.contains(gate);
            if rendered || kubevirt.feature_gates.contains_key(gate) {
                continue;
            }
            let version = &kubevirt.version;
            let message = format!("KubeVirt {version} has no feature gate {gate}");
            let finding = Finding::new(&RULE, message).at(applied.text_place(gate)).label("ignored");
            let known = kubevirt.feature_gates.keys().map(String::as_str);
            out.report(match (nearest(gate, known), later(cx, gate)) {
                (_, Some(release)) => finding.help(format!(
                    "the KubeVirt of {release} is the first that has it: remove the operation \
                     until then"
                )),
                (Some(meant), None) => {
                    finding.help(format!("did you mean {meant}?")).fixes(written(&applied, gate, meant))
                }
                (None, None) => finding.help("remove it, or write the gate's name as KubeVirt does"),
            });
        }
    }
}

/// The first release after the cluster's whose KubeVirt has the gate.
fn later(cx: &Context<'_>, gate: &str) -> Option<String> {
    let siblings = cx.release().releases_of_distribution();
    let mut releases = siblings.iter().skip_while(|r| r.name() != cx.release().name());
    let first = releases.find(|r| r.kubevirt().feature_gates.contains_key(gate))?;
    Some(first.display_name())
}

/// The right name in the wrong one's place.
fn written(applied: &Applied<'_, '_>, gate: &str, meant: &str) -> Option<Fix> {
    let span = applied.text_span(gate)?.range();
    let (_, edits) = applied.patch.edited(&[(span.start + 1..span.end - 1, meant.to_owned())])?;
    Some(Fix { title: format!("write {meant}"), applicability: Applicability::Suggestion, edits })
}
