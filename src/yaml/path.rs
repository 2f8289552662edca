//! Where a value is inside a document.

use std::fmt;

/// One step of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A mapping's key.
    Key(String),
    /// A sequence's index.
    Index(usize),
}

/// A path from the document's root, printed as Kubernetes prints field paths:
/// `spec.dataImportCronTemplates[0].metadata.name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(pub Vec<Segment>);

impl Path {
    /// The document's root.
    pub fn root() -> Self {
        Self::default()
    }

    /// This path with a key below it.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(Segment::Key(key.to_owned()));
        Self(steps)
    }

    /// This path with an index below it.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Segment::Index(index));
        Self(steps)
    }

    /// A path of plain keys, `spec.featureGates`; numbers in brackets are indexes. Keys that
    /// hold a dot (annotations) can't be written this way: use [`Path::key`].
    pub fn dotted(text: &str) -> Self {
        let mut steps = Vec::new();
        for part in text.split('.').filter(|p| !p.is_empty()) {
            let (key, rest) = part.split_once('[').map_or((part, ""), |(k, r)| (k, r));
            if !key.is_empty() {
                steps.push(Segment::Key(key.to_owned()));
            }
            for index in rest.split(['[', ']']).filter_map(|i| i.parse().ok()) {
                steps.push(Segment::Index(index));
            }
        }
        Self(steps)
    }

    /// The path without its last step; the root's parent is the root.
    #[must_use]
    pub fn parent(&self) -> Self {
        let mut steps = self.0.clone();
        steps.pop();
        Self(steps)
    }

    /// Whether `self` is `other` or lies below it.
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The JSON pointer (RFC 6901) of the same place.
    pub fn to_pointer(&self) -> String {
        let mut out = String::new();
        for step in &self.0 {
            out.push('/');
            match step {
                Segment::Key(k) => out.push_str(&k.replace('~', "~0").replace('/', "~1")),
                Segment::Index(i) => out.push_str(&i.to_string()),
            }
        }
        out
    }

    /// The value at this path in a JSON tree.
    pub fn get<'v>(&self, value: &'v serde_json::Value) -> Option<&'v serde_json::Value> {
        self.0.iter().try_fold(value, |v, step| match step {
            Segment::Key(k) => v.get(k.as_str()),
            Segment::Index(i) => v.get(*i),
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Segment::Key(k) if k.contains(['.', '/', '[']) => write!(f, "[{k:?}]")?,
                Segment::Key(k) if i == 0 => f.write_str(k)?,
                Segment::Key(k) => write!(f, ".{k}")?,
                Segment::Index(n) => write!(f, "[{n}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_kubernetes_does() {
        let path = Path::dotted("spec.items[2].name");
        assert_eq!(path.to_string(), "spec.items[2].name");
        assert_eq!(path.to_pointer(), "/spec/items/2/name");
        let ann = Path::dotted("metadata.annotations").key("a.b/c");
        assert_eq!(ann.to_string(), "metadata.annotations[\"a.b/c\"]");
        assert_eq!(ann.to_pointer(), "/metadata/annotations/a.b~1c");
    }
}
