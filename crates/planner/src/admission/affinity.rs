//! Required node affinity that Kubernetes can't parse.
//!
//! Source: component-helpers `nodeaffinity.NewNodeSelector` and apimachinery
//! `labels.NewRequirement`, which HCO asks for workloads and infrastructure.

use super::shape::{Shape, at, list};
use super::{Reason, Rejection};
use crate::cause::{Cause, CauseKind, Stage};
use crate::prelude::*;
use crate::release::ListStyle;
use hcoplan_kubernetes::label::{key_problems, value_problems};
use hcoplan_kubernetes::schema::{go_json, go_quote, unsupported};

const REQUIRED: &str = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";

/// Checks workloads, then infrastructure. The first placement with problems is rejected with all of them.
pub(super) fn check(object: &Value, shape: Shape<'_>, style: ListStyle) -> Result<(), Rejection> {
    for (which, placement) in [("workloads", shape.path("workloads")), ("infra", shape.path("infra"))] {
        let selector = format!("{placement}.{REQUIRED}");
        let Some(value) = at(object, &selector) else {
            continue;
        };
        let mut problems = Problems { style, base: Path::dotted(&selector), found: Vec::new() };
        for (i, term) in list(value, "nodeSelectorTerms").iter().enumerate() {
            problems.term(i, term);
        }
        let messages: Vec<&str> = problems.found.iter().map(|c| c.message.as_str()).collect();
        let text = match messages[..] {
            [] => continue,
            [one] => one.to_owned(),
            _ => format!("[{}]", messages.join(", ")),
        };
        let message = format!("invalid {which} node placement affinity: {text}");
        let mut rejection = Rejection::new(Reason::Affinity, message);
        rejection.causes = problems.found;
        return Err(rejection);
    }
    Ok(())
}

struct Problems {
    style: ListStyle,
    base: Path,
    found: Vec<Cause>,
}

impl Problems {
    /// A term without expressions and fields is skipped.
    fn term(&mut self, i: usize, term: &Value) {
        for (field, by_labels) in [("matchExpressions", true), ("matchFields", false)] {
            for (j, requirement) in list(term, field).iter().enumerate() {
                let place = Place {
                    text: format!("nodeSelectorTerms[{i}].{field}[{j}]"),
                    path: self.base.key("nodeSelectorTerms").index(i).key(field).index(j),
                };
                if by_labels {
                    self.label_requirement(&place, requirement);
                } else {
                    self.field_requirement(&place, requirement);
                }
            }
        }
    }

    fn label_requirement(&mut self, place: &Place, requirement: &Value) {
        let text = |key: &str| text(&requirement[key]);
        let (key, operator) = (text("key"), text("operator"));
        let values = strings(requirement);
        let written_values = requirement.get("values").filter(|v| !v.is_null());
        if !matches!(operator, "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt") {
            self.unsupported(place, operator, &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]);
            return;
        }
        self.invalid(place, "key", None, go_quote(key), key_problems(key).join("; "));
        let wrong_count = match operator {
            "In" | "NotIn" if values.is_empty() => "for 'in', 'notin' operators, values set can't be empty",
            "Exists" | "DoesNotExist" if !values.is_empty() => "values set must be empty for exists and does not exist",
            "Gt" | "Lt" if values.len() != 1 => "for 'Gt', 'Lt' operators, exactly one value is required",
            _ => "",
        };
        let shown = self.list(written_values);
        self.invalid(place, "values", None, shown, wrong_count.to_owned());
        if matches!(operator, "Gt" | "Lt") {
            for (k, value) in values.iter().enumerate() {
                if !is_integer(value) {
                    let problem = "for 'Gt', 'Lt' operators, the value must be an integer";
                    self.invalid(place, "values", Some(k), go_quote(value), problem.to_owned());
                }
            }
        }
        for (k, value) in values.iter().enumerate() {
            let problem = value_problems(value).join("; ");
            if !problem.is_empty() {
                let text = format!("{}.values[{k}][{key}]", place.text);
                let path = place.path.key("values").index(k);
                self.push(path, format!("{text}: Invalid value: {}: {problem}", go_quote(value)));
            }
        }
    }

    fn field_requirement(&mut self, place: &Place, requirement: &Value) {
        let operator = text(&requirement["operator"]);
        if !matches!(operator, "In" | "NotIn") {
            self.unsupported(place, operator, &["In", "NotIn"]);
        } else if strings(requirement).len() != 1 {
            let shown = self.list(requirement.get("values").filter(|v| !v.is_null()));
            self.invalid(place, "values", None, shown, "must have one element".to_owned());
        }
    }

    fn unsupported(&mut self, place: &Place, operator: &str, supported: &[&str]) {
        let supported = supported.iter().copied();
        let message = format!("{}.operator: {}", place.text, unsupported(&go_quote(operator), supported));
        self.push(place.path.key("operator"), message);
    }

    /// Adds a cause unless `problem` is empty; `value` is already formatted.
    fn invalid(&mut self, place: &Place, field: &str, index: Option<usize>, value: String, problem: String) {
        if problem.is_empty() {
            return;
        }
        let mut text = format!("{}.{field}", place.text);
        let mut path = place.path.key(field);
        if let Some(index) = index {
            text.push_str(&format!("[{index}]"));
            path = path.index(index);
        }
        self.push(path, format!("{text}: Invalid value: {value}: {problem}"));
    }

    /// A message that was already found is not repeated.
    fn push(&mut self, path: Path, message: String) {
        if self.found.iter().all(|c| c.message != message) {
            self.found.push(Cause::new(Stage::Validating, path, CauseKind::OfRejection, message));
        }
    }

    fn list(&self, values: Option<&Value>) -> String {
        match (self.style, values) {
            (ListStyle::Json, Some(values)) => go_json(values),
            (ListStyle::Json, None) => "null".to_owned(),
            (ListStyle::Go, None) => "[]string(nil)".to_owned(),
            (ListStyle::Go, Some(values)) => {
                let items = elements(values).map(|v| go_quote(text(v)));
                format!("[]string{{{}}}", joined(items, ", "))
            }
        }
    }
}

/// Where a requirement is: in the operator's message and in the document.
struct Place {
    text: String,
    path: Path,
}

fn strings(requirement: &Value) -> Vec<&str> {
    let values = list(requirement, "values").iter();
    values.map(text).collect()
}

/// Like Go's `ParseInt` in base ten.
fn is_integer(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}
