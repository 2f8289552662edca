//! Known, undetermined or unknown architectures.

use crate::inventory::Architecture;
use crate::prelude::*;

/// The architectures of a disk, an image or a guest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Architectures {
    /// Exactly these; empty where there is no such disk or image.
    Known(BTreeSet<String>),
    /// These, as a build publishes them; another build may publish more.
    Built(BTreeSet<String>),
    /// One of these; nothing declared decides which.
    Undetermined(BTreeSet<String>),
    /// No evidence.
    #[default]
    Unknown,
}

impl Architectures {
    /// One known architecture.
    pub fn one(name: &str) -> Self {
        Self::Known(BTreeSet::from([name.to_owned()]))
    }

    /// No disk or image.
    pub const fn none() -> Self {
        Self::Known(BTreeSet::new())
    }

    /// Parses an annotation's comma-separated list, including other names of architectures; unknown where it names
    /// none.
    pub fn listed(text: &str) -> Self {
        let names = text.split(|c: char| matches!(c, ',' | ';' | '|') || c.is_whitespace());
        let names: BTreeSet<String> = names.filter_map(Architecture::name).map(str::to_owned).collect();
        if names.is_empty() { Self::Unknown } else { Self::Known(names) }
    }

    /// Known for one name, unknown for none, else undetermined.
    pub fn one_of(names: BTreeSet<String>) -> Self {
        match names.len() {
            0 => Self::Unknown,
            1 => Self::Known(names),
            _ => Self::Undetermined(names),
        }
    }

    /// The name if there is exactly one.
    pub fn only(&self) -> Option<&str> {
        match self.names()[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// All certain or possible names, sorted.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Known(names) | Self::Built(names) | Self::Undetermined(names) => {
                names.iter().map(String::as_str).collect()
            }
            Self::Unknown => Vec::new(),
        }
    }

    /// Whether there is certainly no disk or image.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Known(names) if names.is_empty())
    }

    /// Whether it certainly exists for an architecture.
    pub fn has(&self, architecture: &str) -> bool {
        matches!(self, Self::Known(names) | Self::Built(names) if names.contains(architecture))
    }

    /// Whether nothing says that it exists for an architecture, but for others.
    pub fn lacks(&self, architecture: &str) -> bool {
        *self != Self::Unknown && !self.names().contains(&architecture)
    }
}
