//! The names of clusters.

use crate::prelude::*;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// A cluster's name as people read it. What is recorded, compared or written as a path uses [`ClusterName::id`].
#[derive(Debug, Clone, Default)]
pub struct ClusterName {
    id: Arc<str>,
    shown: Arc<str>,
}

impl ClusterName {
    /// The id of a root's own cluster.
    pub const ROOT: &str = ".";

    /// The cluster of a root, shown as the root's directory. The id is the same in every clone.
    pub fn of_root(directory: &str) -> Self {
        Self { id: Self::ROOT.into(), shown: directory.into() }
    }

    /// The cluster of a directory below the root; the root's own if that is empty.
    pub fn of_directory(directory: &Utf8Path) -> Self {
        let name = directory.as_str();
        if name.is_empty() { Self::ROOT.into() } else { name.into() }
    }

    /// The name that is the same wherever the repository is cloned to.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it is a root's own cluster.
    pub fn is_root(&self) -> bool {
        *self.id == *Self::ROOT
    }

    /// What a person may type for it.
    pub fn typed(&self) -> [&str; 2] {
        [&self.shown, &self.id]
    }
}

impl<T: Into<Arc<str>>> From<T> for ClusterName {
    fn from(name: T) -> Self {
        let id = name.into();
        Self { shown: Arc::clone(&id), id }
    }
}

impl Deref for ClusterName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.shown
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl PartialEq for ClusterName {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for ClusterName {}

impl PartialOrd for ClusterName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ClusterName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

impl Hash for ClusterName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}
