//! Lists of names, from `schemas/names.json`.

use crate::prelude::*;

/// The names by what they are.
pub static NAMES: Table<BTreeMap<&str, Vec<&str>>> = Table::of(hcoplan_schemas::NAMES);
