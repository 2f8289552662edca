//! MigController, storage migrations, and FileRestoreOperator (1.19). Source: HCO `controllers/handlers/migration.go`,
//! `vm-file-restore.go`.

use super::Context;
use super::cr::Rendering;

/// Always.
pub(super) fn render_mig_controller(cx: &Context<'_>) -> Rendering {
    cx.finish("MigController", &[], cx.base("MigController"))
}

/// Always, where the release has it.
pub(super) fn render_file_restore(cx: &Context<'_>) -> Rendering {
    cx.finish("FileRestoreOperator", &[], cx.base("FileRestoreOperator"))
}
