//! An object as the text of its file.

use std::collections::HashMap;
use std::sync::{Arc, RwLock, Weak};

use hcoplan_yaml as yaml;
use serde_json::Value;

/// The first line of every file, always the same, so that an upgrade of hcoplan touches no file
/// whose object stays.
pub const HEADER: &str = "# Rendered by hcoplan for review. The operators own this object: don't apply it.\n";

/// Texts of objects that many clusters share. Rendering hands them out by reference, so the
/// reference is enough to know them again.
#[derive(Debug, Default)]
pub struct Texts {
    known: RwLock<HashMap<usize, Known>>,
}

/// What is known of an object at an address. Both hold on to it, so that its address can't become
/// another object's.
#[derive(Debug)]
enum Known {
    /// It was asked for once: it may be one cluster's own.
    Seen { _body: Weak<Value> },
    /// It is shared.
    Kept { _body: Arc<Value>, text: Arc<str> },
}

/// Above this many the memory is given back.
const MOST_KNOWN: usize = 4096;

impl Texts {
    /// The text of an object's file: the header, then YAML as kubectl prints it.
    pub fn of(&self, body: &Arc<Value>) -> Arc<str> {
        // A body that nobody else holds is this cluster's own.
        if Arc::strong_count(body) < 2 {
            return text(body);
        }
        let key = Arc::as_ptr(body) as usize;
        let read = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let seen = match read.get(&key) {
            Some(Known::Kept { text, .. }) => return Arc::clone(text),
            Some(Known::Seen { .. }) => true,
            None => false,
        };
        drop(read);
        let text = text(body);
        let known = if seen {
            Known::Kept { _body: Arc::clone(body), text: Arc::clone(&text) }
        } else {
            Known::Seen { _body: Arc::downgrade(body) }
        };
        let mut write = self.known.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if write.len() >= MOST_KNOWN {
            write.clear();
        }
        write.insert(key, known);
        text
    }
}

fn text(body: &Value) -> Arc<str> {
    let mut out = HEADER.to_owned();
    yaml::emit_to(body, &mut out);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keeps_texts_of_objects_in_use() {
        let texts = Texts::default();
        let shared = Arc::new(json!({"kind": "Role"}));
        let other = Arc::clone(&shared);
        let first = texts.of(&shared);
        let (a, b) = (texts.of(&shared), texts.of(&other));
        assert!(Arc::ptr_eq(&a, &b));
        assert!(a.starts_with(HEADER) && a == first);

        let own = Arc::new(json!({"kind": "CDI"}));
        assert!(texts.of(&own).contains("CDI"));
        assert_eq!(texts.known.read().expect("lock").len(), 1);
    }

    #[test]
    fn removed_objects_are_not_kept() {
        let texts = Texts::default();
        let body = Arc::new(json!({"kind": "KubeVirt"}));
        let patched = Arc::clone(&body);
        texts.of(&body);
        assert_eq!(Arc::strong_count(&patched), 2);
    }
}
