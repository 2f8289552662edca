//! Two states of a cluster's directory, object by object.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;

use super::{Before, Error};
use crate::emit::{ClusterFiles, cluster_directory};
use crate::kube::ObjectId;

/// What happens to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It appears.
    Add,
    /// It stays, with another text.
    Change,
    /// It goes.
    Remove,
}

impl Kind {
    /// `add`, `change` or `remove`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Change => "change",
            Self::Remove => "remove",
        }
    }

    /// `+`, `~` or `-`.
    pub const fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Change => '~',
            Self::Remove => '-',
        }
    }
}

/// An object that is not as it was.
#[derive(Debug, Clone)]
pub struct Change {
    /// What happens to it.
    pub kind: Kind,
    /// The object.
    pub id: Arc<ObjectId>,
    /// Its file in the cluster's directory: the new one where there is one.
    pub file: String,
    /// Its text before; `None` where it is new.
    pub before: Option<String>,
    /// Its text after; `None` where it goes.
    pub after: Option<Arc<str>>,
}

/// What changes in a cluster.
#[derive(Debug, Clone)]
pub struct ClusterChanges {
    /// The cluster's name.
    pub cluster: String,
    /// `Add` or `Remove` where the cluster itself is new or gone.
    pub whole: Option<Kind>,
    /// By operand in the operator's order of work; what goes comes last.
    pub changes: Vec<Change>,
}

impl ClusterChanges {
    /// Of a cluster that is as it was.
    pub fn none(cluster: &str) -> Self {
        Self {
            cluster: cluster.to_owned(),
            whole: None,
            changes: Vec::new(),
        }
    }
}

/// The numbers of the last line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Objects that appear.
    pub add: usize,
    /// Objects that stay with another text.
    pub change: usize,
    /// Objects that go.
    pub remove: usize,
    /// Clusters in which something changes.
    pub changed_clusters: usize,
    /// Clusters that were looked at, those that are gone included.
    pub clusters: usize,
}

impl Totals {
    /// Counts a cluster in.
    pub fn count(&mut self, cluster: &ClusterChanges) {
        self.clusters += 1;
        self.changed_clusters += usize::from(!cluster.changes.is_empty());
        for change in &cluster.changes {
            match change.kind {
                Kind::Add => self.add += 1,
                Kind::Change => self.change += 1,
                Kind::Remove => self.remove += 1,
            }
        }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.add + self.change + self.remove == 0
    }
}

/// What changes in a cluster that is rendered.
///
/// # Errors
/// The left side can't be read.
pub fn compare(before: &Before, after: &ClusterFiles) -> Result<ClusterChanges, Error> {
    let directory = cluster_directory(&after.cluster)?;
    let mut changes = Vec::new();
    let mut different = Vec::new();
    for file in &after.files {
        if !before.has(&directory, &file.name, &file.text)? {
            different.push(file);
        }
    }
    let listed = before.listed(&directory)?;
    let whole = (listed.is_empty() && !after.files.is_empty()).then_some(Kind::Add);
    // By identity: a file may be called otherwise because of another object's name.
    let mut old: BTreeMap<ObjectId, &str> = listed
        .iter()
        .map(|(file, object)| (object.id(), file.as_str()))
        .collect();
    let mut names = BTreeMap::new();
    for file in &after.files {
        if let Some(name) = old.remove(&file.id) {
            names.insert(&file.id, name);
        }
    }
    for file in different {
        let text = match names.get(&file.id) {
            Some(name) => before.text(&directory, name)?,
            None => None,
        };
        if text.as_deref() == Some(&*file.text) {
            continue;
        }
        changes.push(Change {
            kind: if text.is_some() {
                Kind::Change
            } else {
                Kind::Add
            },
            id: file.id.clone(),
            file: file.name.clone(),
            before: text,
            after: Some(Arc::clone(&file.text)),
        });
    }
    for (id, file) in old {
        changes.extend(removed(before, &directory, Arc::new(id), file)?);
    }
    Ok(ClusterChanges {
        cluster: after.cluster.clone(),
        whole,
        changes,
    })
}

/// What goes with a cluster that is not there any more.
///
/// # Errors
/// The left side can't be read.
pub fn gone(before: &Before, directory: &Utf8Path) -> Result<ClusterChanges, Error> {
    let mut changes = Vec::new();
    for (file, object) in before.listed(directory)? {
        changes.extend(removed(before, directory, Arc::new(object.id()), &file)?);
    }
    let cluster = match directory.as_str() {
        "" => ".",
        name => name,
    };
    Ok(ClusterChanges {
        cluster: cluster.to_owned(),
        whole: Some(Kind::Remove),
        changes,
    })
}

fn removed(
    before: &Before,
    directory: &Utf8Path,
    id: Arc<ObjectId>,
    file: &str,
) -> Result<Option<Change>, Error> {
    let text = before.text(directory, file)?;
    Ok(text.map(|text| Change {
        kind: Kind::Remove,
        id,
        file: file.to_owned(),
        before: Some(text),
        after: None,
    }))
}
