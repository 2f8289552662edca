//! Matches the entries of two lists.

use crate::prelude::*;
use hcoplan_kubernetes::schema::ListKind;

/// How the entries of a list are matched.
#[derive(Debug, PartialEq, Eq)]
pub enum Listing<'s> {
    /// By these fields; the order has no meaning.
    Map(Vec<&'s str>),
    /// By their values; the order has no meaning.
    Set,
    /// Ordered. Entries with names are matched by name all the same.
    Sequence,
}

/// The lists of one kind of object.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lists<'s> {
    schema: Option<&'s Schema>,
}

/// Unordered lists by their last key, although no schema declares them: KubeVirt and CDI look up their gates and devices,
/// Kubernetes merges a pod's parts by these fields (`patchMergeKey` of its API).
static BY_KEYS: Table<BTreeMap<&str, Vec<&str>>> = Table::of(include_str!("lists.json"));

/// Possible name fields of entries without declared keys: the first that all entries have, without duplicates.
const NAMES: [&str; 5] = ["name", "metadata.name", "resourceName", "mountPath", "type"];

impl<'s> Lists<'s> {
    /// The lists of a schema, and well-known ones.
    pub fn new(schema: Option<&'s Schema>) -> Self {
        Self { schema }
    }

    /// How the entries of the list at a path are matched.
    pub(super) fn of(&self, path: &Path) -> Listing<'s> {
        match self.schema.and_then(|s| s.list_kind(path)) {
            Some(ListKind::Map(keys)) => return Listing::Map(keys),
            Some(ListKind::Set) => return Listing::Set,
            Some(ListKind::Atomic) | None => {}
        }
        let Some(Segment::Key(last)) = path.0.last() else {
            return Listing::Sequence;
        };
        match BY_KEYS.get(last.as_str()) {
            Some(keys) if keys.is_empty() => Listing::Set,
            Some(keys) => Listing::Map(keys.clone()),
            None => Listing::Sequence,
        }
    }
}

/// The names of the entries of both lists.
pub(super) struct Keys {
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
    pub(super) unordered: bool,
}

impl Keys {
    /// `None` if entries lack names, or two share one.
    pub(super) fn of(listing: &Listing<'_>, before: &[Value], after: &[Value]) -> Option<Self> {
        let unordered = *listing != Listing::Sequence;
        let by = |fields: &[&str]| -> Option<Self> {
            Some(Self {
                before: names(before, |v| by_fields(v, fields))?,
                after: names(after, |v| by_fields(v, fields))?,
                unordered,
            })
        };
        match listing {
            Listing::Map(fields) => by(fields),
            Listing::Set => {
                let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
                let own = |v: &Value| by_fields(v, &["name"]).or_else(|| Some(text(v)));
                Some(Self { before: names(before, own)?, after: names(after, own)?, unordered })
            }
            Listing::Sequence => NAMES.iter().find_map(|name| by(&[name])),
        }
    }
}

/// The names of all items; `None` if one is missing or repeated.
fn names(items: &[Value], name: impl Fn(&Value) -> Option<String>) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    let all = items.iter().map(|item| {
        let name = name(item)?;
        seen.insert(name.clone()).then_some(name)
    });
    all.collect()
}

/// The name from fields: `name=a` or `containerPort=80,protocol=TCP`; at least one field must exist.
fn by_fields(item: &Value, fields: &[&str]) -> Option<String> {
    let mut out = Vec::new();
    for field in fields {
        let path = Path::dotted(field);
        match path.get(item) {
            Some(Value::String(text)) => out.push(format!("{field}={text}")),
            Some(Value::Number(number)) => out.push(format!("{field}={number}")),
            Some(Value::Bool(flag)) => out.push(format!("{field}={flag}")),
            Some(_) => return None,
            None => {}
        }
    }
    (!out.is_empty()).then(|| out.join(","))
}
