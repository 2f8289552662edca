//! CDI `cdi.kubevirt.io/v1beta1`. Source of every rule: HCO `controllers/handlers/cdi.go`.

use super::cr::Cr;
use super::{Context, Error, kubevirt};
use crate::prelude::*;
use hcoplan_kubernetes::tree::{copy, set};

/// Rendered always.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if cx.only_needs_errors("CDI") {
        return Ok(Vec::new());
    }
    let mut spec = json!({});
    set(&mut spec, "uninstallStrategy", kubevirt::uninstall_strategy(cx).into());
    set(&mut spec, "config.featureGates", json!(cx.release.tables().cdi_feature_gates));
    copy(&mut spec, "config.tlsSecurityProfile", Some(&cx.tls().value));
    for (to, from) in [
        ("config.podResourceRequirements", "storage.workloadResourceRequirements"),
        ("config.scratchSpaceStorageClass", "storage.scratchSpaceStorageClass"),
        ("config.insecureRegistries", "storage.storageImport.insecureRegistries"),
        ("config.filesystemOverhead", "storage.filesystemOverhead"),
        ("config.logVerbosity", "deployment.logVerbosityConfig.cdi"),
        ("certConfig", "security.certConfig"),
    ] {
        copy(&mut spec, to, cx.hc.get(from));
    }
    copy(&mut spec, "infra", cx.infra_placement());
    copy(&mut spec, "workload", cx.workload_placement());
    let object = cx.finish(Cr {
        api_version: "cdi.kubevirt.io/v1beta1",
        kind: "CDI",
        name: "cdi-kubevirt-hyperconverged",
        namespaced: false,
        component: "storage",
        owned: false,
        annotations: &["cdi.kubevirt.io/configAuthority"],
        spec,
    })?;
    Ok(vec![object])
}
