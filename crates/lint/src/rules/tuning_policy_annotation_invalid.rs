//! The rate limits of `tuningPolicy: annotation`.

use super::prelude::*;
use crate::Annotation;

/// The annotation with the limits.
const ANNOTATION: &str = "hco.kubevirt.io/tuningPolicy";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let path = Path::annotation(ANNOTATION);
    let policy = cx.field("tuningPolicy");
    let about_us = |p: &Path| *p == path || policy.path().as_ref() == Some(p);
    let admission = cx.admission();
    let is_ours = policy.is_set() && admission.patch.is_none() && admission.causes.iter().all(|c| about_us(&c.path));
    if let Some(finding) = cx.rejected(|reason| reason == Reason::Render && is_ours) {
        out.reject(with_fix(cx, finding));
        return;
    }
    let failed = cx.plan().reconcile_error.as_ref();
    let failed = failed.filter(|e| e.operand == "KubeVirt" && e.patch.is_none());
    if let (Some(error), true) = (failed, policy.is_set()) {
        let message = format!("the HyperConverged is accepted, but HCO can't render KubeVirt: {error}");
        let finding = cx.finding(message).at(place(cx));
        out.explain(Incident::ReconcileError, with_fix(cx, finding));
        return;
    }
    unused(cx, out);
}

/// The location of the annotation, else of the policy that requires it.
fn place(cx: &Context<'_>) -> Location {
    match cx.annotation(ANNOTATION) {
        Some(annotation) => annotation.value_place(),
        None => cx.field("tuningPolicy").value_place(),
    }
}

/// The first limit missing in the annotation; `None` unless it is JSON with numbers.
fn missing_limit(annotation: &Annotation<'_>) -> Option<&'static str> {
    let limits: Json = serde_json::from_str(annotation.text()?).ok()?;
    let limits = limits.as_object()?;
    ["qps", "burst"].into_iter().find(|limit| limits.get(*limit).is_none_or(|n| n.as_f64().is_some_and(|n| n <= 0.0)))
}

fn with_fix(cx: &Context<'_>, finding: Finding) -> Finding {
    let annotation = cx.annotation(ANNOTATION);
    let high_burst = cx.field("tuningPolicy").text() == Some("highBurst");
    let label = match annotation {
        None => format!("the annotation {ANNOTATION} is missing"),
        Some(_) if high_burst => "highBurst takes no annotation".to_owned(),
        Some(annotation) => match missing_limit(&annotation) {
            Some(limit) => format!("{limit} is missing or not above zero"),
            None => "not JSON with qps and burst".to_owned(),
        },
    };
    let finding = finding.label(label);
    let policy = cx.field("tuningPolicy").value_place();
    match annotation {
        Some(_) if high_burst => {
            let finding = finding.related(policy, "the policy with limits of its own");
            finding.help("write `tuningPolicy: annotation`, or remove the annotation")
        }
        Some(_) => finding
            .related(policy, "reads the annotation")
            .help(r#"write both limits above zero: {"qps": 100, "burst": 200}"#),
        None => finding.help(format!(r#"add the annotation {ANNOTATION}: '{{"qps": 100, "burst": 200}}'"#)),
    }
}

/// An annotation that isn't used.
fn unused(cx: &Context<'_>, out: &mut Sink) {
    let policy = cx.field("tuningPolicy");
    let Some(annotation) = cx.annotation(ANNOTATION) else {
        return;
    };
    if !cx.admission().accepted || policy.text() == Some("annotation") {
        return;
    }
    let message = match policy.text() {
        Some(other) => format!("nothing reads the annotation {ANNOTATION}: tuningPolicy is {other}"),
        None => format!("the annotation {ANNOTATION} has no effect without a tuningPolicy"),
    };
    let finding = cx
        .finding(message)
        .at(annotation.key_place())
        .warning()
        .label("without effect")
        .help("write `tuningPolicy: annotation`, or remove the annotation");
    let switched_on = policy.path().map(|p| [Change::Set(p, "annotation".into())]);
    let switch_on = switched_on.and_then(|c| cx.suggest("write `tuningPolicy: annotation`", &c));
    let remove = cx.change(Applicability::Suggestion, &cx.annotation_removals(&[ANNOTATION]));
    out.report(finding.fixes(switch_on).fixes(remove));
}
