//! The consequences of changed fields, `schemas/consequences.json`. The order doesn't matter: [`super::consequence`]
//! takes the matching row with the longest path. A change without a row has no consequence to report.
//!
//! Sources: KubeVirt's virt-operator (which changes roll out virt-handler, virt-api and virt-controller), the API
//! documentation of KubeVirt, CDI, SSP and the cluster-network-addons operator, CDI's DataImportCron controller (an
//! import follows a new source; `retentionPolicy`).

use std::sync::LazyLock;

use serde::Deserialize;

use super::impact::{EffectTime, Impact};

/// How a row's field changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PathChange {
    Any,
    Add,
    Remove,
    /// The field gets this value.
    Becomes(&'static str),
}

/// A row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) kind: &'static str,
    /// The field's path; empty for the object as a whole.
    pub(super) path: &'static str,
    pub(super) change: PathChange,
    pub(super) impact: Impact,
    pub(super) when: EffectTime,
    /// Whether it follows in any case, not only where an object uses what changes.
    pub(super) certain: bool,
    /// The consequence as a sentence.
    pub(super) text: &'static str,
    /// What to do; empty if nothing.
    pub(super) action: &'static str,
}

pub(super) static TABLE: LazyLock<Vec<Row>> =
    LazyLock::new(|| serde_json::from_str(hcoplan_schemas::CONSEQUENCES).expect("valid rows"));
