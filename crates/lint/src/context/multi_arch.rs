//! Suggestions about multi-arch golden images and workload architectures.

use super::Context;
use super::prelude::*;
use hcoplan_planner::topology::Topology;

use super::{Pods, REQUIRED};

pub(super) const GATE: &str = "enableMultiArchBootImageImport";
pub(super) const FIELD: &str = "workloadSources.enableMultiArchBootImageImport";
const ARCHITECTURE: &str = "kubernetes.io/arch";
const WORKER: &str = "node-role.kubernetes.io/worker";

impl Context<'_> {
    /// A suggestion that enables or disables multi-arch golden images: by v1's field if the release has it, else by the
    /// gate.
    pub fn switch_multi_arch(&self, on: bool) -> Option<Fix> {
        let which = if on { self.multi_arch_prospects() } else { String::new() };
        let change = match self.multi_arch_field() {
            Some(path) => Change::Set(path, on.into()),
            None => self.gate_change(GATE, on),
        };
        self.suggest_change(which, &[change])
    }

    /// The maturity of multi-arch golden images for a text about enabling them: ` (alpha)`. Empty if v1's field does
    /// it.
    pub fn multi_arch_prospects(&self) -> String {
        let prospects = self.release().gate_maturity(GATE);
        let prospects = prospects.filter(|_| self.multi_arch_field().is_none());
        prospects.map_or_else(String::new, |p| format!(" ({p})"))
    }

    fn multi_arch_field(&self) -> Option<Path> {
        let path = self.field(FIELD).path()?;
        self.schema()?.field(&path).map(|_| path)
    }

    /// A suggestion that restricts workloads to nodes of some architectures: it extends the workload placement, which
    /// by default selects the worker nodes.
    pub fn keep_workloads_on(&self, architectures: &[String]) -> Option<Fix> {
        let change = self.placement_change(architectures)?;
        let title = format!("keep workloads on {} nodes", architectures.join(" and "));
        self.suggest(title, &[change])
    }

    /// Whether [`Self::keep_workloads_on`] leaves workload nodes of exactly these architectures.
    pub fn would_keep_workloads_on(&self, architectures: &[String]) -> bool {
        let change = self.placement_change(architectures);
        let topology = change.and_then(|change| self.topology_after(&change));
        topology.is_some_and(|topology| topology.workload_architectures == architectures)
    }

    /// HCO's topology after a change of the HyperConverged.
    pub fn topology_after(&self, change: &Change) -> Option<Topology> {
        let placement = self.field(Pods::Workload.field()).path()?;
        let after = change.value_after(self.root(), &placement);
        Some(Topology::new(self.release(), self.inventory(), after.ok()?.as_ref()))
    }

    fn placement_change(&self, architectures: &[String]) -> Option<Change> {
        let placement = self.field(Pods::Workload.field()).path()?;
        let required = placement.key("affinity").key("nodeAffinity").key(REQUIRED);
        match (self.selects_workload_nodes(), architectures) {
            (true, [only]) => {
                let label = placement.key("nodeSelector").key(ARCHITECTURE);
                Some(Change::Set(label, only.as_str().into()))
            }
            // Terms are alternatives: an additional one would select more nodes.
            (true, _) if self.root().at(&required).is_some() => None,
            (selects, _) => {
                let mut expressions = vec![json!({
                    "key": ARCHITECTURE, "operator": "In", "values": architectures,
                })];
                if !selects {
                    expressions.push(json!({"key": WORKER, "operator": "Exists"}));
                }
                let terms = json!({
                    "nodeSelectorTerms": [{"matchExpressions": expressions}],
                });
                Some(Change::Set(required, terms))
            }
        }
    }
}
