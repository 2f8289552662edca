//! Describes the operation of a jsonpatch annotation under the pointer.

use super::Answer;
use super::cluster::Cluster;
use super::words::{change, code, list, markdown};
use crate::jsonpatch::Annotation;
use crate::source::Span;
use crate::why::{OperationEffect, PatchShown, PlanInput, patch_shown};
use crate::yaml::Document;

/// The description of an annotation, and of the operation at an offset.
pub(super) fn described(
    cluster: &Cluster,
    object: &Document,
    target: &Annotation,
    spot: Span,
    at: u32,
) -> Option<Answer> {
    let plan_input = PlanInput::new(&cluster.release, object, &cluster.object, &cluster.inventory);
    let plan = plan_input.without(&[]);
    let shown = patch_shown(&plan_input, &plan, target.kind)?;
    let placed = shown.operations.iter().enumerate();
    let mut placed = placed.filter_map(|(i, o)| Some((i, o, o.place.as_ref()?.span)));
    if let Some((index, operation, span)) = placed.find(|(_, _, span)| span.has(at)) {
        let text = one(cluster, target, &shown, index, operation);
        return Some((text, span));
    }
    let mut out = format!("**{}** patches the {} that HCO renders\n", target.name, target.kind);
    match &shown.failure {
        Some((message, _)) => {
            out.push_str(&format!("\n{} applies none of it: {}\n", cluster.runs(), markdown(message)));
        }
        None => {
            out.push_str("\nIts operations:\n\n");
            let lines = shown.operations.iter().map(|o| code(&o.text));
            list(&mut out, &lines.collect::<Vec<_>>());
        }
    }
    Some((out, spot))
}

fn one(
    cluster: &Cluster,
    target: &Annotation,
    shown: &PatchShown,
    index: usize,
    operation: &OperationEffect,
) -> String {
    let kind = target.kind;
    let runs = cluster.runs();
    let name = markdown(cluster.display_name());
    let mut out = format!("**{}** on {kind}, operation {}\n", operation.text, index + 1);
    if let Some((message, _)) = &shown.failure {
        out.push_str(&format!("\n{runs} applies none of them: {}\n", markdown(message)));
        return out;
    }
    if operation.changed.is_empty() {
        out.push_str(&format!("\nIn {name}, {runs}, it changes nothing\n"));
    } else {
        out.push_str(&format!("\nBecause of it, in {name} ({runs}), {kind} has\n\n"));
        let lines: Vec<String> = operation.changed.iter().map(change).collect();
        list(&mut out, &lines);
    }
    if let Some(rejection) = &operation.plain_rejection {
        out.push_str(&format!("\nBy RFC 6902 it would be rejected: {rejection}\n"));
    } else if !operation.plain.is_empty() {
        out.push_str("\nThat is not what RFC 6902 says; with HCO\n\n");
        let lines: Vec<String> = operation.plain.iter().map(change).collect();
        list(&mut out, &lines);
    }
    for remedy in &operation.remedies {
        let written = remedy.operation.as_ref().map(|o| format!(": {}", code(o)));
        let (text, rule) = (&remedy.text, remedy.rule);
        out.push_str(&format!("\n{text}{} (`{rule}`)\n", written.unwrap_or_default()));
    }
    out
}
