//! What the API server rejects in a pod's tolerations.
//!
//! Source: Kubernetes `pkg/apis/core/validation`, `ValidateTolerations`.

use crate::label::{key_problems, value_problems};
use crate::prelude::*;
use crate::schema::{go_quote, unsupported};
use crate::tree::text;

/// The problems of a toleration: the field and the server's words.
pub fn problems(toleration: &Value) -> Vec<(&'static str, String)> {
    let [key, operator, value, effect] = ["key", "operator", "value", "effect"].map(|field| text(&toleration[field]));
    let invalid = |shown: &str, problem: &str| format!("Invalid value: {}: {problem}", go_quote(shown));
    let mut found = Vec::new();
    if key.is_empty() {
        if operator != "Exists" {
            let problem = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            found.push(("operator", invalid(operator, problem)));
        }
    } else {
        found.extend(key_problems(key).into_iter().map(|problem| ("key", invalid(key, &problem))));
    }
    if !toleration["tolerationSeconds"].is_null() && effect != "NoExecute" {
        found.push(("effect", invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")));
    }
    match operator {
        "" | "Equal" => {
            let wrong = value_problems(value);
            if !wrong.is_empty() {
                found.push(("value", invalid(value, &wrong.join(";"))));
            }
        }
        "Exists" if !value.is_empty() => {
            found.push(("operator", invalid(operator, "value must be empty when `operator` is 'Exists'")));
        }
        "Exists" => {}
        _ => found.push(("operator", unsupported(&go_quote(operator), ["Equal", "Exists"]))),
    }
    const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !effect.is_empty() && !EFFECTS.contains(&effect) {
        found.push(("effect", unsupported(&go_quote(effect), EFFECTS)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn accepts_what_a_pod_may_have() {
        for sound in [
            json!({"operator": "Exists"}),
            json!({"key": "a", "value": "b", "effect": "NoSchedule"}),
            json!({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}),
        ] {
            assert_eq!(problems(&sound), [], "{sound}");
        }
    }

    #[test]
    fn names_each_problem() {
        let fields = |toleration: Value| -> Vec<&str> { problems(&toleration).into_iter().map(|(f, _)| f).collect() };
        assert_eq!(fields(json!({"key": "a", "operator": "Exist"})), ["operator"]);
        assert_eq!(fields(json!({"key": "a", "effect": "NoScheduled"})), ["effect"]);
        assert_eq!(fields(json!({"key": "a", "operator": "Exists", "value": "b"})), ["operator"]);
        assert_eq!(fields(json!({"key": "a b", "value": "c d"})), ["key", "value"]);
        assert_eq!(fields(json!({"value": "b"})), ["operator"]);
        assert_eq!(fields(json!({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 3})), ["effect"]);
    }
}
