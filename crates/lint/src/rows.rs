//! Rows of rules, from `schemas/lint.json`.

use crate::prelude::*;
use std::sync::LazyLock;

use serde_json::Value;

static ALL: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(hcoplan_schemas::LINT).expect("valid JSON"));

/// The rows of a list.
///
/// # Panics
/// If there is no such list, or its rows have another form.
pub(crate) fn rows<T: Deserialize<'static>>(list: &str) -> Vec<T> {
    Vec::deserialize(&ALL[list]).expect("rows of this form")
}
