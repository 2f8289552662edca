//! Reads a `hcoplan.dev/v1alpha1 ClusterInventory`.

use super::dump::{contradiction, remove_duplicate_names, taints};
use super::locations::{InventoryLocations, NodeLocations};
use super::schema;
use crate::prelude::*;
use hcoplan_planner::inventory::{
    Architecture, CAPABILITIES, HOSTNAME_LABEL, Inventory, LABELLED, Node, ROLE_LABEL, UpdateMethod, capability_labels,
    control_plane_labels,
};
use hcoplan_planner::release::Platform;
use hcoplan_yaml::{Node as Tree, Value as Yaml};

/// The content of a ClusterInventory.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Everything but the nodes.
    pub(super) inventory: Inventory,
    /// The nodes, in the order of the text.
    pub(super) nodes: Vec<(Node, NodeLocations)>,
    pub(super) locations: InventoryLocations,
    pub(super) findings: Vec<Finding>,
    /// Whether it has a list of pools or nodes, even an empty one.
    pub(super) states_nodes: bool,
}

/// More nodes than any cluster has; the limit keeps a typo from using all memory.
const MAX_NODES: usize = 50_000;

/// Reads a ClusterInventory. Reports what its schema rejects as findings, and leaves it out.
pub(super) fn read(document: &Document) -> Declared {
    let mut declared = Declared { findings: schema::check(document), ..Declared::default() };
    declared.inventory.name = text(&document.root, "metadata.name");
    if let Some(spec) = document.root.get("spec") {
        declared.facts(document, spec);
        declared.all_nodes(document, spec);
    }
    declared
}

fn text(node: &Tree, path: &str) -> Option<String> {
    node.text_at(path).map(str::to_owned)
}

pub(super) fn flag(node: &Tree, key: &str) -> Option<bool> {
    node.get(key)?.to_json().as_bool()
}

/// The number of a pool's nodes.
pub(super) fn count(pool: &Tree) -> usize {
    let count = pool.get("count").and_then(|count| count.to_json().as_u64());
    usize::try_from(count.unwrap_or(0)).unwrap_or(usize::MAX)
}

impl Declared {
    fn facts(&mut self, document: &Document, spec: &Tree) {
        for entry in spec.entries() {
            let location = document.location(entry.value.span);
            self.locations.fields.insert(entry.key.text.clone(), location);
        }
        let out = &mut self.inventory;
        out.release = spec.get("release").and_then(|node| document.written_text(node));
        if spec.text("platform") == Platform::Kubernetes.as_str() {
            out.platform = Platform::Kubernetes;
        }
        if let Some(namespace) = text(spec, "namespace") {
            out.namespace = namespace;
        }
        if let Some(domain) = text(spec, "baseDomain") {
            out.base_domain = domain;
        }
        let object = |key: &str| spec.get(key).map(Tree::to_json).filter(|value| !value.is_null());
        out.tls_security_profile = object("tlsSecurityProfile");
        out.kube_descheduler = object("kubeDescheduler").filter(|v| *v != false);
        if let Some(families) = spec.get("ipFamilies") {
            out.ip_families = strings(families.items()).map(str::to_owned).collect();
        }
        out.hosted_control_plane = flag(spec, "hostedControlPlane").unwrap_or(false);
        out.monitoring = flag(spec, "monitoring");
        out.network_attachment_definitions = flag(spec, "networkAttachmentDefinitions");
        out.data_import_schedule = text(spec, "dataImportSchedule");
        out.update = UpdateMethod::named(spec.text("apply")).unwrap_or_default();
    }

    fn all_nodes(&mut self, document: &Document, spec: &Tree) {
        let mut names = BTreeMap::new();
        for list in ["nodePools", "nodes"] {
            let Some(entries) = spec.get(list) else {
                continue;
            };
            self.states_nodes |= !matches!(entries.value, Yaml::Null);
            for entry in entries.items() {
                let Some(name) = entry.get("name") else {
                    continue;
                };
                let location = document.location(name.span);
                let name = name.as_str().unwrap_or_default().to_owned();
                match names.insert((list, name.clone()), location.clone()) {
                    Some(first) => self.findings.push(duplicate(&name, location, first)),
                    None if list == "nodePools" => self.pool(document, entry),
                    None => {
                        let node = self.node(document, entry);
                        self.nodes.push(node);
                    }
                }
            }
        }
        // A pool's node and a single node may have the same name.
        remove_duplicate_names(&mut self.nodes, |node, location| {
            let message = format!("node `{}` is declared twice", node.name);
            self.findings.push(Finding::new(&INVENTORY_INCONSISTENT, message).at(location.clone()));
        });
    }

    fn pool(&mut self, document: &Document, entry: &Tree) {
        let count = count(entry);
        let (pool, location) = self.node(document, entry);
        if self.nodes.len().saturating_add(count) > MAX_NODES {
            let span = entry.get("count").map_or(entry.span, |c| c.span);
            let message = format!("the inventory has more than {MAX_NODES} nodes");
            let finding = Finding::new(&INVENTORY_INVALID, message);
            self.findings.push(finding.at(document.location(span)));
            return;
        }
        for index in 0..count {
            let name = [&pool.name, "-", &index.to_string()].concat();
            self.nodes.push((of_pool(&pool, name), location.clone()));
        }
    }

    /// A node, or the common properties of a pool's nodes.
    fn node(&mut self, document: &Document, entry: &Tree) -> (Node, NodeLocations) {
        let mut node = Node { name: text(entry, "name").unwrap_or_default(), ..Node::default() };
        let location = |key: &str| entry.get(key).map(|n| document.location(n.span));
        let locations = NodeLocations {
            name: location("name").unwrap_or_else(|| document.location(entry.span)),
            architecture: location("architecture"),
        };
        for role in entry.list_at("roles") {
            let label = format!("{ROLE_LABEL}{}", role.as_str().unwrap_or_default());
            node.labels.insert(label, String::new());
        }
        if self.inventory.platform == Platform::OpenShift && node.is_control_plane() {
            node.labels.extend(control_plane_labels());
        }
        let labels = entry.get("labels").map_or(&[][..], Tree::entries).iter();
        let (lacking, labels): (Vec<_>, Vec<_>) = labels.partition(|label| matches!(label.value.value, Yaml::Null));
        for label in labels {
            let value = label.value.as_str().unwrap_or_default();
            node.labels.insert(label.key.text.clone(), value.to_owned());
        }
        node.kvm = flag(entry, "kvm");
        capabilities(&mut node, entry);
        node.taints = taints(entry.list_at("taints"));
        node.states_taints = entry.get("taints").is_some();
        if entry.get("roles").is_none() && node.roles().next().is_none() {
            self.findings.push(without_role(&node.name, &locations.name));
        }
        let (written, location) = (entry.text("architecture"), locations.architecture.as_ref());
        node.architecture = known_name(written, location, &mut self.findings);
        let label = entry.get("labels").and_then(|l| l.get(ARCHITECTURE_LABEL)).filter(|l| l.as_str().is_some());
        if let (Some(label), Some(location)) = (label, location)
            && node.labels.get(ARCHITECTURE_LABEL) != Some(&node.architecture)
        {
            self.findings.push(contradiction(&node, document.location(label.span), location.clone()));
        }
        let mut node = node.with_default_labels();
        node.labels.retain(|key, _| lacking.iter().all(|label| *key != label.key.text));
        (node, locations)
    }
}

/// Reads a node's capabilities for virtual machines into the labels that KubeVirt sets for them.
fn capabilities(node: &mut Node, entry: &Tree) {
    let names = |key: &str| Some(strings(entry.get(key)?.items()).map(str::to_owned).collect::<Vec<_>>());
    for (key, prefix) in LABELLED {
        let labels = strings(entry.list_at(key)).map(|name| (format!("{prefix}{name}"), "true".to_owned()));
        node.labels.extend(labels);
    }
    if let Some(listed) = names("capabilities") {
        for capability in CAPABILITIES {
            let value = listed.iter().any(|c| c == capability).to_string();
            node.labels.extend(capability_labels(capability).map(|label| (label, value.clone())));
        }
    }
    node.other_labels = names("otherLabels").unwrap_or_default();
    node.hugepages = names("hugepages");
    node.resources = names("resources");
}

/// A node of a pool; its host name isn't the pool's name.
fn of_pool(pool: &Node, name: String) -> Node {
    let mut node = pool.clone();
    if let Some(host) = node.labels.get_mut(HOSTNAME_LABEL)
        && *host == pool.name
    {
        host.clone_from(&name);
    }
    node.name = name;
    node
}

fn duplicate(name: &str, location: Location, first: Location) -> Finding {
    Finding::new(&INVENTORY_INCONSISTENT, format!("`{name}` is declared twice"))
        .at(location)
        .label("ignored: the first declaration is used")
        .related(first, "declared here first")
}

fn without_role(name: &str, location: &Location) -> Finding {
    let message = format!("`{name}` has no role");
    Finding::new(&INVENTORY_INCONSISTENT, message).warning().at(location.clone()).help(
        "HCO counts nodes with the role control-plane or worker; write `roles: []` where \
             neither is right",
    )
}

/// Kubernetes' name of an architecture; reports an alias.
pub(super) fn known_name(written: &str, location: Option<&Location>, findings: &mut Vec<Finding>) -> String {
    if let (Architecture::Alias(name), Some(location)) = (Architecture::of(written), location) {
        let message = format!("Kubernetes calls the architecture {written} `{name}`");
        let finding = Finding::new(&INVENTORY_INCONSISTENT, message).warning().at(location.clone());
        let fix = Fix::edit(format!("write {name}"), Applicability::Safe, location.clone(), name);
        findings.push(finding.label(format!("read as {name}")).fix(fix));
    }
    Architecture::name(written).unwrap_or(written).to_owned()
}
