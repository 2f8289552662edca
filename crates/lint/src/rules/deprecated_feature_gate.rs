//! Deprecated gates, which work but cause a warning of HCO.

use hcoplan_planner::release::GateToField;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let gates = cx.release().tables().feature_gates.iter();
    let deprecated = gates.filter(|g| g.phase == Phase::Deprecated);
    let mut names: Vec<&str> = deprecated.map(|g| g.name.as_str()).collect();
    names.retain(|name| cx.gate(name).is_written());
    let Some((first, rest)) = names.split_first() else {
        return;
    };
    let (gates, are) = match rest {
        [] => ("gate", "is"),
        _ => ("gates", "are"),
    };
    let message = format!("the feature {gates} {} {are} deprecated in {}", and(&names), cx.release().label());
    let mut finding = cx.finding(message).at(cx.gate(first).name_place()).label("HCO warns about it");
    finding = with_related(finding, rest.iter().map(|name| cx.gate(name).name_place()), "and about this one");
    let fields = cx.release().gates_to_fields();
    let written = and(names.iter().filter_map(|name| Some(&fields.iter().find(|f| f.gate == *name)?.field)));
    if cx.version() != "v1" {
        let (their, them) = match rest {
            [] => ("its", "it"),
            _ => ("their", "them"),
        };
        let help = format!("in v1 {written} took {their} place: `hcoplan fix --migrate v1` writes {them} there");
        out.report(finding.help(help));
        return;
    }
    let finding = finding.help(format!("write {written} instead"));
    out.report(finding.fixes(moved(cx, &names, fields)));
}

/// Replaces gates by their fields: safe if the result is the same.
fn moved(cx: &Context<'_>, names: &[&str], fields: &[GateToField]) -> Option<Fix> {
    let mut set = Vec::new();
    for name in names {
        let pair = fields.iter().find(|f| f.gate == *name)?;
        let on = cx.gate(name).explicit()?;
        let field = Path::dotted(&pair.field);
        if cx.root().at(&field).is_none() {
            set.push(Change::Set(field, (on != pair.opposite).into()));
        }
    }
    let title = format!("{} instead of {}", changed(&set), and(names));
    let fix = cx.fix(title, Applicability::Unsafe, &[set, cx.gate_removals(names)].concat())?;
    cx.safe_where_objects_stay(fix)
}
