//! A patch of versions, images or the removal of an operand, which HCO then doesn't control.

use super::prelude::*;

/// Fields of operands, and the consequence of patching them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    /// Each with its kind and its pointer.
    fields: Vec<(&'static str, &'static str)>,
    #[serde(default)]
    is_error: bool,
    means: &'static str,
    /// The HyperConverged's field for it, by its path below `spec`.
    field: Option<&'static str>,
    /// Why HCO or the release decides, if there is no field.
    #[serde(default)]
    reason: &'static str,
}

static PARTS: Rows<Part> = Rows::of("patchedLifecycle");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let kind = applied.kind();
        for part in &*PARTS {
            let of_kind = part.fields.iter().filter(|(of, _)| *of == kind);
            for pointer in of_kind.filter_map(|(_, pointer)| applied.changed_below(pointer)) {
                let instead = match part.field.map(|field| cx.field(field).path()) {
                    Some(Some(path)) => format!("use {path}"),
                    Some(None) => part.means.to_owned(),
                    None => part.reason.to_owned(),
                };
                let message = format!("the patch sets {pointer} of {kind}: {}", part.means);
                let fix =
                    cx.drop_operation(&applied).map(|fix| Fix { title: format!("{}: {instead}", fix.title), ..fix });
                out.report(
                    cx.finding(message)
                        .severity(error_if(part.is_error))
                        .at(applied.named_location(pointer))
                        .label("HCO no longer controls it")
                        .remedy(format!("remove it: {instead}"), fix),
                );
            }
        }
    }
}
