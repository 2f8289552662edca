//! Data of the program.

use crate::prelude::*;
use serde::Deserialize;
use std::ops::Deref;

/// What a JSON text of the program says, read when it is first used.
#[derive(Debug)]
pub struct Table<T> {
    text: &'static str,
    read: OnceLock<T>,
}

impl<T> Table<T> {
    /// The table of a text.
    pub const fn of(text: &'static str) -> Self {
        Self { text, read: OnceLock::new() }
    }
}

impl<T: Deserialize<'static>> Deref for Table<T> {
    type Target = T;

    /// # Panics
    /// If the text has another form.
    fn deref(&self) -> &T {
        self.read.get_or_init(|| serde_json::from_str(self.text).expect("JSON of this form"))
    }
}
