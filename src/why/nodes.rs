//! What the inventory says that can be taken away.

use serde_json::Value;

use super::inputs::{Input, Unit};
use crate::inventory::{ARCHITECTURE_LABEL, Inventory, LoadedInventory, Node, ROLE_LABEL};
use crate::release::Platform;
use crate::source::Location;
use crate::yaml::{Node as Tree, Path};

/// Above this many pools and single nodes those of one architecture and role are looked at
/// together first.
const MANY: usize = 24;

/// Labels that every node has.
const OWN_LABELS: [&str; 3] = [
    ARCHITECTURE_LABEL,
    "kubernetes.io/os",
    "kubernetes.io/hostname",
];

/// A part of what is said about a pool or a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeField {
    /// Which architecture it has.
    Architecture,
    /// A role.
    Role(String),
    /// Any other label.
    Label(String),
    /// Its taints.
    Taints,
    /// That there is more than one of it.
    Count,
}

impl NodeField {
    /// Takes it away; gives the nodes that go with it.
    pub(super) fn mask(&self, inventory: &mut Inventory, nodes: &[usize]) -> Vec<usize> {
        if *self == Self::Count {
            return nodes.iter().skip(1).copied().collect();
        }
        for index in nodes {
            let Some(node) = inventory.nodes.get_mut(*index) else {
                continue;
            };
            match self {
                Self::Architecture => {
                    node.architecture.clear();
                    node.labels.remove(ARCHITECTURE_LABEL);
                }
                Self::Role(role) => drop(node.labels.remove(&format!("{ROLE_LABEL}{role}"))),
                Self::Label(label) => drop(node.labels.remove(label)),
                Self::Taints => node.taints.clear(),
                Self::Count => {}
            }
        }
        Vec::new()
    }
}

/// A fact about the cluster that is not about its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// OpenShift or Kubernetes.
    Platform,
    /// The operator's namespace.
    Namespace,
    /// The cluster's base domain.
    BaseDomain,
    /// The APIServer's TLS profile.
    TlsSecurityProfile,
    /// IPv4, IPv6 or both.
    IpFamilies,
    /// HyperShift.
    HostedControlPlane,
    /// Whether there are monitoring CRDs.
    Monitoring,
    /// Whether there is the NetworkAttachmentDefinition CRD.
    NetworkAttachmentDefinitions,
    /// The KubeDescheduler.
    KubeDescheduler,
    /// When common golden images are looked for.
    DataImportSchedule,
}

impl Fact {
    /// Every fact.
    pub const ALL: [Self; 10] = [
        Self::Platform,
        Self::Namespace,
        Self::BaseDomain,
        Self::TlsSecurityProfile,
        Self::IpFamilies,
        Self::HostedControlPlane,
        Self::Monitoring,
        Self::NetworkAttachmentDefinitions,
        Self::KubeDescheduler,
        Self::DataImportSchedule,
    ];

    /// Its field in a ClusterInventory's `spec`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Namespace => "namespace",
            Self::BaseDomain => "baseDomain",
            Self::TlsSecurityProfile => "tlsSecurityProfile",
            Self::IpFamilies => "ipFamilies",
            Self::HostedControlPlane => "hostedControlPlane",
            Self::Monitoring => "monitoring",
            Self::NetworkAttachmentDefinitions => "networkAttachmentDefinitions",
            Self::KubeDescheduler => "kubeDescheduler",
            Self::DataImportSchedule => "dataImportSchedule",
        }
    }

    /// Takes it away. Some value there always is: then another one takes its place.
    pub(super) fn mask(self, inventory: &mut Inventory) {
        match self {
            Self::Platform => {
                inventory.platform = match inventory.platform {
                    Platform::OpenShift => Platform::Kubernetes,
                    Platform::Kubernetes => Platform::OpenShift,
                };
            }
            Self::Namespace => inventory.namespace = super::world::ELSEWHERE.to_owned(),
            Self::BaseDomain => inventory.base_domain = "elsewhere.example".to_owned(),
            Self::TlsSecurityProfile => inventory.tls_security_profile = None,
            Self::IpFamilies => {
                let usual = Inventory::default().ip_families;
                let other = vec!["IPv6".to_owned()];
                let is_usual = inventory.ip_families == usual;
                inventory.ip_families = if is_usual { other } else { usual };
            }
            Self::HostedControlPlane => inventory.hosted_control_plane = false,
            Self::Monitoring => inventory.monitoring = None,
            Self::NetworkAttachmentDefinitions => inventory.network_attachment_definitions = None,
            Self::KubeDescheduler => inventory.kube_descheduler = None,
            Self::DataImportSchedule => inventory.data_import_schedule = None,
        }
    }

    /// What the inventory says, or what is assumed.
    pub fn value(self, inventory: &Inventory) -> Value {
        match self {
            Self::Platform => inventory.platform.as_str().into(),
            Self::Namespace => inventory.namespace.as_str().into(),
            Self::BaseDomain => inventory.base_domain.as_str().into(),
            Self::TlsSecurityProfile => inventory.tls_security_profile.clone().into(),
            Self::IpFamilies => inventory.ip_families.clone().into(),
            Self::HostedControlPlane => inventory.hosted_control_plane.into(),
            Self::Monitoring => inventory.monitoring.into(),
            Self::NetworkAttachmentDefinitions => inventory.network_attachment_definitions.into(),
            Self::KubeDescheduler => inventory.kube_descheduler.clone().into(),
            Self::DataImportSchedule => inventory.data_import_schedule.clone().into(),
        }
    }
}

/// What can be taken away of an inventory.
pub(super) fn units(loaded: &LoadedInventory) -> Vec<Unit> {
    let inventory = &loaded.inventory;
    let mut out: Vec<Unit> = Vec::new();
    for fact in Fact::ALL {
        let mut masked = inventory.clone();
        fact.mask(&mut masked);
        if fact.value(&masked) != fact.value(inventory) {
            out.push(Unit::leaf(Input::Fact(fact)));
        }
    }
    let pools = pools(loaded);
    if pools.len() <= MANY {
        out.extend(pools);
        return out;
    }
    let mut classes: Vec<(String, Vec<Unit>)> = Vec::new();
    for pool in pools {
        let first = match &pool.input {
            Input::Nodes { nodes, .. } => nodes.first().and_then(|i| inventory.nodes.get(*i)),
            _ => None,
        };
        let class = first.map_or_else(String::new, class);
        match classes.iter_mut().find(|(name, _)| *name == class) {
            Some((_, units)) => units.push(pool),
            None => classes.push((class, vec![pool])),
        }
    }
    out.extend(classes.into_iter().map(|(name, children)| {
        let nodes = children.iter().flat_map(|u| match &u.input {
            Input::Nodes { nodes, .. } => nodes.clone(),
            _ => Vec::new(),
        });
        let nodes: Vec<usize> = nodes.collect();
        let name = format!("the {} {name}", nodes.len());
        Unit {
            input: Input::Nodes { nodes, name },
            children,
            joins: true,
        }
    }));
    out
}

/// `amd64 nodes (worker)`
fn class(node: &Node) -> String {
    let roles: Vec<&str> = node.roles().collect();
    let roles = match roles.is_empty() {
        true => "no role".to_owned(),
        false => roles.join(", "),
    };
    format!("{} nodes ({roles})", node.architecture)
}

/// Nodes that were declared in one place: a pool, or a single node.
fn pools(loaded: &LoadedInventory) -> Vec<Unit> {
    let mut groups: Vec<(&Location, Vec<usize>)> = Vec::new();
    for (index, place) in loaded.places.nodes.iter().enumerate() {
        let name = &place.name;
        let same = |l: &Location| l.span == name.span && l.file.path() == name.file.path();
        match groups.iter_mut().find(|(l, _)| same(l)) {
            Some((_, nodes)) => nodes.push(index),
            None => groups.push((name, vec![index])),
        }
    }
    let unit = |(place, nodes): (&Location, Vec<usize>)| {
        let text = place.text().trim_matches(['"', '\'']);
        let name = match nodes.len() {
            1 => format!("the node {text}"),
            n => format!("the {n} nodes {text}"),
        };
        let node = nodes.first().and_then(|i| loaded.inventory.nodes.get(*i));
        let fields = node.map_or_else(Vec::new, |n| fields(n, nodes.len()));
        let children = fields.into_iter().map(|field| {
            Unit::leaf(Input::NodeField {
                nodes: nodes.clone(),
                name: name.clone(),
                field,
            })
        });
        Unit {
            children: children.collect(),
            input: Input::Nodes { nodes, name },
            joins: true,
        }
    };
    groups.into_iter().map(unit).collect()
}

fn fields(node: &Node, count: usize) -> Vec<NodeField> {
    let mut out = Vec::new();
    if !node.architecture.is_empty() {
        out.push(NodeField::Architecture);
    }
    out.extend(node.roles().map(|r| NodeField::Role(r.to_owned())));
    let labels = node.labels.keys();
    let labels = labels.filter(|l| !l.starts_with(ROLE_LABEL) && !OWN_LABELS.contains(&l.as_str()));
    out.extend(labels.map(|l| NodeField::Label(l.clone())));
    if !node.taints.is_empty() {
        out.push(NodeField::Taints);
    }
    if count > 1 {
        out.push(NodeField::Count);
    }
    out
}

/// Where a part of what is said about a node stands.
pub(super) fn place(loaded: &LoadedInventory, node: usize, field: &NodeField) -> Option<Location> {
    let places = loaded.places.nodes.get(node)?;
    if *field == NodeField::Architecture && places.architecture.is_some() {
        return places.architecture.clone();
    }
    let file = &places.name.file;
    let mut documents = loaded.documents.iter();
    let found = documents.find_map(|d| {
        let within = d.file.path() == file.path();
        let entry = entry(&d.root, &places.name).filter(|_| within)?;
        let node = match field {
            NodeField::Architecture => entry.get("architecture"),
            NodeField::Role(role) => match entry.get("roles") {
                Some(roles) => {
                    let mut items = roles.items().iter();
                    items.find(|r| r.as_str() == Some(role)).or(Some(roles))
                }
                None => labels(entry)?.get(&format!("{ROLE_LABEL}{role}")),
            },
            NodeField::Label(label) => labels(entry)?.get(label),
            NodeField::Taints => {
                let dumped = entry.at(&Path::dotted("spec.taints"));
                entry.get("taints").or(dumped)
            }
            NodeField::Count => {
                let replicas = entry.at(&Path::dotted("spec.replicas"));
                entry.get("count").or(replicas)
            }
        };
        Some(d.location(node?.span))
    });
    Some(found.unwrap_or_else(|| places.name.clone()))
}

fn labels(entry: &Tree) -> Option<&Tree> {
    let dumped = entry.at(&Path::dotted("metadata.labels"));
    entry.get("labels").or(dumped)
}

/// The mapping that is named at a place: by its own `name`, or its metadata's.
fn entry<'t>(tree: &'t Tree, name: &Location) -> Option<&'t Tree> {
    let holds = |n: &Tree| n.span.start <= name.span.start && name.span.end <= n.span.end;
    let own = tree.get("name");
    let metadata = tree.get("metadata").and_then(|m| m.get("name"));
    if own.or(metadata).is_some_and(|n| n.span == name.span) {
        return Some(tree);
    }
    let children = tree.entries().iter().map(|e| &e.value);
    let mut children = children.chain(tree.items()).filter(|n| holds(n));
    children.find_map(|child| entry(child, name))
}
