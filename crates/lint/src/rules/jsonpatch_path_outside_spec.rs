//! A patch that writes outside the operand's spec.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        for operation in patch.operations().iter().filter(|o| !o.path.starts_with("/spec/")) {
            let path = &operation.path;
            let message = format!("the patch path {} isn't below /spec/ of {}", quoted(path), patch.target.kind);
            let mut finding = cx.finding(message).at(patch.path_place(operation)).label("can only modify spec fields");
            let below = path.trim_start_matches('/');
            let meant = if path.starts_with("spec/") { format!("/{path}") } else { format!("/spec/{below}") };
            finding = if is_a_field(cx, patch, &meant) {
                finding.remedy(format!("did you mean {meant}?"), patch.rewritten(operation.spans.path, &meant))
            } else if path == "/spec" || path.is_empty() {
                finding.help("name the fields below /spec, one operation for each")
            } else {
                finding.help("a patch reaches fields below /spec/ only")
            };
            explain_patch(cx, out, patch, finding);
        }
    }
}

fn quoted(path: &str) -> &str {
    if path.is_empty() { "\"\"" } else { path }
}

/// Whether the operand's type has such a field.
fn is_a_field(cx: &Context<'_>, patch: &PatchAnnotation<'_>, pointer: &str) -> bool {
    let Some((types, mut ty)) = cx.types_of(patch) else {
        return false;
    };
    let segments = jsonpatch::segments(pointer);
    for segment in &segments {
        ty = match types.step(ty, segment) {
            TypeStep::Field(name, inner) if name == segment => inner,
            TypeStep::Inside(inner) => inner,
            TypeStep::Free => return true,
            _ => return false,
        };
    }
    segments.len() > 1
}
