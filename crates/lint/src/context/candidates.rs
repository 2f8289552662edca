//! The nodes on which a virtual machine may run. Nodes that no machine can distinguish are examined once.

use super::pod_placement::terms;
use super::prelude::*;
use super::{Context, VirtualMachine};
use hcoplan_planner::boot::NodeBarrier;
use hcoplan_planner::inventory::{Node as ClusterNode, Taint};
use hcoplan_planner::machines::{Launcher, may_be_required};

use super::{NodeRef, PodTemplate, REQUIRED};
use crate::lists::elements;

/// The name of a node as a label.
const NAME: &str = "metadata.name";

/// Declared nodes as candidates for a virtual machine that can't distinguish them.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The first of them.
    pub node: NodeRef<'a>,
    /// Whether there is no other.
    pub is_alone: bool,
    /// What prevents scheduling.
    pub barrier: Option<NodeBarrier>,
    /// A taint that the machine doesn't tolerate, or else virt-handler.
    pub repelled_by: Option<&'a Taint>,
}

/// Nodes by kind: those of one kind are the same for every virtual machine of the cluster's directory.
#[derive(Debug, Default)]
pub(crate) struct NodeKinds<'a> {
    /// The first node of each, and whether there is no other.
    all: Vec<(NodeRef<'a>, bool)>,
    /// The kinds by the labels that placements use, and by name if one uses that.
    labelled: HashMap<(&'a str, &'a str), Vec<usize>>,
    /// The keys of all labels.
    keys: HashSet<&'a str>,
    /// See [`Context::unlisted_labels`].
    pub(super) unlisted: HashSet<String>,
    /// Whether some names are generated for a pool's nodes rather than declared.
    pub(super) has_pool: bool,
    /// The first kind of each architecture, and their number.
    architectures: BTreeMap<&'a str, (usize, usize)>,
}

impl<'a> NodeKinds<'a> {
    /// The nodes that match a placement's node selector and required node affinity, one of each kind; `None` if it has
    /// neither.
    pub(crate) fn selected_by(&self, placement: &Value) -> Option<Vec<NodeRef<'a>>> {
        let selection = Selection::of(placement)?;
        Some(self.matching(Some(&selection)).collect())
    }

    /// The nodes that match a selection, one of each kind.
    pub(super) fn matching(&self, selection: Option<&Selection<'_>>) -> impl Iterator<Item = NodeRef<'a>> {
        self.selected(selection).into_iter().map(|kind| self.all[kind].0)
    }

    /// Whether a node has a label with this key.
    pub(super) fn have_label(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    fn labelled<'s>(&'s self, label: (&'s str, &'s str)) -> &'s [usize] {
        self.labelled.get(&label).map_or(&[], Vec::as_slice)
    }

    fn selected(&self, selection: Option<&Selection<'_>>) -> Vec<usize> {
        let Some(selection) = selection else {
            return (0..self.all.len()).collect();
        };
        let needs = selection.needs().into_iter();
        let needs = needs.map(|labels| labels.into_iter().map(|l| self.labelled(l)).collect::<Vec<&[usize]>>());
        let fewest = needs.min_by_key(|kinds| kinds.iter().map(|kinds| kinds.len()).sum::<usize>());
        let mut found: Vec<usize> = match fewest {
            Some(kinds) => kinds.concat(),
            None => (0..self.all.len()).collect(),
        };
        found.sort_unstable();
        found.dedup();
        found.retain(|kind| selection.selects(self.all[*kind].0.node));
        found
    }
}

impl<'a> Context<'a> {
    /// These nodes by kind.
    pub(crate) fn node_kinds(&self, nodes: impl IntoIterator<Item = NodeRef<'a>>) -> NodeKinds<'a> {
        self.kinds_by(self.virtual_machines().iter().map(|vm| self.placement_of(vm)), nodes)
    }

    /// The declared nodes by kind for pods of the cluster's directory, not for virtual machines.
    pub(super) fn kinds_for_pods(&self) -> &NodeKinds<'a> {
        let placements = || self.pod_templates().map(PodTemplate::placement);
        self.known.kinds_for_pods.get_or_init(|| self.kinds_by(placements(), self.nodes()))
    }

    /// Nodes by what these placements can distinguish.
    fn kinds_by(
        &self,
        placements: impl Iterator<Item = Value>,
        nodes: impl IntoIterator<Item = NodeRef<'a>>,
    ) -> NodeKinds<'a> {
        let placements: Vec<Value> = placements.collect();
        let topologies: Vec<Value> = self.storage_classes().filter_map(topology).collect();
        let of_classes = topologies.iter().flat_map(topology_keys);
        let of_spread = placements.iter().flat_map(|placement| {
            let terms = elements(&placement["affinity"]["podAffinity"][REQUIRED]);
            let all = terms.chain(elements(&placement["topologySpreadConstraints"]));
            all.filter_map(|term| term["topologyKey"].as_str())
        });
        let used: HashSet<&str> = placements.iter().flat_map(label_keys).chain(of_classes).chain(of_spread).collect();
        let by_name = placements.iter().flat_map(terms).any(|term| !term["matchFields"].is_null());
        let workload = &self.topology().workload_nodes;
        let mut kinds: HashMap<_, usize> = HashMap::new();
        let mut out = NodeKinds::default();
        for node in nodes {
            let own = node.node;
            out.has_pool |= !node.has_own_name();
            out.keys.extend(own.labels.keys().map(String::as_str));
            let labels = own.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            let labels: Vec<_> = labels.filter(|(key, _)| used.contains(key) || may_be_required(key)).collect();
            let name = by_name.then_some((NAME, own.name.as_str()));
            let is_workload = workload.binary_search(&node.index).is_ok();
            let states = (is_workload, own.lacks_architecture_label());
            let rest = (&own.architecture, &own.taints, own.kvm, &own.hugepages, &own.resources, states);
            let next = out.all.len();
            let kind = *kinds.entry((labels.clone(), name, rest)).or_insert(next);
            if kind < next {
                out.all[kind].1 = false;
                continue;
            }
            out.all.push((node, true));
            out.architectures.entry(&own.architecture).or_insert((kind, 0)).1 += 1;
            labels.into_iter().chain(name).for_each(|label| out.labelled.entry(label).or_default().push(kind));
        }
        out
    }

    /// The declared nodes by kind.
    pub(crate) fn kinds_of_nodes(&self) -> &NodeKinds<'a> {
        self.known
            .kinds_of_nodes
            .get_or_init(|| NodeKinds { unlisted: self.unlisted_labels(), ..self.node_kinds(self.nodes()) })
    }

    /// Whether the inventory would have all labels that a placement uses.
    pub(super) fn shows_labels(&self, placement: &Value) -> bool {
        label_keys(placement).all(|key| self.shows_label(key))
    }

    /// The declared nodes that fit a virtual machine's architecture and placement and run virt-handler, each with a
    /// taint that isn't tolerated, or without what is asked for.
    pub fn schedulable_nodes(&self, vm: &VirtualMachine<'_>, verdict: &Verdict) -> Vec<Candidate<'a>> {
        let architecture = text(&verdict.spec["architecture"]);
        let takes = |c: &Candidate<'_>| {
            let own = c.node.node.architecture.as_str();
            let fits = architecture.is_empty() || own.is_empty() || own == architecture;
            fits && c.barrier.is_none_or(|barrier| barrier >= NodeBarrier::Taint)
        };
        let mut all = self.candidates(vm, &verdict.launcher);
        all.retain(takes);
        all
    }

    /// The declared nodes, each with the reasons why a virtual machine can't run there, except the architecture. Of
    /// those that it doesn't select, only one of each architecture.
    pub(super) fn candidates(&self, vm: &VirtualMachine<'_>, launcher: &Launcher) -> Vec<Candidate<'a>> {
        let mut topologies: Vec<Value> = self.disk_classes(vm).filter_map(topology).collect();
        topologies.retain(|topology| topology_keys(topology).all(|key| self.kinds_of_nodes().have_label(key)));
        let placement = self.placement_of(vm);
        // Nodes may have undeclared labels.
        let selection = Selection::of(&placement).filter(|_| self.shows_labels(&placement));
        let selects = self.selects_workload_nodes();
        let workload = &self.topology().workload_nodes;
        let of_class = self.runtime_class().map_or(&[][..], |class| class.root.list_at("scheduling.tolerations"));
        let all: Vec<Value> = vm.list("tolerations").iter().chain(of_class).map(Node::to_json).collect();
        let tolerations = json!({"tolerations": all});
        let tolerations = Tolerations::of(&tolerations);
        let repels = |t: &&Taint| matches!(t.effect.as_str(), "NoSchedule" | "NoExecute") && !tolerations.tolerate(t);
        let handler =
            self.plan().operand("KubeVirt").map(|k| Tolerations::of(&k["spec"]["workloads"]["nodePlacement"]));
        let kinds = self.kinds_of_nodes();
        let selected = kinds.selected(selection.as_ref());
        let mut left = kinds.architectures.clone();
        let mut out = Vec::with_capacity(selected.len());
        for kind in selected {
            let (node, is_alone) = kinds.all[kind];
            if let Some((_, count)) = left.get_mut(node.node.architecture.as_str()) {
                *count -= 1;
            }
            let repelled_by = node.node.taints.iter().find(repels);
            let is_workload = workload.binary_search(&node.index).is_ok();
            // The taint of a control-plane node may be undeclared.
            let is_repelled = repelled_by.is_some() || (!is_workload && !tolerations.admit(node.node));
            let is_closed = !is_workload && handler.as_ref().is_some_and(|handler| !handler.admit(node.node));
            let may_have_handler = is_workload || !(selects || is_repelled && is_closed);
            let closing = node.node.taints.iter().find(|taint| closes(taint, handler.as_ref()));
            let barrier = if !may_have_handler {
                Some(NodeBarrier::Workload)
            } else if node.node.lacks_architecture_label() {
                Some(NodeBarrier::Architecture)
            } else if is_repelled {
                Some(NodeBarrier::Taint)
            } else if closing.is_some() || is_closed {
                Some(NodeBarrier::Handler)
            } else if topologies.iter().any(|topology| !has_volumes(topology, node.node)) {
                Some(NodeBarrier::Storage)
            } else {
                (!launcher.may_run_on(node.node)).then_some(NodeBarrier::Offer)
            };
            out.push(Candidate { node, is_alone, barrier, repelled_by: repelled_by.or(closing) });
        }
        let left = left.into_values().filter(|(_, count)| *count > 0);
        out.extend(left.map(|(kind, _)| {
            let (node, is_alone) = kinds.all[kind];
            Candidate { node, is_alone, barrier: Some(NodeBarrier::Placement), repelled_by: None }
        }));
        out
    }
}

/// Whether a taint keeps an operator's pods with these tolerations away. KubeVirt's own pods tolerate
/// `CriticalAddonsOnly`, and Kubernetes removes the taints of a node's conditions.
pub(crate) fn closes(taint: &Taint, tolerations: Option<&Tolerations<'_>>) -> bool {
    matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute")
        && taint.key != "CriticalAddonsOnly"
        && !taint.key.starts_with("node.kubernetes.io/")
        && !tolerations.is_some_and(|t| t.tolerate(taint))
}

/// The `allowedTopologies` of a storage class; `None` where it has none.
fn topology(class: &Arc<Document>) -> Option<Value> {
    let terms = class.root.get("allowedTopologies").filter(|terms| !terms.items().is_empty());
    terms.map(Node::to_json)
}

/// The requirements of each term of a topology.
fn topology_terms(topology: &Value) -> impl Iterator<Item = std::slice::Iter<'_, Value>> {
    elements(topology).map(|term| elements(&term["matchLabelExpressions"]))
}

/// The labels used by a topology.
fn topology_keys(topology: &Value) -> impl Iterator<Item = &str> {
    topology_terms(topology).flatten().filter_map(|requirement| requirement["key"].as_str())
}

/// Whether a storage class of this topology has volumes on a node.
fn has_volumes(topology: &Value, node: &ClusterNode) -> bool {
    let fits = |requirement: &Value| {
        let value = requirement["key"].as_str().and_then(|key| node.labels.get(key));
        let mut values = texts(&requirement["values"]);
        value.is_some_and(|own| values.any(|value| value == own))
    };
    topology_terms(topology).any(|mut term| term.all(fits))
}

/// The labels and fields of nodes used by a placement.
fn label_keys(placement: &Value) -> impl Iterator<Item = &str> {
    let expressions =
        terms(placement).flat_map(|t| elements(&t["matchExpressions"]).chain(elements(&t["matchFields"])));
    let labels = members(&placement["nodeSelector"]);
    labels.map(|(k, _)| k.as_str()).chain(expressions.filter_map(|e| e["key"].as_str()))
}
