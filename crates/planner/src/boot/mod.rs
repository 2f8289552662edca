//! Whether a virtual machine boots: which architecture its disk has, and where it may run.
//!
//! [`answer`] is the one prediction that all output uses. Its inputs are known, unknown or undetermined
//! ([`Architectures`]) from evidence to output.

mod answer;
mod architectures;
mod import;
mod said;

pub use answer::{
    ArchitectureBoot, BootAnswer, BootCause, BootOutcome, CandidateNode, Machine, NodeBarrier, PulledImage, answer,
};
pub use architectures::Architectures;
pub use import::{imported, importer_architectures};
pub use said::{sentence, variant};
