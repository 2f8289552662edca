//! The impact of a change, when it takes effect, and what kind of task it is.

use crate::prelude::*;
use hcoplan_planner::boot::variant;
use serde::Serialize;

/// The severity of a change, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impact {
    /// The API server, a webhook or an operator rejects the change; it has no effect.
    Stops,
    /// Disks or virtual machines may be lost.
    DataLoss,
    /// Virtual machines no longer start.
    BootFailure,
    /// Who can run code, see traffic, use a node's devices, or choose the images that run.
    Security,
    /// Running workload is restarted or disconnected.
    Disruption,
    /// Affects where virtual machines run and when they migrate.
    Scheduling,
    /// An alert starts firing.
    Alert,
    /// Golden images are imported (again).
    Images,
    /// Another noticeable change.
    #[default]
    Behaviour,
    /// A problem is fixed.
    Better,
}

static TITLES: Table<Value> = Table::of(include_str!("impacts.json"));

impl Impact {
    /// The name in a sentence.
    pub fn title(self) -> &'static str {
        TITLES[&variant(&self).0].as_str().unwrap_or_default()
    }
}

/// When an effect occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectTime {
    /// As soon as the change is applied.
    #[default]
    Now,
    /// At the next start of a virtual machine.
    NextStart,
    /// At the next start of a virtual machine, or at its next migration.
    #[serde(rename = "next-start-or-migration")]
    NextPod,
    /// When a virtual machine is created.
    NewMachines,
    /// When a pod is created.
    NewPods,
    /// When a virtual machine migrates.
    NextMigration,
    /// When a node is drained.
    NodeDrain,
    /// When KubeVirt is updated.
    NextUpdate,
    /// At the next import of a golden image.
    NextImport,
    /// When a golden image is removed.
    ImageRemoval,
    /// When the HyperConverged is deleted.
    Removal,
}

impl EffectTime {
    /// The end of a sentence about machines, images or quotas; empty if the sentence says the time.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::NextStart => "from their next start",
            Self::NextPod => "from their next start or migration",
            _ => "",
        }
    }
}

/// Kinds of tasks, in the order of a checklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Fix something first.
    Fix,
    /// Remove or change a jsonpatch.
    Patch,
    /// Set a value to keep it.
    SetValue,
    /// Apply the manifest again, with other values.
    Apply,
    /// Remove something without effect.
    Remove,
    /// Expect a restart or recreation.
    Restart,
    /// Expect that objects are deleted and created again.
    Recreate,
    /// Nothing to do.
    #[default]
    Note,
    /// An alert starts or stops firing.
    Alert,
}
