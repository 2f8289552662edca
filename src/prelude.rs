//! Names of other crates that many files use.

pub(crate) use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use clap::{Args, Command, Subcommand, ValueEnum};
pub(crate) use hcoplan_analysis::{ClusterTask, Clusters, Exit, Failure, Place};
pub(crate) use hcoplan_report::Format;
pub(crate) use lsp_server::RequestId;
pub(crate) use lsp_types::Range;
pub(crate) use serde_json::{Value, json};
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::ffi::OsString;
pub(crate) use std::io::Write;
pub(crate) use std::sync::Arc;
