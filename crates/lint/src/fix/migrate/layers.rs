//! The layers of a build, rewritten in v1: a resource, patches in files and patches in kustomizations.
//!
//! A layer says a part of what a HyperConverged is to say, so that nothing can be verified here but that
//! what it says is all there, moved: whoever has all layers rewritten builds them and compares.

use hcoplan_diagnostics::source::{SourceFile, Span};
use hcoplan_kubernetes::tree::set;
use hcoplan_planner::hyperconverged::{MOVES, convert, version_of};
use hcoplan_planner::release::Release;
use hcoplan_yaml::edit::{self, Change, EditableFile};
use hcoplan_yaml::{Document, Node, Path, Style, block_of, emit, parse};
use serde_json::{Map, Value as Json, json};

use super::{intended, rewritten};

/// Why a layer can't be rewritten, and where it says what can't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmigratableLayer {
    /// In the layer's document.
    pub span: Span,
    /// What is to be done by hand.
    pub why: String,
}

impl UnmigratableLayer {
    fn at(node: &Node, why: impl Into<String>) -> Self {
        Self { span: node.span, why: why.into() }
    }
}

/// The file of a document that is a HyperConverged or a strategic merge patch of one; `None` where it isn't in
/// v1beta1.
///
/// # Errors
/// Where its text can't be moved.
pub fn resource_to_v1(release: &Release, document: &Document) -> Result<Option<String>, UnmigratableLayer> {
    let object = document.root.to_json();
    if version_of(&object) != "v1beta1" || object["kind"] != "HyperConverged" {
        return Ok(None);
    }
    let text = rewritten(document, &object, &intended(release, &object));
    text.map(Some).map_err(|why| UnmigratableLayer::at(&document.root, why.to_string()))
}

/// The file of a list of JSON 6902 operations on a HyperConverged; `None` where nothing in it is moved.
///
/// # Errors
/// Where an operation has no counterpart in v1.
pub fn operations_to_v1(release: &Release, document: &Document) -> Result<Option<String>, UnmigratableLayer> {
    let mut list = Vec::new();
    let mut changes = Vec::new();
    let mut is_one_to_one = true;
    for (index, item) in document.root.items().iter().enumerate() {
        let old = item.to_json();
        let new = operation(release, item, &old)?;
        match new.as_slice() {
            [only] => {
                for key in ["op", "path", "value"] {
                    if only.get(key) != old.get(key)
                        && let Some(value) = only.get(key)
                    {
                        let path = Path::root().index(index).key(key);
                        changes.push(Change::Set(path, value.clone()));
                    }
                }
            }
            _ => is_one_to_one = false,
        }
        list.extend(new);
    }
    if is_one_to_one && changes.is_empty() {
        return Ok(None);
    }
    let stuck = |why: edit::Reason| UnmigratableLayer::at(&document.root, why.to_string());
    if is_one_to_one {
        return changed(document, &changes).map(Some).map_err(stuck);
    }
    // The list is rewritten, as all of its file.
    if !document.comments.is_empty() || parse(&document.file).documents.len() > 1 {
        let why = "it becomes several operations, and the text next to it would be lost: rewrite it by hand";
        return Err(UnmigratableLayer::at(&document.root, why));
    }
    let list = Json::Array(list);
    Ok(Some(match document.root.style {
        Style::Flow => format!("{list}\n"),
        _ => emit(&list),
    }))
}

/// A document's file with some changes, verified.
fn changed(document: &Document, changes: &[Change]) -> Result<String, edit::Reason> {
    let before = EditableFile::of(&document.file);
    let mut trees: Vec<Json> = parse(&document.file).documents.iter().map(|d| d.root.to_json()).collect();
    let tree = trees.get_mut(document.index).ok_or(edit::Reason::Layout)?;
    for change in changes {
        change.apply(tree)?;
    }
    let edits = edit::edits(document, changes)?;
    edit::apply_and_verify(&before, &edits, &trees)
}

/// What an operation is in v1: one or several.
fn operation(release: &Release, item: &Node, old: &Json) -> Result<Vec<Json>, UnmigratableLayer> {
    let pointer = old["path"].as_str().unwrap_or_default();
    let tokens: Vec<String> = pointer.split('/').skip(1).map(|t| t.replace("~1", "/").replace("~0", "~")).collect();
    if tokens.first().is_none_or(|t| t != "spec") || tokens.len() < 2 {
        let says_version = tokens == ["apiVersion"];
        return if says_version || tokens == ["spec"] {
            Err(UnmigratableLayer::at(item, "it sets what the whole layer is: rewrite it by hand"))
        } else {
            Ok(vec![old.clone()])
        };
    }
    let with_path = |path: String| {
        let mut new = old.clone();
        new["path"] = path.into();
        new
    };
    let below = &tokens[1..];
    for (from, to) in MOVES {
        let from: Vec<&str> = from.split('.').collect();
        if below.len() >= from.len() && below.iter().zip(&from).all(|(a, b)| a == b) {
            let moved = to.split('.').map(ToOwned::to_owned);
            let rest = below.iter().skip(from.len()).cloned();
            return Ok(vec![with_path(pointer_of(moved.chain(rest)))]);
        }
    }
    let op = old["op"].as_str().unwrap_or_default();
    let (Some(value), true) = (old.get("value"), matches!(op, "add" | "replace")) else {
        let why = format!("v1 has no place for {pointer}: rewrite the `{op}` by hand");
        return Err(UnmigratableLayer::at(item, why));
    };
    let mut partial = Json::Object(Map::new());
    set(&mut partial, &below.join("."), value.clone());
    let object = json!({"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged", "spec": partial});
    let spec = convert(release, &object, "v1")["spec"].take();
    let mut out = Vec::new();
    if let [gates, _] = below
        && gates == "featureGates"
        && let Some([gate]) = spec["featureGates"].as_array().map(Vec::as_slice)
    {
        out.push(json!({"op": "add", "path": "/spec/featureGates/-", "value": gate}));
        return Ok(out);
    }
    additions(&spec, &[], &mut out);
    if out.is_empty() {
        Err(UnmigratableLayer::at(
            item,
            format!("nothing is left of {pointer} in v1, where it is the default or has no place: take it out"),
        ))
    } else {
        Ok(out)
    }
}

/// The operations that add what a part of a spec in v1 says: one for each field that v1beta1 has somewhere else, or
/// that only v1 has.
fn additions(value: &Json, at: &[&str], out: &mut Vec<Json>) {
    let is_below = |to: &str| to.split('.').take(at.len()).eq(at.iter().copied());
    let mut moves = MOVES.iter().map(|(_, to)| *to);
    let is_field = moves.clone().any(|to| to.split('.').eq(at.iter().copied())) || !moves.any(is_below);
    match value {
        Json::Object(entries) if !is_field => {
            for (key, value) in entries {
                additions(value, &[at, &[key.as_str()]].concat(), out);
            }
        }
        _ => {
            let path = pointer_of(at.iter().map(|k| (*k).to_owned()));
            out.push(json!({"op": "add", "path": path, "value": value}));
        }
    }
}

fn pointer_of(keys: impl Iterator<Item = String>) -> String {
    let escaped = keys.map(|k| k.replace('~', "~0").replace('/', "~1"));
    escaped.fold("/spec".to_owned(), |path, key| path + "/" + &key)
}

/// The file of a kustomization whose inline patches, targets and replacements are about HyperConvergeds; `None`
/// where nothing in it is moved. `is_meant` tells whether a target may be one.
///
/// # Errors
/// Where a patch in it can't be rewritten.
pub fn kustomization_to_v1(
    release: &Release,
    document: &Document,
    is_meant: &dyn Fn(&Node) -> bool,
) -> Result<Option<String>, UnmigratableLayer> {
    let mut edits = Vec::new();
    for entry in document.root.entries() {
        let key = entry.key.text.to_lowercase();
        for item in entry.value.items() {
            match key.as_str() {
                "patches" | "patchesjson6902" => {
                    let target = item.get("target").filter(|t| is_meant(t));
                    if let Some(patch) = item.get("patch") {
                        inline(release, document, patch, target.is_some(), &mut edits)?;
                    }
                    edits.extend(target.and_then(|t| version(document, t)));
                }
                "patchesstrategicmerge" => inline(release, document, item, false, &mut edits)?,
                "replacements" => replacement(document, item, is_meant, &mut edits),
                _ => {}
            }
        }
    }
    if edits.is_empty() {
        return Ok(None);
    }
    edits.sort_by_key(|(span, _)| std::cmp::Reverse(*span));
    let mut text = document.file.text().to_owned();
    for (span, new) in edits {
        text.replace_range(span.range(), &new);
    }
    Ok(Some(text))
}

type TextEdit = (Span, String);

/// A selector's version.
fn version(document: &Document, selector: &Node) -> Option<TextEdit> {
    let version = selector.get("version")?;
    let is_old = version.as_str() == Some("v1beta1");
    is_old.then(|| (version.span, text_of(document, version).replace("v1beta1", "v1")))
}

fn text_of<'d>(document: &'d Document, node: &Node) -> &'d str {
    let text = document.file.text().get(node.span.range());
    text.unwrap_or_default()
}

fn replacement(document: &Document, item: &Node, is_meant: &dyn Fn(&Node) -> bool, edits: &mut Vec<TextEdit>) {
    let mut selected = |selector: &Node, paths: Vec<&Node>| {
        if !is_meant(selector) {
            return;
        }
        edits.extend(version(document, selector));
        for node in paths {
            let path = node.as_str().and_then(|p| p.strip_prefix("spec."));
            let below = |from: &str| {
                let rest = path?.strip_prefix(from)?;
                (rest.is_empty() || rest.starts_with('.')).then_some(())
            };
            let found = MOVES.iter().find(|(from, _)| below(from).is_some());
            if let Some((from, to)) = found {
                let new = text_of(document, node).replacen(from, to, 1);
                edits.push((node.span, new));
            }
        }
    };
    if let Some(source) = item.get("source") {
        selected(source, source.get("fieldPath").into_iter().collect());
    }
    for target in item.get("targets").map_or(&[][..], Node::items) {
        let paths = target.get("fieldPaths").map_or(&[][..], Node::items);
        if let Some(select) = target.get("select") {
            selected(select, paths.iter().collect());
        }
    }
}

/// A patch in a kustomization.
fn inline(
    release: &Release,
    document: &Document,
    patch: &Node,
    is_meant: bool,
    edits: &mut Vec<TextEdit>,
) -> Result<(), UnmigratableLayer> {
    let Some(text) = patch.as_str() else {
        return Ok(());
    };
    let file = SourceFile::new(document.file.path(), text);
    let parsed = parse(&file);
    let [only] = parsed.documents.as_slice() else {
        let may = text.contains("HyperConverged") && text.contains('\n');
        let why = "several patches are in one text: rewrite them by hand";
        return if may { Err(UnmigratableLayer::at(patch, why)) } else { Ok(()) };
    };
    let new = if only.root.items().is_empty() {
        resource_to_v1(release, only)
    } else if is_meant {
        operations_to_v1(release, only)
    } else {
        return Ok(());
    };
    // Its places are those of another text.
    let Some(new) = new.map_err(|stuck| UnmigratableLayer::at(patch, stuck.why))? else {
        return Ok(());
    };
    if patch.style != Style::Literal {
        let why = "it isn't written as a block (`|`): rewrite it by hand";
        return Err(UnmigratableLayer::at(patch, why));
    }
    edits.push((patch.span, block_of(text_of(document, patch), &new)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release() -> std::sync::Arc<Release> {
        Release::known("1.18").expect("known")
    }

    fn operations(text: &str) -> Result<Option<String>, String> {
        operations_on(&release(), text)
    }

    fn operations_on(release: &Release, text: &str) -> Result<Option<String>, String> {
        let file = SourceFile::new("p.yaml", text);
        let document = &parse(&file).documents[0];
        operations_to_v1(release, document).map_err(|stuck| stuck.why)
    }

    #[test]
    fn operations_are_moved_where_they_stand() {
        let cases = [
            (
                "- op: replace # why\n  path: /spec/evictionStrategy\n  value: None\n",
                "- op: replace # why\n  path: /spec/virtualization/evictionStrategy\n  value: None\n",
            ),
            (
                "- {op: add, path: /spec/liveMigrationConfig/network, value: a}\n",
                "- {op: add, path: /spec/virtualization/liveMigrationConfig/network, value: a}\n",
            ),
            (
                "- op: remove\n  path: /spec/liveMigrationConfig\n",
                "- op: remove\n  path: /spec/virtualization/liveMigrationConfig\n",
            ),
        ];
        for (old, new) in cases {
            assert_eq!(operations(old), Ok(Some(new.to_owned())), "{old}");
        }
        let other = "- {op: add, path: /metadata/labels/a, value: b}\n";
        assert_eq!(operations(other), Ok(None));
        let gone = operations("- {op: remove, path: /spec/featureGates/alignCPUs}\n");
        assert!(gone.is_err_and(|why| why.contains("by hand")));
    }

    #[test]
    fn gates_become_a_list() {
        let whole = operations("- op: add\n  path: /spec/featureGates\n  value: {alignCPUs: true}\n");
        let text = whole.expect("moved").expect("it changes");
        assert!(text.contains("path: /spec/featureGates\n") && text.contains("alignCPUs"), "{text}");
        assert!(
            parse(&SourceFile::new("p", text.as_str())).documents[0].root.items()[0]
                .get("value")
                .expect("there")
                .items()
                .len()
                == 1
        );
        let one = operations("- {op: add, path: /spec/featureGates/alignCPUs, value: true}\n");
        let text = one.expect("moved").expect("it changes");
        assert!(text.contains("/spec/featureGates/-"), "{text}");
    }

    #[test]
    fn adds_values_where_v1_has_them() {
        let release = Release::known("1.19").expect("known");
        for (path, value, expected) in [
            (
                "infra",
                "{nodePlacement: {nodeSelector: {a: b}}}",
                "- {op: add, path: /spec/deployment/nodePlacements/infra, value: {nodeSelector: {a: b}}}\n",
            ),
            // Gates that are fields in v1.
            (
                "featureGates/persistentReservation",
                "true",
                "- {op: add, path: /spec/storage/persistentReservationConfiguration, value: {enabled: true}}\n",
            ),
            (
                "featureGates/disableMDevConfiguration",
                "true",
                "- {op: add, path: /spec/virtualization/mediatedDevicesConfiguration, value: {enabled: false}}\n",
            ),
            (
                "featureGates/enableMultiArchBootImageImport",
                "false",
                "- {op: add, path: /spec/workloadSources/enableMultiArchBootImageImport, value: false}\n",
            ),
        ] {
            let old = format!("- {{op: add, path: /spec/{path}, value: {value}}}\n");
            let new = operations_on(&release, &old).map(Option::unwrap_or_default);
            assert_eq!(new.as_deref(), Ok(expected), "{old}");
        }
        // One operation becomes several.
        for (old, paths) in [
            (
                "- op: add\n  path: /spec/resourceRequirements\n  value:\n    vmiCPUAllocationRatio: 8\n    \
                 storageWorkloads: {limits: {cpu: 1}}\n",
                &["storage/workloadResourceRequirements", "virtualization/vmiCPUAllocationRatio"],
            ),
            (
                "[{op: add, path: /spec/featureGates, value: {alignCPUs: true, persistentReservation: true}}]\n",
                &["featureGates", "storage/persistentReservationConfiguration"],
            ),
            (
                "- op: add\n  path: /spec/featureGates\n  value: {alignCPUs: true, persistentReservation: true}\n",
                &["featureGates", "storage/persistentReservationConfiguration"],
            ),
        ] {
            let new = operations_on(&release, old).expect("moved").expect("it changes");
            let document = &parse(&SourceFile::new("p", new)).documents[0];
            let new = document.root.to_json();
            let new = new.as_array().expect("a list").iter().map(|o| &o["path"]);
            let mut new: Vec<_> = new.map(|p| p.as_str().unwrap_or_default()).collect();
            new.sort_unstable();
            assert_eq!(new, paths.map(|p| format!("/spec/{p}")), "{old}");
        }
        let commented = "- op: add # why\n  path: /spec/resourceRequirements\n  value: {vmiCPUAllocationRatio: 8, \
                         storageWorkloads: {limits: {cpu: 1}}}\n";
        let lost = operations_on(&release, commented).expect_err("a comment");
        assert!(lost.starts_with("it becomes several operations"), "{lost}");
        let old = "- {op: add, path: /spec/featureGates/alignCPUs, value: false}\n";
        let gone = operations_on(&release, old).expect_err("nothing");
        assert!(gone.starts_with("nothing is left of /spec/featureGates/alignCPUs"), "{gone}");
    }

    #[test]
    fn a_kustomization_keeps_all_else() {
        let text = "resources: [../base] # the base\npatches:\n- target: {kind: HyperConverged, version: v1beta1}\n  \
                    patch: |-\n    # ours\n    - op: replace\n      path: /spec/evictionStrategy\n      value: None\n\
                    - path: p.yaml\nreplacements:\n- targets:\n  - select: {kind: HyperConverged}\n    fieldPaths:\n    \
                    - spec.evictionStrategy\n";
        let document = &parse(&SourceFile::new("k.yaml", text)).documents[0];
        let is_meant = |target: &Node| target.get("kind").and_then(Node::as_str) == Some("HyperConverged");
        let new = kustomization_to_v1(&release(), document, &is_meant);
        let new = new.expect("moved").expect("it changes");
        let expected = text
            .replace("v1beta1", "v1")
            .replace("/spec/evictionStrategy", "/spec/virtualization/evictionStrategy")
            .replace("spec.evictionStrategy", "spec.virtualization.evictionStrategy");
        assert_eq!(new, expected);
    }
}
