//! MigController, storage migrations, and FileRestoreOperator (1.19). Source: HCO `controllers/handlers/migration.go`,
//! `vm-file-restore.go`.

use super::{Context, Error};
use crate::prelude::*;
use hcoplan_kubernetes::tree::set;

/// Always. The TLS profile reaches it from 1.18 on; its type drops it before.
pub(super) fn render_mig_controller(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    cx.finish("MigController", &[], common_spec(cx))
}

/// Always, where the release has it.
pub(super) fn render_file_restore(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    cx.finish("FileRestoreOperator", &[], common_spec(cx))
}

fn common_spec(cx: &Context<'_>) -> Value {
    let mut spec = json!({});
    set(&mut spec, "imagePullPolicy", "IfNotPresent".into());
    set(&mut spec, "tlsSecurityProfile", cx.tls().value.clone());
    spec
}
