//! Answers questions about plans: [`diff`] compares two, [`why`] finds the inputs that determine a field, [`docs`]
//! documents fields, gates and terms.

pub mod diff;
pub mod docs;
mod prelude;
pub mod why;
