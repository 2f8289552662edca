//! A node affinity that Kubernetes can't parse.

use hcoplan_kubernetes::label_selector::Requirement;

use super::prelude::*;

/// The path of a node affinity in a placement.
const AFFINITY: &str = "affinity.nodeAffinity";

const OPERATORS: [&str; 6] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.admission().accepted {
        preferred(cx, out);
        return;
    }
    let placements: Vec<Path> =
        Pods::ALL.iter().filter_map(|pods| cx.field(pods.field()).path()).map(|path| path.below(AFFINITY)).collect();
    let causes = &cx.admission().causes;
    let is_ours = causes.first().is_some_and(|c| placements.iter().any(|p| c.path.starts_with(p)));
    let could_be = |r| matches!(r, Reason::Affinity | Reason::GoDecode | Reason::Schema(_));
    if is_ours && let Some(mut finding) = cx.rejected(could_be) {
        let edits: Vec<_> = placements.iter().flat_map(|path| corrections(cx, path)).collect();
        let mistyped = cx.mistyped();
        if let Some(first) = mistyped.iter().find(|m| causes.first().is_some_and(|c| c.path == m.path)) {
            finding = finding.label(first.describe());
        }
        let title = and(edits.iter().map(|fix| &fix.title));
        let fix = (!edits.is_empty()).then(|| safe(title, edits.into_iter().flat_map(|f| f.edits).collect()));
        out.reject(finding.remedy(FORM, fix));
    }
}

/// The help if the intended value is unclear.
const FORM: &str = "write a requirement that Kubernetes takes";

/// The preferred terms, which HCO doesn't check.
fn preferred(cx: &Context<'_>, out: &mut Sink) {
    let placements = Pods::ALL.iter().map(|pods| cx.field(pods.field()).node());
    let affinities = placements.flatten().filter_map(|placement| placement.below(AFFINITY));
    for term in affinities.flat_map(|affinity| affinity.list_at(PREFERRED)) {
        for requirement in term.list_at("preference.matchExpressions") {
            if Requirement::of(&requirement.to_json()).is_some() {
                continue;
            }
            let place = requirement.get("operator").unwrap_or(requirement);
            let finding = cx
                .finding(format!("Kubernetes rejects the requirement {}", requirement.to_json()))
                .at(cx.location(place.span))
                .label("accepted by HCO, rejected when KubeVirt places its pods");
            out.report(finding.remedy(FORM, operator(cx, requirement)));
        }
    }
}

/// The safe corrections of operators and values below a node affinity.
fn corrections(cx: &Context<'_>, affinity: &Path) -> Vec<Fix> {
    let mut found = Vec::new();
    if let Some(node) = cx.root().at(affinity) {
        node.walk(&Trail::Start(affinity), &mut |_, node| {
            found.extend(operator(cx, node));
            true
        });
    }
    let mistyped = cx.mistyped();
    let below = mistyped.iter().filter(|m| m.path.starts_with(affinity));
    found.extend(below.filter_map(|m| m.fix(cx)));
    found
}

/// Corrects the case of a requirement's operator.
fn operator(cx: &Context<'_>, requirement: &Node) -> Option<Fix> {
    let node = requirement.get("operator")?;
    let written = node.as_str()?;
    let meant = OPERATORS.iter().find(|o| o.eq_ignore_ascii_case(written))?;
    if *meant == written {
        return None;
    }
    let place = cx.location(node.span);
    Some(Fix::edit(format!("write the operator {meant}"), Applicability::Safe, place, *meant))
}
