//! Metadata in a manifest that the server or a controller sets.

use hcoplan_planner::admission::is_complete;

use super::prelude::*;

static FIELDS: Rows<&str> = Rows::of("serverMetadata");

static ANNOTATIONS: Rows<&str> = Rows::of("annotationsOfCluster");

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let path = Path::root().key("metadata");
    let metadata = cx.root().get("metadata")?;
    let mut found = listed(metadata, &path, &FIELDS);
    if let Some(annotations) = metadata.get("annotations") {
        let path = path.key("annotations");
        let listed = listed(annotations, &path, &ANNOTATIONS);
        found.extend(listed);
    }
    found.sort_by_key(|(_, e)| e.key.span);
    let ((_, first), rest) = found.split_first()?;
    let names = and(found.iter().map(|(_, entry)| &entry.key.text));
    let mut message = format!("the manifest has metadata that belongs to a cluster: {names}");
    // HCO updates the object once to add these two, which also sets this field.
    if let Some(read) = cx.hyperconverged()
        && is_complete(&cx.root().to_json())
        && read.get("virtualization.evictionStrategy").is_none()
    {
        message.push_str(
            "; with the finalizer and the label `app` HCO takes it for one that it has updated \
             already, so that `evictionStrategy` stays unset",
        );
    }
    let finding = cx
        .finding(message)
        .at(cx.location(first.key.span))
        .label("written by the server or a controller")
        .help("remove what was copied from a cluster");
    let finding = with_related(finding, rest.iter().map(|(_, entry)| cx.location(entry.key.span)), "and this");
    Some(finding.fixes(removal(cx, &found)))
}

/// Safe if nothing can be set on purpose.
fn removal(cx: &Context<'_>, found: &[(Path, &Entry)]) -> Option<Fix> {
    let on_purpose = |name: &str| matches!(name, "finalizers" | "ownerReferences") || ANNOTATIONS.contains(&name);
    let applicability =
        if found.iter().any(|(_, e)| on_purpose(&e.key.text)) { Applicability::Unsafe } else { Applicability::Safe };
    let annotations = Path::dotted("metadata.annotations");
    let (below, others): (Vec<_>, Vec<_>) = found.iter().partition(|(path, _)| path.starts_with(&annotations));
    let names: Vec<&str> = below.iter().map(|(_, entry)| entry.key.text.as_str()).collect();
    let mut changes: Vec<Change> = others.iter().map(|(path, _)| Change::Remove(path.clone())).collect();
    changes.extend(cx.annotation_removals(&names));
    cx.change(applicability, &changes)
}

fn listed<'a>(node: &'a Node, at: &Path, names: &[&str]) -> Vec<(Path, &'a Entry)> {
    let is_it = |e: &&Entry| names.contains(&e.key.text.as_str()) && !matches!(e.value.value, Value::Null);
    let found = node.entries().iter().filter(is_it);
    found.map(|e| (at.key(&e.key.text), e)).collect()
}
