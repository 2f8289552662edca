//! The rows of `rows.json`: a kind, its fields, and what a change of them does. The values compared are those at the
//! first path; an empty path is the whole object. What a row can't say is a function, `code`.

use super::said::{Code, Says};
use super::{kubevirt, migration, others, placement};
use crate::prelude::*;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::sync::LazyLock;

/// A row.
#[derive(Deserialize)]
pub(super) struct Row {
    pub(super) kind: &'static str,
    pub(super) paths: Vec<&'static str>,
    pub(super) says: Says,
    /// The switch without which the fields have no effect.
    pub(super) switch: Option<&'static str>,
}

impl Row {
    /// Whether it is about the object as a whole.
    pub(super) fn is_whole(&self) -> bool {
        self.paths == [""]
    }
}

static VALUES: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("rows.json")).expect("JSON"));
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| Vec::deserialize(&*VALUES).expect("rows of this form"));

/// All rows.
pub(super) fn all() -> &'static [Row] {
    &ROWS
}

/// The rows about a kind, those with longer paths first.
pub(super) fn of_kind(kind: &str) -> Vec<&'static Row> {
    let mut out: Vec<&Row> = all().iter().filter(|row| row.kind == kind).collect();
    out.sort_by_key(|row| std::cmp::Reverse(row.paths.iter().map(|path| path.len()).max()));
    out
}

/// The function that computes what a row says, by its name.
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(name: D) -> Result<Self, D::Error> {
        Ok(Self(match <&str>::deserialize(name)? {
            "architectures" => kubevirt::architectures,
            "block_tracking" => kubevirt::block_tracking,
            "cdi_log_verbosity" => others::cdi_log_verbosity,
            "certificates" => migration::certificates,
            "completion_timeout" => migration::completion_timeout,
            "constraints" => others::constraints,
            "cpu_limit" => kubevirt::cpu_limit,
            "cpu_ratio" => kubevirt::cpu_ratio,
            "cron" => others::cron,
            "eviction" => kubevirt::eviction,
            "feature_gates" => kubevirt::feature_gates,
            "grants" => others::grants,
            "host_devices" => kubevirt::host_devices,
            "image_source" => others::image_source,
            "ksm" => kubevirt::ksm,
            "log_verbosity" => kubevirt::log_verbosity,
            "mac_pool" => others::mac_pool,
            "mediated_devices" => kubevirt::mediated_devices,
            "memory_overcommit" => kubevirt::memory_overcommit,
            "placement" => placement::placement,
            "post_copy" => migration::post_copy,
            "progress_timeout" => migration::progress_timeout,
            "quota_namespaces" => others::quota_namespaces,
            "rate_limit" => kubevirt::rate_limit,
            "state_class" => kubevirt::state_class,
            "tls" => kubevirt::tls,
            "tls_profile" => others::tls_profile,
            "uninstall" => kubevirt::uninstall,
            "update_strategy" => kubevirt::update_strategy,
            other => return Err(D::Error::custom(format!("no function {other}"))),
        }))
    }
}
