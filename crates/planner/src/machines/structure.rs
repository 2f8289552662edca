//! The structure of KubeVirt's objects: `schemas/kubevirt/fields.json` as the schema of one KubeVirt version.

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, Mutex};

use hcoplan_kubernetes::schema::Schema;
use serde_json::{Map, Value, json};

use crate::release::version_numbers;

type Table = Map<String, Value>;
/// By kind and version.
type KnownSchemas = HashMap<(String, Vec<u64>), &'static Schema>;

static FIELDS: LazyLock<Table> = LazyLock::new(|| table(hcoplan_schemas::KUBEVIRT_FIELDS));
static TYPES: LazyLock<Table> = LazyLock::new(|| table(hcoplan_schemas::KUBEVIRT_TYPES));

fn table(text: &str) -> Table {
    serde_json::from_str(text).expect("compiled in, and tested")
}

/// What a kind is called in the table: of those that differ only in their scope the one with a namespace.
fn entry_of(kind: &str) -> String {
    kind.replace("VirtualMachineCluster", "VirtualMachine")
}

/// The schema of a kind in a KubeVirt version (`v1.8.4`); `None` where the table doesn't have it.
pub fn schema(kind: &str, version: &str) -> Option<&'static Schema> {
    static KNOWN: LazyLock<Mutex<KnownSchemas>> = LazyLock::new(Mutex::default);
    let kind = entry_of(kind);
    let node = FIELDS.get(&kind)?;
    let version = version_numbers(version.trim_start_matches('v'));
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let schema = known.entry((kind.clone(), version.clone())).or_insert_with(|| {
        let text =
            json!({"group": "kubevirt.io", "version": "v1", "kind": kind, "openAPIV3Schema": root(node, &version)});
        // There are as many as versions of kinds.
        Box::leak(Box::new(Schema::from_json(&text.to_string()).expect("tested")))
    });
    Some(schema)
}

fn root(node: &Value, version: &[u64]) -> Value {
    let mut root = expand(node, version);
    for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        root["properties"][name] = json!({"type": kind});
    }
    root["properties"]["status"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    root
}

/// An entry of the table in the words of a CRD.
fn expand(node: &Value, version: &[u64]) -> Value {
    match node {
        Value::String(name) => match name.strip_prefix('@') {
            Some(entry) => expand(&FIELDS[entry], version),
            None => scalar(name),
        },
        Value::Array(list) => {
            let items = expand(&list[0], version);
            match list.get(1).and_then(Value::as_str) {
                Some(keys) => json!({"type": "array", "items": items, "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": keys.split(',').collect::<Vec<_>>()}),
                None => json!({"type": "array", "items": items}),
            }
        }
        Value::Object(fields) => match fields.get("*") {
            Some(each) => json!({"type": "object", "additionalProperties": expand(each, version)}),
            None => object(fields, version),
        },
        _ => Value::Null,
    }
}

fn object(fields: &Table, version: &[u64]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (marked, node) in fields {
        let Some(name) = current(marked, version) else {
            continue;
        };
        let plain = name.trim_end_matches(['!', '?']);
        let mut schema = expand(node, version);
        if name.ends_with('?') {
            schema["nullable"] = true.into();
        }
        if name.contains('!') {
            required.push(plain);
        }
        properties.insert(plain.to_owned(), schema);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn scalar(name: &str) -> Value {
    match name.split_once(':') {
        Some((kind, values)) => json!({"type": kind, "enum": values.split('|').collect::<Vec<_>>()}),
        None => match name {
            "any" => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            "quantity" => {
                json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}],
                "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"})
            }
            "intOrString" => {
                json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]})
            }
            "integer>=0" => json!({"type": "integer", "minimum": 0}),
            kind => json!({"type": kind}),
        },
    }
}

/// A name without its versions, where they include this one.
fn current<'n>(marked: &'n str, version: &[u64]) -> Option<&'n str> {
    let limit = |mark: char| {
        let (before, after) = marked.rsplit_once(mark)?;
        let digits = after.split(['+', '-']).next()?;
        digits.starts_with(|c: char| c.is_ascii_digit()).then(|| (before, version_numbers(digits)))
    };
    let (until, since) = (limit('-'), limit('+'));
    let is_in = since.as_ref().is_none_or(|(_, from)| version >= &from[..])
        && until.as_ref().is_none_or(|(_, end)| version < &end[..]);
    let name = since.map_or(until.map_or(marked, |(name, _)| name), |(name, _)| name);
    is_in.then_some(name)
}

/// An instance type or a preference that KubeVirt deploys itself: its `spec`.
pub fn common_type(kind: TypeKind, name: &str, version: &str) -> Option<&'static Value> {
    common_types(kind, version).get(name).copied()
}

/// All that KubeVirt deploys of a kind, by name.
pub fn common_types(kind: TypeKind, version: &str) -> &'static BTreeMap<&'static str, &'static Value> {
    type Known = HashMap<(TypeKind, String), &'static BTreeMap<&'static str, &'static Value>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    known.entry((kind, version.to_owned())).or_insert_with(|| {
        let numbers = version_numbers(version.trim_start_matches('v'));
        let all = TYPES[kind.table()].as_object().into_iter().flatten();
        let current = all.filter_map(|(marked, spec)| Some((current(marked, &numbers)?, spec)));
        Box::leak(Box::new(current.collect()))
    })
}

/// What a virtual machine can refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// An instance type.
    Instancetype,
    /// A preference.
    Preference,
}

impl TypeKind {
    fn table(self) -> &'static str {
        match self {
            Self::Instancetype => "instancetypes",
            Self::Preference => "preferences",
        }
    }

    /// The field of a virtual machine's `spec` that refers to it.
    pub fn field(self) -> &'static str {
        match self {
            Self::Instancetype => "instancetype",
            Self::Preference => "preference",
        }
    }

    /// Its kind, without a namespace and with one.
    pub fn kinds(self) -> [&'static str; 2] {
        match self {
            Self::Instancetype => ["VirtualMachineClusterInstancetype", "VirtualMachineInstancetype"],
            Self::Preference => ["VirtualMachineClusterPreference", "VirtualMachinePreference"],
        }
    }
}
