//! The rows of `rows.json`: a kind, its fields, and what a change of them does. The values compared are those at the
//! first path; an empty path is the whole object. What a row can't say is a function, `code`.
//!
//! Sources of the rows: KubeVirt `pkg/virt-controller/watch/workload-updater` (what can migrate migrates; batches are of
//! VMs to evict), `pkg/virt-config` (defaults; a log's verbosity is 2, components change it without a
//! restart, launchers at their start), `pkg/virt-operator/resource/apply/core.go` (`certificationNeedsRotation`: another
//! life makes the operators issue a certificate again), `pkg/virt-operator/resource/placement` (without a placement
//! virt-api and virt-controller need a control-plane node; an empty one takes any), CDI
//! `pkg/operator/controller/certrotation.go` (`ensureCertConfig`: so does another time of renewal).

use super::said::{Said, Says};
use super::{Change, kubevirt, machine, migration, others, value_at};
use crate::diff::consequence::Consequence;
use crate::prelude::*;

/// A row.
#[derive(Deserialize)]
pub(super) struct Row {
    pub(super) kind: &'static str,
    #[serde(borrow)]
    pub(super) paths: Vec<&'static str>,
    says: Says,
    /// The switch without which the fields have no effect.
    #[serde(borrow)]
    pub(super) switch: Option<&'static str>,
    /// The same as a feature gate of KubeVirt.
    #[serde(borrow)]
    pub(super) gate: Option<&'static str>,
    /// What it says while the gate is off.
    pub(super) idle: Option<Said>,
    /// What it says of an object that appears.
    new: Option<Said>,
}

impl Row {
    /// The consequences of a change.
    pub(super) fn consequences(&self, change: &Change<'_>) -> Vec<Consequence> {
        match &self.says {
            Says::Code(name) => code(name)(change),
            says => says.consequences(change),
        }
    }

    /// What it says of an object that appears, about its own value.
    pub(super) fn of_new(&self, object: &Value) -> Option<Consequence> {
        Some(self.new?.fill(&[("is", &self.says.value(value_at(Some(object), self.paths[0]))?)]))
    }

    /// Whether the operator does the same with both values. Of a section that it is there may matter, though it is empty.
    pub(super) fn is_idle(&self, change: &Change<'_>) -> bool {
        let is_known = !matches!(self.says, Says::Code(_) | Says::Section { .. } | Says::Placement { .. });
        change.before == change.after || is_known && self.consequences(change).is_empty()
    }

    /// Whether the operator does the same with an empty section as without it.
    pub(super) fn ignores_empty(&self) -> bool {
        matches!(self.says, Says::Placement { unset: None, .. } | Says::Code("tls" | "tls_profile"))
    }

    /// Whether it is about the object as a whole.
    pub(super) fn is_whole(&self) -> bool {
        self.paths == [""]
    }
}

static ROWS: Table<Vec<Row>> = Table::of(include_str!("rows.json"));

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

/// The function with a name in `rows.json`.
fn code(name: &str) -> fn(&Change<'_>) -> Vec<Consequence> {
    match name {
        "cdi_gates" => others::cdi_gates,
        "completion_timeout" => migration::completion_timeout,
        "constraints" => others::constraints,
        "cron" => others::cron,
        "feature_gates" => kubevirt::feature_gates,
        "grants" => others::grants,
        "host_devices" => kubevirt::host_devices,
        "image_source" => others::image_source,
        "machine_template" => machine::machine_template,
        "mediated_devices" => kubevirt::mediated_devices,
        "post_copy" => migration::post_copy,
        "ratio" => kubevirt::ratio,
        "run_strategy" => machine::run_strategy,
        "tls" => kubevirt::tls,
        "tls_profile" => others::tls_profile,
        _ => unreachable!("a test asks for every name"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        assert!(!all().is_empty());
        for row in all() {
            if let Says::Code(name) = row.says {
                code(name);
            }
        }
    }
}
