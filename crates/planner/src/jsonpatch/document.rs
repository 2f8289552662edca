//! The document that operations are applied to: finds, adds and removes values.

use super::FailureKind;
use super::json::MAX_DEPTH;
use super::node::{Node, atoi};
use crate::prelude::*;
use hcoplan_yaml::pointer::unescape;

/// The error when a key can't be read or written.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) message: String,
    pub(super) kind: FailureKind,
}

impl Missing {
    fn index(message: String) -> Self {
        Self { message, kind: FailureKind::Index }
    }

    /// The document would exceed hcoplan's limits.
    pub(super) fn too_big() -> Self {
        Self {
            message: "the patched document is too big or nested too deeply for hcoplan".to_owned(),
            kind: FailureKind::TooBig,
        }
    }

    fn key(verb: &str, key: &str) -> Self {
        Self {
            message: format!("unable to {verb} nonexistent key: {key}: missing value"),
            kind: FailureKind::MissingPath,
        }
    }
}

/// The document that operations are applied to.
#[derive(Debug, Clone)]
pub(super) struct Document<'b> {
    pub(super) root: Node,
    /// The value of an empty key at the top.
    pub(super) own: TopCopy<'b>,
    /// How much `copy` has added, in units of [`Node::size`].
    pub(super) copied: usize,
}

/// The value of an empty key at the top: a copy of the document, created at its first use.
#[derive(Debug, Clone)]
pub(super) enum TopCopy<'b> {
    /// The original document.
    Unread(&'b Value),
    /// The copy, if it has a value.
    Read(Option<Node>),
}

impl TopCopy<'_> {
    fn read(&mut self) -> Option<&mut Node> {
        if let Self::Unread(value) = self {
            *self = Self::Read(Some(Node::from_json(value)));
        }
        match self {
            Self::Read(node) => node.as_mut(),
            Self::Unread(_) => None,
        }
    }
}

/// A path, split into the container's keys and the key inside it.
pub(super) struct Location {
    pub(super) parents: Vec<String>,
    pub(super) key: String,
}

impl Location {
    /// `None` for a text without a slash.
    fn of(path: &str) -> Option<Self> {
        if path.is_empty() {
            return Some(Self { parents: Vec::new(), key: String::new() });
        }
        let (_, keys) = path.split_once('/')?;
        let (parents, key) = match keys.rsplit_once('/') {
            Some((parents, key)) => (parents.split('/').map(unescape).collect(), key),
            None => (Vec::new(), keys),
        };
        Some(Self { parents, key: unescape(key) })
    }
}

impl<'b> Document<'b> {
    pub(super) fn new(base: &'b Value) -> Self {
        Self { own: TopCopy::Unread(base), root: Node::from_json(base), copied: 0 }
    }

    pub(super) fn root(&self) -> &Node {
        &self.root
    }

    /// Splits a path; `None` if its container is missing.
    pub(super) fn locate(&mut self, path: &str) -> Option<Location> {
        let location = Location::of(path)?;
        self.container(&location.parents).is_some().then_some(location)
    }

    /// The object or list at a path of keys.
    fn container(&mut self, keys: &[String]) -> Option<&mut Node> {
        let mut at = &mut self.root;
        let mut keys = keys.iter();
        if keys.as_slice().first().is_some_and(String::is_empty) {
            keys.next();
            at = self.own.read()?;
        }
        for key in keys {
            at = match at {
                _ if key.is_empty() => return None,
                Node::Object(entries) => entries.get_mut(key)?,
                Node::Array(items) => {
                    let index = from_either_end(atoi(key).ok()?, items.len())?;
                    items.get_mut(index)?
                }
                _ => return None,
            };
        }
        matches!(at, Node::Object(_) | Node::Array(_)).then_some(at)
    }

    /// The value at a location; `Ok(None)` for a key without value.
    pub(super) fn get(&mut self, location: &Location) -> Result<Option<&Node>, Missing> {
        let key = &location.key;
        if key.is_empty() {
            let at_top = location.parents.is_empty();
            let own = if at_top { self.own.read() } else { None };
            return Ok(own.map(|own| &*own));
        }
        match self.container(&location.parents) {
            Some(Node::Object(entries)) => {
                let found: Option<&Node> = entries.get(key);
                found.map(Some).ok_or_else(|| Missing::key("get", key))
            }
            Some(Node::Array(items)) => {
                let at = index_in(key, items.len())?;
                Ok(items.get(at))
            }
            _ => Err(Missing::key("get", key)),
        }
    }

    /// Adds a value to an object, or to a list before the element at the index.
    pub(super) fn insert(&mut self, location: &Location, value: Node) -> Result<(), Missing> {
        if !fits(location, &value) {
            return Err(Missing::too_big());
        }
        let key = &location.key;
        match self.container(&location.parents) {
            Some(Node::Object(entries)) => {
                entries.insert(key.clone(), value);
            }
            Some(Node::Array(items)) if key == "-" => items.push(value),
            Some(Node::Array(items)) => {
                let index = atoi(key)
                    .map_err(|why| Missing::index(format!("value was not a proper array index: '{key}': {why}")))?;
                let at = from_either_end(index, items.len() + 1);
                items.insert(at.ok_or_else(|| out_of_range(index))?, value);
            }
            _ => {}
        }
        Ok(())
    }

    /// Replaces the value that [`Self::get`] found.
    pub(super) fn set(&mut self, location: &Location, value: Node) -> Result<(), Missing> {
        match self.container(&location.parents) {
            Some(Node::Array(items)) if fits(location, &value) => {
                // `get` finds an empty key in a list, but it isn't an index.
                let at = index_in(&location.key, items.len())?;
                items[at] = value;
                Ok(())
            }
            _ => self.insert(location, value),
        }
    }

    /// Removes a value.
    pub(super) fn take(&mut self, location: &Location) -> Result<(), Missing> {
        let key = &location.key;
        match self.container(&location.parents) {
            Some(Node::Object(entries)) => {
                let taken = entries.remove(key).map(|_| ());
                taken.ok_or_else(|| Missing::key("remove", key))
            }
            Some(Node::Array(items)) => {
                let at = index_in(key, items.len())?;
                items.remove(at);
                Ok(())
            }
            _ => Err(Missing::key("remove", key)),
        }
    }
}

/// The index of an item of a list of this length.
fn index_in(key: &str, length: usize) -> Result<usize, Missing> {
    let index = atoi(key).map_err(Missing::index)?;
    from_either_end(index, length).ok_or_else(|| out_of_range(index))
}

/// Resolves an index within a length; negative ones count from the end.
fn from_either_end(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let at = if index < 0 { index.checked_add(length)? } else { index };
    (0..length).contains(&at).then(|| usize::try_from(at).ok())?
}

/// Whether the document stays within [`MAX_DEPTH`] with a value at a location.
fn fits(location: &Location, value: &Node) -> bool {
    location.parents.len() + value.size().1 < MAX_DEPTH
}

fn out_of_range(index: i64) -> Missing {
    Missing::index(format!("Unable to access invalid index: {index}: invalid index referenced"))
}
