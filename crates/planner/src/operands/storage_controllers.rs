//! MigController, storage migrations, and FileRestoreOperator (1.19). Source: HCO `controllers/handlers/migration.go`,
//! `vm-file-restore.go`.

use super::cr::Cr;
use super::{Context, Error};
use crate::prelude::*;
use hcoplan_kubernetes::tree::{copy, set};

/// Always. The TLS profile reaches it from 1.18 on; its type drops it before.
pub(super) fn render_mig_controller(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let mut spec = common_spec(cx);
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

/// Always, where the release has it.
pub(super) fn render_file_restore(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    let object = cx.finish(Cr {
        api_version: "filerestore.kubevirt.io/v1alpha1",
        kind: "FileRestoreOperator",
        name: "vm-file-restore-kubevirt-hyperconverged",
        namespaced: true,
        component: "vm-file-restore",
        owned: true,
        annotations: &[],
        spec: common_spec(cx),
    })?;
    Ok(vec![object])
}

fn common_spec(cx: &Context<'_>) -> Value {
    let mut spec = json!({});
    set(&mut spec, "imagePullPolicy", "IfNotPresent".into());
    copy(&mut spec, "tlsSecurityProfile", Some(&cx.tls().value));
    spec
}
