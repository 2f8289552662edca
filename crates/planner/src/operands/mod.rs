//! The objects that HCO creates for a HyperConverged: a row of the table per operand, and a file for complex ones.
//!
//! Rendering is a pure function from a [`Context`] to objects or the reconcile's error. The release's data has the
//! operands and their order of work; each file renders one. An operand CR is built as JSON and then encoded by its Go
//! type, which drops what Go omits and prints quantities and durations like Go.

mod context;
mod cr;
mod error;
mod table;
mod tls;

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
mod wasp_agent;

pub use context::{Context, Renderer};
pub use cr::{Cr, ROWS};
pub use error::{Error, ErrorKind};
pub use table::{Rendered, known, of_start, render_after, render_all, render_one};
pub use tls::TlsProfile;
