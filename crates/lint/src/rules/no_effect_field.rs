//! A line of the HyperConverged without effect.

use hcoplan_explain::why::{UnusedInput, unused_inputs};
use hcoplan_yaml::Path;

use super::prelude::*;

pub(super) static RULE: Rule =
    Rule::info("no-effect-field", Group::Gitops, "a field has no effect: without it every object would be the same")
        .silent("a reader believes that the line does something")
        .needs(Needs::Plan)
        .claims(Claim::NoEffect)
        .fix(FixKind::Unsafe)
        .pedantic();

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let pruned = &cx.admission().pruned;
    for UnusedInput { path, overwritten } in unused_inputs(&cx.plan_input()) {
        if pruned.iter().any(|p| p.path.starts_with(&path) || path.starts_with(&p.path)) {
            continue;
        }
        let release = cx.release().label();
        let (message, help) = match overwritten {
            Some(annotation) => (
                format!("{path} has no effect: {annotation} overwrites it"),
                "keep the value in one place: drop the operation, or remove the line",
            ),
            None => (
                format!("{path} has no effect on any object of {release}"),
                "remove the line, or switch on what it belongs to",
            ),
        };
        let mut finding = Finding::new(&RULE, message)
            .at(cx.document().locate_key(&path))
            .label("without it every object is the same")
            .help(help);
        if let Some(annotation) = overwritten {
            let annotation = Path::dotted("metadata.annotations").key(annotation);
            let place = cx.document().locate_key(&annotation);
            finding = finding.related(place, "this patch overwrites it");
        }
        let removed = [Change::Remove(path)];
        let fix = cx.change(Applicability::Unsafe, &removed);
        out.report(finding.fixes(fix));
    }
}
