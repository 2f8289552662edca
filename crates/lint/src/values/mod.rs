//! Checks values that HCO and CDI pass on without validation, as their readers do.
//!
//! [`table::ROWS`] lists fields with the kind of their values, the reader, and the outcome of a wrong value; [`kinds`]
//! finds the errors of a value. Two rules report the results: one if it is rejected later, one if it has no effect.
//! Rows of golden images hold for the same fields of other disks.

mod forms;
mod kinds;
mod problem;
mod table;
#[cfg(test)]
mod tests;

use crate::context::{last_key, object_of};
use crate::prelude::*;
use crate::suggestion::suggested;
use hcoplan_planner::machines::is_placeholder;

pub(crate) use forms::is_network_name;
use problem::{Mistake, Problem};
use table::{MACHINE_ROWS, ROWS, Row};

use super::{Context, Sink};

/// Reports each wrong value whose row has such an outcome.
pub(crate) fn report(cx: &Context<'_>, out: &mut Sink, is_rejection: bool) {
    let disks = disks(cx);
    let is_ours = |row: &&Row| row.is_rejection == is_rejection;
    for row in ROWS.iter().filter(is_ours) {
        let field = cx.field(row.field);
        if let Some(node) = field.node() {
            let path = field.path().unwrap_or_default();
            let name = last_key(&path).unwrap_or_default();
            report_below(cx, row, name, (cx.document(), node, row.below), &[], out);
        }
        for (document, disk, is_cron) in &disks {
            if let Some(below) = row.of_disk(*is_cron) {
                report_below(cx, row, "", (document, disk, below), &[], out);
            }
        }
    }
    for (vm, verdict) in cx.judged_machines() {
        let root = &vm.document.root;
        let spec = root.at(&vm.path("domain").parent());
        if let Some(spec) = spec.filter(|_| cx.is_whole(vm.document)) {
            let rejected: Vec<Span> = verdict.causes.iter().filter_map(|c| Some(root.at(&c.path)?.span)).collect();
            let rows = MACHINE_ROWS.iter().filter(is_ours);
            rows.for_each(|row| report_below(cx, row, "", (vm.document, spec, row.below), &rejected, out));
        }
    }
}

/// Reports the wrong values at a path below a node of a document; `field` is the node's name. Values with something that
/// KubeVirt itself rejects are reported as that.
fn report_below(
    cx: &Context<'_>,
    row: &Row,
    field: &str,
    (document, node, below): (&Document, &Node, &str),
    rejected: &[Span],
    out: &mut Sink,
) {
    let mut values = Vec::new();
    select(node, below, &mut values);
    let is_rejected =
        |value: &Node| rejected.iter().any(|span| (value.span.start..=value.span.end).contains(&span.start));
    for value in values {
        if is_rejected(value) || value.as_str().is_some_and(is_placeholder) {
            continue;
        }
        if row.below.ends_with("[]") && value.as_str() == Some("") {
            let problem = Problem::new(value, Mistake::NotA("a name: it is empty"));
            out.report(finding(cx, row, field, document, &problem));
        }
        // `architecture-alias` reports those of other objects.
        let is_ours = |p: &Problem<'_>| std::ptr::eq(document, cx.document()) || !matches!(p.wrong, Mistake::Alias(_));
        for problem in row.kind.problems(value, cx).into_iter().filter(is_ours) {
            out.report(finding(cx, row, field, document, &problem));
        }
    }
}

/// The repository's DataVolumes, its DataImportCrons, and the disk templates of its virtual machines; each with whether
/// it is a DataImportCron.
fn disks<'c>(cx: &'c Context<'_>) -> Vec<(&'c Document, &'c Node, bool)> {
    let mut out = Vec::new();
    for (kind, is_cron) in [("DataVolume", false), ("DataImportCron", true)] {
        out.extend(cx.of_kind(kind).iter().map(|document| (&**document, &document.root, is_cron)));
    }
    for vm in cx.virtual_machines() {
        out.extend(vm.disk_templates().map(|(_, template)| (vm.document, template, false)));
    }
    out.retain(|(document, ..)| cx.is_whole(document));
    out
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

fn finding(cx: &Context<'_>, row: &Row, field: &str, document: &Document, problem: &Problem<'_>) -> Finding {
    let value = problem.node.to_json();
    let [wrong, expected, advice] = problem.wrong.words(&value);
    let message = format!("{} {wrong}; {}", problem.subject(row, field), row.outcome);
    let mut finding = cx.finding(message).at(document.location(problem.node.span)).label(expected);
    let is_own = std::ptr::eq(document, cx.document());
    if !is_own {
        finding = finding.object(object_of(document));
    }
    let Some(correct) = &problem.correct else {
        return finding.help(advice);
    };
    let title = format!("write {correct}");
    // The intended word in another case, or with spaces.
    let is_same = value.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case(correct));
    let applicability = if is_same { Applicability::Unsafe } else { Applicability::Suggestion };
    let set = document.root.path_to(problem.node.span).map(|path| [Change::Set(path, correct.as_str().into())]);
    let fix = set.and_then(|set| {
        if is_own {
            cx.fix(title.clone(), applicability, &set)
        } else {
            Some(Fix { applicability, ..suggested(document, title.clone(), &set)? })
        }
    });
    finding.remedy(title, fix)
}
