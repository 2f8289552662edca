//! The words and signs of the outputs for levels, severities and the like.

use crate::prelude::*;
use hcoplan_kubernetes::Table;

static WORDS: Table<BTreeMap<&str, BTreeMap<&str, &str>>> = Table::of(include_str!("words.json"));

/// What an output writes for a name.
pub(crate) fn word(output: &str, name: &str) -> &'static str {
    WORDS[output][name]
}
