//! A golden image is neither on nor off.

use hcoplan_planner::admission::Reason;
use hcoplan_planner::boot_images::ENABLE_ANNOTATION;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-enable-annotation-invalid",
    group: Group::GoldenImages,
    severity: Severity::Error,
    predicts: Prediction::Refusal(
        "the dataimportcrontemplate.kubevirt.io/enable annotation of a dataImportCronTemplate \
         must be either \"true\" or \"false\"",
    ),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "a golden image's enable annotation is neither true nor false",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for template in cx.written_templates() {
        let Some(annotation) = template.annotation(cx, ENABLE_ANNOTATION) else {
            continue;
        };
        let Some(value) = annotation.text() else {
            continue;
        };
        if ["true", "false"].iter().any(|v| v.eq_ignore_ascii_case(value)) {
            continue;
        }
        let message =
            format!("{} is switched neither on nor off, but {value:?}: HCO refuses it", template.display_name());
        let mut finding = Finding::new(&RULE, message)
            .at(annotation.value_place())
            .label("must be \"true\" or \"false\"")
            .help(match meant(value) {
                Some(meant) => format!("write \"{meant}\", in quotes"),
                None => "write \"true\" or \"false\", in quotes; without the annotation it is on".to_owned(),
            });
        if let Some(edit) = meant(value).and_then(|m| annotation.rewrite(m)) {
            finding = finding.fix(Fix {
                title: format!("write {}", edit.text),
                applicability: Applicability::Safe,
                edits: vec![edit],
            });
        }
        let path = template.path(cx);
        if cx.is_refused_at(Reason::TemplateEnableAnnotation, &path) {
            out.explain(Incident::Refusal, finding);
        } else {
            out.report(finding);
        }
    }
}

/// What people write for true and false.
fn meant(value: &str) -> Option<&'static str> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "1" | "enabled" | "enable" => Some("true"),
        "false" | "no" | "n" | "off" | "0" | "disabled" | "disable" => Some("false"),
        _ => None,
    }
}
