//! The CR's feature gates, read from a map (v1beta1) or a list (v1).

use crate::prelude::*;
use crate::release::Release;

/// The gates that the CR enables or disables explicitly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gates {
    explicit: BTreeMap<String, bool>,
    ignores_case: bool,
}

impl Gates {
    /// Reads `spec.featureGates` of either shape. In a list the first entry of a name wins, and one without a state is
    /// enabled. The release decides whether names ignore case.
    pub fn read(release: &Release, value: Option<&Value>) -> Self {
        Self::read_names(value, release.has("feature-gates-any-case"))
    }

    fn read_names(value: Option<&Value>, ignores_case: bool) -> Self {
        let mut gates = BTreeMap::new();
        match value {
            Some(Value::Object(map)) => {
                for (name, state) in map {
                    if let Some(on) = state.as_bool() {
                        gates.insert(key(name, ignores_case).into_owned(), on);
                    }
                }
            }
            Some(Value::Array(list)) => {
                for entry in list {
                    if let Some(name) = entry.get("name").and_then(Value::as_str) {
                        let state = entry.get("state").and_then(Value::as_str);
                        gates
                            .entry(key(name, ignores_case).into_owned())
                            .or_insert(state.unwrap_or("Enabled") == "Enabled");
                    }
                }
            }
            _ => {}
        }
        Self { explicit: gates, ignores_case }
    }

    /// Whether the CR enables or disables a gate; `None` if it does neither.
    pub fn explicit(&self, name: &str) -> Option<bool> {
        self.explicit.get(&*key(name, self.ignores_case)).copied()
    }

    /// Enabled feature gates of HCO that aren't generally available, with their maturity: `alpha`, `a Technology
    /// Preview of OpenShift Virtualization; deprecated in 1.19`.
    pub fn immature_gates(&self, release: &Release) -> Vec<(String, String)> {
        let all = release.tables().feature_gates.iter();
        let on = all.filter(|g| self.explicit(&g.name) == Some(true));
        on.filter_map(|g| Some((g.name.clone(), release.gate_maturity(&g.name)?))).collect()
    }

    /// Whether a gate is enabled, `when_unset` if the CR doesn't mention it.
    pub fn is_enabled(&self, name: &str, when_unset: bool) -> bool {
        self.explicit(name).unwrap_or(when_unset)
    }
}

fn key(name: &str, ignores_case: bool) -> Cow<'_, str> {
    if ignores_case && name.bytes().any(|b| b.is_ascii_uppercase()) {
        name.to_ascii_lowercase().into()
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_maps_and_lists() {
        let map = Gates::read_names(Some(&json!({"alignCPUs": true, "videoConfig": false})), false);
        assert_eq!(map.explicit("alignCPUs"), Some(true));
        assert!(!map.is_enabled("videoConfig", true));
        let list = json!([
            {"name": "ALIGNCPUS"}, {"name": "alignCPUs", "state": "Disabled"},
            {"name": "template", "state": "Disabled"}
        ]);
        let exact = Gates::read_names(Some(&list), false);
        assert_eq!(exact.explicit("alignCPUs"), Some(false));
        let list = Gates::read_names(Some(&list), true);
        assert_eq!(list.explicit("alignCPUs"), Some(true));
        assert_eq!(list.explicit("template"), Some(false));
        assert!(list.is_enabled("other", true));
    }
}
