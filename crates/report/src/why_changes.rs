//! Describes the changes within an object or list.

use crate::Sign;
use crate::prelude::*;
use hcoplan_explain::diff::semantic::{Lists, delta};
use hcoplan_planner::jsonpatch::changes;

/// One change.
#[derive(Debug, PartialEq)]
pub(super) enum ChangeLine {
    /// A changed value at a path.
    Place(ChangedPlace),
    /// An entry of a list, by name, that is added, removed or moved.
    Entry(Sign, String),
}

/// The changes between two values; lists with names are compared entry by entry.
pub(super) fn change_lines(old: &Value, new: &Value) -> Vec<ChangeLine> {
    let whole = ChangedPlace { path: String::new(), before: Some(old.clone()), after: Some(new.clone()) };
    if [old, new].iter().all(|list| is_of_objects(list)) {
        return by_name(&whole);
    }
    let of_change = |change: ChangedPlace| match (&change.before, &change.after) {
        (Some(Value::Array(old)), Some(Value::Array(new))) => match entries(old, new) {
            Some((before, after)) => vec![ChangeLine::Place(ChangedPlace { before, after, ..change })],
            None => by_name(&change),
        },
        _ => vec![ChangeLine::Place(change)],
    };
    changes(old, new).into_iter().flat_map(of_change).collect()
}

fn is_of_objects(list: &Value) -> bool {
    let items = list.as_array();
    items.is_some_and(|items| items.iter().all(Value::is_object))
}

/// The entries that only one of two lists of scalars has.
fn entries(old: &[Value], new: &[Value]) -> Option<(Option<Value>, Option<Value>)> {
    let only = |a: &[Value], b: &[Value]| {
        let own: Vec<Value> = a.iter().filter(|v| !b.contains(v)).cloned().collect();
        (!own.is_empty()).then_some(Value::Array(own))
    };
    let (before, after) = (only(old, new), only(new, old));
    let plain = old.iter().chain(new).all(|v| !v.is_object() && !v.is_array());
    (plain && (before.is_some() || after.is_some())).then_some((before, after))
}

/// Added and removed entries as lines; for the others, their differences.
fn by_name(change: &ChangedPlace) -> Vec<ChangeLine> {
    let (Some(old), Some(new)) = (&change.before, &change.after) else {
        return Vec::new();
    };
    let steps = delta(old, new, &Lists::default()).into_iter();
    let change_lines = steps.map(|step| {
        let place = format!("{}{}", change.path, step.label);
        let depth = step.path.0.len();
        match (step.before, step.after) {
            (Some(_), Some(_)) if depth == 0 => {
                ChangeLine::Entry(Sign::Change, format!("{place} in another order").trim().to_owned())
            }
            (Some(_), None) if depth == 1 => ChangeLine::Entry(Sign::Remove, place),
            (None, Some(_)) if depth == 1 => ChangeLine::Entry(Sign::Add, place),
            (before, after) => ChangeLine::Place(ChangedPlace { path: place, before, after }),
        }
    });
    change_lines.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_of_a_list_is_a_line() {
        let entry = |name: &str, schedule: &str| json!({"metadata": {"name": name}, "spec": {"schedule": schedule}});
        let old = json!([entry("a", "1"), entry("b", "1"), entry("c", "1")]);
        let new = json!([entry("a", "2"), entry("c", "1"), entry("d", "1")]);
        let expected = [
            ChangeLine::Entry(Sign::Remove, "[metadata.name=b]".to_owned()),
            ChangeLine::Entry(Sign::Add, "[metadata.name=d]".to_owned()),
            ChangeLine::Place(ChangedPlace {
                path: "[metadata.name=a].spec.schedule".to_owned(),
                before: Some("1".into()),
                after: Some("2".into()),
            }),
        ];
        assert_eq!(change_lines(&old, &new), expected);
    }

    #[test]
    fn reports_list_entries_that_only_one_side_has() {
        let expected =
            ChangeLine::Place(ChangedPlace { path: "/gates".to_owned(), before: None, after: Some(json!(["C"])) });
        let (old, new) = (json!({"gates": ["A", "B"]}), json!({"gates": ["A", "B", "C"]}));
        assert_eq!(change_lines(&old, &new), [expected]);
    }
}
