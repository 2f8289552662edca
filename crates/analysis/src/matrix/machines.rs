//! The virtual machines of the repository and their results.

use super::Architecture;
use crate::matrix::{MatrixInput, Obstacle};
use crate::prelude::*;
use hcoplan_diagnostics::secret::masked_message;
use hcoplan_diagnostics::source::Span;
use hcoplan_lint::{Boot, SourceKind};
use hcoplan_planner::boot::{ArchitectureBoot, BootCause, NodeBarrier};

/// A virtual machine with its result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MachineRow {
    /// `namespace/name`, or the name without a namespace.
    pub name: String,
    /// The boot source: `DataSource fedora`.
    pub source: String,
    /// Namespace and name of the DataSource that it clones, if any.
    pub data_source: Option<(String, String)>,
    /// The architecture that it requests, if any.
    pub asks_for: Option<String>,
    /// Whether it boots.
    pub outcome: BootOutcome,
    /// Why it doesn't boot, or why that isn't certain.
    pub cause: Option<BootCause>,
    /// The result for each of the cluster's architectures, in order; `None` where it never runs.
    pub cells: Vec<Option<ArchitectureBoot>>,
    /// The location of its boot source, or of the placement that keeps it from every node: `vm.yaml:9`.
    pub place: String,
}

impl MachineRow {
    /// Whether it has a problem.
    pub const fn is_problem(&self) -> bool {
        matches!(self.outcome, BootOutcome::DoesNotBoot | BootOutcome::BootsOnSome | BootOutcome::Undetermined)
    }
}

/// The virtual machines of a cluster's directory; none if the cluster can't run any.
pub(super) fn of(
    given: &MatrixInput<'_, '_>,
    architectures: &[Architecture],
    obstacle: Option<&Obstacle>,
) -> Vec<MachineRow> {
    if obstacle.is_some_and(Obstacle::stops_machines) {
        return Vec::new();
    }
    let mut rows: Vec<MachineRow> = given.context.boots().iter().map(|boot| row(boot, architectures)).collect();
    rows.sort_by(|a, b| (&a.name, &a.place).cmp(&(&b.name, &b.place)));
    rows
}

fn row(boot: &Boot<'_>, architectures: &[Architecture]) -> MachineRow {
    let (vm, source) = (&boot.vm, &boot.source);
    // A build's text isn't in the repository; the file that it comes from is.
    let place = match &boot.answer.cause {
        Some(BootCause::NoNode(NodeBarrier::Placement | NodeBarrier::Workload)) => vm.placement_place(),
        _ => boot.place(),
    };
    let place = place.origin().unwrap_or(place);
    // The address of an image may contain a password.
    let masked = |text: &str| masked_message(&place.file, Span::default(), text);
    let data_source = vm.boot_source().filter(|_| source.kind == SourceKind::DataSource);
    MachineRow {
        name: vm.full_name(),
        source: match source.kind {
            SourceKind::Other => "another source".to_owned(),
            kind => masked(&format!("{} {}", kind.as_str(), source.name)),
        },
        data_source: data_source.map(|s| (s.namespace.to_owned(), s.name.to_owned())),
        asks_for: vm.architecture().and_then(|a| a.as_str()).map(str::to_owned),
        outcome: boot.answer.outcome,
        cause: boot.answer.cause.clone(),
        cells: architectures.iter().map(|a| boot.answer.by_architecture.get(&a.name).cloned()).collect(),
        place: format!("{}:{}", place.file.path(), place.start().line),
    }
}
