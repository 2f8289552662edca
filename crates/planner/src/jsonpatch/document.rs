//! The document that operations are applied to: finding, adding and taking away.

use serde_json::Value;

use super::Cause;
use super::decode::unescape;
use super::json::MAX_DEPTH;
use super::node::{Node, atoi};

/// What a container says when asked for a key.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) message: String,
    pub(super) cause: Cause,
}

impl Missing {
    fn index(message: String) -> Self {
        Self { message, cause: Cause::Index }
    }

    /// There is no room for it.
    pub(super) fn no_room() -> Self {
        Self {
            message: "the patched document is too big or nested too deeply for hcoplan".to_owned(),
            cause: Cause::TooBig,
        }
    }

    fn key(verb: &str, key: &str) -> Self {
        Self { message: format!("unable to {verb} nonexistent key: {key}: missing value"), cause: Cause::MissingPath }
    }
}

/// The document that operations are applied to.
#[derive(Debug, Clone)]
pub(super) struct Document<'b> {
    pub(super) root: Node,
    /// What an empty key at the top reads.
    pub(super) own: TopCopy<'b>,
    /// How much `copy` has added, as [`Node::size`] counts it.
    pub(super) copied: usize,
}

/// What an empty key at the top reads: a copy of the document, made at its first use.
#[derive(Debug, Clone)]
pub(super) enum TopCopy<'b> {
    /// As the document was.
    Unread(&'b Value),
    /// As it is, where it is anything.
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

/// A container's path, split: the keys down to it and the key inside it.
pub(super) struct Place {
    pub(super) parents: Vec<String>,
    pub(super) key: String,
}

impl Place {
    /// `None` for a text without a slash, which leads nowhere.
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

    /// Where a path leads; `None` when its container is not there.
    pub(super) fn place(&mut self, path: &str) -> Option<Place> {
        let place = Place::of(path)?;
        self.container(&place.parents).is_some().then_some(place)
    }

    /// The object or list that keys lead to.
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

    /// The value at a place; `Ok(None)` where there is a key without any.
    pub(super) fn get(&mut self, place: &Place) -> Result<Option<&Node>, Missing> {
        let key = &place.key;
        if key.is_empty() {
            let at_top = place.parents.is_empty();
            let own = if at_top { self.own.read() } else { None };
            return Ok(own.map(|own| &*own));
        }
        match self.container(&place.parents) {
            Some(Node::Object(entries)) => {
                let found: Option<&Node> = entries.get(key);
                found.map(Some).ok_or_else(|| Missing::key("get", key))
            }
            Some(Node::Array(items)) => {
                let index = atoi(key).map_err(Missing::index)?;
                match from_either_end(index, items.len()) {
                    Some(at) => Ok(items.get(at)),
                    None => Err(out_of_range(index)),
                }
            }
            _ => Err(Missing::key("get", key)),
        }
    }

    /// Adds a value: into an object, or into a list before the element at the index.
    pub(super) fn put(&mut self, place: &Place, value: Node) -> Result<(), Missing> {
        if !fits(place, &value) {
            return Err(Missing::no_room());
        }
        let key = &place.key;
        match self.container(&place.parents) {
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

    /// Puts a value where [`Self::get`] found one.
    pub(super) fn set(&mut self, place: &Place, value: Node) -> Result<(), Missing> {
        if !fits(place, &value) {
            return Err(Missing::no_room());
        }
        let key = &place.key;
        match self.container(&place.parents) {
            Some(Node::Object(entries)) => {
                entries.insert(key.clone(), value);
            }
            Some(Node::Array(items)) => {
                // An empty key is found in a list, but is no index.
                let index = atoi(key).map_err(Missing::index)?;
                let at = from_either_end(index, items.len());
                items[at.ok_or_else(|| out_of_range(index))?] = value;
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes a value away.
    pub(super) fn take(&mut self, place: &Place) -> Result<(), Missing> {
        let key = &place.key;
        match self.container(&place.parents) {
            Some(Node::Object(entries)) => {
                let taken = entries.remove(key).map(|_| ());
                taken.ok_or_else(|| Missing::key("remove", key))
            }
            Some(Node::Array(items)) => {
                let index = atoi(key).map_err(Missing::index)?;
                let at = from_either_end(index, items.len());
                items.remove(at.ok_or_else(|| out_of_range(index))?);
                Ok(())
            }
            _ => Err(Missing::key("remove", key)),
        }
    }
}

/// The place of an index below a length, counted from the end where it is negative.
fn from_either_end(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let at = if index < 0 { index.checked_add(length)? } else { index };
    (0..length).contains(&at).then(|| usize::try_from(at).ok())?
}

/// Whether a value at a place keeps the document as shallow as we want it.
fn fits(place: &Place, value: &Node) -> bool {
    place.parents.len() + value.size().1 < MAX_DEPTH
}

fn out_of_range(index: i64) -> Missing {
    Missing::index(format!("Unable to access invalid index: {index}: invalid index referenced"))
}
