//! A field that says what the CRD's default says.

use hcoplan_kubernetes::schema::Schema;
use hcoplan_yaml::edit::Change;
use hcoplan_yaml::{Entry, Node, Path, Value};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "redundant-default",
    group: Group::Gitops,
    severity: Severity::Info,
    confidence: Confidence::Low,
    predicts: Prediction::Silent("the value stays when a later release has a better default"),
    claims: Claim::NoEffect,
    needs: Needs::Document,
    fix: FixKind::Unsafe,
    pedantic: true,
    summary: "a field has the value that the CRD's default would give it",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let (Some(schema), Some(spec)) = (cx.schema(), cx.document().root.get("spec")) else {
        return;
    };
    let mut found = Vec::new();
    collect(schema, spec, &Path::dotted("spec"), &mut found);
    for (path, entry) in found {
        let release = cx.release().label();
        let message = format!("{path} is {}, which is the default of {release}", entry.value.to_json());
        let finding = Finding::new(&RULE, message)
            .at(cx.document().location(entry.value.span))
            .label("the default")
            .becomes(PredictedValue {
                kind: "HyperConverged",
                path: path.clone(),
                value: entry.value.to_json(),
                when: BecomesWhen::WithoutIt,
            })
            .help("remove the line, unless it is there to be kept when the default changes");
        let removed = [Change::Remove(path)];
        out.report(match cx.fix("remove the line", Applicability::Unsafe, &removed) {
            Some(fix) => finding.fix(fix),
            None => finding,
        });
    }
}

fn collect<'a>(schema: &Schema, node: &'a Node, at: &Path, found: &mut Vec<(Path, &'a Entry)>) {
    for entry in node.entries() {
        let path = at.key(&entry.key.text);
        match &entry.value.value {
            Value::Map(_) | Value::Seq(_) => collect(schema, &entry.value, &path, found),
            Value::Null => {}
            _ => {
                let default = schema.default_at(&path);
                if default.is_some_and(|d| *d == entry.value.to_json()) {
                    found.push((path, entry));
                }
            }
        }
    }
    for (i, item) in node.items().iter().enumerate() {
        collect(schema, item, &at.index(i), found);
    }
}
