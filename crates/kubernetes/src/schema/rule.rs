//! The `x-kubernetes-validations` rules of the operators' CRDs, each written out as a function.
//!
//! A rule is found by its text, so that a release that words one differently is noticed.

use serde_json::Value;

/// Whether a value keeps a rule.
type Check = fn(&Value) -> bool;

/// A rule that has a function.
#[derive(Debug)]
pub(super) struct Rule {
    /// What the API server says when the rule is broken.
    pub(super) message: Box<str>,
    /// Whether the value keeps the rule.
    pub(super) holds: Check,
}

/// Rule texts and their functions.
const RULES: &[(&str, Check)] = &[
    (
        "(has(self.mediatedDeviceTypes) && size(self.mediatedDeviceTypes)>0) || (has(self.mediatedDevicesTypes) && size(self.mediatedDevicesTypes)>0)",
        some_mediated_device_type,
    ),
    (
        "!has(self.vmiCPUAllocationRatio) || self.vmiCPUAllocationRatio > 0",
        positive_cpu_allocation_ratio,
    ),
    (
        "self.all(am, am in ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'])",
        known_access_modes,
    ),
    (
        "(has(self.rangeStart) && has(self.rangeEnd)) || (!has(self.rangeStart) && !has(self.rangeEnd))",
        both_ends_of_the_range,
    ),
    (
        "self.all(x, self.exists_one(y, x.name.lowerAscii() == y.name.lowerAscii()))",
        unique_names_ignoring_case,
    ),
    (
        "(self.size() <= 1) || !self.exists(r, (r == 'none'))",
        none_stands_alone,
    ),
];

impl Rule {
    /// The rule with this text; without a message of its own the API server prints the text.
    pub(super) fn of(text: &str, message: Option<&str>) -> Option<Self> {
        let (_, holds) = RULES.iter().find(|(t, _)| *t == text)?;
        let message = message.map_or_else(|| format!("failed rule: {text}"), str::to_owned);
        Some(Self {
            message: message.into(),
            holds: *holds,
        })
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn some_mediated_device_type(value: &Value) -> bool {
    !items(&value["mediatedDeviceTypes"]).is_empty()
        || !items(&value["mediatedDevicesTypes"]).is_empty()
}

fn positive_cpu_allocation_ratio(value: &Value) -> bool {
    value["vmiCPUAllocationRatio"]
        .as_f64()
        .is_none_or(|n| n > 0.0)
}

fn known_access_modes(value: &Value) -> bool {
    items(value).iter().all(|mode| {
        matches!(
            mode.as_str(),
            Some("ReadWriteOnce" | "ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOncePod")
        )
    })
}

fn both_ends_of_the_range(value: &Value) -> bool {
    value.get("rangeStart").is_some() == value.get("rangeEnd").is_some()
}

fn unique_names_ignoring_case(value: &Value) -> bool {
    let names: Vec<&str> = items(value)
        .iter()
        .filter_map(|gate| gate["name"].as_str())
        .collect();
    let twice = |(i, name): (usize, &&str)| names[..i].iter().any(|n| n.eq_ignore_ascii_case(name));
    !names.iter().enumerate().any(twice)
}

fn none_stands_alone(value: &Value) -> bool {
    items(value).len() <= 1 || !items(value).iter().any(|v| v == "none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_rule_can_hold_and_fail() {
        let cases: [(Check, Value, Value); 6] = [
            (
                some_mediated_device_type,
                json!({"mediatedDeviceTypes": [], "mediatedDevicesTypes": ["a"]}),
                json!({"mediatedDeviceTypes": []}),
            ),
            (
                positive_cpu_allocation_ratio,
                json!({}),
                json!({"vmiCPUAllocationRatio": 0}),
            ),
            (
                known_access_modes,
                json!(["ReadWriteOnce"]),
                json!(["ReadWriteOnce", "x"]),
            ),
            (
                both_ends_of_the_range,
                json!({"rangeStart": "a", "rangeEnd": "b"}),
                json!({"rangeEnd": "b"}),
            ),
            (
                unique_names_ignoring_case,
                json!([{"name": "a"}, {"name": "b"}]),
                json!([{"name": "a"}, {"name": "A"}]),
            ),
            (none_stands_alone, json!(["none"]), json!(["a", "none"])),
        ];
        assert_eq!(cases.len(), RULES.len());
        for (i, (holds, good, bad)) in cases.iter().enumerate() {
            assert!(holds(good), "{i}: {good}");
            assert!(!holds(bad), "{i}: {bad}");
        }
    }
}
