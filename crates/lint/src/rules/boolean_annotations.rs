//! Annotations that have to be `true` or `false` but have another value.

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
    let (help, instead) = match meant_flag(value) {
        Some(true) => {
            let help = format!("write \"true\" to deploy {what}, \"false\" not to");
            (help, Some((format!("write \"true\" to deploy {what}"), Applicability::Unsafe, "true")))
        }
        None if !value.trim().is_empty() => ("write \"true\" or \"false\"".to_owned(), None),
        _ => {
            let help = "write \"false\", or remove the annotation".to_owned();
            (help, Some(("write \"false\"".to_owned(), Applicability::Safe, "false")))
        }
    };
    let fix = instead.and_then(|(title, applicability, text)| {
        Some(Fix { title, applicability, edits: vec![annotation.rewrite(text)?] })
    });
    let finding = cx
        .finding(format!("{name} is {value:?}, so {what} is not deployed"))
        .at(annotation.value_place())
        .label("only \"true\" deploys it");
    Some(finding.help(help).fixes(fix))
}

fn images(cx: &Context<'_>, out: &mut Sink) {
    for template in cx.written_templates() {
        let Some(annotation) = template.annotation(ENABLE_ANNOTATION) else {
            continue;
        };
        let accepted = |value: &&str| !["true", "false"].iter().any(|v| v.eq_ignore_ascii_case(value));
        let Some(value) = annotation.text().filter(accepted) else {
            continue;
        };
        let message = format!(
            "{template} is neither on (\"true\") nor off (\"false\") but {value:?}: HCO rejects the HyperConverged"
        );
        let help = match meant_flag(value) {
            Some(meant) => format!("write \"{meant}\", in quotes"),
            None => "write \"true\" or \"false\", in quotes; without the annotation it is on".to_owned(),
        };
        let edit = meant_flag(value).and_then(|meant| annotation.rewrite(if meant { "true" } else { "false" }));
        let fix = edit.map(|edit| safe(format!("write {}", edit.text), vec![edit]));
        let finding = cx
            .finding(message)
            .at(annotation.value_place())
            .label("must be \"true\" or \"false\"")
            .help(help)
            .fixes(fix);
        let rejected = cx.is_rejected_at(Reason::TemplateEnableAnnotation, &template.path(cx));
        out.report_as(rejected.then_some(Incident::Rejection), finding);
    }
}
