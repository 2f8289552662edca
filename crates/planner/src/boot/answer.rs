//! The answer: does it boot, on which architecture, and why not.
//!
//! Source: KubeVirt's virt-controller gives the pod of a virtual machine the node selector `kubernetes.io/arch` of the
//! guest's architecture (`pkg/virt-controller/services/nodeselectorrenderer.go`); firmware of one architecture finds
//! nothing to boot on a disk of another.

use std::collections::{BTreeMap, BTreeSet};

use hcoplan_yaml::Path;

use super::Architectures;

/// What is known of a virtual machine.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    /// The architecture that KubeVirt gives it.
    pub guest: &'a Architectures,
    /// The architectures that what it boots from has.
    pub disk: &'a Architectures,
    /// The images that its pod pulls: container disks and kernels.
    pub images: &'a [PulledImage],
    /// The cluster's nodes; empty where none is declared, and then the answer reports none.
    pub sites: &'a [Site<'a>],
    /// Whether KubeVirt rejects it.
    pub is_rejected: bool,
}

/// An image that a virtual machine's pod pulls.
#[derive(Debug, Clone)]
pub struct PulledImage {
    /// Where the virtual machine names it.
    pub path: Path,
    /// Its architectures.
    pub architectures: Architectures,
}

/// A node, as far as a virtual machine is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// Its architecture; empty where it runs guests of any.
    pub architecture: &'a str,
    /// What keeps the virtual machine away, beside the architecture.
    pub barrier: Option<Barrier>,
}

/// What keeps a virtual machine from a node; the later, the nearer it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Barrier {
    /// No node has the architecture.
    Architecture,
    /// virt-handler doesn't run there: it is no workload node.
    Workload,
    /// Its node selector or its affinity doesn't match.
    Placement,
    /// It doesn't tolerate a taint.
    Taint,
}

/// Whether a virtual machine boots, the worst last but for what nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It does.
    Boots,
    /// On some of the architectures that it may get.
    BootsOnSome,
    /// It doesn't.
    DoesNotBoot,
    /// Chance decides.
    Undetermined,
    /// Nothing says which architecture its disk has.
    Unknown,
}

/// Why it doesn't, or why that isn't certain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Its disk is for these architectures only.
    Disk(BTreeSet<String>),
    /// An image that its pod pulls is for these architectures only.
    Image(BTreeSet<String>),
    /// Nothing provides its disk.
    NoDisk,
    /// KubeVirt rejects it.
    Rejected,
    /// No node takes it.
    NoNode(Barrier),
    /// The node that imports its disk decides among these.
    Importer(BTreeSet<String>),
    /// The node that virt-operator first runs on decides the guest's architecture among these.
    Guest(BTreeSet<String>),
    /// Nothing says which architecture its disk has.
    Unsaid,
}

impl Outcome {
    /// A stable name, which reads as words, too.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Boots => "boots",
            Self::BootsOnSome => "boots on some",
            Self::DoesNotBoot => "doesn't boot",
            Self::Undetermined => "undetermined",
            Self::Unknown => "unknown",
        }
    }
}

impl Cause {
    /// In words, about a virtual machine.
    pub fn sentence(&self) -> String {
        let or = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(" or ");
        match self {
            Self::Disk(names) => format!("its disk is {}", or(names)),
            Self::Image(names) => format!("an image that its pod pulls is {}", or(names)),
            Self::NoDisk => "nothing provides its disk".to_owned(),
            Self::Rejected => "KubeVirt rejects it".to_owned(),
            Self::NoNode(Barrier::Architecture) => "no node has its architecture".to_owned(),
            Self::NoNode(Barrier::Workload) => "no workload node has its architecture and its placement".to_owned(),
            Self::NoNode(Barrier::Placement) => "its placement matches no node of its architecture".to_owned(),
            Self::NoNode(Barrier::Taint) => "it tolerates the taints of no node of its architecture".to_owned(),
            Self::Importer(names) => format!("its disk is {}, depending on the node that imports it", or(names)),
            Self::Guest(names) => format!("it is {}, as the node where virt-operator first runs", or(names)),
            Self::Unsaid => "nothing says which architecture its disk has".to_owned(),
        }
    }
}

/// The answer for one architecture.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Whether it boots as a guest of the architecture.
    pub outcome: Outcome,
    /// Why not; `None` where it does.
    pub cause: Option<Cause>,
    /// What keeps it from every node, whether or not that is the cause.
    pub barrier: Option<Barrier>,
}

/// The answer for a virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Answer {
    /// Over all architectures that it may get.
    pub outcome: Outcome,
    /// Why not; `None` where it boots.
    pub cause: Option<Cause>,
    /// By the architectures that it may get; it runs on no other.
    pub cells: BTreeMap<String, Cell>,
}

/// Whether a virtual machine boots, and on which architectures.
pub fn answer(machine: Machine<'_>) -> Answer {
    let names = machine.guest.names();
    let cells: BTreeMap<String, Cell> = names.iter().map(|name| ((*name).to_owned(), cell(machine, name))).collect();
    let all = |outcome: Outcome| !cells.is_empty() && cells.values().all(|c| c.outcome == outcome);
    let first = |outcome: Outcome| cells.values().find(|c| c.outcome == outcome).and_then(|c| c.cause.clone());
    let by_chance = || Some(Cause::Guest(names.iter().map(|n| (*n).to_owned()).collect()));
    let any = |outcome: Outcome| cells.values().any(|c| c.outcome == outcome);
    let (outcome, cause) = if cells.is_empty() {
        // The guest's architecture isn't known, but what is nowhere boots nowhere.
        let nothing = machine.disk.is_none();
        if nothing { (Outcome::DoesNotBoot, Some(Cause::NoDisk)) } else { (Outcome::Unknown, Some(Cause::Unsaid)) }
    } else if let Some(same) = [Outcome::Boots, Outcome::DoesNotBoot].into_iter().find(|outcome| all(*outcome)) {
        (same, first(same))
    } else if any(Outcome::Undetermined) {
        (Outcome::Undetermined, first(Outcome::Undetermined))
    } else if any(Outcome::Boots) && any(Outcome::DoesNotBoot) {
        (Outcome::BootsOnSome, by_chance())
    } else {
        (Outcome::Unknown, first(Outcome::Unknown))
    };
    if machine.is_rejected && cells.is_empty() {
        return Answer { outcome: Outcome::DoesNotBoot, cause: Some(Cause::Rejected), cells };
    }
    Answer { outcome, cause, cells }
}

fn cell(machine: Machine<'_>, architecture: &str) -> Cell {
    let barrier = barrier(machine.sites, architecture);
    let (outcome, cause) = match outcome(machine, architecture, barrier) {
        (outcome, _) if machine.is_rejected && outcome != Outcome::DoesNotBoot => {
            (Outcome::DoesNotBoot, Some(Cause::Rejected))
        }
        found => found,
    };
    Cell { outcome, cause, barrier }
}

fn outcome(machine: Machine<'_>, architecture: &str, barrier: Option<Barrier>) -> (Outcome, Option<Cause>) {
    let names = || machine.disk.names().into_iter().map(str::to_owned).collect();
    let mut images = machine.images.iter().map(|image| &image.architectures);
    let failure = if machine.disk.is_none() {
        Some(Cause::NoDisk)
    } else if let Some(barrier) = barrier {
        Some(Cause::NoNode(barrier))
    } else if machine.disk.lacks(architecture) {
        Some(Cause::Disk(names()))
    } else if let Some(Architectures::Known(has)) = images.find(|image| image.lacks(architecture)) {
        Some(Cause::Image(has.clone()))
    } else {
        None
    };
    if failure.is_some() {
        return (Outcome::DoesNotBoot, failure);
    }
    match machine.disk {
        Architectures::Known(_) => (Outcome::Boots, None),
        Architectures::Undetermined(_) => (Outcome::Undetermined, Some(Cause::Importer(names()))),
        Architectures::Unknown => (Outcome::Unknown, Some(Cause::Unsaid)),
    }
}

/// What keeps it from every node of the architecture; `None` where one takes it, or no node is declared.
fn barrier(sites: &[Site<'_>], architecture: &str) -> Option<Barrier> {
    if sites.is_empty() {
        return None;
    }
    let fitting = sites.iter().filter(|s| s.architecture.is_empty() || s.architecture == architecture);
    let nearest = fitting.map(|s| s.barrier).max_by_key(|b| b.map_or((1, None), |b| (0, Some(b))));
    nearest.unwrap_or(Some(Barrier::Architecture))
}
