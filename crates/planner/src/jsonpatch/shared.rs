//! Patches that change the HyperConverged through an operand.
//!
//! The operator shares some of the HyperConverged's values with its operands in memory instead of copying them.
//! Decoding the patched document onto the operand then also changes the HyperConverged. Operands rendered later in the
//! same round see the change. The first round, in which a HyperConverged gets its finalizer and label, ends by storing
//! it, so that all operands of the second round are rendered from the changed one. Later rounds store nothing. So two
//! rounds are modelled, and a list that a patch appends to inside a shared value grows twice.
//!
//! `shared` in `fields.json` says which values these are. Source: HCO `controllers/handlers` of 1.16 to 1.19:
//! `NewKubeVirt` and its callees, `NewCDI`, `NewNetworkAddons`, `NewSSP`. SSP's is the feature gate's pointer; 1.19
//! computes the value.
//!
//! A null only clears the operand's pointer; a missing key changes nothing.
//!
//! In 1.16 and 1.17 the operator also shares its copy of the APIServer's TLS profile, until it restarts. Not modelled,
//! because nothing else reads them: KubeVirt's `developerConfiguration.diskVerification.memoryLimit`, from 1.19
//! `smbios`.

use super::{Patched, PatchedPart};
use crate::hyperconverged::HyperConverged;
use crate::prelude::*;
use crate::release::{Link, Release, Share};
use hcoplan_kubernetes::tree::get;

/// The changes of patched operands to the HyperConverged: dotted paths below `spec` in v1's shape, with their new
/// values. All operands must be rendered from the same HyperConverged.
pub fn write_through(release: &Release, hc: &HyperConverged, patched: &[Patched]) -> Vec<(String, Value)> {
    let writes = patched.iter().flat_map(|operand| {
        let PatchedPart { before, after } = &operand.part;
        writes(release, operand.kind, &hc.spec, before, after)
    });
    writes.map(|(path, value)| (path.to_owned(), value)).collect()
}

/// The changes that patching one operand makes to the HyperConverged's `spec`.
pub(super) fn writes<'r>(
    release: &'r Release,
    kind: &str,
    spec: &Value,
    before: &Value,
    after: &Value,
) -> Vec<(&'r str, Value)> {
    let mut found = Vec::new();
    let (Some(before), Some(after)) = (get(before, "spec"), get(after, "spec")) else {
        return found;
    };
    for Link { operand, hyperconverged, share, .. } in release.atlas().links.iter().filter(|l| l.target.kind == kind) {
        let (Some(share), Some(before), Some(after)) = (share, get(before, operand), get(after, operand)) else {
            continue;
        };
        let own = if *share == Share::Gate { Some(before) } else { get(spec, hyperconverged) };
        if let Some(value) = own.and_then(|own| written(share, own, before, after)) {
            found.push((hyperconverged.as_str(), value));
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
        Share::Whole | Share::Gate => changed(own, before, after),
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
