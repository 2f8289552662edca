//! Deprecated gates that contradict the fields that replace them.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let rules = cx.release().admission().version(cx.version());
    let pairs = rules.map_or(&[][..], |r| &r.gates_to_fields);
    let admission = cx.admission();
    let pair = pairs.iter().find(|p| {
        let field = Path::dotted(&p.field);
        admission.causes.iter().any(|cause| match admission.reason {
            // The webhook sets the gate's field, whose parent is missing.
            Some(Reason::MutationFails) => field.starts_with(&cause.path) && cx.gate(&p.gate).is_written(),
            _ => cause.path == field,
        })
    });
    let is_ours = |reason| matches!(reason, Reason::GateContradictsField | Reason::MutationFails);
    let (Some(pair), Some(finding)) = (pair, cx.rejected(is_ours)) else {
        return;
    };
    let gate = cx.gate(&pair.gate);
    // The operator ignores names that differ in case.
    let on =
        gate.written_state().map_or_else(|| gate.explicit().unwrap_or(true), |s| !s.eq_ignore_ascii_case("Disabled"));
    let wanted = on != pair.opposite;
    let state = if on { "on" } else { "off" };
    let field = pair.field.strip_prefix("spec.").unwrap_or(&pair.field);
    let written = cx.field(field);
    // The gate is to be removed, even if its value is the intended one.
    let mut finding = finding.at(gate.place()).label(format!("{} is {state}", pair.gate));
    finding.related.clear();
    let mut changes = cx.gate_removals(&[&pair.gate]);
    let title = match written.flag() {
        Some(value) => {
            finding = finding.related(written.value_place(), format!("{field} is {value}"));
            format!("remove the gate {}: {field} stays {value}; set it to {wanted} if the gate is right", pair.gate)
        }
        None => {
            changes.push(Change::Set(Path::dotted(&pair.field), wanted.into()));
            format!("write `{field}: {wanted}` instead of the gate {}", pair.gate)
        }
    };
    out.reject(cx.with_fix(finding, title, Applicability::Unsafe, &changes));
}
