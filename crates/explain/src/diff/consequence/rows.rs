//! The rows of `rows.json`: a kind, its fields, and what a change of them does. The values compared are those at the
//! first path; an empty path is the whole object. What a row can't say is a function, `code`.

use super::said::{Says, Words, said};
use super::{Change, kubevirt, machine, migration, others, placement};
use crate::diff::consequence::Consequence;
use crate::prelude::*;
use std::sync::LazyLock;

/// A row.
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

static TEXT: &str = include_str!("rows.json");
static VALUES: LazyLock<Vec<Value>> = LazyLock::new(|| serde_json::from_str(TEXT).unwrap_or_default());
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| VALUES.iter().filter_map(row).collect());

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

/// A row as data; `None` if it has a word that isn't known, which a test rules out.
fn row(value: &'static Value) -> Option<Row> {
    let paths = value["paths"].as_array()?.iter().filter_map(Value::as_str).collect();
    Some(Row { kind: value["kind"].as_str()?, paths, says: says(&value["says"])?, switch: value["switch"].as_str() })
}

fn says(value: &'static Value) -> Option<Says> {
    let (form, value) = value.as_object()?.iter().next()?;
    let change = || match value.get("change") {
        Some(value) => said(value).map(Some),
        None => Some(None),
    };
    Some(match form.as_str() {
        "value" => {
            let words = Words { default: value["default"].as_str()?, of: value.get("words") };
            Says::Value(words, said(&value["says"])?, value)
        }
        "switch" => Says::Switch(value["default"].as_bool()?, said(&value["on"])?, said(&value["off"])?),
        "becomes" => Says::Becomes(value["value"].as_str()?, said(&value["gets"])?, said(&value["loses"])?),
        "section" => Says::Section(said(&value["add"])?, said(&value["remove"])?, change()?),
        "names" => Says::Names(said(&value["add"])?, said(&value["remove"])?, change()?),
        "selector" => Says::Selector(value["unset"].as_str()?, value["of"].as_str()?, said(&value["says"])?),
        "each" => Says::Each(Words { of: value.get("defaults"), ..Words::default() }, said(value)?),
        "code" => Says::Code(code(value.as_str()?)?),
        _ => return None,
    })
}

fn code(name: &str) -> Option<fn(&Change<'_>) -> Vec<Consequence>> {
    Some(match name {
        "architectures" => kubevirt::architectures,
        "cdi_gates" => others::cdi_gates,
        "certificates" => migration::certificates,
        "completion_timeout" => migration::completion_timeout,
        "constraints" => others::constraints,
        "cron" => others::cron,
        "feature_gates" => kubevirt::feature_gates,
        "grants" => others::grants,
        "host_devices" => kubevirt::host_devices,
        "image_source" => others::image_source,
        "log_verbosity" => kubevirt::log_verbosity,
        "machine_template" => machine::machine_template,
        "mac_pool" => others::mac_pool,
        "mediated_devices" => kubevirt::mediated_devices,
        "placement" => placement::placement,
        "post_copy" => migration::post_copy,
        "progress_timeout" => migration::progress_timeout,
        "ratio" => kubevirt::ratio,
        "run_strategy" => machine::run_strategy,
        "tls" => kubevirt::tls,
        "tls_profile" => others::tls_profile,
        "uninstall" => kubevirt::uninstall,
        "update_strategy" => kubevirt::update_strategy,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        assert!(!VALUES.is_empty());
        for value in VALUES.iter() {
            assert!(row(value).is_some(), "{value}");
        }
    }
}
