//! Annotations that have to be `true` or `false` but have another value.

use super::dict_architectures::with_renamed;
use super::prelude::*;
use crate::meant_flag;

pub(super) static RULES: &[RegisteredRule] = &[
    always(&DEPLOY_OVS_IMPLICIT, |cx, out| {
        out.report_all(not_deployed(cx, "deployOVS", "Open vSwitch"));
    }),
    always(&DEPLOY_PASST_IMPLICIT, |cx, out| {
        out.report_all(not_deployed(cx, PASST, "the network binding passt"));
    }),
    always(&DICT_ENABLE_ANNOTATION_INVALID, images),
];

const PASST: &str = "hco.kubevirt.io/deployPasstNetworkBinding";

/// An annotation of the HyperConverged that deploys something only with the value `true`.
fn not_deployed(cx: &Context<'_>, name: &str, what: &str) -> Option<Finding> {
    let annotation = cx.annotation(name)?;
    let value = annotation.text().filter(|value| !matches!(*value, "true" | "false"))?;
    let finding = cx
        .finding(format!("{name} is {value:?}, so {what} is not deployed"))
        .at(annotation.value_place())
        .label("only \"true\" deploys it");
    let (title, applicability, text) = match meant_flag(value) {
        Some(true) => (format!("write \"true\" to deploy {what}"), Applicability::Unsafe, "true"),
        None if !value.trim().is_empty() => return Some(finding.help("write \"true\" or \"false\"")),
        _ => ("write \"false\"".to_owned(), Applicability::Safe, "false"),
    };
    let edits = annotation.rewrite(text).map(|edit| vec![edit]);
    let fix = edits.map(|edits| Fix { title: title.clone(), applicability, edits });
    Some(finding.remedy(title, fix))
}

fn images(cx: &Context<'_>, out: &mut Sink) {
    for template in cx.written_templates() {
        let Some(annotation) = template.annotation(ENABLE_ANNOTATION) else {
            if let Some(key) = template.misspelt(ENABLE_ANNOTATION) {
                let rejected = cx.is_rejected_at(Reason::TemplateWithoutSpec, &template.path(cx));
                let finding = cx.finding(format!("{template} is on: its enable annotation is misspelt"));
                let finding = with_renamed(cx, finding.severity(error_if(rejected)), key, ENABLE_ANNOTATION);
                out.report_as(rejected.then_some(Incident::Rejection), finding);
            }
            continue;
        };
        let accepted = |value: &&str| !["true", "false"].iter().any(|v| v.eq_ignore_ascii_case(value));
        let Some(value) = annotation.text().filter(accepted) else {
            continue;
        };
        let message = format!(
            "{template} is neither on (\"true\") nor off (\"false\") but {value:?}: HCO rejects the HyperConverged"
        );
        let edit = meant_flag(value).and_then(|meant| annotation.rewrite(if meant { "true" } else { "false" }));
        let fix = edit.map(|edit| safe(format!("write {}", edit.text), vec![edit]));
        let finding = cx
            .finding(message)
            .at(annotation.value_place())
            .label("must be \"true\" or \"false\"")
            .remedy("write \"true\" or \"false\", in quotes; without the annotation it is on", fix);
        let rejected = cx.is_rejected_at(Reason::TemplateEnableAnnotation, &template.path(cx));
        out.report_as(rejected.then_some(Incident::Rejection), finding);
    }
}
