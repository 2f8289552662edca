//! Patches that change the HyperConverged through an operand.
//!
//! The operator shares some of the HyperConverged's values with its operands in memory instead of copying them.
//! Decoding the patched document onto the operand then also changes the HyperConverged. Operands rendered later in the
//! same round see the change. The first round, in which a HyperConverged gets its finalizer and label, ends by storing
//! it, so that all operands of the second round are rendered from the changed one. Later rounds store nothing. So two
//! rounds are modelled, and a list that a patch appends to inside a shared value grows twice.
//!
//! A null only clears the operand's pointer; a missing key changes nothing.
//!
//! In 1.16 and 1.17 the operator also shares its copy of the APIServer's TLS profile, until it restarts. Not modelled,
//! because nothing else reads them: KubeVirt's `developerConfiguration.diskVerification.memoryLimit`, from 1.19
//! `smbios`.

use super::{PatchedOperandPart, PatchedPart};
use crate::hyperconverged::HyperConverged;
use crate::prelude::*;
use crate::release::Release;
use hcoplan_kubernetes::tree::get;
use serde::Deserialize;

/// How a value is shared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Share {
    /// A pointer or a map: the HyperConverged's value becomes the operand's.
    #[default]
    Whole,
    /// A copied list with shared elements: elements of both lists become the operand's, the HyperConverged's list keeps
    /// its length.
    Elements,
    /// A list of copied structs; the named fields are shared.
    Fields(Vec<(String, Self)>),
}

/// A value that an operand shares with the HyperConverged.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shared {
    /// The operand's kind.
    pub(super) kind: &'static str,
    /// Dotted path below the operand's `spec`.
    pub(super) operand: &'static str,
    /// Dotted path below the HyperConverged's `spec` in v1's shape.
    pub(super) hyperconverged: &'static str,
    /// How it is shared.
    #[serde(default)]
    pub(super) share: Share,
    /// If set, it is shared if the operand has it, in releases without this capability; else if the HyperConverged has
    /// it, as otherwise the operand's value comes from elsewhere.
    #[serde(default)]
    pub(super) without: Option<&'static str>,
}

/// All shared values. Source: HCO `controllers/handlers` of 1.16 to 1.19: `NewKubeVirt` and its callees, `NewCDI`,
/// `NewNetworkAddons`, `NewSSP`. No HyperConverged has a field that its release lacks. SSP's is the feature gate's
/// pointer; 1.19 computes the value.
pub(super) static SHARED: LazyLock<Vec<Shared>> =
    LazyLock::new(|| serde_json::from_str(hcoplan_schemas::SHARED).expect("valid rows"));

/// The changes of patched operands to the HyperConverged: dotted paths below `spec` in v1's shape, with their new
/// values. All operands must be rendered from the same HyperConverged.
pub fn write_through(release: &Release, hc: &HyperConverged, patched: &[PatchedOperandPart]) -> Vec<(String, Value)> {
    let writes = patched.iter().flat_map(|operand| {
        let PatchedPart { before, after } = &operand.part;
        let has = |name: &str| release.has(name);
        writes(operand.kind, &hc.spec, before, after, &has)
    });
    writes.map(|(path, value)| (path.to_owned(), value)).collect()
}

/// The changes that patching one operand makes to the HyperConverged's `spec`.
pub(super) fn writes(
    kind: &str,
    spec: &Value,
    before: &Value,
    after: &Value,
    has: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    let (Some(before), Some(after)) = (get(before, "spec"), get(after, "spec")) else {
        return found;
    };
    for row in SHARED.iter().filter(|row| row.kind == kind) {
        let (Some(before), Some(after)) = (get(before, row.operand), get(after, row.operand)) else {
            continue;
        };
        let own = match row.without {
            None => get(spec, row.hyperconverged),
            Some(capability) => (!has(capability)).then_some(before),
        };
        if let Some(value) = own.and_then(|own| written(&row.share, own, before, after)) {
            found.push((row.hyperconverged, value));
        }
    }
    found
}

/// The new value of the HyperConverged's `own` value; `None` if it doesn't change.
fn written(share: &Share, own: &Value, before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let value = match share {
        Share::Whole => changed(own, before, after),
        Share::Elements => {
            let mut items = own.as_array()?.clone();
            for (item, after) in items.iter_mut().zip(after.as_array()?) {
                *item = after.clone();
            }
            Value::Array(items)
        }
        Share::Fields(fields) => {
            let mut items = own.as_array()?.clone();
            let (before, after) = (before.as_array()?, after.as_array()?);
            for (item, (before, after)) in items.iter_mut().zip(before.iter().zip(after)) {
                for (name, share) in fields {
                    let (Some(own), Some(before), Some(after)) =
                        (item.get_mut(name), before.get(name), after.get(name))
                    else {
                        continue;
                    };
                    if let Some(value) = written(share, own, before, after) {
                        *own = value;
                    }
                }
            }
            Value::Array(items)
        }
    };
    (value != *own).then_some(value)
}

/// Applies the difference between `before` and `after` to `own`. Both may be the whole value or some of its fields.
fn changed(own: &Value, before: &Value, after: &Value) -> Value {
    let (Value::Object(own), Value::Object(before), Value::Object(after)) = (own, before, after) else {
        return after.clone();
    };
    let mut result = own.clone();
    result.retain(|key, _| after.contains_key(key) || !before.contains_key(key));
    for (key, after) in after {
        let value = match (own.get(key), before.get(key)) {
            (_, Some(before)) if before == after => continue,
            (Some(own), Some(before)) => changed(own, before, after),
            _ => after.clone(),
        };
        result.insert(key.clone(), value);
    }
    result.into()
}
