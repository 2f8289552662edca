//! The language server: findings, fixes and explanations while somebody types.
//!
//! It is thin. A [`Session`] keeps what is open in the editor, lays it over the files of the
//! workspace and has the same pipeline look at them as `hcoplan lint` does; findings become
//! diagnostics, fixes become code actions, and a hover asks the release's tables and plans again.
//! Nothing outside of the workspace's folders is read, and nothing is written: edits are the
//! editor's to make.
//!
//! Source of the protocol: the Language Server Protocol's specification, 3.17.

mod actions;
mod address;
mod analysis;
mod client;
mod completion;
mod diagnostics;
mod documents;
mod hover;
mod overlay;
mod places;
mod root;
mod server;
mod session;
#[cfg(test)]
mod tests;
mod transport;

pub use analysis::{Analysis, Job};
pub use server::run;
pub use session::Session;
pub use transport::{Incoming, Malformed, Outgoing};
