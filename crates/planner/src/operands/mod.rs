//! What HCO creates for a HyperConverged: one file per operand.
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
mod cert_manager;
mod cli_download;
mod console_plugin;
mod file_restore;
mod image_streams;
mod iommufd;
mod kubevirt;
mod kubevirt_gates;
mod mig_controller;
mod network_addons;
mod network_resources_injector;
mod observability;
mod passt;
mod pods;
mod priority_class;
mod ssp;
mod virtio_win;
mod wasp_agent;

pub use complete::check;
pub use context::{Context, Stage};
pub use error::{Error, ErrorKind};
pub use table::{OPERANDS, Operand, Rendered, of_start, reached_by, render_all, render_behind, render_one};
pub use tls::TlsProfile;
