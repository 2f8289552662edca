//! One effect of an upgrade on a HyperConverged.

use super::semantic::differences;
use crate::diff::semantic::{Impact, Lists};
use crate::prelude::*;
use hcoplan_diagnostics::words::list;
use hcoplan_planner::admission::KIND;
use hcoplan_yaml::Document;
use std::sync::LazyLock;

/// The kind of an upgrade's effect on a HyperConverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// The HyperConverged is rejected after the upgrade, or is rejected until then.
    Verdict,
    /// The operator's reconcile fails.
    Reconcile,
    /// An operation of a patch can't be applied any more.
    PatchFails,
    /// A feature gate that a patch writes is in both of KubeVirt's lists.
    GateCollides,
    /// An operation of a patch has no effect any more.
    PatchNoop,
    /// The upgrade removes an operation from a patch.
    PatchRemoved,
    /// A patch works as before.
    PatchKeeps,
    /// The operator ignores a field that it read before.
    FieldIgnored,
    /// The new release's API doesn't know a field.
    FieldDropped,
    /// The default of an unset field changes.
    DefaultFlips,
    /// A feature gate became a field, is always on, or was removed.
    GateGraduates,
    /// The operator's own update of the HyperConverged is rejected.
    OperatorStops,
    /// An object is deleted and created again.
    Recreated,
    /// An object isn't rendered any more and stays in the cluster.
    LeftBehind,
    /// The result depends on whether the manifest is applied before the upgrade or after it.
    Order,
    /// Another object of the repository differs.
    Object,
}

/// Maximum number of changed fields of an object by name.
const MAX_FIELDS: usize = 3;

/// One effect of an upgrade.
#[derive(Debug, Clone)]
pub struct Note {
    /// The kind of effect.
    pub kind: NoteKind,
    /// Its impact on the cluster.
    pub impact: Impact,
    /// What happens, as a sentence without a full stop.
    pub text: String,
    /// What to do before the upgrade; `None`: nothing.
    pub help: Option<String>,
    /// The location of the manifest's field or operation.
    pub place: Option<Location>,
    /// The value that changes, if it is about one.
    pub value: Option<ValueChange>,
    /// The objects that it is about, in place of `{}` in the text.
    pub subjects: Vec<String>,
}

/// A value of the HyperConverged that an upgrade changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueChange {
    /// The field's path below `spec`, in v1's shape.
    pub field: String,
    /// Today.
    pub before: String,
    /// After the upgrade.
    pub after: String,
    /// The line that keeps today's value, if one does.
    pub keep: Option<String>,
    /// Whether the line is valid only from the new release on.
    pub is_later: bool,
}

impl Note {
    /// A note that happens, without help.
    pub(super) fn new(kind: NoteKind, impact: Impact, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, impact, text, help: None, place: None, value: None, subjects: Vec::new() }
    }
}

/// A note with help; empty: none.
pub(super) fn note(kind: NoteKind, impact: Impact, text: String, help: impl Into<String>) -> Note {
    Note { help: Some(help.into()).filter(|help: &String| !help.is_empty()), ..Note::new(kind, impact, text) }
}

/// The kinds of Kubernetes and OpenShift that rules about machines and images read.
static READ: LazyLock<Vec<&str>> =
    LazyLock::new(|| serde_json::from_str(include_str!("read_kinds.json")).unwrap_or_default());

/// Whether an object is compared: those of KubeVirt and CDI, and what these use.
pub fn is_noted(api_version: &str, kind: &str) -> bool {
    READ.contains(&kind) || api_version.contains("kubevirt.io/")
}

/// The notes on objects of the repository, other than the HyperConverged, that differ between two sides.
pub fn object_notes(objects: [Vec<&Document>; 2]) -> Vec<Note> {
    let mut sides: BTreeMap<ObjectId, [Vec<(&Document, Value)>; 2]> = BTreeMap::new();
    for (side, document) in (0..).zip(objects).flat_map(|(side, all)| all.into_iter().map(move |one| (side, one))) {
        let object = document.root.to_json();
        sides.entry(ObjectId::of(&object)).or_default()[side].push((document, object));
    }
    let mut changed: BTreeMap<String, (Vec<String>, Location)> = BTreeMap::new();
    for (id, [before, after]) in sides {
        let is_same = before.iter().map(|(_, object)| object).eq(after.iter().map(|(_, object)| object));
        let name = |document: &Document| document.locate_key(&Path::dotted("metadata.name"));
        let (what, place) = match (before.as_slice(), after.as_slice()) {
            _ if is_same || id.kind == KIND => continue,
            ([], [(new, _), ..]) => ("added to the repository".to_owned(), name(new)),
            ([(old, _), ..], []) => ("removed from the repository".to_owned(), name(old)),
            ([(_, was)], [(new, is)]) => {
                let all = differences(was, is, &Lists::default());
                let fields: Vec<String> = all.iter().map(|field| field.label.clone()).collect();
                let place = all.first().map(|field| new.locate(&field.after));
                (format!("{} changed", list(&fields, MAX_FIELDS)), place.unwrap_or_else(|| name(new)))
            }
            (_, new) => ("changed in the repository".to_owned(), name(new.first().map_or(before[0].0, |new| new.0))),
        };
        changed.entry(what).or_insert_with(|| (Vec::new(), place)).0.push(id.to_string());
    }
    let notes = changed.into_iter().map(|(what, (subjects, place))| Note {
        subjects,
        place: Some(place),
        ..Note::new(NoteKind::Object, Impact::Behaviour, format!("{{}}: {what}"))
    });
    notes.collect()
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::SourceFile;
    use hcoplan_yaml::parse;

    use super::*;

    #[test]
    fn names_each_object_that_differs() {
        let vm = |name: &str, memory: &str| {
            let id = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine";
            let text = format!("{id}\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{memory: {memory}}}\n");
            parse(&SourceFile::new("vm.yaml", text)).documents.remove(0)
        };
        let before = [vm("same", "1Gi"), vm("grown", "1Gi"), vm("gone", "1Gi")];
        let after = [vm("grown", "2Gi"), vm("new", "1Gi"), vm("same", "1Gi")];
        let notes = object_notes([before.iter().collect(), after.iter().collect()]);
        assert_eq!(notes[2].place.as_ref().map(Location::text), Some("2Gi"));
        let said: Vec<String> = notes.iter().map(|n| n.text.replace("{}", &n.subjects.join(", "))).collect();
        let named = |name: &str, what: &str| format!("VirtualMachine shop/{name}: {what}");
        let whole = [named("new", "added to the repository"), named("gone", "removed from the repository")];
        assert_eq!(said, [whole.as_slice(), &[named("grown", "spec.memory changed")]].concat());
    }
}
