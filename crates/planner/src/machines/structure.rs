//! The structure of KubeVirt's objects: `schemas/kubevirt/fields.json` as the schema of one KubeVirt version.

use crate::prelude::*;
use crate::release::{Release, version_numbers};
use hcoplan_diagnostics::source::locked;
use std::sync::Mutex;

type Table = Map<String, Value>;
/// Schemas by kind, version and validating component.
type KnownSchemas = HashMap<(String, Vec<u64>, Layer), &'static Schema>;

/// The component that validates the structure: both read the same types, but use different keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Layer {
    /// The API server, by the CRD.
    Server,
    /// KubeVirt's webhooks, by its OpenAPI document: fields that Go fills in may be missing.
    KubeVirt,
}

static FIELDS: LazyLock<Table> = LazyLock::new(|| table(hcoplan_schemas::KUBEVIRT_FIELDS));
static TYPES: LazyLock<Table> = LazyLock::new(|| table(hcoplan_schemas::KUBEVIRT_TYPES));

fn table(text: &str) -> Table {
    serde_json::from_str(text).expect("compiled in, and tested")
}

/// A kind's name in the table: kinds that only differ in scope share the namespaced one.
pub(super) fn entry_of(kind: &str) -> String {
    kind.replace("VirtualMachineCluster", "VirtualMachine")
}

/// The API server's schema of a kind of CDI or KubeVirt in a release.
pub fn schema_in<'r>(release: &'r Release, kind: &str) -> Option<&'r Schema> {
    let of_cdi = release.schema_of("cdi.kubevirt.io/v1beta1", kind);
    of_cdi.or_else(|| schema(kind, &release.kubevirt().version))
}

/// The API server's schema of a kind in a KubeVirt version (`v1.8.4`); `None` if the table lacks it.
pub(super) fn schema(kind: &str, version: &str) -> Option<&'static Schema> {
    schema_of(kind, version, Layer::Server)
}

pub(super) fn schema_of(kind: &str, version: &str, layer: Layer) -> Option<&'static Schema> {
    static KNOWN: LazyLock<Mutex<KnownSchemas>> = LazyLock::new(Mutex::default);
    let kind = entry_of(kind);
    let node = FIELDS.get(&kind)?;
    let version = version_numbers(version.trim_start_matches('v'));
    let mut known = locked(&KNOWN);
    let schema = known.entry((kind.clone(), version.clone(), layer)).or_insert_with(|| {
        let root = Expansion { version: &version, layer }.root(node);
        let text = json!({"group": "kubevirt.io", "version": "v1", "kind": kind, "openAPIV3Schema": root});
        // Leaks one schema per version of a kind.
        Box::leak(Box::new(Schema::from_json(&text.to_string()).expect("tested")))
    });
    Some(schema)
}

/// Entries of the table in the message of a CRD.
struct Expansion<'v> {
    version: &'v [u64],
    layer: Layer,
}

impl Expansion<'_> {
    fn root(&self, node: &Value) -> Value {
        let mut root = self.expand(node);
        for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
            root["properties"][name] = json!({"type": kind});
        }
        root["properties"]["status"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        root
    }

    fn expand(&self, node: &Value) -> Value {
        match node {
            Value::String(name) => match name.strip_prefix('@') {
                Some(entry) => self.expand(&FIELDS[entry]),
                None => self.scalar(name),
            },
            Value::Array(list) => {
                let items = self.expand(&list[0]);
                match list.get(1).and_then(Value::as_str).filter(|_| self.layer == Layer::Server) {
                    Some(keys) => json!({"type": "array", "items": items, "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": keys.split(',').collect::<Vec<_>>()}),
                    None => json!({"type": "array", "items": items}),
                }
            }
            Value::Object(fields) => match fields.get("*") {
                Some(each) => json!({"type": "object", "additionalProperties": self.expand(each)}),
                None => self.object(fields),
            },
            _ => Value::Null,
        }
    }

    fn object(&self, fields: &Table) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (marked, node) in fields {
            let Some(name) = name_in_version(marked, self.version) else {
                continue;
            };
            let plain = name.trim_end_matches(['!', '?']);
            let mut schema = self.expand(node);
            if name.ends_with('?') {
                schema["nullable"] = true.into();
            }
            // Go has a default for every scalar.
            let has_default = self.layer == Layer::KubeVirt
                && node.as_str().is_some_and(|n| !n.starts_with('@') && !matches!(n, "quantity" | "intOrString"));
            if name.contains('!') && !has_default {
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

    fn scalar(&self, name: &str) -> Value {
        let is_server = self.layer == Layer::Server;
        if let Some(layers) = FIELDS["scalars"].get(name) {
            return layers[usize::from(!is_server)].clone();
        }
        for (mark, applies) in [(':', is_server), ('~', !is_server)] {
            if let Some((kind, values)) = name.split_once(mark) {
                let values: Vec<&str> = values.split('|').collect();
                return if applies { json!({"type": kind, "enum": values}) } else { json!({"type": kind}) };
            }
        }
        match name.strip_prefix("integer>=").and_then(|minimum| minimum.parse::<i64>().ok()) {
            Some(minimum) => json!({"type": "integer", "minimum": minimum}),
            None => json!({"type": name}),
        }
    }
}

/// A name without its version marks, if they include this version.
fn name_in_version<'n>(marked: &'n str, version: &[u64]) -> Option<&'n str> {
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

/// The `spec` of an instance type or preference that KubeVirt deploys.
pub fn common_type(kind: TypeKind, name: &str, version: &str) -> Option<&'static Value> {
    common_types(kind, version).get(name).copied()
}

/// All instance types or preferences that KubeVirt deploys, by name.
pub fn common_types(kind: TypeKind, version: &str) -> &'static BTreeMap<&'static str, &'static Value> {
    type Known = HashMap<(TypeKind, String), &'static BTreeMap<&'static str, &'static Value>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let mut known = locked(&KNOWN);
    known.entry((kind, version.to_owned())).or_insert_with(|| {
        let numbers = version_numbers(version.trim_start_matches('v'));
        let all = members(&TYPES[&format!("{}s", kind.field())]);
        let name_in_version = all.filter_map(|(marked, spec)| Some((name_in_version(marked, &numbers)?, spec)));
        Box::leak(Box::new(name_in_version.collect()))
    })
}

/// The kinds of types that a virtual machine can refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// An instance type.
    Instancetype,
    /// A preference.
    Preference,
}

impl TypeKind {
    /// The field of a virtual machine's `spec` that refers to it.
    pub fn field(self) -> &'static str {
        match self {
            Self::Instancetype => "instancetype",
            Self::Preference => "preference",
        }
    }

    /// The Kubernetes kinds, cluster-wide and namespaced.
    pub fn kinds(self) -> [&'static str; 2] {
        match self {
            Self::Instancetype => ["VirtualMachineClusterInstancetype", "VirtualMachineInstancetype"],
            Self::Preference => ["VirtualMachineClusterPreference", "VirtualMachinePreference"],
        }
    }
}
