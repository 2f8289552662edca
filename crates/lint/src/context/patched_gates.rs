//! The effects of patches on the operands' lists of feature gates.

use hcoplan_planner::jsonpatch::{ChangedPlace, segments};
use serde_json::Value;

use super::gate_change::PatchedGates;
use super::patch::{Applied, PatchAnnotation};
use crate::lists::texts;

/// KubeVirt's list, as a JSON pointer.
pub const KUBEVIRT_GATES: &str = "/spec/configuration/developerConfiguration/featureGates";

/// CDI's list, as a JSON pointer.
pub const CDI_GATES: &str = "/spec/config/featureGates";

impl PatchAnnotation<'_> {
    /// The changes of each operation to the operand's list of feature gates, by effect index.
    fn find_gates(&self) -> Vec<Option<PatchedGates>> {
        let list = match self.target.kind {
            "KubeVirt" => KUBEVIRT_GATES,
            "CDI" => CDI_GATES,
            _ => return Vec::new(),
        };
        let (Some(rendered), Some(effects)) = (self.rendered(), self.effects()) else {
            return Vec::new();
        };
        let mut gates = names(rendered.pointer(list));
        let near = |c: &&ChangedPlace| list.starts_with(&c.path) || c.path.starts_with(list);
        let each = effects.iter().map(|effect| {
            let mut near = effect.changed.iter().filter(near).peekable();
            near.peek()?;
            let before = gates.clone();
            near.for_each(|change| follow(list, change, &mut gates));
            (before != gates).then(|| PatchedGates::new(list, &before, &gates))
        });
        each.collect()
    }
}

impl<'c> Applied<'c, '_> {
    /// The operation's changes of the operand's list of feature gates; `None` if it has no such list or doesn't change
    /// it.
    pub fn gates(&self) -> Option<&'c PatchedGates> {
        let gates = self.patch.gates.get_or_init(|| self.patch.find_gates());
        gates.get(self.index)?.as_ref()
    }
}

fn names(list: Option<&Value>) -> Vec<String> {
    texts(list).map(str::to_owned).collect()
}

/// The list after a change of the operand.
fn follow(list: &str, change: &ChangedPlace, gates: &mut Vec<String>) {
    if let Some(rest) = list.strip_prefix(&change.path) {
        let after = change.after.as_ref();
        *gates = names(after.and_then(|value| value.pointer(rest)));
    } else if let Some(rest) = change.path.strip_prefix(list)
        && let [index] = &segments(rest)[..]
        && let Some(gate) = index.parse().ok().and_then(|i: usize| gates.get_mut(i))
    {
        let after = change.after.as_ref().and_then(Value::as_str);
        after.unwrap_or_default().clone_into(gate);
    }
}
