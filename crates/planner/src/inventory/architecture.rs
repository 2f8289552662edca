//! Names of CPU architectures.
//!
//! Kubernetes uses Go's names (`GOARCH`); any other name is an alias that matches nothing in a cluster.

use crate::prelude::*;

/// The meaning of a text in an architecture field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// A name that Kubernetes uses.
    Known,
    /// Another name for this architecture of Kubernetes.
    Alias(&'static str),
    /// Not an architecture of Kubernetes.
    Unknown,
}

/// The architectures that Kubernetes runs on, as the published schema lists them.
const KNOWN: [&str; 13] = [
    "amd64", "arm64", "s390x", "ppc64le", "riscv64", "loong64", "386", "arm", "mips", "mipsle", "mips64", "mips64le",
    "ppc64",
];

/// Other names, as kernels, distributions and vendors write them.
static ALIASES: Table<BTreeMap<&str, &str>> = Table::of(include_str!("aliases.json"));

impl Architecture {
    /// Kubernetes' name for the architecture that a text means; `None` if it means none.
    pub fn name(text: &str) -> Option<&'static str> {
        match Self::of(text) {
            Self::Known => KNOWN.into_iter().find(|name| *name == text),
            Self::Alias(name) => Some(name),
            Self::Unknown => None,
        }
    }

    /// Kubernetes' name if the text is an alias.
    pub fn alias(text: &str) -> Option<&'static str> {
        match Self::of(text) {
            Self::Alias(name) => Some(name),
            Self::Known | Self::Unknown => None,
        }
    }

    /// Classifies a text.
    pub fn of(text: &str) -> Self {
        if KNOWN.contains(&text) {
            return Self::Known;
        }
        let lower = text.to_ascii_lowercase();
        match ALIASES.get(&*lower) {
            Some(name) => Self::Alias(name),
            None => match KNOWN.into_iter().find(|name| *name == lower) {
                Some(name) => Self::Alias(name),
                None => Self::Unknown,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_schema_lists_the_same_architectures() {
        let schema: Value = serde_json::from_str(hcoplan_schemas::INVENTORY).expect("JSON");
        let listed = schema.pointer("/definitions/architecture/enum").expect("listed");
        assert_eq!(*listed, json!(KNOWN));
    }

    #[test]
    fn distinguishes_aliases_from_names() {
        assert_eq!(Architecture::of("arm64"), Architecture::Known);
        assert_eq!(Architecture::of("x86_64"), Architecture::Alias("amd64"));
        assert_eq!(Architecture::of("AARCH64"), Architecture::Alias("arm64"));
        assert_eq!(Architecture::of("AMD64"), Architecture::Alias("amd64"));
        assert_eq!(Architecture::of("amd46"), Architecture::Unknown);
        for name in ALIASES.values() {
            assert_eq!(Architecture::of(name), Architecture::Known, "{name}");
        }
    }
}
