//! Tries fixes before they are offered.

use std::cell::LazyCell;

use hcoplan_planner::plan::succeeds;

use super::context::Context;
use super::fix::{NewError, are_apart, first_new_error};
use super::sink::UNTRIED;
use crate::prelude::*;

/// Removes fixes of an accepted HyperConverged after which HCO would reject it or fail to reconcile it.
///
/// Tries the first fixes of a rule's findings together, then the second ones, and so on, because they are similar. If
/// they fail, tries them one by one. Fixes of different rules are tried separately: one may repair what another breaks.
pub(super) fn drop_those_that_fail(cx: &Context<'_>, findings: &mut [Finding]) {
    if !cx.plan().succeeds() || findings.iter().all(|finding| finding.fixes.is_empty()) {
        return;
    }
    // An object accepted as an update may be rejected as a new one, even without a fix.
    if cx.before().is_some() && !succeeds(cx.release(), cx.inventory(), cx.object()) {
        return;
    }
    let mut groups: BTreeMap<_, Vec<Place>> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        for nth in 0..finding.fixes.len() {
            let together = (finding.rule.name, nth);
            groups.entry(together).or_default().push((at, nth));
        }
    }
    let fails = |edits: &[Edit]| cx.succeeds_with(edits).map(|succeeds| (!succeeds).then_some(()));
    let mut failing = BTreeSet::new();
    for group in groups.into_values() {
        let (faults, untried) = faults(findings, &group, MAX_ONE_BY_ONE, fails);
        for (at, _) in &untried {
            findings[*at].not_fixed.get_or_insert(UNTRIED.into());
        }
        failing.extend(faults.into_iter().map(|(place, ())| place).chain(untried));
    }
    for (at, nth) in failing.into_iter().rev() {
        findings[at].fixes.remove(nth);
    }
}

/// Turns fixes that cause a new error in the cluster into suggestions that name the error.
///
/// Tries all fixes of the HyperConverged's text together that don't touch: usually none fails. A fix shared by several
/// clusters is tried in each.
pub(super) fn demote_those_that_break(
    cx: &Context<'_>,
    findings: &mut [Finding],
    check: impl Fn(&Context<'_>) -> Vec<Finding>,
) {
    if !cx.plan().succeeds() {
        return;
    }
    let path = cx.document().file.path();
    let is_plain =
        |fix: &Fix| fix.applicability != Applicability::Suggestion && fix.edits.iter().all(|e| e.file.path() == path);
    let places = |(at, f): (usize, &Finding)| {
        let plain = f.fixes.iter().enumerate().filter(|(_, fix)| is_plain(fix));
        plain.map(|(nth, _)| (at, nth)).collect::<Vec<Place>>()
    };
    let plain: Vec<Place> = findings.iter().enumerate().flat_map(places).collect();
    let tried = |edits: &[Edit]| cx.tried(edits).filter(|after| edits.is_empty() || !cx.keeps_objects(&after.plan));
    let checked = |edits: &[Edit]| tried(edits).map(|after| check(&cx.with_trial(&after)));
    // A trial doesn't check the other objects of the cluster's directory.
    let known = LazyCell::new(|| [&findings[..], &checked(&[]).unwrap_or_default()].concat());
    let new_error = |edits: &[Edit]| {
        let after = checked(edits)?;
        first_new_error(findings, &after)?;
        first_new_error(&known, &after)
    };
    let (faults, _) = faults(findings, &plain, MAX_BREAKING, |edits| Some(new_error(edits)));
    for ((at, nth), error) in faults {
        NewError { cluster: cx.cluster().to_string(), ..error }.demote(&mut findings[at].fixes[nth]);
    }
}

/// Maximum number of fixes tried one by one if all together cause an error.
const MAX_BREAKING: usize = 16;

/// The index of a finding and of its fix.
type Place = (usize, usize);

/// Maximum number of fixes of a group tried one by one, since a plan for each would take quadratic time. If one of them
/// fails, the similar rest isn't offered.
const MAX_ONE_BY_ONE: usize = 4;

/// The faults of a group's fixes, and those that weren't tried although similar ones have one. Fixes that are apart are
/// tried together, and one by one only if these have a fault; `fault` returns `None` if it is unknown.
fn faults<T>(
    findings: &[Finding],
    group: &[Place],
    most: usize,
    fault: impl Fn(&[Edit]) -> Option<Option<T>>,
) -> (Vec<(Place, T)>, Vec<Place>) {
    let edits = |&(at, nth): &Place| &findings[at].fixes[nth].edits[..];
    let mut together: Vec<Edit> = Vec::new();
    let is_apart = |place: &Place| {
        let is_apart = are_apart(edits(place), &together);
        if is_apart {
            together.extend_from_slice(edits(place));
        }
        is_apart
    };
    let (apart, others): (Vec<Place>, Vec<Place>) = group.iter().copied().partition(is_apart);
    let is_right = apart.len() > 1 && matches!(fault(&together), Some(None));
    let alone = if is_right { &others[..] } else { group };
    let (first, rest) = alone.split_at(alone.len().min(most));
    let faults = first.iter().filter_map(|place| Some((*place, fault(edits(place)).flatten()?)));
    let faults: Vec<(Place, T)> = faults.collect();
    let untried = if faults.is_empty() { Vec::new() } else { rest.to_vec() };
    (faults, untried)
}

#[cfg(test)]
mod tests {
    use super::*;

    static RULE: Rule = Rule::BASE;

    #[test]
    fn skips_similar_fixes_after_a_failure() {
        let group: Vec<Place> = (0..7).map(|at| (at, 0)).collect();
        let file = SourceFile::new("a.yaml", "abcdefg");
        let finding = |&(at, _): &Place| {
            let place = Location::new(&file, Span::new(at, at + 1));
            Finding::new(&RULE, "found").fix(Fix::edit("remove it", Applicability::Safe, place, ""))
        };
        let findings: Vec<Finding> = group.iter().map(finding).collect();
        let third = |edits: &[Edit]| Some(edits.iter().any(|e| e.span.start == 2).then_some(()));
        let found = faults(&findings, &group, MAX_ONE_BY_ONE, third);
        assert_eq!(found, (vec![((2, 0), ())], vec![(4, 0), (5, 0), (6, 0)]));
        let found = faults(&findings, &group[..2], MAX_ONE_BY_ONE, third);
        assert_eq!(found, (vec![], vec![]));
    }
}
