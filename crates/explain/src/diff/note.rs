//! One effect of an upgrade on a HyperConverged.

use crate::diff::semantic::Impact;
use crate::prelude::*;
use hcoplan_planner::admission::KIND;
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

    /// Sets what to do; empty for nothing.
    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()).filter(|help| !help.is_empty()), ..self }
    }

    /// Sets its location.
    pub(super) fn at(self, place: Option<Location>) -> Self {
        Self { place, ..self }
    }
}

/// The kinds of Kubernetes and OpenShift that rules about machines and images read.
static READ: LazyLock<Vec<&str>> =
    LazyLock::new(|| serde_json::from_str(include_str!("read_kinds.json")).unwrap_or_default());

/// Whether an object is compared: those of KubeVirt and CDI, and what these use.
pub fn is_noted(api_version: &str, kind: &str) -> bool {
    READ.contains(&kind) || api_version.contains("kubevirt.io/")
}

/// The notes on objects of the repository, other than the HyperConverged, that differ between two sides.
pub fn object_notes(objects: [Vec<Value>; 2]) -> Vec<Note> {
    let mut sides: BTreeMap<ObjectId, [Vec<Value>; 2]> = BTreeMap::new();
    let numbered = objects.into_iter().enumerate();
    for (side, object) in numbered.flat_map(|(side, objects)| objects.into_iter().map(move |object| (side, object))) {
        sides.entry(ObjectId::of(&object)).or_default()[side].push(object);
    }
    let mut changed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    sides.retain(|id, [before, after]| before != after && id.kind != KIND);
    for (id, [before, after]) in sides {
        let what = match (before.is_empty(), after.is_empty()) {
            (true, _) => "added to",
            (_, true) => "removed from",
            _ => "changed in",
        };
        changed.entry(what).or_default().push(id.to_string());
    }
    let notes = changed.into_iter().map(|(what, subjects)| Note {
        subjects,
        ..Note::new(NoteKind::Object, Impact::Behaviour, format!("{{}}: {what} the repository"))
    });
    notes.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_each_object_that_differs() {
        let vm = |name: &str, memory: &str| {
            json!({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
                "metadata": {"name": name, "namespace": "shop"}, "spec": {"memory": memory}})
        };
        let before = [vm("same", "1Gi"), vm("grown", "1Gi"), vm("gone", "1Gi")];
        let after = [vm("grown", "2Gi"), vm("new", "1Gi"), vm("same", "1Gi")];
        let notes = object_notes([before.into(), after.into()]);
        let said: Vec<String> = notes.iter().map(|n| n.text.replace("{}", &n.subjects.join(", "))).collect();
        let named = |name: &str, what: &str| format!("VirtualMachine shop/{name}: {what} the repository");
        assert_eq!(said, [named("new", "added to"), named("grown", "changed in"), named("gone", "removed from")]);
    }
}
