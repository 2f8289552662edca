//! The impact of a change, and when it takes effect.

/// How bad it can be, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impact {
    /// The API server, a webhook or an operator rejects, and nothing of it takes effect.
    Stops,
    /// Disks or virtual machines can be lost.
    DataLoss,
    /// Virtual machines that would have started don't.
    BootFailure,
    /// Something that runs is restarted or cut off.
    Disruption,
    /// Where and when virtual machines run or move.
    Scheduling,
    /// An alert starts firing.
    Alert,
    /// Who may connect, with what, and what is let through.
    Security,
    /// Golden images are imported, or imported again.
    Images,
    /// Anything else that users notice.
    Behaviour,
    /// Something wrong is fixed.
    Better,
}

impl Impact {
    /// As it is written in reports: `data-loss`.
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

    /// As a heading over several.
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

    /// In a sentence.
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

/// When something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectTime {
    /// As soon as the change is applied.
    Now,
    /// When a virtual machine is started the next time.
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
    /// When a golden image is imported the next time.
    NextImport,
    /// When a golden image is taken out.
    ImageRemoval,
    /// When the HyperConverged is deleted.
    Removal,
}

impl EffectTime {
    /// In words.
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
            Self::ImageRemoval => "when the image is taken out",
            Self::Removal => "when the HyperConverged is deleted",
        }
    }
}
