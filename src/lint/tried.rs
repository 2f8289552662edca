//! Fixes are tried out before they are offered.

use std::collections::BTreeMap;

use super::context::Context;
use crate::finding::{Edit, Finding};
use crate::plan::succeeds;

/// Takes fixes of the HyperConverged away that would lead to a refusal, or stop the operator's
/// reconcile, where neither is so now.
///
/// The first fixes of a rule's findings are tried together, then the second ones, and so on: they are alike.
/// Only where that fails are they tried one by one. Those of different rules aren't: one may mend what
/// another one breaks.
pub(super) fn drop_those_that_fail(cx: &Context<'_>, findings: &mut [Finding]) {
    if !cx.plan().succeeds() || findings.iter().all(|finding| finding.fixes.is_empty()) {
        return;
    }
    // What is let in as an update may be refused as a new object, with or without the fix.
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
    let mut failing: Vec<Place> = Vec::new();
    for group in groups.into_values() {
        let edits = |&(at, nth): &Place| findings[at].fixes[nth].edits.clone();
        failing.extend(those_that_fail(&group, edits, |edits| {
            cx.succeeds_with(edits)
        }));
    }
    failing.sort_unstable();
    for (at, nth) in failing.into_iter().rev() {
        findings[at].fixes.remove(nth);
    }
}

/// A finding, and which of its fixes.
type Place = (usize, usize);

/// So many fixes of a group are tried one by one. Those behind them are alike, and a plan for each would
/// take the square of their number; where one of the first failed, none of the rest is offered.
const MOST_ONE_BY_ONE: usize = 4;

/// Which fixes of a group lead to a failure, where `succeeds` answers for edits; `None` is unknown.
fn those_that_fail(
    group: &[Place],
    edits: impl Fn(&Place) -> Vec<Edit>,
    succeeds: impl Fn(&[Edit]) -> Option<bool>,
) -> Vec<Place> {
    let all: Vec<Edit> = group.iter().flat_map(&edits).collect();
    match (succeeds(&all), group) {
        (Some(true), _) => return Vec::new(),
        (Some(false), [alone]) => return vec![*alone],
        (None, [_]) => return Vec::new(),
        _ => {}
    }
    let (first, rest) = group.split_at(group.len().min(MOST_ONE_BY_ONE));
    let fails = |place: &&Place| succeeds(&edits(place)) == Some(false);
    let mut failing: Vec<Place> = first.iter().filter(fails).copied().collect();
    if !failing.is_empty() {
        failing.extend(rest);
    }
    failing
}
