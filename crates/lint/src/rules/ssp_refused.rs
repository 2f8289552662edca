//! SSP's webhook refuses the SSP that HCO makes.

use hcoplan_planner::boot_images::ssp_stage::WITHOUT_NODES;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "ssp-refused",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError("admission webhook \"validation.ssp.kubevirt.io\" denied the request"),
    summary: "SSP's webhook would refuse the SSP that HCO makes of the HyperConverged",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if out.is_explained(Incident::SspRefusal) {
        return;
    }
    // Without declared nodes nobody knows which architectures HCO would find.
    let unknown = |message: &&str| !cx.has_nodes() && message.ends_with(WITHOUT_NODES);
    if let Some(message) = cx.ssp_refusal().filter(|m| !unknown(m)) {
        let patch = cx.annotation("ssp.kubevirt.io/jsonpatch");
        let place = patch.map_or_else(|| cx.whole_location(), |p| p.key_place());
        let finding = Finding::new(&RULE, format!("SSP's webhook refuses the SSP: {message}"))
            .at(place)
            .label("HCO makes an SSP of it that is refused");
        out.explain(Incident::SspRefusal, finding);
    }
}
