//! A patch that adds a feature gate which is there already.

use std::collections::{BTreeMap, BTreeSet};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-duplicate-feature-gate",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Prediction::Alert {
        name: "UnsupportedHCOModification",
        runbook: "https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html",
    },
    fix: FixKind::Safe,
    summary: "a jsonpatch adds a feature gate that HCO renders already",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // Gates of one operand that HCO renders anyway, each by an operation of its own, are one finding.
    let mut alike: BTreeMap<&str, Vec<Twice<'_, '_>>> = BTreeMap::new();
    for applied in cx.applied() {
        let Some(gates) = applied.gates() else {
            continue;
        };
        for gate in &gates.twice {
            let rendered = applied.patch.rendered().and_then(|r| r.pointer(gates.list));
            let rendered = rendered.and_then(|r| r.as_array()).is_some_and(|r| r.contains(&gate.as_str().into()));
            let value = applied.operation.value();
            let twice = Twice { appends: value.is_some_and(|v| v == gate.as_str()), gate: gate.clone(), applied };
            if rendered && twice.appends {
                alike.entry(applied.kind()).or_default().push(twice);
            } else {
                out.report(alone(&twice, rendered).fixes(twice.without(cx)));
            }
        }
    }
    for (kind, twice) in alike {
        let Some((first, rest)) = twice.split_first() else {
            continue;
        };
        let mut finding = alone(first, true);
        if !rest.is_empty() {
            let names: Vec<&str> = twice.iter().map(|t| t.gate.as_str()).collect();
            finding.message = format!("HCO renders {} among {kind}'s feature gates already", and(&names));
            finding = finding.help("remove the operations");
        }
        for other in rest {
            finding = finding.related(other.applied.text_place(&other.gate), "so does this one");
        }
        let fix = if rest.is_empty() { first.without(cx) } else { without_all(cx, &twice) };
        out.report(finding.fixes(fix));
    }
}

/// A gate that is there without its operation, too.
struct Twice<'c, 'a> {
    applied: Applied<'c, 'a>,
    gate: String,
    /// Whether the operation adds nothing else.
    appends: bool,
}

impl Twice<'_, '_> {
    fn without(&self, cx: &Context<'_>) -> Option<Fix> {
        let (patch, index) = (self.applied.patch, self.applied.index);
        let fix = cx.without_operation(patch, index, Applicability::Safe);
        fix.filter(|_| self.appends)
    }
}

fn alone(twice: &Twice<'_, '_>, rendered: bool) -> Finding {
    let (kind, gate) = (twice.applied.kind(), &twice.gate);
    let message = if rendered {
        format!("HCO renders {gate} among {kind}'s feature gates already")
    } else {
        format!("{gate} is added to {kind}'s feature gates twice")
    };
    Finding::new(&RULE, message)
        .at(twice.applied.text_place(gate))
        .label("changes nothing, and counts for the alert")
        .help(if twice.appends { "remove the operation" } else { "leave the gate out" })
}

/// The annotation without all of these operations, or no annotation where no other is left.
fn without_all(cx: &Context<'_>, twice: &[Twice<'_, '_>]) -> Option<Fix> {
    let patch = twice.first()?.applied.patch;
    let indices: BTreeSet<usize> = twice.iter().map(|t| t.applied.index).collect();
    if indices.len() == patch.operations().len() {
        return cx.without_annotation(patch, Applicability::Safe);
    }
    let count = indices.len();
    let indices: Vec<usize> = indices.into_iter().collect();
    let cuts = jsonpatch::removal_ranges(patch.text, &indices)?.into_iter();
    let cuts: Vec<_> = cuts.map(|range| (range, String::new())).collect();
    let (_, edits) = patch.edited(&cuts)?;
    Some(Fix { title: format!("remove {count} operations"), applicability: Applicability::Safe, edits })
}
