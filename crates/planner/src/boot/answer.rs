//! Predicts whether a virtual machine boots, on which architectures, and why not.
//!
//! Source: KubeVirt's virt-controller gives the pod of a virtual machine the node selector `kubernetes.io/arch` of the
//! guest's architecture (`pkg/virt-controller/services/nodeselectorrenderer.go`); firmware of one architecture finds
//! nothing to boot on a disk of another.

use super::{Architectures, sentence};
use crate::prelude::*;

/// The sentences of [`BootCause`].
static SENTENCES: Table<Value> = Table::of(include_str!("sentences.json"));

/// The facts about a virtual machine that decide whether it boots.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    /// The architecture that KubeVirt gives it.
    pub guest: &'a Architectures,
    /// The architectures of the disk that it boots from.
    pub disk: &'a Architectures,
    /// Whether the disk is of a common golden image that isn't imported.
    pub is_not_imported: bool,
    /// The images that its pod pulls: container disks and kernels.
    pub images: &'a [PulledImage],
    /// The cluster's nodes.
    pub nodes: &'a [CandidateNode<'a>],
    /// Whether these are assumed: others may take it.
    pub assumes_nodes: bool,
    /// Why it doesn't start, or may not, wherever it runs.
    pub failure: Option<(BootOutcome, &'a BootCause)>,
}

impl Machine<'_> {
    /// Its failure, if that is worse than what its disk and its nodes let it do.
    fn or_failure(&self, outcome: BootOutcome, cause: Option<BootCause>) -> (BootOutcome, Option<BootCause>) {
        let is_worse = |failed: BootOutcome| {
            let is_bad = matches!(outcome, BootOutcome::DoesNotBoot | BootOutcome::Undetermined);
            !is_bad || outcome != failed && failed == BootOutcome::DoesNotBoot
        };
        match self.failure.filter(|(failed, _)| is_worse(*failed)) {
            Some((failed, why)) => (failed, Some(why.clone())),
            None => (outcome, cause),
        }
    }
}

/// An image that a virtual machine's pod pulls.
#[derive(Debug, Clone)]
pub struct PulledImage {
    /// Where the virtual machine names it, or what brings it.
    pub path: Path,
    /// Its name.
    pub image: String,
    /// Its architectures.
    pub architectures: Architectures,
}

/// A node that may run the virtual machine.
#[derive(Debug, Clone, Copy)]
pub struct CandidateNode<'a> {
    /// Its architecture; empty where it runs guests of any architecture.
    pub architecture: &'a str,
    /// What keeps the virtual machine away, apart from the architecture.
    pub barrier: Option<NodeBarrier>,
}

/// What keeps a virtual machine from a node, in the order in which the conditions are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeBarrier {
    /// No node has the architecture.
    Architecture,
    /// virt-handler doesn't run there: it isn't a workload node.
    Workload,
    /// Its node selector or its affinity doesn't match.
    Placement,
    /// It doesn't tolerate a taint.
    Taint,
    /// virt-handler doesn't tolerate a taint.
    Handler,
    /// The storage class of one of its disks has no volumes there.
    Storage,
    /// The node lacks what it asks for: KVM, a CPU model or feature, huge pages, a device.
    Offer,
}

/// Whether a virtual machine boots, from best to worst; `Unknown` is last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BootOutcome {
    /// On every architecture that it may get.
    Boots,
    /// On some of the architectures that it may get.
    BootsOnSome,
    /// On no architecture that it may get.
    DoesNotBoot,
    /// Depends on which node imports its disk, or on who creates it.
    Undetermined,
    /// The architecture of its disk is unknown, or its nodes are.
    Unknown,
}

/// Why a virtual machine doesn't boot, or why that isn't certain.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BootCause {
    /// Its disk is for these architectures only.
    Disk(BTreeSet<String>),
    /// An image that its pod pulls is for these architectures only.
    Image(BTreeSet<String>),
    /// Nothing provides its disk.
    NoDisk,
    /// KubeVirt rejects it.
    Rejected,
    /// Something that it needs is missing or is refused.
    NotStarted(String),
    /// The same, if nothing outside the repository provides or allows it.
    MayNotStart(String),
    /// No node accepts it.
    NoNode(NodeBarrier),
    /// No assumed node accepts it.
    NoAssumedNode,
    /// The node that imports its disk decides among these.
    Importer(BTreeSet<String>),
    /// The node that virt-operator first runs on decides the guest's architecture among these.
    Guest(BTreeSet<String>),
    /// Its golden image isn't imported; the disk may be created under its name.
    NotImported,
    /// The architecture of its disk is unknown.
    DiskUnknown,
}

hcoplan_kubernetes::names!(BootOutcome {
    Boots = "boots",
    BootsOnSome = "boots on some",
    DoesNotBoot = "doesn't boot",
    Undetermined = "undetermined",
    Unknown = "unknown",
});

impl BootCause {
    /// A sentence about the virtual machine.
    pub fn sentence(&self) -> String {
        sentence(&SENTENCES, self)
    }
}

/// Whether a virtual machine boots as a guest of one architecture.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArchitectureBoot {
    /// Whether it boots as a guest of the architecture.
    pub outcome: BootOutcome,
    /// Why not; `None` where it does.
    pub cause: Option<BootCause>,
    /// What keeps it from every node, whether or not that is the cause.
    pub barrier: Option<NodeBarrier>,
}

/// Whether a virtual machine boots, and on which architectures.
#[derive(Debug, Clone)]
pub struct BootAnswer {
    /// Over all architectures that it may get.
    pub outcome: BootOutcome,
    /// Why not; `None` where it boots.
    pub cause: Option<BootCause>,
    /// By the architectures that it may get; it runs on no other.
    pub by_architecture: BTreeMap<String, ArchitectureBoot>,
}

/// Whether a virtual machine boots, and on which architectures.
pub fn answer(machine: Machine<'_>) -> BootAnswer {
    let names = machine.guest.names();
    let by_architecture: BTreeMap<String, ArchitectureBoot> =
        names.iter().map(|name| ((*name).to_owned(), architecture_boot(machine, name))).collect();
    let all =
        |outcome: BootOutcome| !by_architecture.is_empty() && by_architecture.values().all(|c| c.outcome == outcome);
    let first =
        |outcome: BootOutcome| by_architecture.values().find(|c| c.outcome == outcome).and_then(|c| c.cause.clone());
    let any = |outcome: BootOutcome| by_architecture.values().any(|c| c.outcome == outcome);
    let (outcome, cause) = if by_architecture.is_empty() {
        // The guest's architecture is unknown, but without a disk it boots on none.
        let (outcome, cause) = if machine.disk.is_none() {
            (BootOutcome::DoesNotBoot, BootCause::NoDisk)
        } else if machine.is_not_imported {
            (BootOutcome::Undetermined, BootCause::NotImported)
        } else {
            (BootOutcome::Unknown, BootCause::DiskUnknown)
        };
        machine.or_failure(outcome, Some(cause))
    } else if let Some(same) = [BootOutcome::Boots, BootOutcome::DoesNotBoot].into_iter().find(|outcome| all(*outcome))
    {
        (same, first(same))
    } else if any(BootOutcome::Undetermined) {
        (BootOutcome::Undetermined, first(BootOutcome::Undetermined))
    } else if any(BootOutcome::Boots) && any(BootOutcome::DoesNotBoot) {
        (BootOutcome::BootsOnSome, Some(BootCause::Guest(by_architecture.keys().cloned().collect())))
    } else {
        (BootOutcome::Unknown, first(BootOutcome::Unknown))
    };
    BootAnswer { outcome, cause, by_architecture }
}

fn architecture_boot(machine: Machine<'_>, architecture: &str) -> ArchitectureBoot {
    let found = barrier(machine.nodes, architecture);
    let barrier = found.filter(|_| !machine.assumes_nodes);
    let (outcome, cause) = match outcome(machine, architecture, barrier) {
        (BootOutcome::Boots, _) if found != barrier => (BootOutcome::Unknown, Some(BootCause::NoAssumedNode)),
        answer => answer,
    };
    let (outcome, cause) = machine.or_failure(outcome, cause);
    ArchitectureBoot { outcome, cause, barrier }
}

fn outcome(machine: Machine<'_>, architecture: &str, barrier: Option<NodeBarrier>) -> (BootOutcome, Option<BootCause>) {
    let of = |all: &Architectures| all.names().into_iter().map(str::to_owned).collect();
    let lacking = |all: &&Architectures| all.lacks(architecture);
    // Another build may publish more.
    let without = |all: &Architectures, cause| match all {
        Architectures::Built(_) => (BootOutcome::Undetermined, Some(cause)),
        _ => (BootOutcome::DoesNotBoot, Some(cause)),
    };
    if machine.disk.is_none() {
        return (BootOutcome::DoesNotBoot, Some(BootCause::NoDisk));
    } else if let Some(barrier) = barrier {
        return (BootOutcome::DoesNotBoot, Some(BootCause::NoNode(barrier)));
    } else if let Some(disk) = Some(machine.disk).filter(lacking) {
        return without(disk, if disk.names().is_empty() { BootCause::NoDisk } else { BootCause::Disk(of(disk)) });
    } else if let Some(image) = machine.images.iter().map(|image| &image.architectures).find(lacking) {
        return without(image, BootCause::Image(of(image)));
    }
    match machine.disk {
        Architectures::Known(_) | Architectures::Built(_) => (BootOutcome::Boots, None),
        Architectures::Undetermined(_) => (BootOutcome::Undetermined, Some(BootCause::Importer(of(machine.disk)))),
        Architectures::Unknown if machine.is_not_imported => (BootOutcome::Undetermined, Some(BootCause::NotImported)),
        Architectures::Unknown => (BootOutcome::Unknown, Some(BootCause::DiskUnknown)),
    }
}

/// What keeps it from every node of the architecture; `None` where a node accepts it, or no node is declared.
fn barrier(nodes: &[CandidateNode<'_>], architecture: &str) -> Option<NodeBarrier> {
    if nodes.is_empty() {
        return None;
    }
    let candidates = nodes.iter().filter(|n| n.architecture.is_empty() || n.architecture == architecture);
    let nearest = candidates.map(|n| n.barrier).max_by_key(|b| b.map_or((1, None), |b| (0, Some(b))));
    nearest.unwrap_or(Some(NodeBarrier::Architecture))
}
