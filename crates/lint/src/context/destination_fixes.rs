//! Fixes that move a value to a path in the schema.

use super::prelude::*;
use hcoplan_kubernetes::schema::ViolationKind;
use hcoplan_planner::plan::plan;
use hcoplan_yaml::Style;

use super::destinations::{fits, is_single, similar};
use super::other_shape::translated;
use super::shape::document_after;
use super::shape::key;
use super::{Destination, DestinationKind, Shape};
use crate::words::{and, or, quoted};

/// Maximum number of destinations to choose from.
const MAX_DESTINATIONS: usize = 5;

impl Shape<'_, '_> {
    /// Adds fixes to a finding about an unknown field: move it to its only destination, or choose one of several. If
    /// nothing is similar, lists all paths with its name; `None` if there are none.
    pub fn with_destinations(&self, finding: Finding, path: &Path, destinations: &[Destination]) -> Option<Finding> {
        if destinations.is_empty() {
            return self.with_choice(finding, path);
        }
        let is_only =
            destinations.len() == 1 && !destinations[0].new_name().is_some_and(|name| self.is_contended(path, name));
        let tried = destinations
            .iter()
            .take(MAX_DESTINATIONS)
            .filter_map(|destination| self.move_to_destination(path, destination, is_only));
        let tried: Vec<Fix> = tried.collect();
        let mut places: Vec<String> = Vec::new();
        for place in quoted(destinations.iter().flat_map(Destination::places)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let names: Vec<String> = quoted(destinations.iter().filter_map(Destination::new_name)).collect();
        let help = match destinations {
            [only] if only.kind == DestinationKind::Wrapped => {
                format!("move what is in it up one level: {}", and(&places))
            }
            _ if names.len() == destinations.len() => format!("did you mean {}?", or(&names)),
            [only] => {
                let belong = only.moves.iter().map(|(from, to)| format!("`{from}` belongs at `{to}`"));
                format!("in {} {}", self.api_version(), and(belong))
            }
            _ => return Some(finding.label(format!("belongs at {}", or(&places))).fixes(tried)),
        };
        Some(finding.help(help).fixes(tried))
    }

    /// Names all paths with a value's name, and adds the moves into sections that are written, to choose from; `None` if
    /// there are none. Into other sections a value isn't moved: a common name such as `enabled` proves nothing.
    fn with_choice(&self, finding: Finding, path: &Path) -> Option<Finding> {
        let name = key(path)?;
        let named = self.destinations_by_name(path);
        let first = named.iter().take(MAX_DESTINATIONS);
        let places = and(quoted(first.clone()));
        let written = first.filter(|place| self.document.root.at(&place.parent()).is_some());
        let destinations = self.destinations_at(written.map(|place| (path.clone(), place.clone())));
        let moves = destinations.iter().filter_map(|destination| self.move_to_destination(path, destination, false));
        let more = if named.len() > MAX_DESTINATIONS { " among others" } else { "" };
        let help = format!("{} has `{name}` in other places: {places}{more}", self.api_version());
        (!places.is_empty()).then(|| finding.help(help).fixes(moves))
    }

    /// Adds a fix to a finding about an unknown field; if nothing is similar, it removes the field.
    pub fn with_remedy(&self, finding: Finding, path: &Path) -> Finding {
        let with_remedy = self.with_destinations(finding.clone(), path, &self.destinations(path));
        with_remedy.unwrap_or_else(|| {
            let removed = [Change::Remove(path.clone())];
            let title = format!("{}: {} has no such field", changed(&removed), self.api_version());
            finding.remedy(title.clone(), self.fix(title, Applicability::Suggestion, &removed))
        })
    }

    /// The fix that moves a value with its comments, if the schema then knows it.
    pub fn move_to_destination(&self, path: &Path, destination: &Destination, is_only: bool) -> Option<Fix> {
        let applicability = match destination.kind {
            _ if !is_only => Applicability::Suggestion,
            DestinationKind::Case if self.own.is_some() => Applicability::Safe,
            _ => Applicability::Unsafe,
        };
        let root = &self.document.root;
        let fix = match destination.new_name() {
            Some(name) if is_single(self.schema, &path.parent().key(name), root.at(path)?) => {
                let title = format!("rename it to {name}, a list");
                self.relocation(title, applicability, &destination.moves, path)?
            }
            Some(name) => {
                let mut title = format!("rename it to {name}");
                let mut changes = vec![Change::Rename(path.clone(), name.to_owned())];
                for (inner, meant) in self.inner_names(root.at(path)?, &path.parent().key(name)) {
                    title = format!("{title}, and {} in it to {meant}", key(&inner).unwrap_or_default());
                    changes.push(Change::Rename(inner, meant));
                }
                self.fix(title, applicability, &changes)?
            }
            None => {
                let title = self.moved_words(path, destination);
                // An entry of a map may be misplaced as a whole.
                let removed = destination.moves.first().map(|(from, _)| from).filter(|from| path.starts_with(from));
                // The last one moved takes the place of the section around them, the others follow it.
                let mut moves = destination.moves.clone();
                moves.rotate_left(usize::from(destination.kind == DestinationKind::Wrapped));
                self.relocation(title, applicability, &moves, removed.unwrap_or(path))?
            }
        };
        self.reaches_destination(&fix, path, destination).then_some(fix)
    }

    /// The title of a move.
    fn moved_words(&self, path: &Path, destination: &Destination) -> String {
        let [(from, to), rest @ ..] = &destination.moves[..] else {
            return String::new();
        };
        // Fields of a section that move unchanged are reported as one.
        let around = |(from, to): &(Path, Path)| {
            let inner = from.0.get(path.0.len()..)?;
            to.0.strip_suffix(inner).map(|around| Path(around.to_vec()))
        };
        let section =
            around(&destination.moves[0]).filter(|at| destination.moves.iter().all(|m| around(m).as_ref() == Some(at)));
        let moved = match section {
            _ if from == path && rest.is_empty() => format!("move it to {to}"),
            _ if rest.is_empty() => format!("move {from} to {to}"),
            _ if destination.kind == DestinationKind::Wrapped => format!("move what is in it up to {}", path.parent()),
            Some(section) => format!("move what is in it to {section}"),
            None => {
                let version = last_part(self.api_version(), '/');
                format!("move the {} fields in it to where {version} has them", destination.moves.len())
            }
        };
        let others = |places: &[Path]| and(places.iter().map(Path::to_string));
        match &destination.taken {
            None => moved,
            Some((places, true)) => format!("{moved}, and replace {}", others(places)),
            Some((places, false)) => format!("{moved}, and keep {} as written there", others(places)),
        }
    }

    /// Whether another unknown sibling key may mean the same name, so that the intended one is unclear.
    fn is_contended(&self, path: &Path, name: &str) -> bool {
        let parent = path.parent();
        let siblings = entries(self.document.root.at(&parent));
        siblings.iter().any(|sibling| {
            let at = parent.key(&sibling.key.text);
            at != *path && self.schema.field(&at).is_none() && !similar(&sibling.key.text, &[name]).is_empty()
        })
    }

    /// The unknown keys in a value at its new path, with the intended key: a similar one, or the only missing required
    /// field for the only unknown key.
    fn inner_names(&self, node: &Node, to: &Path) -> Vec<(Path, String)> {
        let mut out = Vec::new();
        for (i, item) in node.items().iter().enumerate() {
            out.extend(self.inner_names(item, &to.index(i)));
        }
        if node.entries().is_empty() || self.schema.takes_any_key(to) {
            return out;
        }
        let free: Vec<&str> =
            self.schema.known_fields(to).into_iter().filter(|name| node.get(name).is_none()).collect();
        let is_known = |key: &str| self.schema.field(&to.key(key)).is_some();
        let unknown: Vec<_> = node.entries().iter().filter(|e| !is_known(&e.key.text)).collect();
        let mut own = Vec::new();
        for entry in &unknown {
            let fitting = |name: &&str| fits(self.schema, &to.key(name), &entry.value);
            let is_required = |name: &&str| self.schema.field(&to.key(name)).is_some_and(|field| field.required);
            let mut meant = similar(&entry.key.text, &free.iter().copied().filter(fitting).collect::<Vec<_>>());
            if meant.is_empty() && unknown.len() == 1 {
                meant = free.iter().copied().filter(is_required).filter(fitting).collect();
            }
            if let [only] = meant[..] {
                own.push((entry, only));
            }
        }
        // Two keys can't both become the same one.
        let is_only = |name: &str| own.iter().filter(|(_, other)| *other == name).count() == 1;
        let only = own.iter().filter(|(_, name)| is_only(name));
        out.extend(only.map(|(entry, name)| (to.key(&entry.key.text), (*name).to_owned())));
        out
    }

    /// Whether a fix makes the schema know a value without other effects: no duplicate keys, no other unknown fields, and
    /// nothing that is required there and missing.
    fn reaches_destination(&self, fix: &Fix, path: &Path, destination: &Destination) -> bool {
        let Some(after) = document_after(self.document, &fix.edits) else {
            return false;
        };
        let unknown =
            |d: &Document| self.schema.prune(&mut d.root.to_json()).into_iter().map(|p| p.path).collect::<Vec<_>>();
        let lacks = |d: &Document| {
            let found = self.schema.validate(&d.root.to_json()).schema.into_iter();
            found.filter(|v| v.kind == ViolationKind::Required).map(|v| v.path).collect::<BTreeSet<_>>()
        };
        if !lacks(&after).is_subset(&lacks(self.document)) {
            return false;
        }
        let (before, after) = (unknown(self.document), unknown(&after));
        let is_inside = |unknown: &Path| {
            let mut moves = destination.moves.iter();
            moves.any(|(from, to)| unknown.starts_with(to) && (unknown != to || from != path))
        };
        !after.contains(path) && after.iter().all(|unknown| before.contains(unknown) || is_inside(unknown))
    }

    /// The fix that converts a value to the schema's form: one item to a list, a list to the only section with such
    /// items, or a list of single keys to a mapping. `None` if it has that form already, or the form isn't clear.
    pub fn in_form(&self, path: &Path) -> Option<Fix> {
        let node = self.document.root.at(path)?;
        if *path == gates_path() {
            let change = Change::Set(path.clone(), translated(node)?);
            return self.fix(
                format!("write the gates as {} has them", self.api_version()),
                Applicability::Unsafe,
                &[change],
            );
        }
        let kind = self.schema.field(path)?.kind;
        // All fields of an object are known.
        let is_known = |at: &Path, node: &Node| {
            let mut keys = node.entries().iter();
            !node.is_empty()
                && fits(self.schema, at, node)
                && keys.all(|e| self.schema.field(&at.key(&e.key.text)).is_some())
        };
        // The lines of a block are moved with their comments.
        let write = |title: String, to: Path, value: Option<Value>, whole: Value| {
            let change = match node.style {
                Style::Block => Change::Move(path.clone(), to, value),
                _ => Change::Set(path.clone(), whole),
            };
            self.fix(title, Applicability::Unsafe, &[change])
        };
        if is_single(self.schema, path, node) {
            let item = path.index(0);
            if is_known(&item, node) {
                return write("write it as a list of one item".to_owned(), item, None, json!([node.to_json()]));
            }
            let named: Vec<_> = node.entries().iter().map(|entry| &entry.value).collect();
            let is_list = !named.is_empty() && named.iter().all(|value| is_known(&item, value));
            let list = || Change::Set(path.clone(), named.iter().map(|value| value.to_json()).collect());
            return is_list.then(|| self.fix("write it as a list", Applicability::Unsafe, &[list()]))?;
        }
        if kind != "object" || !node.entries().is_empty() {
            return None;
        }
        if self.schema.takes_any_key(path) && !node.items().is_empty() {
            let mut merged = Map::new();
            for item in node.items() {
                let [entry] = item.entries() else {
                    return None;
                };
                if merged.insert(entry.key.text.clone(), entry.value.to_json()).is_some() {
                    return None;
                }
            }
            let change = Change::Set(path.clone(), Value::Object(merged));
            return self.fix("write it as keys and values", Applicability::Unsafe, &[change]);
        }
        let names = self.schema.known_fields(path);
        // A switch is one of its section only if nothing else is.
        if node.is_empty() || node.to_json().is_boolean() && names.len() > 1 {
            return None;
        }
        let is_section = |name: &&str| {
            let to = path.key(name);
            let is_item = |item: &Node| is_known(&to.index(0), item);
            let is_old = self.row(&to).is_some_and(|row| row.ignored || row.deprecated_in.is_some());
            !is_old && fits(self.schema, &to, node) && node.items().iter().all(is_item)
        };
        let sections: Vec<&str> = names.iter().copied().filter(is_section).collect();
        let [section] = sections[..] else {
            return None;
        };
        let to = path.key(section);
        let list = is_single(self.schema, &to, node).then(|| json!([node.to_json()]));
        let section = json!({section: list.clone().unwrap_or_else(|| node.to_json())});
        write(format!("move it to {to}"), to, list, section)
    }

    /// A fix that moves fields of the object with their comments. `removed`: the fields' own path or a parent, of which
    /// nothing stays.
    pub fn relocation(
        &self,
        title: impl Into<String>,
        applicability: Applicability,
        moves: &[(Path, Path)],
        removed: &Path,
    ) -> Option<Fix> {
        let root = &self.document.root;
        let mut tree = root.to_json();
        let mut changes = Vec::new();
        for (from, to) in moves {
            let is_text = self.schema.field(to).is_some_and(|field| field.kind == "string");
            let node = root.at(from)?;
            // The value of a label is a string in any notation.
            let text = match node.to_json() {
                value if is_single(self.schema, to, node) => Some(json!([value])),
                value @ (Value::Bool(_) | Value::Number(_)) if is_text => Some(Value::from(value.to_string())),
                _ => None,
            };
            let is_written = root.at(to).is_some() && !to.starts_with(removed);
            changes.push(if is_written {
                Change::Set(to.clone(), text.unwrap_or_else(|| from.get(&tree).cloned().unwrap_or_default()))
            } else {
                Change::Move(from.clone(), to.clone(), text)
            });
            changes.last()?.apply(&mut tree).ok()?;
        }
        let is_left = removed.get(&tree).is_some() && !moves.iter().any(|(_, to)| to.starts_with(removed));
        changes.extend(is_left.then(|| Change::Remove(removed.clone())));
        // That a section is there may be a setting (`masquerade: {}`): an emptied one stays.
        let is_setting = |path: &Path| match self.own {
            None => true,
            Some(cx) => {
                let objects = |object| plan(cx.release(), cx.inventory(), object).operands;
                let mut with = tree.clone();
                Change::Set(path.clone(), json!({})).apply(&mut with).is_ok() && objects(&with) != objects(&tree)
            }
        };
        let is_emptied = |path: &Path| {
            let is_known = || self.schema.field(path).is_some_and(|field| field.kind == "object");
            matches!(path.0.last(), Some(Segment::Key(_))) && path.get(&tree).is_none() && is_known()
        };
        let above =
            |from: &Path| (2..from.0.len()).rev().map(|depth| Path(from.0[..depth].to_vec())).find(|p| is_emptied(p));
        let emptied: BTreeSet<Path> = moves.iter().filter_map(|(from, _)| above(from)).collect();
        let kept = emptied.into_iter().filter(|path| is_setting(path));
        changes.extend(kept.map(|path| Change::Set(path, json!({}))));
        self.fix(title, applicability, &changes)
    }
}
