//! Fields with the kind of their values, the reader, and the outcome of a wrong value.

use crate::prelude::*;
use std::sync::LazyLock;

use super::kinds::Kind;

/// One field.
#[derive(Debug)]
pub(crate) struct Row {
    /// The field's dotted path below v1beta1's `spec`.
    pub(crate) field: &'static str,
    /// The values below the field: `[]` is every item of a list, `*` every value of a mapping.
    pub(crate) below: &'static str,
    pub(crate) kind: Kind,
    /// The outcome of a wrong value, which names the reader: a sentence without full stop.
    pub(crate) outcome: &'static str,
    /// Whether an object created with the value is rejected, or its reader fails, after HCO accepted the manifest. Else
    /// the value has no effect, or another than intended.
    pub(crate) is_rejection: bool,
}

impl Row {
    /// The path in a DataImportCron, or in a DataVolume, of a golden image's field that it has, too.
    pub(super) fn of_disk(&self, is_cron: bool) -> Option<&'static str> {
        let below = self.below.strip_prefix("[].").filter(|_| self.field == TEMPLATES)?;
        if self.kind == Kind::ImmediateBinding {
            return Some(below);
        }
        let below = if is_cron { below } else { below.strip_prefix("spec.template.")? };
        // The API server rejects bad metadata.
        below.starts_with("spec").then_some(below)
    }
}

const TEMPLATES: &str = "dataImportCronTemplates";

/// An outcome, and the fields of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Group {
    rejected_later: Option<&'static str>,
    no_effect: Option<&'static str>,
    /// Where the operators decide it.
    #[serde(rename = "source")]
    _source: Option<&'static str>,
    #[serde(default)]
    fields: Vec<Field>,
    /// The same below the spec of a virtual machine's instance.
    #[serde(default)]
    machines: Vec<Field>,
    /// What their readers accept of `leaves`, if another check compares them.
    #[serde(rename = "accepts")]
    _accepts: Option<&'static str>,
    /// Why nothing checks `leaves`.
    #[serde(rename = "gap")]
    _gap: Option<&'static str>,
    /// Fields that no row is about: a test finds each leaf of the CRD in the table.
    #[serde(default, rename = "leaves")]
    _leaves: Vec<&'static str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    #[serde(default)]
    field: &'static str,
    below: &'static str,
    kind: Kind,
}

/// All fields whose values are checked, from `schemas/values.json`.
pub(crate) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| rows(|group| &group.fields));

/// All fields of virtual machines.
pub(super) static MACHINE_ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| rows(|group| &group.machines));

fn rows(of: fn(&Group) -> &[Field]) -> Vec<Row> {
    let groups: Vec<Group> = serde_json::from_str(hcoplan_schemas::VALUES).expect("valid groups");
    let rows = groups.iter().flat_map(|group| {
        let outcomes = group.rejected_later.or(group.no_effect).into_iter().cycle();
        of(group).iter().zip(outcomes).map(|(&Field { field, below, kind }, outcome)| Row {
            field,
            below,
            kind,
            outcome,
            is_rejection: group.rejected_later.is_some(),
        })
    });
    rows.collect()
}
