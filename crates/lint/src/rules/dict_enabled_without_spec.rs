//! An enabled golden image without a spec.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for template in cx.written_templates() {
        let spec = template.get("spec");
        let empty = spec.is_none_or(|s| matches!(s.value, Value::Null));
        // A misplaced or misspelt annotation may be meant to disable it.
        let misplaced =
            template.misplaced_metadata().next().is_some() || template.misspelt(ENABLE_ANNOTATION).is_some();
        let is_written = || cx.meant_for(&template.path(cx).key("spec")).is_some();
        if !empty || misplaced || !template.is_enabled() || is_written() {
            continue;
        }
        let off = template.path(cx).below("metadata.annotations").key(ENABLE_ANNOTATION);
        let off = cx.common_image(template.name()).map(|_| Change::Set(off, "false".into()));
        let place = match spec {
            Some(_) => template.locate_key("spec"),
            None => template.name_place(),
        };
        let finding = cx
            .finding(format!("{template} is on, but has no spec: HCO rejects the HyperConverged"))
            .at(place)
            .label("has no spec")
            .remedy("write its spec, or remove it", cx.change(Applicability::Suggestion, off.as_slice()));
        let rejected = cx.is_rejected_at(Reason::TemplateWithoutSpec, &template.path(cx));
        out.report_as(rejected.then_some(Incident::Rejection), finding);
    }
}
