//! A runtime class of the HyperConverged that no manifest declares.

use super::prelude::*;

/// Operators that create runtime classes from objects of this kind.
const MAKER: &str = "PerformanceProfile";

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let declared = cx.of_kind("RuntimeClass");
    let names: Vec<&str> = declared.iter().map(|class| name_of(class)).collect();
    let field = cx.field("defaultRuntimeClass");
    let name = field.text().filter(|name| !name.is_empty() && !names.contains(name))?;
    if names.is_empty() || !cx.of_kind(MAKER).is_empty() || !cx.other_objects().templates.is_empty() {
        return None;
    }
    let finding = cx
        .finding(format!("defaultRuntimeClass: the runtime class {name} isn't declared"))
        .at(field.value_place())
        .label("new pods of virtual machines use it");
    let otherwise = format!("use a declared runtime class: {}", or(&names));
    Some(did_you_mean(finding, "use", nearest(name, names.iter().copied()), otherwise))
}
