//! Whether a virtual machine boots: which architecture its disk has, and where it may run.
//!
//! One function, [`answer`], behind every screen. What it starts from is known, unknown or undetermined
//! ([`Architectures`]), from the evidence to what is printed.

mod answer;
mod architectures;
mod import;

pub use answer::{Answer, Barrier, Cause, Cell, Machine, Outcome, PulledImage, Site, answer};
pub use architectures::Architectures;
pub use import::{imported, importer_architectures};
