//! What a patch does to the operands' lists of feature gates.

use serde_json::Value;

use super::Applied;
use crate::jsonpatch::{Change, segments};

/// KubeVirt's list, as a JSON pointer.
pub const KUBEVIRT_GATES: &str = "/spec/configuration/developerConfiguration/featureGates";

/// CDI's.
pub const CDI_GATES: &str = "/spec/config/featureGates";

/// A list of gates before and after an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedGates {
    /// The list's pointer.
    pub list: &'static str,
    /// Before the operation.
    pub before: Vec<String>,
    /// After it.
    pub after: Vec<String>,
}

impl PatchedGates {
    /// The gates that weren't there, or once less; in order.
    pub fn added(&self) -> Vec<&str> {
        let mut rest: Vec<&String> = self.before.iter().collect();
        let mut added = Vec::new();
        for gate in &self.after {
            match rest.iter().position(|r| *r == gate) {
                Some(found) => {
                    rest.swap_remove(found);
                }
                None => added.push(gate.as_str()),
            }
        }
        added
    }

    /// The gates that are gone, in order.
    pub fn lost(&self) -> Vec<&str> {
        let gone = self.before.iter().filter(|g| !self.after.contains(g));
        gone.map(String::as_str).collect()
    }
}

impl Applied<'_, '_> {
    /// What the operation did to the operand's list of feature gates; `None` where it left it
    /// alone or the operand has none.
    pub fn gates(&self) -> Option<PatchedGates> {
        let list = match self.kind() {
            "KubeVirt" => KUBEVIRT_GATES,
            "CDI" => CDI_GATES,
            _ => return None,
        };
        let near = |c: &Change| list.starts_with(&c.path) || c.path.starts_with(list);
        if !self.effect.changed.iter().any(near) {
            return None;
        }
        let mut gates = names(self.patch.rendered()?.pointer(list));
        for effect in self.patch.effects()? {
            let before = gates.clone();
            for change in &effect.changed {
                follow(list, change, &mut gates);
            }
            if effect.index == self.index {
                let found = PatchedGates {
                    list,
                    before,
                    after: gates,
                };
                return (found.before != found.after).then_some(found);
            }
        }
        None
    }

    /// The gates that HCO renders and the operation takes away.
    pub fn lost_gates(&self) -> Vec<String> {
        let gates = self.gates();
        let lost = gates.iter().flat_map(PatchedGates::lost);
        lost.map(str::to_owned).collect()
    }
}

fn names(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    let names = items.filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// The list after a change of the operand.
fn follow(list: &str, change: &Change, gates: &mut Vec<String>) {
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
