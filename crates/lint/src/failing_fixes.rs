//! Fixes are tried out before they are offered.

use std::collections::BTreeMap;

use hcoplan_diagnostics::finding::{Applicability, Edit, Finding, Fix};
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_planner::plan::{plan, succeeds};
use hcoplan_yaml::edit::apply;
use hcoplan_yaml::parse;

use super::context::Context;
use super::fix::{NewError, first_new_error};
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

/// Makes suggestions of the fixes after which the cluster has an error that it doesn't have now, and says which one.
///
/// All fixes of the HyperConverged's own text are tried together: mostly none does harm. A fix that several clusters
/// share is tried in each of them.
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
    let fixes =
        findings.iter().enumerate().flat_map(|(at, f)| f.fixes.iter().enumerate().map(move |(n, x)| (at, n, x)));
    let plain = fixes.filter(|(.., fix)| is_plain(fix)).map(|(at, n, fix)| ((at, n), fix.edits.clone()));
    let plain: Vec<(Place, Vec<Edit>)> = plain.collect();
    let known = findings.to_vec();
    let new_error = |edits: &[Edit]| {
        let after = errors_after(cx, edits, &check)?;
        first_new_error(&known, &after)?;
        // What else lies in the cluster's directory isn't looked at again.
        let same = errors_after(cx, &[], &check).unwrap_or_default();
        first_new_error(&[&known[..], &same].concat(), &after)
    };
    let mut together: Vec<Edit> = Vec::new();
    for edit in plain.iter().flat_map(|(_, edits)| edits) {
        let is_apart = |other: &Edit| other.span.end < edit.span.start || edit.span.end < other.span.start;
        if together.iter().all(is_apart) {
            together.push(edit.clone());
        }
    }
    together.sort_by_key(|edit| edit.span.start);
    if plain.is_empty() || new_error(&together).is_none() {
        return;
    }
    for ((at, nth), edits) in plain.into_iter().take(MOST_BREAKING) {
        if let Some(error) = new_error(&edits) {
            NewError { cluster: cx.cluster().to_owned(), ..error }.demote(&mut findings[at].fixes[nth]);
        }
    }
}

/// So many fixes are tried one by one where all together bring an error.
const MOST_BREAKING: usize = 16;

/// The errors after edits of the HyperConverged's text; `None` where they are none, as nothing that HCO makes changes.
fn errors_after(
    cx: &Context<'_>,
    edits: &[Edit],
    check: impl Fn(&Context<'_>) -> Vec<Finding>,
) -> Option<Vec<Finding>> {
    let file = &cx.document().file;
    let parsed = parse(&SourceFile::new(file.path(), apply(file.text(), edits).ok()?));
    let document = parsed.documents.get(cx.document().index)?;
    let object = document.root.to_json();
    let plan = plan(cx.release(), cx.inventory(), &object);
    let same = plan.admission.accepted && plan.objects().eq(cx.plan_as_new().objects());
    (edits.is_empty() || !same).then(|| check(&cx.with_text(document, &object, &plan)))
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
        let file = SourceFile::new("a.yaml", "abcdefg");
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
