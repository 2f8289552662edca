//! Rules about jsonpatch annotations as a whole.

use hcoplan_planner::jsonpatch::MAX_EXAMINED;

use super::prelude::*;

pub(super) static RULES: &[RegisteredRule] = &[
    always(&JSONPATCH_BEFORE_UPGRADE, |cx, out| each(cx, out, before_upgrade)),
    always(&JSONPATCH_MANY_OPERATIONS, |cx, out| each(cx, out, many_operations)),
    always(&JSONPATCH_PRESENT, |cx, out| each(cx, out, present)),
    always(&JSONPATCH_SSP_WITHOUT_OPENSHIFT, |cx, out| each(cx, out, ssp_without_openshift)),
];

fn each(cx: &Context<'_>, out: &mut Sink, find: fn(&Context<'_>, &PatchAnnotation<'_>) -> Option<Finding>) {
    out.report_all(cx.patch_annotations().iter().filter_map(|patch| find(cx, patch)));
}

fn before_upgrade(cx: &Context<'_>, patch: &PatchAnnotation<'_>) -> Option<Finding> {
    let next = cx.next_release()?;
    let count = operations(patch.operations().len())?;
    let (kind, next) = (patch.target.kind, next.label());
    let message = format!("{count} on {kind} would stay in place during the upgrade to {next}");
    let finding = cx.finding(message).at(patch.annotation.key_place());
    let help = format!("remove it before the upgrade; `hcoplan plan DIR --upgrade-to {next}` shows what it would do");
    Some(finding.label("written against this release's operand").help(help))
}

fn many_operations(cx: &Context<'_>, patch: &PatchAnnotation<'_>) -> Option<Finding> {
    let next = patch.operations().get(MAX_EXAMINED)?;
    let (name, count) = (patch.target.name, patch.operations().len());
    let message = format!("{name} has {count} operations; hcoplan checks only the first {MAX_EXAMINED}");
    let finding = cx.finding(message).at(patch.place(next.spans.whole));
    Some(finding.label("from here on, nothing is checked").help("write fewer operations"))
}

fn present(cx: &Context<'_>, patch: &PatchAnnotation<'_>) -> Option<Finding> {
    // An operator that panics earlier doesn't expose this metric.
    if !cx.plan().metrics.contains_key("kubevirt_hco_unsafe_modifications") {
        return None;
    }
    let (kind, count) = (patch.target.kind, operations(jsonpatch::count(patch.text))?);
    let finding = cx
        .finding(format!("a jsonpatch annotation changes {kind} with {count}"))
        .at(patch.annotation.key_place())
        .label("unsupported: HCO raises the UnsupportedHCOModification alert");
    Some(finding.help("use a field of the HyperConverged, if it has one"))
}

fn ssp_without_openshift(cx: &Context<'_>, patch: &PatchAnnotation<'_>) -> Option<Finding> {
    if cx.is_openshift() || patch.target.kind != "SSP" {
        return None;
    }
    let message = "SSP is patched, but this cluster has no SSP";
    let finding = cx
        .finding(message)
        .at(patch.annotation.key_place())
        .label("HCO deploys SSP on OpenShift only")
        .help("remove the annotation");
    Some(finding.fixes(cx.without_annotation(patch, Applicability::Unsafe)))
}

/// A number of operations in words; `None` for none.
fn operations(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 operation".to_owned()),
        _ => Some(format!("{count} operations")),
    }
}
