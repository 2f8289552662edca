//! Lists whose elements must be unique.

use crate::prelude::*;
use std::collections::HashMap;

use super::{List, Node};

impl Node {
    /// Indexes of the elements that repeat an earlier one, each with what is printed: the
    /// element of a set, the keys of a map's element. Only the second of several is named.
    /// `Err` names an element that isn't an object where keys are asked for.
    pub(super) fn repeated(&self, items: &[Value]) -> Result<Vec<(usize, Value)>, usize> {
        let keys = match &self.list {
            List::Atomic => return Ok(Vec::new()),
            List::Set => None,
            List::Map(keys) => Some(keys),
        };
        if keys.is_some() {
            let odd = items.iter().position(|v| !v.is_object() && !v.is_null());
            if let Some(i) = odd {
                return Err(i);
            }
        }
        if items.len() < 2 {
            return Ok(Vec::new());
        }
        let mut seen: HashMap<ElementKey<'_>, u32> = HashMap::with_capacity(items.len());
        let mut repeated = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let key = match keys {
                None => ElementKey::Whole(item),
                Some(keys) => ElementKey::Keys(keys.iter().map(|k| item.get(&**k)).collect()),
            };
            let times = seen.entry(key).or_default();
            *times += 1;
            if *times == 2 {
                repeated.push((i, printed(item, keys.map(|k| &**k))));
            }
        }
        Ok(repeated)
    }
}

/// What two elements of a list must not share.
#[derive(PartialEq, Eq, Hash)]
enum ElementKey<'a> {
    Whole(&'a Value),
    Keys(Vec<Option<&'a Value>>),
}

fn printed(item: &Value, keys: Option<&[Box<str>]>) -> Value {
    let Some(keys) = keys else {
        return item.clone();
    };
    let given = keys.iter().filter_map(|k| Some((k.to_string(), item.get(&**k)?.clone())));
    Value::Object(given.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(list: List) -> Node {
        Node { list, ..Node::default() }
    }

    #[test]
    fn reports_the_second_of_repeated_elements() {
        let items = [json!("a"), json!("b"), json!("a"), json!("a")];
        assert_eq!(node(List::Set).repeated(&items), Ok(vec![(2, json!("a"))]));
        assert_eq!(node(List::Atomic).repeated(&items), Ok(Vec::new()));
        let map = node(List::Map(["a".into(), "b".into()].into()));
        let items = [json!({"a": 1, "c": 1}), json!({"a": 1, "c": 2}), json!({"a": 1, "b": 1})];
        assert_eq!(map.repeated(&items), Ok(vec![(1, json!({"a": 1}))]));
        assert_eq!(map.repeated(&[json!("x")]), Err(0));
    }
}
