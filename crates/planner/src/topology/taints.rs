//! Matches tolerations and taints like the scheduler.

use serde_json::Value;

use crate::inventory::{Node, ROLE_LABEL, Taint};

/// Whether a toleration matches a taint: an empty key with `Exists` tolerates everything, an empty effect every effect.
pub fn tolerates(toleration: &Value, taint: &Taint) -> bool {
    let text = |key: &str| toleration[key].as_str().unwrap_or_default();
    let (key, effect) = (text("key"), text("effect"));
    if !effect.is_empty() && effect != taint.effect {
        return false;
    }
    if !key.is_empty() && key != taint.key {
        return false;
    }
    match text("operator") {
        "Exists" => true,
        "" | "Equal" => !key.is_empty() && text("value") == taint.value,
        _ => false,
    }
}

/// Whether a pod may run on a node despite its taints. A control-plane node that isn't a worker has the taint that
/// installers set, even if the inventory omits it.
pub fn is_tolerated(placement: &Value, node: &Node) -> bool {
    let is_tolerated = |taint: &Taint| {
        let tolerations = placement["tolerations"].as_array();
        tolerations.into_iter().flatten().any(|t| tolerates(t, taint))
    };
    let implied = ["control-plane", "master"].map(|role| Taint {
        key: format!("{ROLE_LABEL}{role}"),
        value: String::new(),
        effect: "NoSchedule".to_owned(),
    });
    if node.taints.is_empty() && node.is_control_plane() && !node.has_role("worker") {
        return implied.iter().any(is_tolerated);
    }
    let strict = node.taints.iter().filter(|t| t.effect != "PreferNoSchedule");
    strict.into_iter().all(is_tolerated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn matches_tolerations_like_the_scheduler() {
        let taint = Taint { key: "key".into(), value: "kubevirt".into(), effect: "NoSchedule".into() };
        for toleration in [
            json!({"key": "key", "value": "kubevirt"}),
            json!({"key": "key", "operator": "Exists"}),
            json!({"operator": "Exists"}),
            json!({"key": "key", "operator": "Equal", "value": "kubevirt", "effect": "NoSchedule"}),
        ] {
            assert!(tolerates(&toleration, &taint), "{toleration}");
        }
        for toleration in [
            json!({"key": "key"}),
            json!({"key": "other", "operator": "Exists"}),
            json!({"operator": "Exists", "effect": "NoExecute"}),
            json!({"value": "kubevirt"}),
        ] {
            assert!(!tolerates(&toleration, &taint), "{toleration}");
        }
    }

    #[test]
    fn control_plane_taint_is_implied() {
        let node = Node {
            labels: [("node-role.kubernetes.io/control-plane".to_owned(), String::new())].into(),
            ..Node::default()
        };
        let toleration = json!({"key": "node-role.kubernetes.io/master", "operator": "Exists"});
        assert!(!is_tolerated(&json!({}), &node));
        assert!(is_tolerated(&json!({"tolerations": [toleration]}), &node));
    }
}
