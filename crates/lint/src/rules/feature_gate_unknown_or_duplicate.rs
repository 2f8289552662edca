//! Unknown or duplicate names in v1's list of feature gates.

use hcoplan_planner::cause::{Cause, CauseKind};
use hcoplan_planner::release::ListedGates;

use super::prelude::*;

/// An entry of the list.
struct Entry<'a> {
    path: Path,
    name: &'a Node,
    text: &'a str,
    enabled: bool,
}

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let rules = cx.release().admission().version(cx.version());
    let Some(known) = rules.and_then(|r| r.listed_gates.as_ref()) else {
        return;
    };
    let list = cx.root().list_at("spec.featureGates").iter().enumerate();
    let entries = list.filter_map(|(index, item)| {
        let (path, name) = (gates_path().index(index), item.get("name")?);
        let state = item.text_at("state");
        Some(Entry { path, name, text: name.as_str()?, enabled: state.is_none_or(|s| s == "Enabled") })
    });
    let entries: Vec<Entry<'_>> = entries.collect();
    duplicates(cx, &entries, out);
    if !cx.admission().accepted {
        return;
    }
    // Gates of the same origin share a finding.
    let mut useless: BTreeMap<_, Vec<&Entry<'_>>> = BTreeMap::new();
    for entry in &entries {
        let is_it =
            |gate: &String| if known.ignores_case { gate.eq_ignore_ascii_case(entry.text) } else { gate == entry.text };
        if known.known.iter().any(is_it) {
            continue;
        }
        match unknown(cx, entry, &entries, known) {
            Ok(finding) => out.report(finding),
            Err(origin) => useless.entry(origin).or_default().push(entry),
        }
    }
    for (origin, entries) in &useless {
        out.report(alike(cx, origin.as_ref(), entries));
    }
}

/// The releases that have an unknown gate, in words, and whether one of them is newer.
type Releases = (String, bool);

/// The gates of one origin.
fn alike(cx: &Context<'_>, origin: Option<&Releases>, entries: &[&Entry<'_>]) -> Finding {
    let names = and(quoted(entries.iter().map(|entry| entry.text)));
    let (them, gates, are) = match entries {
        [_] => ("it", "the feature gate", "is"),
        _ => ("them", "the feature gates", "are"),
    };
    let message = format!("{gates} {names} {are} unknown and ignored");
    let mut places = entries.iter().map(|e| cx.location(e.name.span));
    let mut finding = cx.finding(message).label("has no effect");
    finding.location = places.next();
    finding = with_related(finding, places, "nor does this one");
    let Some((releases, is_new)) = origin else {
        return finding.help(format!("remove {them}"));
    };
    // From the end, so that the indexes stay valid.
    let from_behind = entries.iter().rev();
    let removed: Vec<Change> = from_behind.map(|e| Change::Remove(e.path.clone())).collect();
    // A gate of a newer release may be set on purpose for the upgrade.
    let applicability = if *is_new { Applicability::Suggestion } else { Applicability::Unsafe };
    let what = match entries {
        [_] => format!("it is a gate of {releases}"),
        _ => format!("they are gates of {releases}"),
    };
    let title = format!("remove {names}: {what}");
    cx.with_fix(finding, title, applicability, &removed)
}

/// An error if the release rejects it; otherwise the first gate is effective, or the second is reported as unknown.
fn duplicates(cx: &Context<'_>, entries: &[Entry<'_>], out: &mut Sink) {
    let about_us = |c: &Cause| {
        let is_twice = matches!(c.kind, CauseKind::Violation(ViolationKind::Duplicate | ViolationKind::Rule));
        c.path.starts_with(&gates_path()) && is_twice
    };
    let is_ours = cx.admission().causes.iter().all(about_us);
    let rejected = cx.rejected(|r| matches!(r, Reason::Schema(_)) && is_ours);
    let twice = entries.iter().enumerate().find_map(|(i, entry)| {
        let first = entries[..i].iter().find(|e| e.text.eq_ignore_ascii_case(entry.text))?;
        Some((first, entry))
    });
    let Some((first, second)) = twice else {
        return;
    };
    let is_rejection = rejected.is_some();
    let finding = match rejected {
        Some(rejected) => rejected,
        None if cx.admission().accepted && first.text == second.text => {
            let message = format!("the feature gate `{}` is listed twice; the first entry applies", second.text);
            cx.finding(message)
        }
        None => return,
    };
    let state = |e: &Entry<'_>| if e.enabled { "on" } else { "off" };
    let finding = Finding { related: Vec::new(), ..finding }
        .at(cx.location(second.name.span))
        .label(format!("listed again, {}", state(second)))
        .related(cx.location(first.name.span), format!("here it is {}", state(first)))
        .help("keep one of the two");
    let keep = |kept: &Entry<'_>, gone: &Entry<'_>, applicability| {
        let title =
            format!("remove `{}`, which is {}, and keep the one that is {}", gone.text, state(gone), state(kept));
        cx.fix(title, applicability, &[Change::Remove(gone.path.clone())])
    };
    let finding = if first.enabled == second.enabled {
        finding.fixes(keep(first, second, Applicability::Safe))
    } else {
        let either = [(first, second), (second, first)];
        finding.fixes(either.into_iter().filter_map(|(kept, gone)| keep(kept, gone, Applicability::Suggestion)))
    };
    out.report_as(is_rejection.then_some(Incident::Rejection), finding);
}

/// The finding about an unknown gate; else the other releases that have it, where no name of this one resembles it.
fn unknown(
    cx: &Context<'_>,
    entry: &Entry<'_>,
    entries: &[Entry<'_>],
    known: &ListedGates,
) -> Result<Finding, Option<Releases>> {
    let name = entry.text;
    let message = format!("the feature gate `{name}` is unknown and ignored");
    let finding = cx.finding(message).at(cx.location(entry.name.span)).label("has no effect");
    let names = || known.known.iter().map(String::as_str);
    let exact = names().find(|k| k.eq_ignore_ascii_case(name));
    let gone = |applicability| {
        let change = [Change::Remove(entry.path.clone())];
        cx.fix(format!("remove `{name}`"), applicability, &change)
    };
    if let Some(other) = exact.and_then(|gate| entries.iter().find(|e| e.text == gate)) {
        // The two may have different states.
        let is_same = entry.enabled == other.enabled;
        let fix = gone(if is_same { Applicability::Safe } else { Applicability::Suggestion });
        let finding = finding.related(cx.location(other.name.span), "the gate itself");
        return Ok(finding.remedy("remove the one that is ignored", fix));
    }
    let rename = |to: &str, applicability| {
        let change = [Change::Set(entry.path.key("name"), to.into())];
        cx.fix(format!("write `{to}`"), applicability, &change)
    };
    if let Some(exact) = exact {
        let help = format!("write `{exact}`: names of gates are case-sensitive");
        return Ok(finding.remedy(help, rename(exact, Applicability::Safe)));
    }
    if let Some(finding) = super::ignored_field::replaced(cx, name) {
        return Ok(finding);
    }
    let origin = elsewhere(cx, name);
    let near = nearest(name, names()).filter(|_| origin.is_none()).ok_or(origin)?;
    Ok(finding.remedy(format!("did you mean `{near}`?"), rename(near, Applicability::Suggestion)))
}

fn elsewhere(cx: &Context<'_>, gate: &str) -> Option<Releases> {
    let releases = cx.other_releases(|release| {
        let mut gates = release.tables().feature_gates.iter();
        let live = |phase| !matches!(phase, Phase::Discontinued | Phase::Deprecated);
        gates.any(|g| g.name.eq_ignore_ascii_case(gate) && live(g.phase))
    });
    let names: Vec<&str> = releases.iter().flatten().map(|release| release.label()).collect();
    (!names.is_empty()).then(|| (and(&names), !releases[1].is_empty()))
}
