//! NetworkAddonsConfig `cluster`. Source of every rule: HCO `controllers/handlers/networkAddons.go`.

use super::cr::Rendering;
use super::{Context, Error};
use crate::prelude::*;
use hcoplan_kubernetes::tree::{get, set};
use std::net::Ipv4Addr;

const KIND: &str = "NetworkAddonsConfig";

/// Rendered always.
pub(super) fn render(cx: &Context<'_>) -> Rendering {
    let secondary_dns = secondary_dns(cx)?;
    if cx.only_needs_errors(KIND) {
        return Ok(None);
    }
    let mut spec = cx.base(KIND);
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

/// Empty placements are left out; others always have an affinity.
fn placement_configuration(cx: &Context<'_>) -> Option<Value> {
    let mut out = Map::new();
    for (name, placement) in [("infra", cx.hc.infra_placement()), ("workloads", cx.hc.workload_placement())] {
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
