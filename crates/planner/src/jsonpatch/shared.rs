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

use hcoplan_kubernetes::tree::get;
use serde_json::Value;

use super::{PatchedOperandPart, PatchedPart};
use crate::hyperconverged::HyperConverged;
use crate::release::Release;

/// How a value is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// A pointer or a map: the HyperConverged's value becomes the operand's.
    Whole,
    /// A copied list with shared elements: elements of both lists become the operand's, the HyperConverged's list keeps
    /// its length.
    Elements,
    /// A list of copied structs; the named fields are shared.
    Fields(&'static [(&'static str, Self)]),
}

/// When a value is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// If the HyperConverged has it; otherwise the operand's value comes from elsewhere.
    Present,
    /// If the operand has it, in releases without the capability.
    Without(&'static str),
}

/// A value that an operand shares with the HyperConverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// The operand's kind.
    pub kind: &'static str,
    /// Dotted path below the operand's `spec`.
    pub operand: &'static str,
    /// Dotted path below the HyperConverged's `spec` in v1's shape.
    pub hyperconverged: &'static str,
    /// How it is shared.
    pub share: Share,
    /// When it is shared.
    pub condition: Condition,
}

const fn whole(kind: &'static str, operand: &'static str, hyperconverged: &'static str) -> Shared {
    Shared { kind, operand, hyperconverged, share: Share::Whole, condition: Condition::Present }
}

/// All shared values. Source: HCO `controllers/handlers` of 1.16 to 1.19: `NewKubeVirt` and its callees, `NewCDI`,
/// `NewNetworkAddons`, `NewSSP`. No HyperConverged has a field that its release lacks.
pub const SHARED: &[Shared] = &[
    whole(
        "KubeVirt",
        "configuration.migrations.completionTimeoutPerGiB",
        "virtualization.liveMigrationConfig.completionTimeoutPerGiB",
    ),
    whole(
        "KubeVirt",
        "configuration.migrations.parallelOutboundMigrationsPerNode",
        "virtualization.liveMigrationConfig.parallelOutboundMigrationsPerNode",
    ),
    whole(
        "KubeVirt",
        "configuration.migrations.parallelMigrationsPerCluster",
        "virtualization.liveMigrationConfig.parallelMigrationsPerCluster",
    ),
    whole("KubeVirt", "configuration.migrations.progressTimeout", "virtualization.liveMigrationConfig.progressTimeout"),
    whole("KubeVirt", "configuration.migrations.network", "virtualization.liveMigrationConfig.network"),
    whole(
        "KubeVirt",
        "configuration.migrations.allowAutoConverge",
        "virtualization.liveMigrationConfig.allowAutoConverge",
    ),
    whole("KubeVirt", "configuration.migrations.allowPostCopy", "virtualization.liveMigrationConfig.allowPostCopy"),
    whole(
        "KubeVirt",
        "configuration.migrations.allowWorkloadDisruption",
        "virtualization.liveMigrationConfig.allowWorkloadDisruption",
    ),
    whole("KubeVirt", "configuration.evictionStrategy", "virtualization.evictionStrategy"),
    whole("KubeVirt", "configuration.ksmConfiguration", "virtualization.ksmConfiguration"),
    whole(
        "KubeVirt",
        "configuration.changedBlockTrackingLabelSelectors",
        "virtualization.changedBlockTrackingLabelSelectors",
    ),
    whole("KubeVirt", "configuration.liveUpdateConfiguration", "virtualization.liveUpdateConfiguration"),
    whole("KubeVirt", "configuration.roleAggregationStrategy", "virtualization.roleAggregationStrategy"),
    whole(
        "KubeVirt",
        "configuration.mediatedDevicesConfiguration.enabled",
        "virtualization.mediatedDevicesConfiguration.enabled",
    ),
    Shared {
        kind: "KubeVirt",
        operand: "configuration.mediatedDevicesConfiguration.mediatedDeviceTypes",
        hyperconverged: "virtualization.mediatedDevicesConfiguration.mediatedDeviceTypes",
        share: Share::Elements,
        condition: Condition::Present,
    },
    Shared {
        kind: "KubeVirt",
        operand: "configuration.mediatedDevicesConfiguration.nodeMediatedDeviceTypes",
        hyperconverged: "virtualization.mediatedDevicesConfiguration.nodeMediatedDeviceTypes",
        share: Share::Fields(&[("nodeSelector", Share::Whole), ("mediatedDeviceTypes", Share::Elements)]),
        condition: Condition::Present,
    },
    whole("CDI", "certConfig.ca.duration", "security.certConfig.ca.duration"),
    whole("CDI", "certConfig.ca.renewBefore", "security.certConfig.ca.renewBefore"),
    whole("CDI", "certConfig.server.duration", "security.certConfig.server.duration"),
    whole("CDI", "certConfig.server.renewBefore", "security.certConfig.server.renewBefore"),
    whole("CDI", "config.scratchSpaceStorageClass", "storage.scratchSpaceStorageClass"),
    whole("CDI", "config.logVerbosity", "deployment.logVerbosityConfig.cdi"),
    Shared {
        kind: "CDI",
        operand: "config.tlsSecurityProfile.custom.ciphers",
        hyperconverged: "security.tlsSecurityProfile.custom.ciphers",
        share: Share::Elements,
        condition: Condition::Present,
    },
    whole("NetworkAddonsConfig", "tlsSecurityProfile", "security.tlsSecurityProfile"),
    whole("SSP", "tlsSecurityProfile", "security.tlsSecurityProfile"),
    // The feature gate's pointer; 1.19 computes the value.
    Shared {
        kind: "SSP",
        operand: "enableMultipleArchitectures",
        hyperconverged: "workloadSources.enableMultiArchBootImageImport",
        share: Share::Whole,
        condition: Condition::Without("multi-arch-always-written"),
    },
];

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
        let own = match row.condition {
            Condition::Present => get(spec, row.hyperconverged),
            Condition::Without(capability) => (!has(capability)).then_some(before),
        };
        if let Some(value) = own.and_then(|own| written(row.share, own, before, after)) {
            found.push((row.hyperconverged, value));
        }
    }
    found
}

/// The new value of the HyperConverged's `own` value; `None` if it doesn't change.
fn written(share: Share, own: &Value, before: &Value, after: &Value) -> Option<Value> {
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
                        (item.get_mut(*name), before.get(*name), after.get(*name))
                    else {
                        continue;
                    };
                    if let Some(value) = written(*share, own, before, after) {
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
