//! A patch that sets a value for which the HyperConverged has a field.

use super::prelude::*;
use crate::OwnField;

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    let own = cx.own_fields(applied);
    // What a new value of a section leaves out isn't set.
    let drops = |f: &OwnField| {
        let mut changed = applied.effect.changed.iter();
        applied.operation.op != Op::Remove && changed.any(|c| c.path == f.pointer && c.after.is_none())
    };
    let mut fields: Vec<&OwnField> = own.fields.iter().filter(|f| !f.is_set && !drops(f)).collect();
    fields.dedup_by(|a, b| a.path == b.path);
    let first = fields.first()?;
    let kind = applied.kind();
    let several = own.fields.len() > 1;
    let names: Vec<String> = fields.iter().map(|f| f.path.to_string()).collect();
    let message = match (fields.len(), several) {
        (1, false) => {
            format!("the patch sets {}, which has a field of its own: {}", first.subject(kind), first.path)
        }
        (1, true) => {
            format!("the patch sets {} of {kind}, which has a field of its own: {}", applied.operation.path, first.path)
        }
        _ => {
            format!("the patch sets {} of {kind}, which has fields of its own: {}", applied.operation.path, and(&names))
        }
    };
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
            "set {} there; the rest of what the operation does has no field",
            match fields.len() {
                1 => "it",
                _ => "these",
            }
        )),
        (None, None) => finding.help("set it there, and compare what is rendered"),
    })
}
