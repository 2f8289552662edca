//! Groups a cluster's similar nodes into the pools of a ClusterInventory.

use crate::prelude::*;
use hcoplan_planner::inventory::{CORDONED, CPU_VENDOR, LABELLED, Node, OWN_CPU, ROLE_LABEL, Taint};
use serde_json::Value;

/// Labels and taints by what they say:
///
/// - `left-out`: redundant labels, labels unique to each node, and labels for zones and machine types. They only count
///   where a placement uses them.
/// - `labellers`: controllers that label nodes with processor features, location and KubeVirt's state: dozens of labels
///   each, some of which change with every restart of a daemon.
/// - `gpus`: the ends of labels that name a node's GPU.
/// - `temporary`: taints of a node's condition, a drain, an update or an autoscaler.
static LISTS: Table<BTreeMap<&str, Vec<&str>>> = Table::of(include_str!("labels.json"));

/// Nodes with the same properties relevant to scheduling.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pool {
    /// The pool's name, or the name of its single node.
    pub name: String,
    /// `status.nodeInfo.architecture` of its nodes.
    pub architecture: String,
    /// Their roles; `master` counts as `control-plane` when pools are compared.
    pub roles: BTreeSet<String>,
    /// The meaningful labels that all of them have; `None` for one that they should have, and lack.
    pub labels: Labels,
    /// Key, value and effect of their lasting taints.
    pub taints: BTreeSet<[String; 3]>,
    /// Whether each of them states its taints.
    pub states_taints: bool,
    /// Whether they have KVM; `None` if unknown.
    pub kvm: Option<bool>,
    /// What else they offer to virtual machines.
    pub offers: Offers,
    /// The names of the nodes, sorted.
    pub nodes: Vec<String>,
    /// The keys of labels that differ between them.
    pub other_labels: BTreeSet<String>,
}

/// What nodes offer to virtual machines, by field of an inventory's entry. Unknown lists are missing.
pub(super) type Offers = BTreeMap<&'static str, BTreeSet<String>>;

/// The labels of a pool, see [`Pool::labels`].
pub(super) type Labels = BTreeMap<String, Option<String>>;

/// The fields of an entry that declare offers.
pub(super) fn offer_fields() -> impl Iterator<Item = &'static str> {
    LABELLED.iter().map(|(field, _)| *field).chain(["capabilities", "hugepages", "resources"])
}

/// What a node offers to virtual machines.
pub(super) fn offers(node: &Node) -> Offers {
    let devices = Some(node.devices.clone()).filter(|devices| !devices.is_empty());
    let labelled = LABELLED.iter().map(|(field, prefix)| (*field, node.offered(prefix)));
    let lists = [("capabilities", node.capabilities()), ("hugepages", node.hugepages.clone()), ("resources", devices)];
    labelled.chain(lists).filter_map(|(field, list)| Some((field, list?.into_iter().collect()))).collect()
}

/// The properties that distinguish pools.
type Properties = (BTreeSet<String>, String, BTreeSet<[String; 3]>, Labels, bool, Offers);

/// Whether a label identifies a node's GPU or CPU.
fn identifies_hardware(key: &str) -> bool {
    key.starts_with(CPU_VENDOR)
        || OWN_CPU.iter().any(|prefix| key.starts_with(prefix))
        || LISTS["gpus"].iter().any(|end| key.ends_with(end))
        || key.starts_with("feature.node.kubernetes.io/pci-03")
}

/// Whether an import leaves a label out unless a placement uses it.
pub fn is_left_out(key: &str) -> bool {
    let domain = first_part(key, '/');
    // A storage driver's.
    let is_topology = domain.starts_with("topology.");
    let labeller =
        LISTS["labellers"].iter().any(|l| domain == *l || domain.strip_suffix(l).is_some_and(|d| d.ends_with('.')));
    is_topology || labeller || LISTS["left-out"].iter().any(|u| key == *u || (u.ends_with('/') && key.starts_with(u)))
}

/// The taints that aren't temporary, and that of a cordoned node, as key, value and effect.
pub(super) fn lasting_taints(taints: &[Taint]) -> BTreeSet<[String; 3]> {
    let is_temporary = |t: &&Taint| t.key != CORDONED && LISTS["temporary"].iter().any(|p| t.key.starts_with(p));
    let lasting = taints.iter().filter(|t| !is_temporary(t));
    lasting.map(|t| [t.key.clone(), t.value.clone(), t.effect.clone()]).collect()
}

/// Groups nodes into pools, sorted by role, architecture and other properties.
///
/// Labels distinguish nodes only if a placement uses them (`named`), they identify hardware, or several nodes share a
/// value: zones are merged, and labels of controllers ignored. A single node keeps its name.
pub fn pools(nodes: &[Node], named: impl Fn(&str) -> bool) -> Vec<Pool> {
    let mut values: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
    nodes.iter().flat_map(|node| &node.labels).for_each(|(key, value)| values.entry(key).or_default().push(value));
    let is_shared = |key: &str, values: &[&String]| {
        let distinct: BTreeSet<_> = values.iter().collect();
        distinct.len() < values.len() && !key.starts_with(ROLE_LABEL) && !is_left_out(key)
    };
    let shared: BTreeSet<&String> = values.iter().filter(|(k, v)| is_shared(k, v)).map(|(k, _)| *k).collect();
    let mut by_properties: BTreeMap<Properties, Vec<&Node>> = BTreeMap::new();
    for node in nodes {
        let labels = node.labels.iter();
        let is_role = |key: &str| node.roles().any(|role| key.strip_prefix(ROLE_LABEL) == Some(role));
        let labels =
            labels.filter(|(key, _)| !is_role(key) && (named(key) || identifies_hardware(key) || shared.contains(key)));
        // KubeVirt places machines by this label, HCO counts nodes by their architecture.
        let is_lacking = !node.architecture.is_empty() && !node.labels.contains_key(ARCHITECTURE_LABEL);
        let lacking = is_lacking.then(|| (ARCHITECTURE_LABEL.to_owned(), None));
        let properties = (
            node.roles().map(ToOwned::to_owned).collect(),
            node.architecture.clone(),
            lasting_taints(&node.taints),
            labels.map(|(k, v)| (k.clone(), Some(v.clone()))).chain(lacking).collect(),
            // Unknown means that virt-handler hasn't run yet.
            node.kvm == Some(false),
            offers(node),
        );
        by_properties.entry(properties).or_default().push(node);
    }
    let architectures: BTreeSet<_> = nodes.iter().map(|n| &n.architecture).collect();
    let mut name_counts = BTreeMap::new();
    let mut out = Vec::new();
    // If no node has huge pages, no pool needs to list them.
    let has_pages =
        by_properties.keys().any(|properties| properties.5.get("hugepages").is_some_and(|sizes| !sizes.is_empty()));
    for ((roles, architecture, taints, named_labels, _, mut offers), members) in by_properties {
        if !has_pages {
            offers.remove("hugepages");
        }
        let mut pool = Pool {
            name: role_name(&roles),
            architecture,
            roles,
            labels: named_labels,
            taints,
            states_taints: members.iter().all(|n| n.states_taints),
            kvm: members.iter().filter_map(|n| n.kvm).reduce(|a, b| a || b),
            offers,
            nodes: members.iter().map(|n| n.name.clone()).collect(),
            other_labels: BTreeSet::new(),
        };
        pool.nodes.sort();
        pool.add_labels(&members);
        match pool.nodes.as_slice() {
            [only] => pool.name.clone_from(only),
            _ => {
                if architectures.len() > 1 {
                    pool.name = format!("{}-{}", pool.name, pool.architecture);
                }
                let count: &mut usize = name_counts.entry(pool.name.clone()).or_default();
                *count += 1;
                if *count > 1 {
                    pool.name = format!("{}-{count}", pool.name);
                }
            }
        }
        out.push(pool);
    }
    out
}

/// A pool's name from the most specific role.
fn role_name(roles: &BTreeSet<String>) -> String {
    if roles.contains("control-plane") || roles.contains("master") {
        return "control-plane".to_owned();
    }
    let special = roles.iter().find(|r| *r != "worker");
    let role = special.or(roles.first()).map_or("node", String::as_str);
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '-',
    };
    let name: String = role.chars().map(plain).collect();
    name.trim_matches('-').to_owned()
}

impl Pool {
    /// Lists the labels of a single node, and the keys of several ones' labels that don't distinguish pools.
    fn add_labels(&mut self, members: &[&Node]) {
        for (key, value) in members.iter().flat_map(|n| &n.labels) {
            if key.starts_with(ROLE_LABEL) || is_left_out(key) || self.labels.contains_key(key) {
                continue;
            }
            if self.is_single() {
                self.labels.insert(key.clone(), Some(value.clone()));
            } else {
                self.other_labels.insert(key.clone());
            }
        }
    }

    /// Whether it is an entry of `nodes` instead of `nodePools`.
    pub fn is_single(&self) -> bool {
        self.nodes.len() == 1
    }

    /// The list of `spec` that it belongs to.
    pub fn list(&self) -> &'static str {
        if self.is_single() { "nodes" } else { "nodePools" }
    }

    /// Its entry in that list.
    pub fn to_json(&self) -> Value {
        let mut entry = json!({
            "name": self.name, "architecture": self.architecture, "roles": self.roles,
        });
        if !self.is_single() {
            entry["count"] = self.nodes.len().into();
        }
        if !self.labels.is_empty() {
            entry["labels"] = json!(self.labels);
        }
        if !self.other_labels.is_empty() {
            entry["otherLabels"] = json!(self.other_labels);
        }
        // Without the list, its reader assumes the taint of the control plane.
        let is_read_as_tainted = self.states_taints
            && ["control-plane", "master"].iter().any(|role| self.roles.contains(*role))
            && !self.roles.contains("worker");
        if !self.taints.is_empty() || is_read_as_tainted {
            let taint = |[key, value, effect]: &[String; 3]| match value.as_str() {
                "" => json!({"key": key, "effect": effect}),
                value => json!({"key": key, "value": value, "effect": effect}),
            };
            entry["taints"] = self.taints.iter().map(taint).collect();
        }
        if let Some(kvm) = self.kvm {
            entry["kvm"] = kvm.into();
        }
        for (field, list) in &self.offers {
            entry[*field] = json!(list);
        }
        entry
    }

    /// Its entry as handwritten YAML, below `spec`.
    fn to_yaml(&self) -> String {
        // Names in a dump are untrusted.
        let scalar = |text: &str| yaml::edit::inline(&text.into());
        let taint = |[key, value, effect]: &[String; 3]| {
            let value = if value.is_empty() { String::new() } else { format!("value: {}, ", scalar(value)) };
            format!("- {{key: {}, {value}effect: {}}}", scalar(key), scalar(effect))
        };
        let entry = self.to_json();
        let mut out = String::new();
        let fields = ["name", "count", "architecture", "roles", "labels", "otherLabels", "taints", "kvm"].into_iter();
        for field in fields.chain(self.offers.keys().copied()) {
            let start = if field == "name" { "    - " } else { "      " };
            let value = &entry[field];
            let items: Vec<String> = match value {
                Value::Null => continue,
                Value::Object(labels) => labels
                    .iter()
                    .map(|(key, value)| format!("{}: {}", scalar(key), yaml::edit::inline(value)))
                    .collect(),
                Value::Array(_) if field == "taints" => self.taints.iter().map(taint).collect(),
                _ => Vec::new(),
            };
            let inline = if items.is_empty() { format!(" {}", yaml::edit::inline(value)) } else { String::new() };
            out.push_str(&format!("{start}{field}:{inline}\n"));
            items.iter().for_each(|item| out.push_str(&format!("        {item}\n")));
        }
        out
    }

    /// One-line description: `worker, arm64, rack=a, taint gpu=true:NoSchedule, KVM`.
    pub fn text(&self) -> String {
        let roles: Vec<_> = self.roles.iter().map(String::as_str).collect();
        let roles = if roles.is_empty() { "no role".to_owned() } else { roles.join("+") };
        let mut parts = vec![roles, self.architecture.clone()];
        let labels = self.labels.iter().filter(|(key, _)| !OWN_CPU.iter().any(|prefix| key.starts_with(prefix)));
        parts.extend(labels.map(|(key, value)| match value {
            Some(value) => format!("{key}={value}"),
            None => format!("without the label {key}"),
        }));
        let taint = |[key, value, effect]: &[String; 3]| {
            let equals = if value.is_empty() { "" } else { "=" };
            format!("taint {key}{equals}{value}:{effect}")
        };
        parts.extend(self.taints.iter().map(taint));
        parts.extend(self.kvm.map(|has| if has { "KVM" } else { "no KVM" }.to_owned()));
        let offers = self.offers.iter().filter(|(field, _)| **field != "cpuFeatures");
        parts.extend(offers.flat_map(|(_, names)| names.iter().cloned()));
        parts.retain(|p| !p.is_empty());
        parts.join(", ")
    }
}

/// The lists `nodePools` and `nodes` of some pools, as YAML below `spec`.
pub fn pools_yaml(pools: &[Pool]) -> String {
    let mut out = String::new();
    for list in ["nodePools", "nodes"] {
        let entries = pools.iter().filter(|p| p.list() == list);
        let entries: String = entries.map(Pool::to_yaml).collect();
        if !entries.is_empty() {
            out.push_str(&format!("  {list}:\n{entries}"));
        }
    }
    if out.is_empty() {
        out.push_str("  nodePools: []\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, architecture: &str, labels: &[(&str, &str)]) -> Node {
        Node {
            name: name.to_owned(),
            architecture: architecture.to_owned(),
            labels: labels
                .iter()
                .chain(&[(ARCHITECTURE_LABEL, architecture)])
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..Node::default()
        }
    }

    const WORKER: (&str, &str) = ("node-role.kubernetes.io/worker", "");
    const MASTER: (&str, &str) = ("node-role.kubernetes.io/master", "");

    #[test]
    fn keeps_cordons_missing_labels_and_own_cpus() {
        let own_cpu = ("host-model-cpu.node.kubevirt.io/EPYC", "true");
        let mut nodes = ["w-0", "w-1", "w-2"].map(|name| node(name, "amd64", &[WORKER])).to_vec();
        nodes.push(node("w-3", "amd64", &[WORKER, own_cpu]));
        let taint = Taint { key: CORDONED.to_owned(), value: String::new(), effect: "NoSchedule".to_owned() };
        nodes[1].taints.push(taint);
        nodes[2].labels.remove(ARCHITECTURE_LABEL);
        let text = pools_yaml(&pools(&nodes, |_| false));
        for part in [
            "kubernetes.io/arch: null",
            "{key: node.kubernetes.io/unschedulable, effect: NoSchedule}",
            "host-model-cpu.node.kubevirt.io/EPYC: \"true\"",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn keeps_a_second_role_label_that_a_placement_uses() {
        let nodes = [node("m-0", "amd64", &[("node-role.kubernetes.io/control-plane", ""), MASTER])];
        let is_listed = |of: &[Pool]| pools_yaml(of).contains("node-role.kubernetes.io/master: \"\"");
        assert!(is_listed(&pools(&nodes, |key| key == MASTER.0)));
        assert!(!is_listed(&pools(&nodes, |_| false)));
    }

    #[test]
    fn only_relevant_facts_distinguish_nodes() {
        let zone = "topology.kubernetes.io/zone";
        let mut nodes = vec![
            node("m-0", "amd64", &[MASTER]),
            node("m-1", "amd64", &[MASTER]),
            node("w-0", "arm64", &[WORKER, (zone, "a"), ("rack", "1"), ("site", "x")]),
            node("w-1", "arm64", &[WORKER, (zone, "b"), ("site", "x"), ("kubevirt.io/schedulable", "false")]),
            node("gpu", "arm64", &[WORKER, ("gpu", "true")]),
        ];
        let taint =
            |key: &str, effect: &str| Taint { key: key.to_owned(), value: String::new(), effect: effect.to_owned() };
        nodes[2].taints.push(taint("node.kubernetes.io/unreachable", "NoExecute"));
        nodes[3].kvm = Some(true);
        nodes[4].taints.push(taint("gpu", "NoSchedule"));
        let expected = "  nodePools:
    - name: control-plane-amd64
      count: 2
      architecture: amd64
      roles: [master]
    - name: worker-arm64
      count: 2
      architecture: arm64
      roles: [worker]
      labels:
        site: x
      otherLabels: [rack]
      kvm: true
  nodes:
    - name: gpu
      architecture: arm64
      roles: [worker]
      labels:
        gpu: \"true\"
      taints:
        - {key: gpu, effect: NoSchedule}
";
        assert_eq!(pools_yaml(&pools(&nodes, |_| false)), expected);
        // Labels that a placement uses distinguish nodes.
        let by_rack = pools(&nodes, |key| key == zone);
        let names: Vec<_> = by_rack.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["control-plane-amd64", "w-0", "w-1", "gpu"]);
        assert_eq!(by_rack[1].labels[zone].as_deref(), Some("a"));
        assert_eq!(pools_yaml(&[]), "  nodePools: []\n");
        // So do values that nodes share.
        let disks = [("w-0", "ssd"), ("w-1", "ssd"), ("w-2", "hdd")];
        let by_disk = pools(&disks.map(|(name, disk)| node(name, "arm64", &[WORKER, ("disk", disk)])), |_| false);
        let names: Vec<_> = by_disk.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["w-2", "worker"]);
    }

    #[test]
    fn omits_labels_of_controllers() {
        for key in [
            "cpu-feature.node.kubevirt.io/avx",
            "kubevirt.io/schedulable",
            "topology.kubernetes.io/zone",
            "beta.kubernetes.io/arch",
            "kubernetes.io/hostname",
            "feature.node.kubernetes.io/cpu-model.id",
        ] {
            assert!(is_left_out(key), "{key}");
        }
        for key in ["gpu", "rack", "example.com/site", "mykubevirt.io/x", "cluster.ocs.openshift.io/openshift-storage"]
        {
            assert!(!is_left_out(key), "{key}");
        }
    }
}
