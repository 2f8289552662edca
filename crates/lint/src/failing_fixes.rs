//! Fixes are tried out before they are offered.

use std::collections::BTreeMap;

use hcoplan_diagnostics::finding::{Edit, Finding};
use hcoplan_planner::plan::succeeds;

use super::context::Context;
use super::sink::UNTRIED;

/// Drops fixes of an accepted HyperConverged that would make HCO reject it or stop its reconcile.
///
/// The first fixes of a rule's findings are tried together, then the second ones, and so on: they are alike. Only where
/// that fails are they tried one by one. Fixes of different rules are tried apart: one may repair what another one
/// breaks.
pub(super) fn drop_those_that_fail(cx: &Context<'_>, findings: &mut [Finding]) {
    if !cx.plan().succeeds() || findings.iter().all(|finding| finding.fixes.is_empty()) {
        return;
    }
    // What is let in as an update may be rejected as a new object, with or without the fix.
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
    let (mut failing, mut untried) = (Vec::new(), Vec::new());
    for group in groups.into_values() {
        let edits = |&(at, nth): &Place| findings[at].fixes[nth].edits.clone();
        let (fail, not_tried) = those_that_fail(&group, edits, |edits| cx.succeeds_with(edits));
        failing.extend(fail);
        failing.extend(&not_tried);
        untried.extend(not_tried);
    }
    for (at, _) in untried {
        findings[at].not_fixed.get_or_insert(UNTRIED.into());
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

/// Which fixes of a group lead to a failure, where `succeeds` answers for edits (`None` is unknown), and which
/// aren't tried.
fn those_that_fail(
    group: &[Place],
    edits: impl Fn(&Place) -> Vec<Edit>,
    succeeds: impl Fn(&[Edit]) -> Option<bool>,
) -> (Vec<Place>, Vec<Place>) {
    let all: Vec<Edit> = group.iter().flat_map(&edits).collect();
    match (succeeds(&all), group) {
        (Some(true), _) | (None, [_]) => return (Vec::new(), Vec::new()),
        (Some(false), [alone]) => return (vec![*alone], Vec::new()),
        _ => {}
    }
    let (first, rest) = group.split_at(group.len().min(MOST_ONE_BY_ONE));
    let fails = |place: &&Place| succeeds(&edits(place)) == Some(false);
    let failing: Vec<Place> = first.iter().filter(fails).copied().collect();
    let untried = if failing.is_empty() { Vec::new() } else { rest.to_vec() };
    (failing, untried)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_similar_fixes_after_a_failure() {
        let group: Vec<Place> = (0..7).map(|at| (at, 0)).collect();
        let file = hcoplan_diagnostics::source::SourceFile::new("a.yaml", "abcdefg");
        let edits = |&(at, _): &Place| {
            vec![Edit {
                file: std::sync::Arc::clone(&file),
                span: hcoplan_diagnostics::source::Span::new(at, at + 1),
                text: String::new(),
            }]
        };
        let third = |edits: &[Edit]| Some(edits.iter().all(|e| e.span.start != 2));
        let found = those_that_fail(&group, edits, third);
        assert_eq!(found, (vec![(2, 0)], vec![(4, 0), (5, 0), (6, 0)]));
        let found = those_that_fail(&group[..2], edits, third);
        assert_eq!(found, (vec![], vec![]));
    }
}
