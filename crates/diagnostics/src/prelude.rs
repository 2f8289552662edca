//! Names of other crates that many files use.
pub(crate) use camino::Utf8Path;
pub(crate) use camino::Utf8PathBuf;
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::collections::BTreeSet;
pub(crate) use std::ops::Range;
pub(crate) use std::sync::Arc;
pub(crate) use std::sync::Mutex;
pub(crate) use std::sync::PoisonError;
