//! The virtual machines that a consequence is about. A row names them by what they use: a name of `users.json`, or a
//! label (`label app=web`), a label of their namespace (`namespace team=a`) or a network binding (`binding passt`);
//! ` & ` joins what they have to use together.

use super::shown::{entries, selector};
use crate::prelude::*;

/// By name the alternatives: fields of an instance with the values of which one has to be there; after `!`, another one.
type Users = BTreeMap<String, Vec<BTreeMap<String, Vec<Value>>>>;

static USERS: Table<Users> = Table::of(include_str!("users.json"));

/// What a machine uses: `written` is its spec as written, `complete` as it is in KubeVirt; its and its namespace's labels.
pub fn uses(written: &Value, complete: &Value, labels: &Value, of_namespace: &Value) -> Vec<String> {
    let has = |(path, values): (&String, &Vec<Value>)| {
        let (path, wanted) = path.strip_prefix('!').map_or((path.as_str(), true), |path| (path, false));
        let found = path.strip_prefix("written.").map_or_else(|| at(complete, path), |path| at(written, path));
        found.into_iter().any(|value| values.contains(value) == wanted)
    };
    let named = USERS.iter().filter(|(_, any)| any.iter().any(|all| all.iter().all(has)));
    let bindings = at(complete, "domain.devices.interfaces.binding.name").into_iter().filter_map(Value::as_str);
    let labels = [("label", labels), ("namespace", of_namespace)].into_iter();
    let labels = labels.flat_map(|(kind, labels)| selector(labels).into_iter().map(move |one| format!("{kind} {one}")));
    named.map(|(name, _)| name.clone()).chain(bindings.map(|name| format!("binding {name}"))).chain(labels).collect()
}

/// The values at a path, of each item where there is a list on the way.
fn at<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    match (value, path.split_once('.').unwrap_or((path, ""))) {
        (Value::Array(items), _) => items.iter().flat_map(|item| at(item, path)).collect(),
        (value, ("", _)) => vec![value],
        (value, (key, rest)) => at(&value[key], rest),
    }
}

/// The machines of all groups that a key joins.
pub(in crate::diff) fn of_key(users: &BTreeMap<String, Vec<String>>, key: &str) -> Vec<String> {
    let mut parts = key.split(" & ").map(|part| users.get(part).map_or(&[][..], Vec::as_slice));
    let first = parts.next().unwrap_or_default().to_vec();
    parts.fold(first, |names, part| names.into_iter().filter(|name| part.contains(name)).collect())
}

/// The key of those that a selector of labels takes, which `kind` is on; `None` if it asks for more than labels.
pub(super) fn selected_by(kind: &str, labels: &Value) -> Option<String> {
    let is_plain = labels.is_object() && entries(&labels["matchExpressions"]).is_empty();
    let keys: Vec<String> = selector(labels).iter().map(|label| format!("{kind} {label}")).collect();
    is_plain.then(|| if keys.is_empty() { "every".to_owned() } else { keys.join(" & ") })
}
