//! CDI `cdi.kubevirt.io/v1beta1`. Source of every rule: HCO `controllers/handlers/cdi.go`.

use serde_json::{Value, json};

use super::cr::Cr;
use super::{Context, Error, kubevirt};
use crate::kube::Object;
use crate::kube::tree::copy;

/// Always.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if cx.only_errors_count("CDI") {
        return Ok(Vec::new());
    }
    let mut spec = json!({
        "uninstallStrategy": kubevirt::uninstall_strategy(cx),
        "config": config(cx),
    });
    copy(&mut spec, "certConfig", cx.hc.get("security.certConfig"));
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
        list: None,
    })?;
    Ok(vec![object])
}

fn config(cx: &Context<'_>) -> Value {
    let mut config = json!({
        "featureGates": cx.release.tables().cdi_feature_gates,
        "tlsSecurityProfile": cx.tls().value,
    });
    for (to, from) in [
        (
            "podResourceRequirements",
            "storage.workloadResourceRequirements",
        ),
        (
            "scratchSpaceStorageClass",
            "storage.scratchSpaceStorageClass",
        ),
        (
            "insecureRegistries",
            "storage.storageImport.insecureRegistries",
        ),
        ("filesystemOverhead", "storage.filesystemOverhead"),
        ("logVerbosity", "deployment.logVerbosityConfig.cdi"),
    ] {
        copy(&mut config, to, cx.hc.get(from));
    }
    config
}
