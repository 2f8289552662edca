//! Two states of a cluster's directory, object by object.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;
use hcoplan_kubernetes::ObjectId;
use hcoplan_repository::emit::{ClusterFiles, cluster_directory};

use super::{Error, PreviousTree};

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
        Self { cluster: cluster.to_owned(), whole: None, changes: Vec::new() }
    }
}

/// What changes in a cluster that is rendered.
///
/// # Errors
/// The left side can't be read.
pub fn compare(before: &PreviousTree, after: &ClusterFiles) -> Result<ClusterChanges, Error> {
    let directory = cluster_directory(&after.cluster)?;
    let mut changes = Vec::new();
    let mut different = Vec::new();
    for file in &after.files {
        if !before.has(&directory, &file.name, &file.text)? {
            different.push(file);
        }
    }
    let names = before.names(&directory);
    let whole = (names.is_empty() && !after.files.is_empty()).then_some(Kind::Add);
    let same = |name: &str| after.files.iter().any(|f| f.name == name) && !different.iter().any(|f| f.name == name);
    // By identity: a file may be called otherwise because of another object's name.
    let mut old: BTreeMap<Arc<ObjectId>, &str> = BTreeMap::new();
    for name in names.iter().filter(|name| !same(name)) {
        if let Some(object) = before.object(&directory, name)? {
            old.insert(object.id, name);
        }
    }
    for file in different {
        let text = match old.remove(&file.id) {
            Some(name) => before.text(&directory, name)?,
            None => None,
        };
        if text.as_deref() == Some(&*file.text) {
            continue;
        }
        changes.push(Change {
            kind: if text.is_some() { Kind::Change } else { Kind::Add },
            id: file.id.clone(),
            file: file.name.clone(),
            before: text,
            after: Some(Arc::clone(&file.text)),
        });
    }
    for (id, file) in old {
        changes.extend(removed(before, &directory, id, file)?);
    }
    Ok(ClusterChanges { cluster: after.cluster.clone(), whole, changes })
}

fn removed(
    before: &PreviousTree,
    directory: &Utf8Path,
    id: Arc<ObjectId>,
    file: &str,
) -> Result<Option<Change>, Error> {
    let text = before.text(directory, file)?;
    Ok(text.map(|text| Change { kind: Kind::Remove, id, file: file.to_owned(), before: Some(text), after: None }))
}
