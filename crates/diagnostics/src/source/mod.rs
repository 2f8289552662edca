//! Input files: their list and content, from a directory, a revision or memory.
//!
//! Nothing here decides which files are read; `repo` does.

mod directory;
mod edited_tree;
mod git;
mod links;
mod memory;
mod patterns;
mod program;
mod read;
mod read_once;
mod rooted_directory;
mod scratch;
mod tracked;
mod tree;

pub use directory::{Directory, open_file};
pub use edited_tree::EditedTree;
pub use git::{Commit, Revision, last_part, origin_name, origin_of_top, repository_name};
pub use hcoplan_yaml::source::{
    Bytes, Decoded, Encoding, Limits, Location, Origins, Position, SecretParts, SourceFile, Span, decode, encode,
    lines, locked,
};
pub use links::{reject_git, reject_links};
pub use memory::Memory;
pub use program::program;
pub use read::{read_limited, read_sized};
pub use read_once::ReadOnce;
pub use scratch::Scratch;
pub use tracked::Tracked;
pub use tree::{Error, Listing, SkipReason, SkippedPath, Tree, Unreadable, Walk, in_order, normalize_path};

/// The largest file that is read, in bytes; see [`Limits`].
pub const fn max_bytes() -> usize {
    Limits::DEFAULT.max_bytes
}
