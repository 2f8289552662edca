//! What HCO creates for a HyperConverged: a row of the table per operand, and a file where that isn't enough.
//!
//! Rendering is pure: a [`Context`] in, objects or the reconcile's error out. The operator's
//! order of work and which operands there are is the release's data; what each looks like is in
//! its file. An operand CR is built as plain JSON and then goes through its Go type, which
//! drops what Go omits and prints quantities and durations as Go prints them.

mod complete;
mod context;
mod cr;
mod error;
mod table;
mod tls;

mod aaq;
mod aie_webhook;
mod cdi;
mod console_plugin;
mod image_streams;
mod kubevirt;
mod kubevirt_gates;
mod network_addons;
mod network_resources_injector;
mod observability;
mod passt;
mod pods;
mod ssp;
mod storage_controllers;
mod wasp_agent;

pub use complete::check;
pub use context::{Context, Stage};
pub use error::{Error, ErrorKind};
pub use table::{OPERANDS, Operand, Rendered, of_start, reached_by, render_all, render_behind, render_one};
pub use tls::TlsProfile;
