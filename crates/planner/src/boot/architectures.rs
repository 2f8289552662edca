//! Known, undetermined or unknown architectures.

use std::collections::BTreeSet;

use crate::inventory::Architecture;

/// The architectures of a disk, an image or a guest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Architectures {
    /// These; none where there is no such disk or image.
    Known(BTreeSet<String>),
    /// One of these: what decides it isn't declared anywhere.
    Undetermined(BTreeSet<String>),
    /// Nothing says.
    #[default]
    Unknown,
}

impl Architectures {
    /// Exactly this one.
    pub fn one(name: &str) -> Self {
        Self::Known(BTreeSet::from([name.to_owned()]))
    }

    /// None: nothing is there.
    pub const fn none() -> Self {
        Self::Known(BTreeSet::new())
    }

    /// What a comma-separated list of an annotation names, other names of an architecture among them; unknown where it
    /// names none.
    pub fn listed(text: &str) -> Self {
        let names = text.split(|c: char| matches!(c, ',' | ';' | '|') || c.is_whitespace());
        let names: BTreeSet<String> = names.filter_map(Architecture::name).map(str::to_owned).collect();
        if names.is_empty() { Self::Unknown } else { Self::Known(names) }
    }

    /// One of these: known where there is one, unknown where there is none.
    pub fn one_of(names: BTreeSet<String>) -> Self {
        match names.len() {
            0 => Self::Unknown,
            1 => Self::Known(names),
            _ => Self::Undetermined(names),
        }
    }

    /// The only one; `None` where there are several, none, or it isn't certain.
    pub fn only(&self) -> Option<&str> {
        match self {
            Self::Known(names) if names.len() == 1 => names.first().map(String::as_str),
            _ => None,
        }
    }

    /// Those that there are or may be, sorted.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Known(names) | Self::Undetermined(names) => names.iter().map(String::as_str).collect(),
            Self::Unknown => Vec::new(),
        }
    }

    /// Whether it is certain that nothing is there.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Known(names) if names.is_empty())
    }

    /// Whether it is known to be there for an architecture.
    pub fn has(&self, architecture: &str) -> bool {
        matches!(self, Self::Known(names) if names.contains(architecture))
    }

    /// Whether it is known not to be there for an architecture.
    pub fn lacks(&self, architecture: &str) -> bool {
        match self {
            Self::Known(names) | Self::Undetermined(names) => !names.contains(architecture),
            Self::Unknown => false,
        }
    }
}
