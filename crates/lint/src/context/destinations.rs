//! Finds the paths where a misplaced value may belong.

use super::prelude::*;
use hcoplan_diagnostics::finding::nearest;
use hcoplan_yaml::Value;

use super::Shape;
use super::shape::key;

/// Maximum levels between a field and its destination: deeper, an equal name proves little.
const MAX_LEVELS: usize = 2;

/// How a destination was found, the most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DestinationKind {
    /// The same name on the same level, in another case.
    Case,
    /// The same field in the other API version.
    Version,
    /// Its children are fields of the parent object.
    Wrapped,
    /// The same name, with missing or additional levels.
    Level,
    /// A similar name on the same level, or the only object with its children.
    Spelling,
    /// The same name anywhere else.
    Elsewhere,
    /// A map with free keys on the same level, such as `matchLabels`.
    Key,
}

/// A path where a misplaced value may belong.
#[derive(Debug)]
pub struct Destination {
    /// How it was found.
    pub kind: DestinationKind,
    /// The values to move: from and to.
    pub moves: Vec<(Path, Path)>,
    /// Existing values at the destination, and whether to replace them.
    pub taken: Option<(Vec<Path>, bool)>,
    /// Whether to add the missing fields to an existing section.
    pub merges: bool,
}

impl Destination {
    fn new(kind: DestinationKind, from: &Path, to: Path) -> Self {
        Self::of(kind, vec![(from.clone(), to)])
    }

    fn of(kind: DestinationKind, moves: Vec<(Path, Path)>) -> Self {
        Self { kind, moves, taken: None, merges: false }
    }

    /// The new paths.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        self.moves.iter().map(|(_, to)| to)
    }

    /// The new name, if only the name changes.
    pub fn new_name(&self) -> Option<&str> {
        match &self.moves[..] {
            [(from, to)] if from.parent() == to.parent() => key(to),
            _ => None,
        }
    }
}

impl Shape<'_, '_> {
    /// The possible destinations of an unknown value: all free ones of the most certain kind that accept it. Empty if
    /// nothing is similar.
    pub fn destinations(&self, path: &Path) -> Vec<Destination> {
        let misplaced = self.misplaced_entry(&path.parent()).unwrap_or_else(|| path.clone());
        let mut found = self.all_destinations(&misplaced).unwrap_or_default();
        // A free destination is more certain than an occupied one.
        let rank = |destination: &Destination| (destination.merges, destination.kind);
        let surest = found.iter().map(rank).min();
        found.retain(|destination| Some(rank(destination)) == surest);
        // A value stays in its section if that has a place for it.
        let is_near =
            |destination: &Destination| destination.places().all(|place| place.starts_with(&misplaced.parent()));
        if found.iter().any(is_near) {
            found.retain(is_near);
        }
        found
    }

    /// A path, if it is an entry of a map of objects, and not its keys are misplaced but it is: none of them is a field
    /// of such an object. Nor are they similar to one, unless a field of the entry's name has all of them.
    fn misplaced_entry(&self, path: &Path) -> Option<Path> {
        let (schema, node) = (self.schema, self.document.root.at(path)?);
        let names = schema.known_fields(path);
        if names.is_empty() || !schema.takes_any_key(&path.parent()) {
            return None;
        }
        let mut namesakes = self.fields.iter().filter(|known| known.0.last() == path.0.last());
        let is_field = namesakes.any(|known| is_entry_of(schema, known, node));
        let is_known = |e: &Entry| {
            let key = e.key.text.as_str();
            names.contains(&key) || !is_field && !similar(key, &names).is_empty()
        };
        (!node.entries().iter().any(is_known)).then(|| path.clone())
    }

    fn all_destinations(&self, path: &Path) -> Option<Vec<Destination>> {
        let (root, schema) = (&self.document.root, self.schema);
        let (name, node, parent) = (key(path)?, root.at(path)?, path.parent());
        let siblings = schema.known_fields(&parent);
        let mut found: Vec<Destination> = Vec::new();
        for sibling in siblings.iter().filter(|s| s.eq_ignore_ascii_case(name)) {
            found.push(Destination::new(DestinationKind::Case, path, parent.key(sibling)));
        }
        let of_version = self.own.and_then(|cx| cx.moves(path));
        found.extend(of_version.map(|moves| Destination::of(DestinationKind::Version, moves)));
        found.extend(unwrapped(schema, path, node));
        // A name that is unique in the schema has only one destination, even a section without fields.
        let is_only = || self.fields.iter().filter(|known| known.0.last() == path.0.last()).count() == 1;
        let is_telling = name.contains(|c: char| c.is_ascii_uppercase())
            || !node.entries().is_empty()
            || matches!(node.value, Value::Map(_)) && is_only();
        for place in self.fields.iter().filter_map(|known| along(schema, known, path)) {
            // Another section has another meaning, unless no other field has the name.
            let is_possible = |kind| kind != DestinationKind::Elsewhere || place.0.get(1) == path.0.get(1) || is_only();
            if let Some(kind) = destination_kind(path, &place, is_telling).filter(|kind| is_possible(*kind)) {
                found.push(Destination::of(kind, self.renamed(path, place)));
            }
        }
        let fitting = siblings.iter().copied().filter(|s| fits(schema, &parent.key(s), node) && !is_opposite(s, name));
        let fitting: Vec<_> = fitting.collect();
        let mut named = similar(name, &fitting);
        // The labels of a selector are one level below.
        for selector in similar(name, &siblings).into_iter().filter(|_| named.is_empty()) {
            let labels = parent.key(selector).key("matchLabels");
            if schema.takes_any_key(&labels) {
                found.push(Destination::new(DestinationKind::Spelling, path, labels));
            }
        }
        if named.is_empty() {
            named.extend(by_content(schema, &parent, &siblings, node));
        }
        // The only free key of a list's entry.
        let mut free = fitting.iter().copied().filter(|sibling| root.at(&parent.key(sibling)).is_none());
        if let (true, Some(Segment::Index(_)), Some(only), None) =
            (named.is_empty(), parent.0.last(), free.next(), free.next())
        {
            named.push(only);
        }
        found.extend(
            named.into_iter().map(|sibling| Destination::new(DestinationKind::Spelling, path, parent.key(sibling))),
        );
        // An entry in another entry of its map may as well be meant as the fields of that one.
        if schema.takes_any_key(&parent.parent()) && is_entry_of(schema, &parent.parent().key(name), node) {
            found.push(Destination::new(DestinationKind::Wrapped, path, parent.parent().key(name)));
        }
        let maps = siblings.iter().map(|sibling| parent.key(sibling)).filter(|map| schema.takes_any_key(map));
        let entries = maps.map(|map| map.key(name)).filter(|place| is_entry_of(schema, place, node));
        found.extend(entries.map(|place| Destination::new(DestinationKind::Key, path, place)));
        let mut seen = BTreeSet::new();
        let value = |kind: DestinationKind, (from, to): &(Path, Path)| match kind {
            DestinationKind::Case | DestinationKind::Key => true,
            _ => root.at(from).is_some_and(|node| fits(schema, to, node)),
        };
        found.retain(|destination| {
            destination.moves.iter().all(|moved| value(destination.kind, moved))
                && !destination.places().any(|to| self.is_ignored(to))
        });
        let mut found: Vec<Destination> = found.into_iter().flat_map(|destination| self.free(destination)).collect();
        found.retain(|destination| {
            seen.insert((destination.places().cloned().collect::<Vec<_>>(), destination.taken.clone()))
        });
        Some(found)
    }

    /// A move, with the children that the schema doesn't know there under the only similar name.
    fn renamed(&self, from: &Path, to: Path) -> Vec<(Path, Path)> {
        let names = self.schema.known_fields(&to);
        let moved = entries(self.document.root.at(from)).iter().map(|entry| {
            let own = entry.key.text.as_str();
            let name = match similar(own, &names)[..] {
                [name] if !names.contains(&own) => name,
                _ => own,
            };
            (from.key(own), to.key(name))
        });
        let moved: Vec<_> = moved.collect();
        let is_same = moved.iter().all(|(from, to)| from.0.last() == to.0.last());
        if is_same { vec![(from.clone(), to)] } else { moved }
    }

    /// The free sibling that says the opposite of a switch, `disableX` of `x` or the other way round, and its value.
    pub fn opposite(&self, path: &Path) -> Option<(Path, bool)> {
        let value = self.document.root.at(path)?.to_json().as_bool()?;
        let (name, parent) = (key(path)?, path.parent());
        let sibling = self.schema.known_fields(&parent).into_iter().find(|s| is_opposite(s, name))?;
        let to = parent.key(sibling);
        self.document.root.at(&to).is_none().then_some((to, !value))
    }

    /// The given destinations that accept the value and are free.
    pub fn destinations_at(&self, moves: impl Iterator<Item = (Path, Path)>) -> Vec<Destination> {
        let takes =
            |(from, to): &(Path, Path)| self.document.root.at(from).is_some_and(|node| fits(self.schema, to, node));
        let moves = moves.filter(takes).map(|(from, to)| self.renamed(&from, to));
        let destinations = moves.map(|moves| Destination::of(DestinationKind::Level, moves));
        destinations.flat_map(|destination| self.free(destination)).collect()
    }

    /// A free destination, filling existing sections. If other values exist, returns one destination that keeps them
    /// and one that replaces them; empty if nothing else moves.
    fn free(&self, destination: Destination) -> Vec<Destination> {
        let [free, taken] = field_by_field(&self.document.root, &destination.moves);
        let kind = destination.kind;
        match (free.is_empty(), taken.is_empty()) {
            (true, _) => Vec::new(),
            (false, true) => {
                let merges = free != destination.moves;
                vec![Destination { merges, ..Destination::of(kind, free) }]
            }
            (false, false) => {
                let places: Vec<Path> = taken.iter().map(|(_, to)| to.clone()).collect();
                let all = [free.clone(), taken].concat();
                let kept = Destination { kind, moves: free, taken: Some((places.clone(), false)), merges: true };
                vec![kept, Destination { kind, moves: all, taken: Some((places, true)), merges: true }]
            }
        }
    }

    /// All paths with the same name that accept the value: first those in sections that are written, then the near ones.
    pub fn destinations_by_name(&self, path: &Path) -> Vec<Path> {
        let schema = self.schema;
        let Some(node) = self.document.root.at(path) else {
            return Vec::new();
        };
        let named = self.fields.iter().filter(|known| known.0.last() == path.0.last());
        let named = named.filter(|known| is_reachable(known, path) && !self.is_ignored(known));
        let fitting = named.filter(|known| schema.field(known).is_none() || fits(schema, known, node));
        let mut found: Vec<Path> = fitting.cloned().collect();
        let shared = |known: &Path| known.0.iter().zip(&path.0).take_while(|(a, b)| a == b).count();
        let is_written = |known: &Path| self.document.root.at(&known.parent()).is_some();
        found.sort_by_key(|known| (!is_written(known), known.0.len() - shared(known), known.0.len()));
        found
    }

    /// The destinations of a value among free keys. If those are strings: the sibling field of its name, or the free
    /// keys for its children. If they are objects: the field of its name in each of them.
    pub fn among_free_keys(&self, path: &Path) -> Vec<Destination> {
        let (schema, map, Some(node)) = (self.schema, path.parent(), self.document.root.at(path)) else {
            return Vec::new();
        };
        if !schema.takes_any_key(&map) {
            return Vec::new();
        }
        if !schema.known_fields(path).is_empty() {
            return self.destinations(path);
        }
        let beside = key(path).map(|name| map.parent().key(name)).filter(|to| fits(schema, to, node));
        let beside = beside.map(|to| Destination::new(DestinationKind::Level, path, to));
        let destination = beside.or_else(|| unwrapped(schema, path, node));
        destination.map(|destination| self.free(destination)).filter(|free| free.len() == 1).unwrap_or_default()
    }
}

/// Moves, field by field where a section is there already: those of fields that it lacks, and those of fields that have
/// another value there. Left out are the equal ones.
pub(super) fn field_by_field(root: &Node, moves: &[(Path, Path)]) -> [Vec<(Path, Path)>; 2] {
    let (mut free, mut taken) = (Vec::new(), Vec::new());
    let mut left: Vec<_> = moves.iter().rev().cloned().collect();
    while let Some((from, to)) = left.pop() {
        let known = root.at(&to).filter(|_| !moves.iter().any(|(from, _)| *from == to));
        match (root.at(&from), known) {
            (Some(node), Some(known)) if !node.entries().is_empty() && !known.entries().is_empty() => {
                let below = node.entries().iter().rev().map(|e| &e.key.text);
                left.extend(below.map(|key| (from.key(key), to.key(key))));
            }
            (Some(node), Some(known)) if node.to_json() == known.to_json() => {}
            (_, Some(_)) => taken.push((from, to)),
            (_, None) => free.push((from, to)),
        }
    }
    [free, taken]
}

/// Whether one of two names is the other one with `disable` in front, or in the place of `enable`.
fn is_opposite(one: &str, other: &str) -> bool {
    let negates = |one: &str, other: &str| {
        let on = other.strip_prefix("enable").unwrap_or(other);
        one.strip_prefix("disable").is_some_and(|rest| rest.eq_ignore_ascii_case(on))
    };
    negates(one, other) || negates(other, one)
}

/// A schema path with the indexes of `path`, if both lead through the same lists.
fn along(schema: &Schema, known: &Path, path: &Path) -> Option<Path> {
    let is_named = key(known)?.eq_ignore_ascii_case(key(path)?);
    if !is_named || !is_reachable(known, path) {
        return None;
    }
    let (mut at, mut steps, mut together) = (Path::root(), path.0.iter().peekable(), true);
    for (depth, step) in known.0.iter().enumerate() {
        if depth > 0 && schema.list_kind(&at).is_some() {
            let index = steps.next().filter(|_| together);
            match index {
                Some(Segment::Index(index)) => at = at.index(*index),
                _ => return None,
            }
        }
        together = together && steps.next() == Some(step);
        at.0.push(step.clone());
    }
    (at != *path).then_some(at)
}

/// Whether a value is one that a map takes: a scalar, or an object with known fields.
fn is_entry_of(schema: &Schema, place: &Path, node: &Node) -> bool {
    let Some(field) = schema.field(place) else {
        return false;
    };
    let is_known = |entry: &Entry| schema.field(&place.key(&entry.key.text)).is_some();
    match &node.value {
        Value::Map(entries) => !entries.is_empty() && entries.iter().all(is_known),
        Value::Seq(_) => false,
        // The value of a label is a string in any notation.
        _ => field.kind == "string" || fits(schema, place, node),
    }
}

/// Whether a value may belong at a path: a field outside of `spec` may belong inside.
fn is_reachable(known: &Path, path: &Path) -> bool {
    known.0.first() == path.0.first() || path.0.first() != Some(&Segment::Key("spec".to_owned()))
}

/// The relation to another path with the same name; `None` if the name alone proves too little: `enabled` and
/// `duration` exist everywhere, and their meaning depends on the section. Fields of an object identify it.
fn destination_kind(path: &Path, place: &Path, is_telling: bool) -> Option<DestinationKind> {
    let (from, to) = (path.parent(), place.parent());
    let shared = from.0.iter().zip(&to.0).take_while(|(a, b)| a == b).count();
    if to.starts_with(&from) && to.0.len() <= from.0.len() + MAX_LEVELS {
        return (is_telling || shared > 1).then_some(DestinationKind::Level);
    }
    if from.starts_with(&to) {
        return Some(DestinationKind::Level);
    }
    let alike = match (key(&from), key(&to)) {
        (Some(from), Some(to)) => nearest(from, [to]).is_some() || abbreviates(from, to),
        _ => false,
    };
    if alike {
        return Some(DestinationKind::Level);
    }
    (is_telling && to.0.len() <= from.0.len() + MAX_LEVELS).then_some(DestinationKind::Elsewhere)
}

/// The destinations of all children, and of those of unknown ones, if the parent object has all of them.
fn unwrapped(schema: &Schema, path: &Path, node: &Node) -> Option<Destination> {
    fn inner(schema: &Schema, parent: &Path, at: &Path, node: &Node, moves: &mut Vec<(Path, Path)>) -> bool {
        let each = |entry: &Entry| {
            let (from, to) = (at.key(&entry.key.text), parent.key(&entry.key.text));
            let is_text = schema.takes_any_key(parent) && entry.value.as_str().is_some();
            if is_text || !schema.takes_any_key(parent) && schema.field(&to).is_some() {
                moves.push((from, to));
                return true;
            }
            inner(schema, parent, &from, &entry.value, moves)
        };
        !node.entries().is_empty() && node.entries().iter().all(each)
    }
    let mut moves = Vec::new();
    let is_all = inner(schema, &path.parent(), path, node, &mut moves);
    let places: BTreeSet<_> = moves.iter().map(|(_, to)| to).collect();
    (is_all && places.len() == moves.len()).then(|| Destination::of(DestinationKind::Wrapped, moves))
}

/// The name that a word misspells, and those it abbreviates: `liveConfiguration` is near `ksmConfiguration`, but may be
/// `liveUpdateConfiguration`.
pub(crate) fn similar<'s>(name: &str, names: &[&'s str]) -> Vec<&'s str> {
    let near = nearest(name, names.iter().copied());
    let abbreviated = names.iter().copied().filter(|n| abbreviates(n, name));
    match near {
        Some(near) if abbreviated.clone().any(|n| n == near) => vec![near],
        _ => near.into_iter().chain(abbreviated).collect(),
    }
}

/// The only object, or list of objects, with the value's fields.
fn by_content<'s>(schema: &Schema, parent: &Path, names: &[&'s str], node: &Node) -> Option<&'s str> {
    let item = node.items().first();
    let entries = item.unwrap_or(node).entries();
    let has_all = |name: &&&str| {
        let place = parent.key(name);
        let place = if item.is_some() { place.index(0) } else { place };
        !schema.takes_any_key(&place) && entries.iter().all(|e| schema.field(&place.key(&e.key.text)).is_some())
    };
    let mut found = names.iter().filter(has_all);
    found.next().copied().filter(|_| !entries.is_empty() && found.next().is_none())
}

/// Whether one of two names has all words of the other in order: `pciHostDevices` has those of `pciDevices`.
fn abbreviates(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let mut long = long.iter();
    !short.is_empty() && short.iter().all(|word| long.any(|w| w == word))
}

fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut upper = true;
    let all: Vec<char> = name.chars().collect();
    for (at, c) in all.iter().enumerate() {
        let is_upper = c.is_ascii_uppercase();
        // `DNSName` is two words, `CPUs` one.
        let starts_word = matches!(&all[at + 1..], [a, b, ..] if a.is_ascii_lowercase() && b.is_ascii_lowercase());
        if words.is_empty() || (is_upper && (!upper || starts_word)) || !c.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        upper = is_upper;
    }
    words
}

/// Whether a path takes a list, and the value is none.
pub(super) fn is_single(schema: &Schema, place: &Path, node: &Node) -> bool {
    let is_list = schema.field(place).is_some_and(|field| field.kind == "array");
    is_list && !matches!(node.value, Value::Seq(_) | Value::Null)
}

/// Whether a path accepts a value, or a list of it: its type, and at least one field of an object.
pub(super) fn fits(schema: &Schema, place: &Path, node: &Node) -> bool {
    let Some(field) = schema.field(place) else {
        return false;
    };
    if is_single(schema, place, node) {
        return fits(schema, &place.index(0), node);
    }
    let of = |kinds: &[&str]| field.kind.is_empty() || field.kind.split(',').any(|kind| kinds.contains(&kind));
    match &node.value {
        Value::Null => true,
        Value::Bool(_) => of(&["boolean"]),
        Value::Number(_) => of(&["integer", "number"]),
        Value::String(text) => {
            let allowed = &field.allowed;
            of(&["string"])
                && (allowed.is_empty()
                    || allowed.iter().any(|a| a.as_str().is_some_and(|a| a.eq_ignore_ascii_case(text))))
        }
        Value::Seq(items) => of(&["array"]) && items.iter().all(|item| fits(schema, &place.index(0), item)),
        Value::Map(entries) => {
            let names = schema.known_fields(place);
            let is_known = |key: &str| names.contains(&key) || !similar(key, &names).is_empty();
            let is_any = || entries.is_empty() || schema.takes_any_key(place);
            of(&["object"]) && (is_any() || entries.iter().any(|e| is_known(&e.key.text)))
        }
    }
}
