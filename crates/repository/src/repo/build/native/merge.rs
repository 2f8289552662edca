//! Strategic merge patches, as `kyaml` merges them.
//!
//! A kind that kustomize has no schema of has no merge keys: its lists are replaced as a whole.

use super::object::{Placed, Value};
use super::{Beyond, Refused};
use crate::prelude::*;
use crate::repo::fields;

/// Why a merge isn't done.
pub(super) enum NotMerged {
    Refused(Refused),
    /// Nothing built here is what is changed.
    Absent(Refused),
    Beyond(Beyond),
}

impl From<Refused> for NotMerged {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl NotMerged {
    pub(super) fn beyond(place: &Location, what: &'static str) -> Self {
        Self::Beyond(Beyond { place: place.clone(), what })
    }
}

/// Merges a patch into a value; `None`: it is removed. `is_built_in`: whether the object's kind has merge keys.
pub(super) fn merge(object: Option<Placed>, patch: &Placed, is_built_in: bool) -> Result<Option<Placed>, NotMerged> {
    Merge { is_built_in, path: Vec::new() }.value(object, patch)
}

struct Merge {
    is_built_in: bool,
    path: Vec<String>,
}

impl Merge {
    fn value(&mut self, object: Option<Placed>, patch: &Placed) -> Result<Option<Placed>, NotMerged> {
        let object = object.filter(|o| !o.is_null());
        match &patch.value {
            _ if patch.is_null() => Ok(None),
            Value::Map(_) => self.map(object, patch),
            other => {
                self.same_type(object.as_ref(), patch)?;
                if let Value::List(items) = other {
                    self.list(object, items, &patch.place)
                } else {
                    Ok(Some(patch.clone()))
                }
            }
        }
    }

    fn same_type(&self, object: Option<&Placed>, patch: &Placed) -> Result<(), NotMerged> {
        match object {
            Some(object) if object.type_name() != patch.type_name() => {
                let (path, own, other) = (self.path.join("."), patch.type_name(), object.type_name());
                let why = format!("the patch has a {own} at `{path}`, where the object has a {other}");
                Err(Refused::new(&patch.place, why).into())
            }
            _ => Ok(()),
        }
    }

    fn map(&mut self, object: Option<Placed>, patch: &Placed) -> Result<Option<Placed>, NotMerged> {
        let beyond = |place: &Location| Err(NotMerged::beyond(place, "a directive of a patch"));
        // `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are others.
        if let Some(other) = patch.members().iter().find(|m| m.key.starts_with('$') && m.key != DIRECTIVE) {
            return beyond(&other.place);
        }
        let directive = patch.get(DIRECTIVE);
        let merged = match directive.map(|value| value.as_str().unwrap_or_default()) {
            Some("delete") => return Ok(None),
            Some("replace") => None,
            None | Some("merge") => {
                self.same_type(object.as_ref(), patch)?;
                object
            }
            _ => return beyond(&directive.unwrap_or(patch).place),
        };
        let mut merged = merged.unwrap_or_else(|| Placed::map_at(&patch.place));
        for member in patch.members().iter().filter(|member| member.key != DIRECTIVE) {
            self.path.push(member.key.clone());
            let own = merged.get(&member.key).cloned();
            let is_new = own.is_none();
            match self.value(own, &member.value)? {
                Some(value) if is_new || !matches!(value.value, Value::Map(_)) => {
                    merged.set(&member.key, &member.place, value);
                }
                // A map is of both.
                Some(value) => merged.get_mut(&member.key).into_iter().for_each(|own| *own = value.clone()),
                None => {
                    merged.remove(&member.key);
                }
            }
            self.path.pop();
        }
        Ok(Some(merged))
    }

    fn list(
        &mut self,
        object: Option<Placed>,
        items: &[Placed],
        place: &Location,
    ) -> Result<Option<Placed>, NotMerged> {
        let replaced = || Placed { place: place.clone(), value: Value::List(items.to_vec()) };
        if !self.is_built_in {
            return Ok(Some(replaced()));
        }
        let name = self.path.last().map_or("", String::as_str);
        let mut merged = fields::pairs_of("kustomize.merged-lists");
        let Some((_, key)) = merged.find(|(list, _)| *list == name) else {
            if fields::has("kustomize.replaced-lists", name) {
                return Ok(Some(replaced()));
            }
            return Err(NotMerged::beyond(place, KEYED_LIST));
        };
        let mut merged = object.unwrap_or(Placed { place: place.clone(), value: Value::List(Vec::new()) });
        let Value::List(own) = &mut merged.value else { return Ok(Some(replaced())) };
        let mut first = Vec::new();
        for item in items {
            let id = item.text(&[key]);
            if id.is_empty() {
                return Err(NotMerged::beyond(&item.place, KEYED_LIST));
            }
            let at = own.iter().position(|other| other.text(&[key]) == id);
            first.extend(self.value(at.map(|at| own.remove(at)), item)?);
        }
        // The patch's items come first, in its order.
        own.splice(0..0, first);
        Ok(Some(merged))
    }
}

/// What only kustomize merges.
const KEYED_LIST: &str = "a list with a key of its own in a patch of a built-in kind";

/// The key of a directive.
const DIRECTIVE: &str = "$patch";
