//! A virtual machine that KubeVirt rejects.

use hcoplan_planner::cause::{Cause, CauseKind, Stage};
use hcoplan_planner::machines::{admit_other, schema_in};

use super::prelude::*;
use crate::Shape;

/// Kinds other than machines: API version and name in messages.
static KINDS: Rows<(&str, &str, &str)> = Rows::of("machineTypes");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(cluster) = cx.machine_cluster() else {
        return;
    };
    for (vm, verdict) in cx.judged_machines() {
        // `vm-needs-feature-gate` and `vm-device-not-attached` report the others.
        // What is wrong with the form of a missing value is the same cause.
        let is_missing = |path: &Path| verdict.causes.iter().any(|c| c.path == *path && c.kind == CauseKind::Missing);
        let is_ours = |c: &&Cause| {
            !matches!(c.kind, CauseKind::GateOff(_))
                && c.stage != Stage::Domain
                && (c.kind == CauseKind::Missing || !is_missing(&c.path))
        };
        let causes = verdict.causes.iter().filter(is_ours);
        for cause in causes {
            let mut finding = finding(cx, vm.document, &vm.to_string(), cause);
            if let (CauseKind::Architecture(_), Some(written)) = (&cause.kind, vm.architecture()) {
                finding = finding.related(vm.document.location(written.span), "its architecture");
            }
            out.report(finding);
        }
    }
    for (kind, version, title) in &*KINDS {
        let documents = cx.of_kind(kind).iter();
        for document in documents.filter(|d| text_at(d, "apiVersion") == Some(*version)) {
            let extent = cx.extent(document);
            if extent == Extent::Patch {
                continue;
            }
            let name = format!("the {title} {}", name_of(document));
            let causes = admit_other(cluster, kind, document.root.to_json());
            let causes = causes.iter().filter(|c| extent == Extent::Whole || !c.kind.may_be_patched());
            out.report_all(causes.map(|cause| finding(cx, document, &name, cause)));
        }
    }
}

/// The finding about a cause in a document, `name` in messages.
pub(super) fn finding(cx: &Context<'_>, document: &Document, name: &str, cause: &Cause) -> Finding {
    let clause = cause.clause(name);
    let message = if cause.stage >= Stage::Start { format!("{name} can't start: {clause}") } else { clause };
    let written = document.root.at(&cause.path);
    let is_of_value = matches!(cause.kind, CauseKind::Unsupported(_) | CauseKind::OutOfRange | CauseKind::Malformed);
    let value = written.filter(|_| is_of_value).and_then(|value| document.written_text(value)).unwrap_or_default();
    let message =
        if message.contains(&value) { message } else { format!("{}: {value}", message.trim_end_matches('.')) };
    let in_key = matches!(cause.kind, CauseKind::UnknownField | CauseKind::Removed | CauseKind::Architecture(_))
        || matches!(written.map(|n| &n.value), Some(Value::Map(_) | Value::Seq(_)));
    let place = if in_key && last_key(&cause.path).is_some() {
        document.locate_key(&cause.path)
    } else {
        document.locate(&cause.path)
    };
    let [label, help] = words(&cause.kind);
    let mut finding = cx.finding_about(document, message).at(place).label(label);
    if let CauseKind::UnknownField = cause.kind {
        let schema = schema_in(cx.release(), document.text("kind"));
        return schema.map_or(finding.clone(), |schema| Shape::of(document, schema).with_remedy(finding, &cause.path));
    }
    let alias = match &cause.kind {
        CauseKind::Unsupported(allowed) => written.and_then(Node::as_str).and_then(|w| alias(w, allowed)),
        _ => None,
    };
    if let CauseKind::Duplicate(other) | CauseKind::Contradicts(other) = &cause.kind
        && document.root.at(other).is_some()
    {
        finding = finding.related(document.locate_key(other), "the other one");
    }
    let fixes = fixes(document, cause, written);
    let help = alias.map_or(help, |meant| format!("did you mean {meant}?"));
    if help.is_empty() { finding.fixes(fixes) } else { finding.remedy(help, fixes) }
}

/// The architecture of which a text is an alias.
fn alias<'a>(text: &str, allowed: &'a [String]) -> Option<&'a str> {
    let meant = Architecture::alias(text)?;
    allowed.iter().find(|a| *a == meant).map(String::as_str)
}

/// The label of each cause, and its help.
static CAUSES: Rows<[&str; 3]> = Rows::of("causes");

/// The label of a cause, and its help, which may be empty.
fn words(kind: &CauseKind) -> [String; 2] {
    let (name, about) = variant(kind);
    let about = match kind {
        CauseKind::Contradicts(other) | CauseKind::Needs(other) => field(other),
        _ => about,
    };
    let [_, label, help] = CAUSES.row(&name).map(|words| words.replace("{}", &about));
    let help = match kind {
        CauseKind::Unsupported(allowed) if !allowed.is_empty() => format!("use {}", or(allowed)),
        CauseKind::Dangling(name, known) if !known.is_empty() => {
            match nearest(name, known.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("there is {}", and(known)),
            }
        }
        _ => help,
    };
    [label, help]
}

/// The end of a path for messages.
fn field(path: &Path) -> String {
    let text = path.to_string();
    text.rsplit_once("spec.").map_or(text.clone(), |(_, field)| field.to_owned())
}

fn fixes(document: &Document, cause: &Cause, written: Option<&Node>) -> Vec<Fix> {
    let set = |value: &str| {
        let change = Change::Set(cause.path.clone(), value.into());
        suggested(document, format!("write {value}"), &[change])
    };
    let removed = |to: &str| {
        let removed = [Change::Remove(cause.path.clone())];
        suggested(document, format!("{}, which leaves it to {to}", changed(&removed)), &removed)
    };
    let fix = match &cause.kind {
        CauseKind::Unsupported(allowed) if written.is_some() || allowed.len() == 1 => match &allowed[..] {
            // For a pattern, KubeVirt's table has the correct one.
            [pattern, ..] if pattern.ends_with('*') => removed("KubeVirt"),
            [only] => set(only),
            allowed => {
                let written = written.and_then(Node::as_str).unwrap_or_default();
                alias(written, allowed).or_else(|| nearest(written, allowed.iter().map(String::as_str))).and_then(set)
            }
        },
        CauseKind::Dangling(name, known) => nearest(name, known.iter().map(String::as_str)).and_then(set),
        CauseKind::Instancetype => removed("the instance type"),
        _ => None,
    };
    fix.into_iter().collect()
}
