//! A runtime class of the HyperConverged that no manifest declares.

use super::prelude::*;

/// Operators that create runtime classes from objects of this kind.
const MAKER: &str = "PerformanceProfile";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let declared = cx.of_kind("RuntimeClass");
    let names: Vec<&str> = declared.iter().map(|class| name_of(class)).collect();
    let field = cx.field("defaultRuntimeClass");
    let Some(name) = field.text().filter(|name| !name.is_empty() && !names.contains(name)) else {
        return;
    };
    if names.is_empty() || !cx.of_kind(MAKER).is_empty() || !cx.other_objects().templates.is_empty() {
        return;
    }
    let finding = cx
        .finding(format!("defaultRuntimeClass: the runtime class {name} isn't declared"))
        .at(field.value_place())
        .label("virtual machines that start get it");
    let otherwise = format!("use a declared runtime class: {}", or(&names));
    out.report(did_you_mean(finding, "use", nearest(name, names.iter().copied()), otherwise));
}
