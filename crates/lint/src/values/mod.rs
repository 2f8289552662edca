//! Checks values that HCO passes on without validation, as their readers do.
//!
//! [`table::ROWS`] lists fields with the kind of their values, the reader, and the outcome of a wrong value; [`kinds`]
//! finds the errors of a value. Two rules report the results: one if it is rejected later, one if it has no effect.

mod forms;
mod kinds;
mod table;
#[cfg(test)]
mod tests;

use hcoplan_diagnostics::finding::{Applicability, Finding, Rule};
use hcoplan_yaml::edit::Change;
use hcoplan_yaml::{Node, Segment};

use kinds::Problem;
pub(crate) use table::Outcome;
use table::{ROWS, Row};

use super::{Context, Sink};

/// Reports each wrong value whose row has such an outcome.
pub(crate) fn report(cx: &Context<'_>, rule: &'static Rule, out: &mut Sink, is_ours: fn(Outcome) -> bool) {
    for row in ROWS.iter().filter(|row| is_ours(row.outcome)) {
        let field = cx.field(row.field);
        let Some(node) = field.node() else {
            continue;
        };
        let name = match field.path().unwrap_or_default().0.pop() {
            Some(Segment::Key(name)) => name,
            _ => String::new(),
        };
        let mut values = Vec::new();
        select(node, row.below, &mut values);
        for value in values {
            for problem in row.kind.problems(value, cx) {
                out.report(finding(cx, rule, row, &name, &problem));
            }
        }
    }
}

/// The nodes at a path below a node: `[]` is every item of a list, `*` every value of a mapping.
fn select<'n>(node: &'n Node, below: &str, out: &mut Vec<&'n Node>) {
    let (step, rest) = below.split_once('.').unwrap_or((below, ""));
    match step {
        "" => out.push(node),
        "[]" => node.items().iter().for_each(|item| select(item, rest, out)),
        "*" => node.entries().iter().for_each(|entry| select(&entry.value, rest, out)),
        key => {
            if let Some(value) = node.get(key) {
                select(value, rest, out);
            }
        }
    }
}

fn finding(cx: &Context<'_>, rule: &'static Rule, row: &Row, field: &str, problem: &Problem<'_>) -> Finding {
    let place = cx.document().location(problem.node.span);
    let value = problem.node.to_json();
    let message =
        format!("{} {}; {}", problem.subject(row, field), problem.wrong.describe(&value), row.outcome.sentence());
    let finding = Finding::new(rule, message).at(place).label(problem.wrong.expectation());
    match &problem.correct {
        Some(correct) => {
            let title = format!("write {correct}");
            let path = cx.document().root.path_to(problem.node.span);
            // The intended word in another case, or with spaces.
            let is_same = value.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case(correct));
            let applicability = if is_same { Applicability::Unsafe } else { Applicability::Suggestion };
            let fix = path
                .and_then(|path| cx.fix(title.clone(), applicability, &[Change::Set(path, correct.as_str().into())]));
            finding.remedy(title, fix)
        }
        None => finding.help(problem.wrong.advice()),
    }
}
