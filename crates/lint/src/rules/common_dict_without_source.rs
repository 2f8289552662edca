//! A customised common golden image without a source.

use hcoplan_planner::boot_images::TemplateError;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.field("enableCommonBootImageImport").flag() == Some(false) {
        return;
    }
    let found: Vec<_> = cx.written_templates().filter(|t| is_sourceless(cx, t)).collect();
    let Some(first) = found.first() else {
        return;
    };
    let error = TemplateError::MissingSource { name: first.name().to_owned(), index: first.index };
    match cx.rendering_fails_with(&error.to_string()) {
        Some(incident) => {
            if let Some(finding) = finding(cx, &found) {
                let finding = match incident {
                    Incident::ReconcileError => finding
                        .related(cx.whole_location(), "the operator panics in every reconcile, and never deploys SSP"),
                    _ => finding,
                };
                out.explain(incident, finding);
            }
        }
        None => out.report_all(found.chunks(1).filter_map(|one| finding(cx, one))),
    }
}

/// A finding at the first of these templates, related to the others.
fn finding(cx: &Context<'_>, found: &[WrittenTemplate<'_>]) -> Option<Finding> {
    let (template, others) = found.split_first()?;
    let message = format!("{template} customises a common image and has no source: HCO crashes on it");
    let mut finding = cx.finding(message).at(template.locate_key("spec.template.spec")).label("has no source");
    if let Some(url) = url_of(cx, template) {
        finding = finding.help(format!("repeat the source of the common image: source: {{registry: {{url: {url}}}}}"));
    }
    finding =
        with_related(finding, others.iter().map(|other| other.locate_key("spec.template.spec")), "has none either");
    let set = |t: &WrittenTemplate<'_>| {
        let path = t.path(cx).below("spec.template.spec.source");
        let source = cx.common_image(t.name())?.pointer(SOURCE)?;
        Some(Change::Set(path, source.clone()))
    };
    let changes: Vec<Change> = found.iter().filter_map(set).collect();
    let title = "repeat the source of the common image";
    Some(finding.fixes(cx.fix(title, Applicability::Safe, &changes)))
}

const SOURCE: &str = "/spec/template/spec/source";

fn url_of<'a>(cx: &Context<'a>, template: &WrittenTemplate<'_>) -> Option<&'a str> {
    let source = cx.common_image(template.name())?.pointer(SOURCE)?;
    source.pointer("/registry/url")?.as_str()
}

fn is_sourceless<'a>(cx: &Context<'a>, template: &WrittenTemplate<'a>) -> bool {
    let is_map = |path: &str| {
        let node = template.get(path);
        node.is_some_and(|n| matches!(n.value, Value::Map(_)))
    };
    cx.common_image(template.name()).is_some()
        && template.is_enabled()
        && is_map("spec")
        && !is_map("spec.template.spec.source")
}
