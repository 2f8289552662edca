//! MigController, storage migrations. Source: HCO `controllers/handlers/migration.go`.

use hcoplan_kubernetes::Object;
use hcoplan_kubernetes::tree::{copy, set};
use serde_json::json;

use super::cr::Cr;
use super::{Context, Error};

/// Always. The TLS profile reaches it from 1.18 on; its type drops it before.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let mut spec = json!({});
    set(&mut spec, "imagePullPolicy", "IfNotPresent".into());
    copy(&mut spec, "tlsSecurityProfile", Some(&cx.tls().value));
    copy(&mut spec, "infra", cx.infra_placement());
    let object = cx.finish(Cr {
        api_version: "migrations.kubevirt.io/v1alpha1",
        kind: "MigController",
        name: "migcontroller-kubevirt-hyperconverged",
        namespaced: true,
        component: "migration",
        owned: false,
        annotations: &[],
        spec,
    })?;
    Ok(vec![object])
}
