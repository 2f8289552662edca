//! The node placements of the HyperConverged and their matching nodes.

use super::Context;
use super::prelude::*;
use hcoplan_kubernetes::nearest;
use hcoplan_kubernetes::node_affinity::RequiredNodeAffinity;

use super::field::in_version;
use super::pod_placement::{ARCHITECTURE_KEYS, REQUIRED};
use super::{Field, NodeRef};

/// Maximum number of unmatched labels reported separately.
const MAX_LABELS: usize = 32;

/// The pods of a placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pods {
    /// The operands' controllers and API servers: `spec.infra`.
    Infra,
    /// Pods on virtual machines' nodes such as virt-handler: `spec.workloads`.
    Workload,
}

hcoplan_kubernetes::names!(Pods { Infra = "infra", Workload = "workload" });

impl Pods {
    /// The placement's path below v1beta1's `spec`; [`Context::field`] finds it in v1, too.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Infra => "infra.nodePlacement",
            Self::Workload => "workloads.nodePlacement",
        }
    }
}

/// A node placement as the operator reads it, with its location.
#[derive(Debug)]
pub struct Placement<'a> {
    /// Its pods.
    pub pods: Pods,
    value: &'a Value,
    /// The field as written.
    pub field: Field<'a>,
}

/// A part of a placement that no declared node matches.
#[derive(Debug)]
pub struct Unmatched {
    /// The unmatched condition: `is labelled nodeType=virt`.
    pub wanted: String,
    /// The label's key, if it is about one.
    pub key: Option<String>,
    /// Its location.
    pub place: Location,
    /// A similar label of a node, which was probably meant, `nodetype=virt`, and the changes that select it.
    pub meant: Option<(String, Vec<Change>)>,
}

impl<'a> Context<'a> {
    /// Whether the workload placement has a node selector or required node affinity, so that HCO takes the matching
    /// nodes instead of the workers as workload nodes.
    pub fn selects_workload_nodes(&self) -> bool {
        let placement = self.placement(Pods::Workload);
        placement.is_some_and(|p| p.selects_nodes())
    }

    /// Whether the workload placement selects no declared node, which has a finding of its own.
    pub fn places_nowhere(&self) -> bool {
        self.selects_workload_nodes() && self.topology().workload_nodes.is_empty()
    }

    /// A node placement of the HyperConverged; `None` if it isn't set or is rejected.
    pub fn placement(&self, pods: Pods) -> Option<Placement<'a>> {
        let path = in_version(pods.field(), "v1")?;
        Some(Placement { pods, value: self.hyperconverged()?.get(&path)?, field: self.field(pods.field()) })
    }
}

impl<'a> Placement<'a> {
    /// Whether it has a node selector or required node affinity.
    pub fn selects_nodes(&self) -> bool {
        Selection::of(self.value).is_some()
    }

    /// The declared nodes that match its node selector and required node affinity; by default all.
    pub fn nodes(&self, cx: &Context<'a>) -> Vec<NodeRef<'a>> {
        let selection = Selection::of(self.value);
        cx.nodes().filter(|n: &NodeRef<'_>| selection.as_ref().is_none_or(|s| s.selects(n.node))).collect()
    }

    /// Whether the inventory would have all labels that it uses.
    pub fn is_known(&self, cx: &Context<'_>) -> bool {
        cx.shows_labels(self.value)
    }

    /// Its tolerations.
    pub fn tolerations(&self) -> Tolerations<'a> {
        Tolerations::of(self.value)
    }

    /// Why no declared node matches: the labels of the node selector that no node has; else the required node affinity,
    /// if no node matches it; else the whole.
    pub fn unmatched(&self, cx: &Context<'a>) -> Vec<Unmatched> {
        let mut found = self.unmatched_labels(cx);
        if found.is_empty() {
            found.extend(self.unmatched_affinity(cx));
        }
        if found.is_empty() {
            let (wanted, place) = ("matches every condition".to_owned(), self.field.key_place());
            found.push(Unmatched { wanted, key: None, place, meant: None });
        }
        found
    }

    fn unmatched_labels(&self, cx: &Context<'a>) -> Vec<Unmatched> {
        let found = members(&self.value["nodeSelector"]).filter_map(|(key, value)| {
            let values = || cx.nodes().filter_map(|n| n.node.labels.get(key));
            if values().any(|own| value == own) {
                return None;
            }
            let path = self.path().key("nodeSelector").key(key);
            let known_key = values().next().is_some();
            let selecting = |(own, value): (&str, &str)| {
                let renamed = (own != key).then(|| Change::Rename(path.clone(), own.to_owned()));
                let set = Change::Set(path.parent().key(own), value.into());
                (label(own, value), renamed.into_iter().chain([set]).collect())
            };
            Some(Unmatched {
                wanted: format!("is labelled {}", label(key, text(value))),
                key: Some(key.clone()),
                place: if known_key { cx.document().locate(&path) } else { cx.document().locate_key(&path) },
                meant: meant(cx, key, text(value)).map(selecting),
            })
        });
        found.take(MAX_LABELS).collect()
    }

    fn unmatched_affinity(&self, cx: &Context<'a>) -> Option<Unmatched> {
        let affinity = self.value.pointer("/affinity/nodeAffinity")?;
        let required = RequiredNodeAffinity::of(affinity);
        if cx.nodes().any(|n| required.allows(&n.node.name, &n.node.labels)) {
            return None;
        }
        let path = self.path().key("affinity").key("nodeAffinity");
        Some(Unmatched {
            wanted: "matches its required node affinity".to_owned(),
            key: None,
            place: cx.document().locate_key(&path.key(REQUIRED)),
            meant: meant_architecture(cx, affinity, &path),
        })
    }

    fn path(&self) -> Path {
        self.field.path().unwrap_or_default()
    }
}

/// The label meant by the first alias of an architecture in a required affinity, and the change that names it.
fn meant_architecture(cx: &Context<'_>, affinity: &Value, path: &Path) -> Option<(String, Vec<Change>)> {
    let terms = elements(&affinity[REQUIRED]["nodeSelectorTerms"]).enumerate();
    let expressions = terms.flat_map(|(term, of)| {
        let at = path.key(REQUIRED).key("nodeSelectorTerms").index(term).key("matchExpressions");
        elements(&of["matchExpressions"]).enumerate().map(move |(index, of)| (at.index(index), of))
    });
    expressions.into_iter().find_map(|(at, expression)| {
        let key = text(&expression["key"]);
        texts(&expression["values"]).enumerate().filter(|(_, value)| is_alias(key, value)).find_map(|(index, value)| {
            let (key, architecture) = meant(cx, key, value)?;
            let change = Change::Set(at.key("values").index(index), architecture.into());
            Some((label(key, architecture), vec![change]))
        })
    })
}

/// Whether a term of an affinity uses an alias of an architecture.
pub(super) fn has_alias(term: &Value) -> bool {
    elements(&term["matchExpressions"])
        .any(|expression| texts(&expression["values"]).any(|value| is_alias(text(&expression["key"]), value)))
}

/// Whether a label has an alias of an architecture.
fn is_alias(key: &str, value: &str) -> bool {
    ARCHITECTURE_KEYS.contains(&key) && Architecture::alias(value).is_some()
}

impl Context<'_> {
    /// The first label that no node has and for which a similar one exists.
    pub fn meant_label<'l>(&self, labels: impl IntoIterator<Item = (&'l str, &'l str)>) -> Option<String> {
        let has = |key: &str, value: &str| self.nodes().any(|n| n.node.labels.get(key).is_some_and(|v| v == value));
        let mut missing = labels.into_iter().filter(|(key, value)| !has(key, value));
        missing.find_map(|(key, value)| meant(self, key, value)).map(|(key, value)| label(key, value))
    }
}

/// A node's label with the name of the architecture, or that differs in case only, else the most similar value of the
/// key.
fn meant<'c>(cx: &Context<'c>, key: &str, value: &str) -> Option<(&'c str, &'c str)> {
    let labels = || cx.nodes().flat_map(|n| &n.node.labels).map(|(key, value)| (key.as_str(), value.as_str()));
    let mut of_key = labels().filter(|(k, _)| *k == key);
    if is_alias(key, value) {
        return of_key.find(|(_, v)| Architecture::alias(value) == Some(*v));
    }
    let mut other_case = labels().filter(|(k, v)| k.eq_ignore_ascii_case(key) && v.eq_ignore_ascii_case(value));
    other_case.next().or_else(|| {
        let nearest = nearest(value, labels().filter(|(k, _)| *k == key).map(|(_, v)| v));
        of_key.find(|(_, v)| nearest.is_none_or(|nearest| nearest == *v))
    })
}

fn label(key: &str, value: &str) -> String {
    match value {
        "" => key.to_owned(),
        _ => format!("{key}={value}"),
    }
}
