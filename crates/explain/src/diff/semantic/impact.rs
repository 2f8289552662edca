//! The impact of a change, and when it takes effect.

use serde::Deserialize;

/// The severity of a change, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impact {
    /// The API server, a webhook or an operator rejects the change; it has no effect.
    Stops,
    /// Disks or virtual machines may be lost.
    DataLoss,
    /// Virtual machines no longer start.
    BootFailure,
    /// Running workload is restarted or disconnected.
    Disruption,
    /// Affects where virtual machines run and when they migrate.
    Scheduling,
    /// An alert starts firing.
    Alert,
    /// Affects permissions, encryption and network access.
    Security,
    /// Golden images are imported (again).
    Images,
    /// Another noticeable change.
    Behaviour,
    /// A problem is fixed.
    Better,
}

impl Impact {
    /// The name in reports: `data-loss`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stops => "stops",
            Self::DataLoss => "data-loss",
            Self::BootFailure => "boot-failure",
            Self::Disruption => "disruption",
            Self::Scheduling => "scheduling",
            Self::Alert => "alert",
            Self::Security => "security",
            Self::Images => "images",
            Self::Behaviour => "behaviour",
            Self::Better => "better",
        }
    }

    /// The heading of a group.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Stops => "Rejected or stopped",
            Self::DataLoss => "Data loss",
            Self::BootFailure => "Boot failures",
            Self::Disruption => "Disruption",
            Self::Scheduling => "Scheduling and migration",
            Self::Alert => "Alerts",
            Self::Security => "Security",
            Self::Images => "Golden images",
            Self::Behaviour => "Behaviour",
            Self::Better => "Improvements",
        }
    }

    /// The name in a sentence.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Stops => "rejected or stopped",
            Self::DataLoss => "data loss",
            Self::BootFailure => "boot failure",
            Self::Disruption => "disruption",
            Self::Scheduling => "scheduling and migration",
            Self::Alert => "alert",
            Self::Security => "security",
            Self::Images => "golden images",
            Self::Behaviour => "behaviour",
            Self::Better => "better",
        }
    }
}

/// When an effect occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectTime {
    /// As soon as the change is applied.
    Now,
    /// At the next start of a virtual machine.
    NextStart,
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
    /// A phrase for output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Now => "at once",
            Self::NextStart => "at the next start of a virtual machine",
            Self::NewMachines => "when a virtual machine is created",
            Self::NewPods => "when a pod is created",
            Self::NextMigration => "at the next migration",
            Self::NodeDrain => "when a node is drained",
            Self::NextUpdate => "at the next update of KubeVirt",
            Self::NextImport => "at the next import",
            Self::ImageRemoval => "when the image is removed",
            Self::Removal => "when the HyperConverged is deleted",
        }
    }
}
