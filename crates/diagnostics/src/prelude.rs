//! Names of other crates that many files use.

pub(crate) use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::ops::Range;
pub(crate) use std::sync::{Arc, Mutex};
