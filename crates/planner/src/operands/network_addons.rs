//! NetworkAddonsConfig `cluster`. Source of every rule: HCO `controllers/handlers/networkAddons.go`.

use super::{Context, Error};
use crate::prelude::*;
use hcoplan_kubernetes::duration;
use hcoplan_kubernetes::tree::{get, set};
use serde_json::Map;
use std::net::Ipv4Addr;

const KIND: &str = "NetworkAddonsConfig";

/// Rendered always.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let secondary_dns = secondary_dns(cx)?;
    if cx.only_needs_errors(KIND) {
        return Ok(Vec::new());
    }
    let mut spec = json!({});
    for component in ["multus", "linuxBridge", "kubeMacPool", "kubevirtIpamController"] {
        set(&mut spec, component, json!({}));
    }
    set(&mut spec, "selfSignConfiguration", self_sign_configuration(cx));
    set(&mut spec, "tlsSecurityProfile", cx.tls().value.clone());
    if cx.is_openshift() {
        set(&mut spec, "kubevirtIpamController.defaultNetworkNADNamespace", "openshift-ovn-kubernetes".into());
    }
    if cx.hc.annotation_is("deployOVS", "true") {
        set(&mut spec, "ovs", json!({}));
    }
    if let Some(dns) = secondary_dns {
        set(&mut spec, "kubeSecondaryDNS", dns);
    }
    if let Some(placement) = placement_configuration(cx) {
        set(&mut spec, "placementConfiguration", placement);
    }
    cx.finish(KIND, &[], spec)
}

/// Checks the name server's address even if the gate is off.
fn secondary_dns(cx: &Context<'_>) -> Result<Option<Value>, Error> {
    const FIELD: &str = "networking.kubeSecondaryDNSNameServerIP";
    let server = cx.hc.text(FIELD);
    if server.is_some_and(|ip| ip.parse::<Ipv4Addr>().is_err()) {
        return Err(Error::of_field(KIND, FIELD, "kubeSecondaryDNSNameServerIP isn't a valid IPv4"));
    }
    if !cx.hc.gates.is_enabled("deployKubeSecondaryDNS", false) {
        return Ok(None);
    }
    let domain = cx.is_openshift().then_some(&cx.inventory.base_domain);
    Ok(Some(json!({"domain": domain, "nameServerIP": server})))
}

/// HCO's certificate durations under the add-ons operator's names, with HCO's defaults.
fn self_sign_configuration(cx: &Context<'_>) -> Value {
    let certificates = cx.hc.get("security.certConfig");
    let value = |path: &str, default: &str| {
        let own = certificates.and_then(|c| get(c, path)).and_then(Value::as_str);
        let parsed = own.and_then(|d| duration::parse(d).ok());
        parsed.map_or_else(|| default.to_owned(), |d| d.to_string())
    };
    json!({
        "caRotateInterval": value("ca.duration", "48h0m0s"),
        "caOverlapInterval": value("ca.renewBefore", "24h0m0s"),
        "certRotateInterval": value("server.duration", "24h0m0s"),
        "certOverlapInterval": value("server.renewBefore", "12h0m0s"),
    })
}

/// Empty placements are left out; others always have an affinity.
fn placement_configuration(cx: &Context<'_>) -> Option<Value> {
    let mut out = Map::new();
    for (name, placement) in [("infra", cx.infra_placement()), ("workloads", cx.workload_placement())] {
        let Some(placement) = placement.filter(|p| p.as_object().is_some_and(|m| !m.is_empty())) else {
            continue;
        };
        let mut placement = placement.clone();
        if get(&placement, "affinity").is_none() {
            set(&mut placement, "affinity", json!({}));
        }
        out.insert(name.into(), placement);
    }
    (!out.is_empty()).then_some(Value::Object(out))
}
