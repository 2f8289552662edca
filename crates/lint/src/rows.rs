//! Rows of rules, from `schemas/lint.json`.

use crate::prelude::*;
use hcoplan_kubernetes::Table;
use std::ops::Deref;
use std::sync::OnceLock;

use serde_json::Value;

static ALL: Table<Value> = Table::of(hcoplan_schemas::LINT);

/// The rows of a list, which are read when they are first used.
#[derive(Debug)]
pub struct Rows<T> {
    list: &'static str,
    rows: OnceLock<Vec<T>>,
}

impl<T> Rows<T> {
    pub(crate) const fn of(list: &'static str) -> Self {
        Self { list, rows: OnceLock::new() }
    }
}

impl<const N: usize> Rows<[&'static str; N]>
where
    [&'static str; N]: Deserialize<'static>,
{
    /// The row that begins with this name.
    pub(crate) fn row(&self, name: &str) -> [&'static str; N] {
        self.iter().find(|row| row[0] == name).copied().unwrap_or([""; N])
    }
}

impl<T: Deserialize<'static>> Deref for Rows<T> {
    type Target = [T];

    /// # Panics
    /// If there is no such list, or its rows have another form.
    fn deref(&self) -> &[T] {
        self.rows.get_or_init(|| Vec::deserialize(&ALL[self.list]).expect("rows of this form"))
    }
}
