//! One effect of an upgrade on a HyperConverged.

use super::consequence;
use crate::diff::semantic::Impact;
use crate::prelude::*;
use std::fmt::{self};

/// The kind of an upgrade's effect on a HyperConverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// The HyperConverged is rejected after the upgrade, or is rejected until then.
    Verdict,
    /// The operator's reconcile fails.
    Reconcile,
    /// The release is older than the one before.
    Downgrade,
    /// An operation of a patch can't be applied any more.
    PatchFails,
    /// The index in an operation of a patch names another entry.
    PatchElsewhere,
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
    /// The rule whose finding says the same.
    pub rule: Option<&'static str>,
}

/// A line of the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLine {
    /// The field and its value.
    pub text: String,
    /// Whether the manifest's API version lacks the field.
    pub is_only_in_v1: bool,
}

impl Display for KeptLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, if self.is_only_in_v1 { " # only v1 has it" } else { "" })
    }
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
    pub keep: Option<KeptLine>,
    /// Whether the line is valid only from the new release on.
    pub is_later: bool,
}

/// A note with the text, the severity, the rule and the help of a sentence.
pub(super) fn from_sentence(kind: NoteKind, name: &str, values: &[(&str, &dyn Display)]) -> Note {
    let said = consequence::sentence(name, values);
    Note { rule: said.rule, ..note(kind, said.impact, said.text, said.action) }
}

/// A note with help; empty: none.
pub(super) fn note(kind: NoteKind, impact: Impact, text: String, help: String) -> Note {
    let help = Some(help).filter(|help| !help.is_empty());
    Note { kind, impact, text, help, place: None, value: None, subjects: Vec::new(), rule: None }
}
