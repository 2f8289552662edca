//! The language server: findings, fixes and explanations while the user types.
//!
//! A [`Session`] replaces files of the workspace by the editor's open documents and runs the pipeline of `hcoplan
//! lint`. Findings become diagnostics, fixes become code actions, and hovers use the release's tables and plans. It
//! reads nothing outside of the workspace's folders and writes nothing: the editor makes the edits.
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
