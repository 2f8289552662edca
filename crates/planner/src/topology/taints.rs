//! Matches tolerations and taints like the scheduler.

use crate::inventory::Taint;
use crate::inventory::{Node, ROLE_LABEL};
use crate::prelude::*;

/// A placement's tolerations, read once for many nodes.
#[derive(Debug)]
pub struct Tolerations<'v>(
    /// Key, value and effect of each. No value matches all; so does an empty key, or effect.
    BTreeSet<(&'v str, Option<&'v str>, &'v str)>,
);

impl<'v> Tolerations<'v> {
    /// The `tolerations` of a placement.
    pub fn of(placement: &'v Value) -> Self {
        let read = |toleration: &'v Value| {
            let text = |key: &str| text(&toleration[key]);
            let value = match text("operator") {
                "Exists" => None,
                "" | "Equal" if !text("key").is_empty() => Some(text("value")),
                _ => return None,
            };
            Some((text("key"), value, text("effect")))
        };
        Self(elements(&placement["tolerations"]).filter_map(read).collect())
    }

    /// Whether one of them matches a taint.
    pub fn tolerate(&self, taint: &Taint) -> bool {
        let (key, value) = (taint.key.as_str(), taint.value.as_str());
        let matching = [(key, Some(value)), (key, None), ("", None)];
        matching
            .iter()
            .any(|(key, value)| ["", &taint.effect].iter().any(|effect| self.0.contains(&(*key, *value, *effect))))
    }

    /// Whether a pod may run on a node despite its taints. A control-plane node that isn't a worker has the taint that
    /// installers set, unless it is stated that it has none.
    pub fn admit(&self, node: &Node) -> bool {
        if node.taints.is_empty() && !node.states_taints && node.is_control_plane() && !node.has_role("worker") {
            let implied = |role: &&str| Taint {
                key: format!("{ROLE_LABEL}{role}"),
                value: String::new(),
                effect: "NoSchedule".to_owned(),
            };
            return ["control-plane", "master"].iter().any(|role| self.tolerate(&implied(role)));
        }
        node.taints.iter().filter(|t| t.effect != "PreferNoSchedule").all(|t| self.tolerate(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn matches_tolerations_like_the_scheduler() {
        let taint = Taint { key: "key".into(), value: "kubevirt".into(), effect: "NoSchedule".into() };
        let tolerates = |toleration: &Value| Tolerations::of(&json!({"tolerations": [toleration]})).tolerate(&taint);
        for toleration in [
            json!({"key": "key", "value": "kubevirt"}),
            json!({"key": "key", "operator": "Exists"}),
            json!({"operator": "Exists"}),
            json!({"key": "key", "operator": "Equal", "value": "kubevirt", "effect": "NoSchedule"}),
        ] {
            assert!(tolerates(&toleration), "{toleration}");
        }
        for toleration in [
            json!({"key": "key"}),
            json!({"key": "other", "operator": "Exists"}),
            json!({"operator": "Exists", "effect": "NoExecute"}),
            json!({"value": "kubevirt"}),
        ] {
            assert!(!tolerates(&toleration), "{toleration}");
        }
    }

    #[test]
    fn control_plane_taint_is_implied() {
        let node = Node {
            labels: [("node-role.kubernetes.io/control-plane".to_owned(), String::new())].into(),
            ..Node::default()
        };
        let toleration = json!({"key": "node-role.kubernetes.io/master", "operator": "Exists"});
        assert!(!Tolerations::of(&json!({})).admit(&node));
        assert!(Tolerations::of(&json!({"tolerations": [toleration]})).admit(&node));
    }
}
