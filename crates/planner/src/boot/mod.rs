//! Whether a virtual machine boots: which architecture its disk has, and where it may run.
//!
//! One function, [`answer`], behind every screen. What it starts from is known, unknown or undetermined
//! ([`Architectures`]), from the evidence to what is printed.

mod answer;
mod architectures;
mod import;

pub use answer::{
    ArchitectureBoot, BootAnswer, BootCause, BootOutcome, CandidateNode, Machine, NodeBarrier, PulledImage, answer,
};
pub use architectures::Architectures;
pub use import::{imported, importer_architectures};
