//! Detects documents written in the form of the other API version.

use super::Context;
use super::prelude::*;
use hcoplan_yaml::Value as Yaml;

use super::destinations::field_by_field;
use super::field::{dotted_below_spec, in_version};
use super::mistyped::meant_flag;

/// The fields of a document that belong to the other API version.
#[derive(Debug)]
pub struct OtherShape<'a> {
    /// The other version.
    pub version: &'static str,
    /// The fields' paths; `featureGates` of the wrong type comes first.
    pub fields: Vec<Path>,
    /// `featureGates`, if it is a map instead of a list or vice versa.
    pub gates: Option<&'a Node>,
    /// The present and the correct paths of each field, if the document's version has it.
    moves: Vec<Vec<(Path, Path)>>,
    /// Whether the whole document has the other version's form.
    pub is_all: bool,
}

impl<'a> Context<'a> {
    /// The other version, if it has fields of `spec` that the document's version doesn't have, or `featureGates` has its
    /// type.
    pub fn other_shape(&self) -> Option<&OtherShape<'a>> {
        let found = self.known.other_shape.get_or_init(|| self.find_other_shape());
        found.as_ref()
    }

    fn find_other_shape(&self) -> Option<OtherShape<'a>> {
        let is_v1 = self.version() == "v1";
        let version = if is_v1 { "v1beta1" } else { "v1" };
        let path = gates_path();
        let is_other = |gates: &&Node| matches!((is_v1, &gates.value), (true, Yaml::Map(_)) | (false, Yaml::Seq(_)));
        let gates = self.root().at(&path).filter(is_other);
        let pruned = self.admission().pruned.iter().map(|p| &p.path);
        let spec = |p: &&Path| matches!(p.0.first(), Some(Segment::Key(k)) if k == "spec");
        self.schema()?;
        let other = self.release().hyperconverged_schema(version)?;
        let unknown = pruned.filter(spec).filter(|p| !p.starts_with(&path) && other.field(p).is_some());
        // A field that this version doesn't have at all is an unknown field.
        let (unknown, moves): (Vec<&Path>, Vec<_>) =
            unknown.map(|p| (p, self.some_moves(p))).filter(|(_, moves)| !moves.is_empty()).unzip();
        if unknown.is_empty() && gates.is_none() {
            return None;
        }
        let gates_first = gates.map(|_| path).into_iter();
        Some(OtherShape {
            version,
            moves,
            fields: gates_first.chain(unknown.into_iter().cloned()).collect(),
            gates,
            is_all: self.fits(other),
        })
    }

    /// Whether the whole document fits a schema.
    fn fits(&self, schema: &Schema) -> bool {
        let mut object = self.object().clone();
        let nothing_dropped = schema.prune(&mut object).is_empty();
        let gates = tree::get(self.object(), "spec.featureGates");
        let is_list = schema.field(&gates_path()).is_some_and(|f| f.kind == "array");
        nothing_dropped && !gates.is_some_and(|gates| if is_list { gates.is_object() } else { gates.is_array() })
    }

    /// The moves of a field as a whole, else of its children. `None` if a child can't be moved.
    pub(super) fn moves(&self, path: &Path) -> Option<Vec<(Path, Path)>> {
        let below_spec = dotted_below_spec(path)?;
        let fields = self.root().at(path)?.entries();
        let has_own_place = |key: &str, to: &str| {
            let field = format!("{below_spec}.{key}");
            in_version(&field, self.version()).is_some_and(|place| *place != format!("{to}.{key}"))
        };
        let own = self.version();
        let other = if own == "v1" { "v1beta1" } else { "v1" };
        let in_own = |field: &str| in_version(field, own).map(Cow::into_owned).filter(|to| to != field);
        // The section of this version may have the other version's field.
        let mixed = || {
            let (section, name) = below_spec.rsplit_once('.')?;
            in_own(&format!("{}.{name}", in_version(section, other)?))
        };
        // Or the field may be in another section than that of the other version.
        let stray = || in_own(below_spec.split_once('.')?.1);
        if let Some(to) = in_own(&below_spec).or_else(mixed).or_else(stray)
            && *to != *below_spec
            && !fields.iter().any(|e| has_own_place(&e.key.text, &to))
        {
            let to = Path::dotted(&format!("spec.{to}"));
            return Some(vec![(path.clone(), to)]);
        }
        let below = fields.iter().map(|e| self.moves(&path.key(&e.key.text)));
        let below = below.collect::<Option<Vec<_>>>()?.concat();
        (!below.is_empty()).then_some(below)
    }
}

impl Context<'_> {
    /// The moves of those children that can be moved.
    fn some_moves(&self, path: &Path) -> Vec<(Path, Path)> {
        self.moves(path).unwrap_or_else(|| {
            let fields = entries(self.root().at(path));
            fields.iter().flat_map(|e| self.some_moves(&path.key(&e.key.text))).collect()
        })
    }
}

impl OtherShape<'_> {
    /// The present and the correct paths of fields that can be moved.
    pub fn moves(&self) -> impl Iterator<Item = &(Path, Path)> {
        self.moves.iter().flatten()
    }

    /// The changes that move all fields, field by field where both versions' sections are there; `None` if a field has
    /// another value there.
    pub fn changes(&self, cx: &Context<'_>) -> Option<Vec<Change>> {
        let root = cx.root();
        let [free, taken] = field_by_field(root, &self.moves.concat());
        if !taken.is_empty() {
            return None;
        }
        let gates = gates_path();
        let translated = match self.gates {
            Some(node) => Some(Change::Set(gates.clone(), translated(node)?)),
            None => None,
        };
        let mut changes: Vec<Change> = translated.into_iter().collect();
        let mut tree = root.to_json();
        changes.extend(free.into_iter().map(|(from, to)| Change::Move(from, to, None)));
        for change in &changes {
            change.apply(&mut tree).ok()?;
        }
        let fields = self.fields.iter().filter(|f| **f != gates);
        for (field, moves) in fields.zip(&self.moves) {
            let is_whole = cx.moves(field).is_some();
            let gone = if is_whole { vec![field] } else { moves.iter().map(|(from, _)| from).collect() };
            let left = gone.into_iter().filter(|path| path.get(&tree).is_some());
            changes.extend(left.cloned().map(Change::Remove));
        }
        Some(changes)
    }
}

/// Converts a map of gates to a list, and a list to a map.
pub(super) fn translated(gates: &Node) -> Option<Value> {
    match &gates.value {
        Yaml::Map(entries) => {
            let gate = |e: &Entry| {
                let state = if flag(&e.value)? { "Enabled" } else { "Disabled" };
                Some(json!({"name": e.key.text, "state": state}))
            };
            entries.iter().map(gate).collect::<Option<_>>().map(Value::Array)
        }
        Yaml::Seq(items) => {
            let gate = |item: &Node| {
                // A gate written as a text, or with its name as key.
                let (name, state) = match item.entries() {
                    [only] if only.key.text != "name" => (only.key.text.as_str(), Some(&only.value)),
                    _ => (item.as_str().or_else(|| item.text_at("name"))?, item.get("state")),
                };
                Some((name.to_owned(), Value::Bool(state.map_or(Some(true), flag)?)))
            };
            let gates: Vec<(String, Value)> = items.iter().map(gate).collect::<Option<_>>()?;
            let names: BTreeSet<&String> = gates.iter().map(|(name, _)| name).collect();
            (names.len() == gates.len()).then(|| Value::Object(gates.into_iter().collect()))
        }
        _ => None,
    }
}

/// Whether a value enables something; `None` if it is neither enabled nor disabled.
pub fn flag(node: &Node) -> Option<bool> {
    match &node.value {
        Yaml::Bool(on) => Some(*on),
        Yaml::String(text) => meant_flag(text),
        Yaml::Map(entries) => match &entries[..] {
            [only] if ["enabled", "state", "value"].contains(&only.key.text.as_str()) => flag(&only.value),
            _ => None,
        },
        _ => None,
    }
}
