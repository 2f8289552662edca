//! The name server of KubeSecondaryDNS.

use super::prelude::*;

/// The gate that enables the field.
const GATE: &str = "deployKubeSecondaryDNS";

/// The field's path below `spec` of v1.
const FIELD: &str = "networking.kubeSecondaryDNSNameServerIP";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("kubeSecondaryDNSNameServerIP");
    let Some(address) = field.text().filter(|a| !a.is_empty()) else {
        return;
    };
    let label = match address.parse::<std::net::Ipv6Addr>() {
        Ok(_) => "an IPv6 address",
        Err(_) => "not an IPv4 address",
    };
    let help = "write an IPv4 address such as 192.0.2.53";
    let admission = cx.admission();
    let is_ours = admission.patch.is_none() && admission.causes.iter().all(|c| Some(&c.path) == field.path().as_ref());
    if let Some(finding) = cx.rejected(|reason| reason == Reason::Render && is_ours) {
        out.reject(finding.label(label).help(help));
        return;
    }
    if !admission.accepted {
        return;
    }
    let failed = cx.plan().reconcile_error.as_ref();
    if let Some(error) = failed.filter(|e| e.field == Some(FIELD)) {
        let message = format!("the HyperConverged is accepted, but HCO can't render {}: {error}", error.operand);
        let finding = cx.finding(message).at(field.value_place());
        out.explain(Incident::ReconcileError, finding.label(label).help(help));
        return;
    }
    let gate = cx.gate(GATE);
    if gate.explicit() == Some(true) {
        return;
    }
    let message = format!("nothing uses the name server {address}: {GATE} is off");
    let finding = cx
        .finding(message)
        .at(field.key_place())
        .info()
        .label("without effect")
        .help(format!("switch the feature gate {GATE} on, or remove `kubeSecondaryDNSNameServerIP`"));
    out.report(if gate.is_written() { finding.related(gate.place(), "off") } else { finding });
}
