//! Tries fixes before they are offered.

use hcoplan_planner::plan::{plan, succeeds};
use hcoplan_yaml::edit::apply;
use hcoplan_yaml::parse;

use super::context::Context;
use super::fix::{NewError, first_new_error};
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
    let fixes =
        findings.iter().enumerate().flat_map(|(at, f)| f.fixes.iter().enumerate().map(move |(n, x)| (at, n, x)));
    let plain = fixes.filter(|(.., fix)| is_plain(fix)).map(|(at, n, fix)| ((at, n), fix.edits.clone()));
    let plain: Vec<(Place, Vec<Edit>)> = plain.collect();
    let known = findings.to_vec();
    let new_error = |edits: &[Edit]| {
        let after = errors_after(cx, edits, &check)?;
        first_new_error(&known, &after)?;
        // Other objects of the cluster's directory aren't checked again.
        let same = errors_after(cx, &[], &check).unwrap_or_default();
        first_new_error(&[&known[..], &same].concat(), &after)
    };
    let mut together: Vec<Edit> = Vec::new();
    let is_apart = |a: &Edit, b: &Edit| a.span.end < b.span.start || b.span.end < a.span.start;
    let (mut first, mut alone): (Vec<_>, Vec<_>) = plain.into_iter().partition(|(_, edits)| {
        let is_free = edits.iter().all(|edit| together.iter().all(|other| is_apart(edit, other)));
        if is_free {
            together.extend(edits.iter().cloned());
        }
        is_free
    });
    together.sort_by_key(|edit| edit.span.start);
    if !first.is_empty() && new_error(&together).is_some() {
        alone.append(&mut first);
    }
    for ((at, nth), edits) in alone.into_iter().take(MAX_BREAKING) {
        if let Some(error) = new_error(&edits) {
            NewError { cluster: cx.cluster().to_string(), ..error }.demote(&mut findings[at].fixes[nth]);
        }
    }
}

/// Maximum number of fixes tried one by one if all together cause an error.
const MAX_BREAKING: usize = 16;

/// The errors after edits of the HyperConverged's text; `None` without edits that change HCO's result.
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

/// The index of a finding and of its fix.
type Place = (usize, usize);

/// Maximum number of fixes of a group tried one by one, since a plan for each would take quadratic time. If one of them
/// fails, the similar rest isn't offered.
const MAX_ONE_BY_ONE: usize = 4;

/// The fixes of a group that fail, and those that aren't tried; `succeeds` returns `None` if unknown.
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
    let (first, rest) = group.split_at(group.len().min(MAX_ONE_BY_ONE));
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
        let edits =
            |&(at, _): &Place| vec![Edit { file: Arc::clone(&file), span: Span::new(at, at + 1), text: String::new() }];
        let third = |edits: &[Edit]| Some(edits.iter().all(|e| e.span.start != 2));
        let found = those_that_fail(&group, edits, third);
        assert_eq!(found, (vec![(2, 0)], vec![(4, 0), (5, 0), (6, 0)]));
        let found = those_that_fail(&group[..2], edits, third);
        assert_eq!(found, (vec![], vec![]));
    }
}
