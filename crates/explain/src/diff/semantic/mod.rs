//! Compares two sets of objects by meaning: objects by identity, entries of lists by their keys, quantities and
//! durations by value.
//!
//! [`delta`] describes the difference of two values as [`Step`]s. Applied in order they turn the first value into the
//! second, so nothing is lost. Differences without effect (the order of an unordered list, another notation of a
//! duration) are included and marked as [`NoiseKind`].

mod delta;
mod equivalent;
mod impact;
mod lists;
mod mix;
mod objects;

pub use delta::{NoiseKind, Step, delta};
pub use impact::{EffectTime, Impact, Task};
pub use lists::{Listing, Lists};
pub use mix::{Difference, differences, innermost, mix};
pub use objects::{FieldChange, ObjectChange, objects};
