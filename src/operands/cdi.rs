//! CDI `cdi.kubevirt.io/v1beta1`. Source of every rule: HCO `controllers/handlers/cdi.go`.

use super::cr::Cr;
use super::spec::Spec;
use super::{Context, Error, kubevirt};
use crate::kube::Object;

/// Always.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    if cx.only_errors_count("CDI") {
        return Ok(Vec::new());
    }
    let mut spec = Spec::default();
    spec.text("uninstallStrategy", kubevirt::uninstall_strategy(cx));
    spec.texts(
        "config.featureGates",
        &cx.release.tables().cdi_feature_gates,
    );
    spec.copy("config.tlsSecurityProfile", Some(&cx.tls().value));
    for (to, from) in [
        (
            "config.podResourceRequirements",
            "storage.workloadResourceRequirements",
        ),
        (
            "config.scratchSpaceStorageClass",
            "storage.scratchSpaceStorageClass",
        ),
        (
            "config.insecureRegistries",
            "storage.storageImport.insecureRegistries",
        ),
        ("config.filesystemOverhead", "storage.filesystemOverhead"),
        ("config.logVerbosity", "deployment.logVerbosityConfig.cdi"),
        ("certConfig", "security.certConfig"),
    ] {
        spec.copy(to, cx.hc.get(from));
    }
    spec.copy("infra", cx.infra_placement());
    spec.copy("workload", cx.workload_placement());
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
