//! The `x-kubernetes-validations` rules of a CRD's node, in the Common Expression Language: `kube-cel` evaluates them.

use crate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kube_cel::cel::{Context, ExecutionError, Program};
use kube_cel::{CompiledSchema, ErrorKind, KubeCelExt, compile_schema};

const KEYWORD: &str = "x-kubernetes-validations";

/// The rules of one node.
#[derive(Debug)]
pub(super) struct Rules {
    /// The node as it is in the CRD, as formats and names below it say what a rule sees.
    schema: Value,
    /// Compiled when a value is first checked: that takes up to a millisecond a rule, and most nodes
    /// are in no manifest.
    compiled: OnceLock<CompiledSchema>,
}

/// The server's message about a broken rule.
#[derive(Debug)]
pub(super) struct BrokenRule {
    /// The rule's `fieldPath` from the node on, `.a.b`, or empty.
    pub(super) field: String,
    /// `Invalid value: <the rule's message>`.
    pub(super) message: String,
}

impl Rules {
    /// The rules of a node with these keywords; `None` where it has none.
    pub(super) fn of(keywords: &Map<String, Value>) -> Option<Self> {
        keywords.get(KEYWORD)?;
        let mut keywords = keywords.clone();
        // Nodes below have rules of their own.
        for (keyword, below) in &mut keywords {
            if keyword != KEYWORD || !below.is_array() {
                remove_rules(below);
            }
        }
        Some(Self { schema: Value::Object(keywords), compiled: OnceLock::new() })
    }

    fn compiled(&self) -> &CompiledSchema {
        self.compiled.get_or_init(|| compile_schema(&self.schema))
    }

    /// Why rules can't be evaluated, one sentence each.
    pub(super) fn unsupported(&self) -> Vec<String> {
        let mut found = Vec::new();
        for rule in &self.compiled().validations {
            match rule {
                Ok(rule) => found.extend(unknown_functions(&rule.program)),
                Err(error) => found.push(one_line(&error.to_string())),
            }
        }
        found
    }

    /// The rules that a value breaks. One about a change (`oldSelf`) is evaluated only with an old value; one
    /// that can't be evaluated counts as broken, as in the server.
    pub(super) fn broken(
        &self,
        validator: &kube_cel::Validator,
        value: &Value,
        old: Option<&Value>,
    ) -> Vec<BrokenRule> {
        let invalid = |what: &str| vec![BrokenRule { field: String::new(), message: format!("Invalid value: {what}") }];
        // The library panics on dates that don't exist.
        let evaluate = || validator.validate_compiled(self.compiled(), value, old);
        let Ok(result) = catch_unwind(AssertUnwindSafe(evaluate)) else {
            return invalid("a CEL rule can't be evaluated");
        };
        let errors = result.err().map(kube_cel::ValidationErrors::into_vec);
        let errors = errors.into_iter().flatten();
        let said = errors.map(|error| {
            let reason = match error.reason.as_deref() {
                Some("FieldValueForbidden") => "Forbidden",
                Some("FieldValueRequired") => "Required value",
                Some("FieldValueDuplicate") => "Duplicate value",
                _ => "Invalid value",
            };
            let message = match error.kind {
                ErrorKind::ValidationFailure => error.message,
                _ => one_line(&error.to_string()),
            };
            BrokenRule { field: error.field_path, message: format!("{reason}: {message}") }
        });
        said.collect()
    }
}

/// The functions that a rule calls and the library lacks, a sentence each: any value would break the rule.
fn unknown_functions(rule: &Program) -> Vec<String> {
    let context = Context::default().with_all();
    // The others are operators.
    let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_unknown = |name: &&str| {
        let call = Program::compile(&format!("{name}()"));
        let called = call.map(|call| call.execute(&context));
        matches!(called, Ok(Err(ExecutionError::UndeclaredReference(_))))
    };
    let references = rule.references();
    let mut unknown: Vec<&str> = references.functions().into_iter().filter(is_name).collect();
    unknown.retain(is_unknown);
    unknown.sort_unstable();
    unknown.into_iter().map(|name| format!("the function {name} of a CEL rule is not known")).collect()
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn remove_rules(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            // A field may have that name, but no list for a schema.
            if map.get(KEYWORD).is_some_and(Value::is_array) {
                map.remove(KEYWORD);
            }
            map.values_mut().for_each(remove_rules);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_rules),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(node: &Value, value: &Value, old: Option<&Value>) -> Vec<String> {
        let rules = node.as_object().and_then(Rules::of).expect("rules");
        assert_eq!(rules.unsupported(), [""; 0]);
        let broken = rules.broken(&kube_cel::Validator::new(), value, old).into_iter();
        broken.map(|b| format!("{}: {}", b.field, b.message)).collect()
    }

    #[test]
    fn evaluates_each_rule_of_the_operators_to_true_and_false() {
        for (rule, good, bad) in [
            (
                "(has(self.mediatedDeviceTypes) && size(self.mediatedDeviceTypes)>0) || \
                 (has(self.mediatedDevicesTypes) && size(self.mediatedDevicesTypes)>0)",
                json!({"mediatedDeviceTypes": [], "mediatedDevicesTypes": ["a"]}),
                json!({"mediatedDeviceTypes": []}),
            ),
            (
                "!has(self.vmiCPUAllocationRatio) || self.vmiCPUAllocationRatio > 0",
                json!({}),
                json!({"vmiCPUAllocationRatio": 0}),
            ),
            (
                "self.all(am, am in ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'])",
                json!(["ReadWriteOnce"]),
                json!(["ReadWriteOnce", "x"]),
            ),
            (
                "(has(self.rangeStart) && has(self.rangeEnd)) || (!has(self.rangeStart) && !has(self.rangeEnd))",
                json!({"rangeStart": "a", "rangeEnd": "b"}),
                json!({"rangeEnd": "b"}),
            ),
            (
                "self.all(x, self.exists_one(y, x.name.lowerAscii() == y.name.lowerAscii()))",
                json!([{"name": "a"}, {"name": "b"}]),
                json!([{"name": "a"}, {"name": "A"}]),
            ),
            ("(self.size() <= 1) || !self.exists(r, (r == 'none'))", json!(["none"]), json!(["a", "none"])),
        ] {
            let node = json!({KEYWORD: [{"rule": rule}]});
            assert_eq!(said(&node, &good, None), [""; 0], "{rule}");
            let wanted = format!(": Invalid value: failed rule: {rule}");
            assert_eq!(said(&node, &bad, None), [wanted]);
        }
    }

    #[test]
    fn reports_the_reason_field_and_message_of_a_rule() {
        let node = json!({KEYWORD: [{"rule": "self.a < 2", "reason": "FieldValueForbidden", "fieldPath": ".a",
            "messageExpression": "'not ' + string(self.a)"}]});
        let value = json!({"a": 3});
        assert_eq!(said(&node, &value, None), [".a: Forbidden: not 3"]);
    }

    #[test]
    fn evaluates_transition_rules_on_updates_only() {
        let node = json!({KEYWORD: [{"rule": "self == oldSelf", "message": "never changes"}]});
        assert_eq!(said(&node, &json!(1), None), [""; 0]);
        assert_eq!(said(&node, &json!(1), Some(&json!(1))), [""; 0]);
        let changed = said(&node, &json!(1), Some(&json!(2)));
        assert_eq!(changed, [": Invalid value: never changes"]);
    }

    #[test]
    fn reports_nothing_for_rules_that_cannot_be_evaluated() {
        for rule in ["self.noSuchFunction()", "self ++"] {
            let node = json!({KEYWORD: [{"rule": rule}]});
            let rules = node.as_object().and_then(Rules::of).expect("rules");
            assert_eq!(rules.unsupported().len(), 1, "{rule}");
            assert_eq!(rules.broken(&kube_cel::Validator::new(), &json!(1), None).len(), 1);
        }
    }
}
