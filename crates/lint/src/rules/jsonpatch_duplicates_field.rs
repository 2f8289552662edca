//! A patch that sets a value for which the HyperConverged has a field.

use super::prelude::*;
use crate::OwnField;

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    if applied.is_contested(cx) {
        return None;
    }
    let own = cx.own_fields(applied);
    // A new value of a section doesn't set what it leaves out: HCO removes that, or renders it again.
    let drops = |f: &OwnField| {
        let below = f.pointer.strip_prefix(&*applied.operation.path);
        below.zip(applied.operation.value()).is_some_and(|(below, value)| value.pointer(below).is_none())
    };
    let mut fields: Vec<&OwnField> = own.fields.iter().filter(|f| !f.is_set && !drops(f)).collect();
    fields.dedup_by(|a, b| a.path == b.path);
    let first = fields.first()?;
    let kind = applied.kind();
    let several = own.fields.len() > 1;
    let names: Vec<String> = fields.iter().map(|f| f.path.to_string()).collect();
    let subject = if several { format!("{} of {kind}", applied.operation.path) } else { first.subject(kind) };
    let whose = if names.len() == 1 { "a field" } else { "fields" };
    let message = format!("the patch sets {subject}, for which the HyperConverged has {whose}: {}", and(&names));
    let place = if !several { applied.place_of(first) } else { applied.path_place() };
    let finding = cx.finding(message).at(place).label("the HyperConverged has a field for it");
    let fix = cx.move_to_fields(applied);
    let shared = fields.iter().find(|f| !f.others.is_empty());
    Some(match (fix, shared) {
        (Some(fix), _) => finding.fix(fix.clone()),
        (None, Some(shared)) => finding.info().help(format!(
            "{} feeds {}, too: set it there if they may change with it",
            shared.path,
            and(&shared.others)
        )),
        (None, None) if !own.can_say_all => finding.help(format!(
            "set {} there; no field does the rest of the operation",
            if names.len() == 1 { "it" } else { "these" }
        )),
        (None, None) => finding.help("set it there, and compare what is rendered"),
    })
}
