//! Where a value is inside a document.

use super::pointer;
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

    /// Its keys, without indexes.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.iter().filter_map(|step| match step {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        })
    }

    /// This path with a key below it.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(Segment::Key(key.to_owned()))
    }

    /// This path with an index below it.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    fn with(&self, step: Segment) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    /// A path of plain keys, `spec.featureGates`; numbers in brackets are indexes. Keys that
    /// hold a dot (annotations) can't be written this way: use [`Path::key`].
    pub fn dotted(text: &str) -> Self {
        Self::root().below(text)
    }

    /// The path of an annotation of an object.
    pub fn annotation(name: &str) -> Self {
        Self::dotted("metadata.annotations").key(name)
    }

    /// This path with a path of plain keys below it, written as in [`Path::dotted`].
    #[must_use]
    pub fn below(&self, text: &str) -> Self {
        let mut steps = self.0.clone();
        for part in text.split('.').filter(|p| !p.is_empty()) {
            let (key, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
            if !key.is_empty() {
                steps.push(Segment::Key(key.to_owned()));
            }
            for index in indexes.split(['[', ']']).filter_map(|i| i.parse().ok()) {
                steps.push(Segment::Index(index));
            }
        }
        Self(steps)
    }

    /// This path with the steps of another one below it.
    #[must_use]
    pub fn joined(&self, below: &Self) -> Self {
        Self([&self.0[..], &below.0].concat())
    }

    /// The path without its last step; the root's parent is the root.
    #[must_use]
    pub fn parent(&self) -> Self {
        let mut steps = self.0.clone();
        steps.pop();
        Self(steps)
    }

    /// Whether `self` is `other` or is below it.
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The JSON pointer (RFC 6901) of the same place.
    pub fn to_pointer(&self) -> String {
        let mut out = String::new();
        for step in &self.0 {
            match step {
                Segment::Key(k) => pointer::push(&mut out, k),
                Segment::Index(i) => pointer::push(&mut out, &i.to_string()),
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

/// Whether a path as it is printed equals another or is below it.
pub fn is_within(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Whether one of two paths as they are printed is within the other.
pub fn overlap(a: &str, b: &str) -> bool {
    is_within(a, b) || is_within(b, a)
}

/// A path that is built while a tree is walked. It borrows the keys, and becomes a [`Path`] only
/// for the few places that need one.
#[derive(Debug, Clone, Copy)]
pub enum Trail<'t> {
    /// Where the walk begins.
    Start(&'t Path),
    /// At a mapping's key.
    Key(&'t Self, &'t str),
    /// At a sequence's index.
    Index(&'t Self, usize),
}

/// The path of a document's root.
const ROOT: &Path = &Path(Vec::new());

impl<'t> Trail<'t> {
    /// The document's root.
    pub const ROOT: Self = Self::Start(ROOT);

    /// This trail with a key below it.
    pub fn key(&'t self, key: &'t str) -> Self {
        Self::Key(self, key)
    }

    /// This trail with an index below it.
    pub fn index(&'t self, index: usize) -> Self {
        Self::Index(self, index)
    }

    /// Whether it is the document's root.
    pub fn is_root(&self) -> bool {
        matches!(self, Self::Start(start) if start.0.is_empty())
    }

    /// The path from the document's root.
    pub fn path(&self) -> Path {
        let mut path = Path::root();
        self.add_to(&mut path);
        path
    }

    fn add_to(&self, path: &mut Path) {
        let step = match self {
            Self::Start(start) => return path.0.extend_from_slice(&start.0),
            Self::Key(above, key) => {
                above.add_to(path);
                Segment::Key((*key).to_owned())
            }
            Self::Index(above, index) => {
                above.add_to(path);
                Segment::Index(*index)
            }
        };
        path.0.push(step);
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

    #[test]
    fn trail_has_the_path_of_its_steps() {
        let spec = Path::dotted("spec");
        let spec = Trail::Start(&spec);
        let items = Trail::Key(&spec, "items");
        let name = Trail::Key(&Trail::Index(&items, 2), "a.b").path();
        assert_eq!(name, Path::dotted("spec.items[2]").key("a.b"));
    }
}
