//! The next release changes the default of an unset gate.

use super::prelude::*;
use crate::gate_when_unset;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(next) = cx.next_release() else {
        return;
    };
    // Gates with the same change share a finding.
    let mut fates: BTreeMap<(bool, bool), Vec<&str>> = BTreeMap::new();
    for gate in &cx.release().tables().feature_gates {
        let name = gate.name.as_str();
        let (now, then) = (gate_when_unset(cx.release(), name), gate_when_unset(&next, name));
        if let (Some(now), Some(then)) = (now, then)
            && now != then
            && !cx.gate(name).is_written()
        {
            fates.entry((now, then)).or_default().push(name);
        }
    }
    for ((now, then), names) in fates {
        let word = |on: bool| if on { "on" } else { "off" };
        let (verb, they, them) = match names.len() {
            1 => ("isn't", "it is", "it"),
            _ => ("aren't", "they are", "them"),
        };
        let message = format!(
            "{} {verb} set: {they} {} in {} and {} from {} on",
            and(&names),
            word(now),
            cx.release().label(),
            word(then),
            next.label()
        );
        let place = names.first().map(|name| cx.gate(name).place());
        let finding = cx
            .finding(message)
            .at(place.unwrap_or_else(|| cx.whole_location()))
            .label(match names.len() {
                1 => "doesn't set it",
                _ => "says nothing about them",
            })
            .help("set it before the upgrade, to the value that you want");
        let fixes = [now, then].into_iter().filter_map(|on| {
            let title =
                if on == now { format!("keep {them} {}", word(on)) } else { format!("switch {them} {} now", word(on)) };
            let pinned: Vec<Change> = names.iter().map(|name| cx.gate_change(name, on)).collect();
            cx.suggest(title, &pinned)
        });
        out.report(finding.fixes(fixes));
    }
}
