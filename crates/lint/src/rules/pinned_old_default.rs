//! A value that was the default of another release.

use hcoplan_planner::release::{Release, RewrittenValue};
use hcoplan_yaml::{Node, Trail, Value};
use serde_json::Value as Json;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "pinned-old-default",
    group: Group::Upgrade,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("the cluster keeps the old default, or git and HCO disagree"),
    claims: Claim::Becomes,
    needs: Needs::Document,
    fix: FixKind::Suggested,
    summary: "a field pins the default of the release before, which has changed",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(spec) = cx.document().root.get("spec") else {
        return;
    };
    let Some(own) = cx.schema() else {
        return;
    };
    let schema = format!("hyperconverged.{}", cx.version());
    let (previous, next) = (cx.previous_release(), cx.next_release());
    let mut leaves = Vec::new();
    let start = Path::dotted("spec");
    collect(spec, &Trail::Start(&start), &mut leaves);
    let gates = Path::dotted("spec.featureGates");
    for (path, node) in leaves.into_iter().filter(|(p, _)| !p.starts_with(&gates)) {
        let Some(now) = own.default_at(&path) else {
            continue;
        };
        let value = node.to_json();
        if let Some(previous) = &previous
            && value != *now
            && default_of(previous, &schema, &path) == Some(&value)
        {
            out.report(outdated(cx, &path, node, previous.label(), now));
        }
        if let Some(next) = &next
            && value == *now
            && let Some(then) = default_of(next, &schema, &path)
            && then != now
        {
            out.report(soon(cx, &path, node, next, then));
        }
    }
}

fn default_of<'r>(release: &'r Release, schema: &str, path: &Path) -> Option<&'r Json> {
    release.schema(schema)?.default_at(path)
}

fn outdated(cx: &Context<'_>, path: &Path, node: &Node, previous: &str, now: &Json) -> Finding {
    let release = cx.release().label();
    let value = node.to_json();
    let message = format!("{path} is {value}, the default up to {previous}; that of {release} is {now}");
    let label = match rewritten(cx, cx.release(), path, &value) {
        Some(by) => format!("the upgrade made it {}, and git takes it back", by.to),
        None => "keeps the old default".to_owned(),
    };
    finding(cx, path, node, message).label(label).becomes(PredictedValue {
        kind: "HyperConverged",
        path: path.clone(),
        value: now.clone(),
        when: BecomesWhen::WithoutIt,
    })
}

fn soon(cx: &Context<'_>, path: &Path, node: &Node, next: &Release, then: &Json) -> Finding {
    let release = cx.release().label();
    let value = node.to_json();
    let message = format!("{path} is {value}, the default of {release}; that of {} is {then}", next.label());
    let label = match rewritten(cx, next, path, &value) {
        Some(by) => format!("the upgrade writes {} here, and git takes it back", by.to),
        None => "would keep the old default".to_owned(),
    };
    finding(cx, path, node, message).severity(Severity::Info).label(label).becomes(PredictedValue {
        kind: "HyperConverged",
        path: path.clone(),
        value: then.clone(),
        when: BecomesWhen::AfterUpgradeWithoutIt,
    })
}

fn finding(cx: &Context<'_>, path: &Path, node: &Node, message: String) -> Finding {
    let removed = [Change::Remove(path.clone())];
    Finding::new(&RULE, message)
        .at(cx.document().location(node.span))
        .help("remove the line, unless the value is meant")
        .fixes(cx.fix("remove the line", Applicability::Suggestion, &removed))
}

/// What an upgrade to a release writes over the value.
fn rewritten(cx: &Context<'_>, to: &Release, path: &Path, value: &Json) -> Option<RewrittenValue> {
    let all = to.upgrade().rewritten_values();
    all.into_iter().find(|r| r.from == *value && cx.path_of(&r.field).as_ref() == Some(path))
}

fn collect<'a>(node: &'a Node, at: &Trail<'_>, found: &mut Vec<(Path, &'a Node)>) {
    for entry in node.entries() {
        let at = Trail::Key(at, &entry.key.text);
        match &entry.value.value {
            Value::Map(_) | Value::Seq(_) => collect(&entry.value, &at, found),
            Value::Null => {}
            _ => found.push((at.path(), &entry.value)),
        }
    }
    for (i, item) in node.items().iter().enumerate() {
        collect(item, &Trail::Index(at, i), found);
    }
}
