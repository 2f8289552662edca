//! FileRestoreOperator (1.19). Source: HCO `controllers/handlers/vm-file-restore.go`.

use hcoplan_kubernetes::Object;
use hcoplan_kubernetes::tree::{copy, set};
use serde_json::json;

use super::cr::Cr;
use super::{Context, Error};

/// Always, where the release has it.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let mut spec = json!({});
    set(&mut spec, "imagePullPolicy", "IfNotPresent".into());
    copy(&mut spec, "tlsSecurityProfile", Some(&cx.tls().value));
    let object = cx.finish(Cr {
        api_version: "filerestore.kubevirt.io/v1alpha1",
        kind: "FileRestoreOperator",
        name: "vm-file-restore-kubevirt-hyperconverged",
        namespaced: true,
        component: "vm-file-restore",
        owned: true,
        annotations: &[],
        spec,
    })?;
    Ok(vec![object])
}
