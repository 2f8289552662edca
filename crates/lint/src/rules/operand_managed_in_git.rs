//! An object of HCO's is kept in git, too.

use hcoplan_planner::release::Transform;
use hcoplan_yaml::{Node, Value};
use serde_json::Value as Json;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "operand-managed-in-git",
    group: Group::Operands,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    predicts: Prediction::Alert {
        name: "KubeVirtCRModified",
        runbook: "https://kubevirt.io/monitoring/runbooks/KubeVirtCRModified.html",
    },
    fix: FixKind::Suggested,
    summary: "git declares an object that HCO makes and keeps as it wants it",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (_, object) in &cx.plan().operands {
        let of_kind = cx.neighbours().of_kind(&object.id.kind).iter();
        for document in of_kind.filter(|d| is_same(&object.id, d)) {
            out.report(finding(cx, document, &object.body));
        }
    }
}

/// Whether a document declares an object; git may leave its namespace to whoever applies it.
fn is_same(id: &hcoplan_kubernetes::ObjectId, document: &Document) -> bool {
    let group = text_at(document, "apiVersion").map(|v| v.split_once('/').map_or("", |(g, _)| g));
    let namespace = namespace_of(document);
    text_at(document, "metadata.name") == Some(id.name.as_str())
        && group == Some(id.group())
        && (namespace.is_empty() || Some(namespace) == id.namespace.as_deref())
}

fn finding(cx: &Context<'_>, document: &Document, rendered: &Json) -> Finding {
    let kind = text_at(document, "kind").unwrap_or_default();
    let name = text_at(document, "metadata.name").unwrap_or_default();
    let Some((path, value)) = difference(&document.root, rendered) else {
        return finding_about(&RULE, document, format!("{kind} {name} is HCO's own object"))
            .severity(Severity::Warning)
            .label("HCO makes it, as it is here")
            .silent()
            .help("delete the manifest: HCO makes the object");
    };
    let message = format!("{kind} {name} is HCO's own object, and git has another {path}");
    let finding = finding_about(&RULE, document, message)
        .at(document.locate_key(&path))
        .label("HCO takes this back, git writes it again");
    let Some((field, copied)) = source_of(cx, kind, &path) else {
        return finding.help("delete the manifest: the HyperConverged is the place for its settings");
    };
    let finding = finding.help(format!("delete the manifest, and set {field} of the HyperConverged"));
    let set = [Change::Set(field.clone(), value)];
    let title = format!("set {field} of the HyperConverged");
    let fix = copied.then(|| cx.fix(title, Applicability::Suggestion, &set)).flatten();
    finding.fixes(fix)
}

/// The first scalar that git has and the rendered object hasn't, or has otherwise. Of the metadata
/// only labels and annotations are HCO's.
fn difference(root: &Node, rendered: &Json) -> Option<(Path, Json)> {
    let mut open: Vec<(Path, &Node)> = root
        .entries()
        .iter()
        .filter(|e| !matches!(e.key.text.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
        .map(|e| (Path::root().key(&e.key.text), &e.value))
        .rev()
        .collect();
    while let Some((path, node)) = open.pop() {
        match &node.value {
            Value::Map(entries) => {
                open.extend(entries.iter().rev().map(|e| (path.key(&e.key.text), &e.value)));
            }
            Value::Seq(_) if path.get(rendered) == Some(&node.to_json()) => {}
            Value::Null => {}
            _ if path.get(rendered) == Some(&node.to_json()) => {}
            _ => return Some((path, node.to_json())),
        }
    }
    None
}

/// The field of the HyperConverged that feeds a place of an operand, and whether as it is.
fn source_of(cx: &Context<'_>, kind: &str, path: &Path) -> Option<(Path, bool)> {
    let wanted = path.to_string();
    let fields = cx.release().fields().iter();
    let of_version = fields.filter(|f| f.api_version == cx.version() && !f.ignored);
    let mut fed = of_version.filter_map(|f| {
        let feeds = f.operands.iter().find(|o| {
            let below = wanted.strip_prefix(o.path.as_str());
            let same = below.is_some_and(|b| b.is_empty() || b.starts_with('.'));
            o.kind == kind && same
        })?;
        let exact = feeds.path == wanted && feeds.how == Transform::Copy;
        let plain = !f.path.contains("[]") && !f.path.starts_with("spec.featureGates");
        plain.then(|| (feeds.path.len(), Path::dotted(&f.path), exact))
    });
    let first = fed.next()?;
    let (_, field, exact) = fed.fold(first, |best, next| if next.0 > best.0 { next } else { best });
    Some((field, exact))
}
