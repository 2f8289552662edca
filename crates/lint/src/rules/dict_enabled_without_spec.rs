//! An enabled golden image without a spec.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for template in cx.written_templates() {
        let spec = template.get("spec");
        let empty = spec.is_none_or(|s| matches!(s.value, Value::Null));
        // A misplaced annotation may be meant to disable it.
        let misplaced = template.misplaced_metadata().next().is_some();
        let is_written = || cx.meant_for(&template.path(cx).key("spec")).is_some();
        if !empty || misplaced || !template.is_enabled() || is_written() {
            continue;
        }
        let common = cx.common_image(template.name()).is_some();
        let help = if common {
            format!("to switch the common image off, add {ENABLE_ANNOTATION}: \"false\"")
        } else {
            "write its spec, or remove it".to_owned()
        };
        let place = match spec {
            Some(_) => template.locate_key("spec"),
            None => template.name_place(),
        };
        let mut finding = cx
            .finding(format!("{template} is on, but has no spec: HCO rejects the HyperConverged"))
            .at(place)
            .label("has no spec")
            .help(help);
        if common {
            let path = template.path(cx).below("metadata.annotations");
            let off = [Change::Set(path.key(ENABLE_ANNOTATION), "false".into())];
            finding = finding.fixes(cx.change(Applicability::Suggestion, &off));
        }
        let rejected = cx.is_rejected_at(Reason::TemplateWithoutSpec, &template.path(cx));
        out.report_as(rejected.then_some(Incident::Rejection), finding);
    }
}
