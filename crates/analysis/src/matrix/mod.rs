//! Which virtual machines boot, and which golden images exist, by architecture.
//!
//! A view of a [`Context`]: the DataImportCrons and DataSources of SSP, the nodes that run virtual machines, and the
//! boot results. A cell of an image has what a virtual machine of an architecture gets under its name.

mod cell;
mod changes;
mod disks;
mod fleet;
mod machine_changes;
mod machines;
mod objects;
mod rows;
#[cfg(test)]
mod tests;

use crate::prelude::*;
use hcoplan_explain::diff::semantic::EffectTime;
use hcoplan_lint::Context;
use hcoplan_planner::boot::{sentence, variant};
use hcoplan_planner::release::Platform;
use serde::Deserialize;

pub use cell::{Cell, Reason, State};
pub use changes::effects;
pub use fleet::{Counts, Group, counts, groups};
pub use machine_changes::{MachineState, MachineStates, effects as machine_effects, states as machine_states, users};
pub use machines::MachineRow;

use cell::Row;
use objects::Objects;

/// The words for reasons and obstacles, by their names.
static WORDS: Table<Value> = Table::of(include_str!("words.json"));

/// The input of a cluster's matrix.
#[derive(Clone, Copy)]
pub struct MatrixInput<'c, 'a> {
    /// The cluster, rendered even if it is rejected.
    pub context: &'c Context<'a>,
    /// Why the API server or a webhook rejects its HyperConverged.
    pub rejected: Option<&'c str>,
}

/// A cluster's golden images.
#[derive(Debug, Clone)]
pub struct ClusterMatrix {
    /// Its name.
    pub cluster: String,
    /// Its release; empty if unknown.
    pub release: String,
    /// What that rests on.
    pub basis: ReleaseBasis,
    /// Whether golden images are imported per architecture.
    pub multi_arch: bool,
    /// The architectures of its workload and control-plane nodes, sorted.
    pub architectures: Vec<Architecture>,
    /// Whether its nodes are stated, not assumed.
    pub states_nodes: bool,
    /// Why nothing can be imported.
    pub obstacle: Option<Obstacle>,
    /// The images, sorted by namespace and name.
    pub images: Vec<Image>,
    /// The virtual machines of the repository, sorted by name.
    pub machines: Vec<MachineRow>,
}

/// The effect of a row, with what it is about in place of `{0}`, `{1}` and `{2}`.
fn effect_of(row: &str, about: &[&str]) -> Effect {
    let row = &WORDS["effects"][row];
    let text = |key: &str| {
        let text = text(&row[key]).to_owned();
        let about = about.iter().enumerate();
        about.fold(text, |text, (index, about)| text.replace(&format!("{{{index}}}"), about))
    };
    Effect {
        when: EffectTime::deserialize(&row["when"]).unwrap_or(EffectTime::Now),
        rule: row["rule"].as_str(),
        ..Effect::new(Impact::deserialize(&row["impact"]).unwrap_or(Impact::Images), text("text"))
    }
    .action(text("action"))
}

/// An architecture of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Architecture {
    /// The value of the node label: `arm64`.
    pub name: String,
    /// Number of nodes that run virtual machines.
    pub workload_nodes: usize,
    /// Number of control-plane nodes.
    pub control_plane_nodes: usize,
}

/// A reason that prevents all imports.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// The HyperConverged is rejected, with this message.
    Rejected(String),
    /// HCO's reconcile fails before it creates the SSP, with this error.
    ReconcileFails(String),
    /// SSP's webhook rejects the SSP, with this message.
    SspRejected(String),
    /// On plain Kubernetes HCO deploys no SSP.
    NoSsp,
    /// No node runs virtual machines.
    NoWorkloadNodes,
}

impl Obstacle {
    /// A stable name.
    pub fn name(&self) -> String {
        variant(self).0
    }

    /// The message of the server or operator, which may quote a value.
    pub(crate) const fn why_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Rejected(why) | Self::ReconcileFails(why) | Self::SspRejected(why) => Some(why),
            Self::NoSsp | Self::NoWorkloadNodes => None,
        }
    }

    /// Whether it is an error rather than intended.
    pub const fn is_problem(&self) -> bool {
        !matches!(self, Self::NoSsp)
    }

    /// Whether the results of virtual machines are unknown.
    pub const fn stops_machines(&self) -> bool {
        matches!(self, Self::Rejected(_) | Self::ReconcileFails(_))
    }

    /// The reason in words.
    pub fn sentence(&self) -> String {
        sentence(&WORDS["obstacles"], self)
    }
}

/// A golden image: a name under which virtual machines find it, and one cell per architecture.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Image {
    /// The namespace of its DataSources.
    pub namespace: String,
    /// The DataSource's plain name: `fedora`.
    pub name: String,
    /// Its DataImportCronTemplates; none for a DataSource of the template bundle without import.
    pub templates: Vec<String>,
    /// The target of the plain name.
    pub plain: Cell,
    /// A cell for each of the cluster's architectures, in order.
    pub cells: Vec<Cell>,
}

impl Image {
    /// Whether it has a problem.
    pub fn is_problem(&self) -> bool {
        let mut all = self.cells.iter().chain([&self.plain]);
        all.any(|cell| cell.state.is_problem())
    }

    /// Whether it is a DataSource of the template bundle without import.
    pub fn is_external(&self) -> bool {
        self.plain.state == State::External && self.cells.iter().all(|cell| cell.cron.is_none())
    }
}

impl ClusterMatrix {
    /// Whether any image has a problem.
    pub fn is_problem(&self) -> bool {
        let obstacle = self.obstacle.as_ref();
        obstacle.is_some_and(Obstacle::is_problem)
            || self.images.iter().any(Image::is_problem)
            || self.machines.iter().any(MachineRow::is_problem)
    }
}

/// The matrix of one cluster.
pub fn matrix(given: &MatrixInput<'_, '_>) -> ClusterMatrix {
    let architectures = architectures(given);
    let obstacle = obstacle(given);
    let objects = Objects::new(given);
    let images = match obstacle {
        Some(Obstacle::NoSsp | Obstacle::NoWorkloadNodes) => Vec::new(),
        _ => {
            let rows = rows::of(given, &objects, obstacle.is_some());
            rows.into_iter().map(|row| image(row, &objects, &architectures, obstacle.as_ref())).collect()
        }
    };
    ClusterMatrix {
        cluster: given.context.cluster().to_string(),
        release: given.context.release().label().to_owned(),
        basis: ReleaseBasis::Stated,
        multi_arch: objects.multi_arch,
        machines: machines::of(given, &architectures, obstacle.as_ref()),
        architectures,
        states_nodes: given.context.has_nodes(),
        obstacle,
        images,
    }
}

fn image(row: Row, objects: &Objects<'_, '_>, architectures: &[Architecture], obstacle: Option<&Obstacle>) -> Image {
    let blocked = obstacle.map(|obstacle| Cell::new(State::Missing, Reason::Obstacle(obstacle.name())));
    let cells = architectures.iter().map(|a| cell::of(&row, objects, a, blocked.clone())).collect();
    Image {
        plain: blocked.unwrap_or_else(|| cell::plain(&row, objects)),
        cells,
        templates: row.templates.into_iter().map(|t| t.name).collect(),
        namespace: row.namespace,
        name: row.name,
    }
}

fn architectures(given: &MatrixInput<'_, '_>) -> Vec<Architecture> {
    let (topology, nodes) = (&given.context.plan().topology, &given.context.inventory().nodes);
    let workload = topology.workload_architectures.iter();
    let workers = || topology.workload_nodes.iter().filter_map(|i| nodes.get(*i));
    let workload = workload.chain(workers().map(|node| &node.architecture));
    let names = workload.chain(&topology.control_plane_architectures).filter(|name| !name.is_empty());
    let names: BTreeSet<&String> = names.collect();
    let one = |name: &String| Architecture {
        workload_nodes: workers().filter(|n| n.architecture == *name).count(),
        control_plane_nodes: nodes.iter().filter(|n| n.is_control_plane() && n.architecture == *name).count(),
        name: name.clone(),
    };
    names.into_iter().map(one).collect()
}

fn obstacle(given: &MatrixInput<'_, '_>) -> Option<Obstacle> {
    let plan = given.context.plan();
    if let Some(why) = given.rejected {
        return Some(Obstacle::Rejected(why.to_owned()));
    }
    if plan.topology.workload_nodes.is_empty() {
        return Some(Obstacle::NoWorkloadNodes);
    }
    match (&plan.ssp, &plan.reconcile_error) {
        (Some(ssp), _) if ssp.admission.accepted => None,
        (Some(ssp), _) => Some(Obstacle::SspRejected(ssp.admission.message.clone())),
        (None, Some(error)) if given.context.inventory().platform == Platform::OpenShift => {
            Some(Obstacle::ReconcileFails(error.message.clone()))
        }
        (None, _) => Some(Obstacle::NoSsp),
    }
}
