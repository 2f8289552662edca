//! Bytes in: which files there are below a directory, in a revision or in memory, and what they hold.
//!
//! Nothing here decides which files are read; `repo` does.

mod beneath;
mod directory;
mod edited;
mod git;
mod memory;
mod patterns;
mod program;
mod read;
mod scratch;
mod tree;

pub use directory::{Directory, open_file};
pub use edited::Edited;
pub use git::{Commit, Revision, last_part, origin_host, origin_name, repository_name};
pub use hcoplan_yaml::source::{
    Bytes, Decoded, Encoding, LimitReached, Limits, Location, Origins, Position, SecretParts,
    SourceFile, Span, decode, encode,
};
pub use memory::Memory;
pub use program::program;
pub use read::{read_limited, read_sized};
pub use scratch::{Scratch, ScratchLock, remove_scratch, undisturbed};
pub use tree::{Error, Listing, Skipped, Tree, Unreadable, Walk, Why, in_order, normal};

/// The largest file that is read, in bytes; see [`Limits`].
pub fn max_bytes() -> usize {
    Limits::current().max_bytes
}
