//! A `deployOVS` annotation that is neither `true` nor `false`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "deploy-ovs-implicit",
    group: Group::Gitops,
    severity: Severity::Warning,
    predicts: Prediction::Silent("Open vSwitch is not deployed, whatever the annotation seems to say"),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "the annotation deployOVS is neither \"true\" nor \"false\"",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(annotation) = cx.annotation("deployOVS") else {
        return;
    };
    let Some(value) = annotation.text() else {
        return;
    };
    if matches!(value, "true" | "false") {
        return;
    }
    let message = format!("deployOVS is {value:?}, so Open vSwitch is not deployed");
    let mut finding = Finding::new(&RULE, message).at(annotation.value_place()).label("only \"true\" deploys it");
    let (help, instead) = match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => (
            "write \"true\" to deploy Open vSwitch, \"false\" not to",
            Some(("deploy Open vSwitch", Applicability::Unsafe, "true")),
        ),
        "false" | "no" | "off" | "0" | "" => {
            ("write \"false\", or remove the annotation", Some(("say false", Applicability::Safe, "false")))
        }
        _ => ("write \"true\" or \"false\"", None),
    };
    finding = finding.help(help);
    if let Some((title, applicability, text)) = instead
        && let Some(edit) = annotation.rewrite(text)
    {
        finding = finding.fix(Fix { title: title.to_owned(), applicability, edits: vec![edit] });
    }
    out.report(finding);
}
