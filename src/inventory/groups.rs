//! Nodes that are alike: what a ClusterInventory declares as one pool.

use std::collections::{BTreeMap, BTreeSet};

use super::{ARCHITECTURE_LABEL, Node, ROLE_LABEL};
use crate::yaml;

/// Labels that follow from what else is said of a node.
const IMPLIED: [&str; 5] = [
    ARCHITECTURE_LABEL,
    "kubernetes.io/os",
    "kubernetes.io/hostname",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
];

/// Who labels nodes with what their processor can do, dozens of labels each.
const LABELLERS: [&str; 2] = [".node.kubevirt.io", "feature.node.kubernetes.io"];

/// Taints that come and go with a node's condition.
const CONDITIONS: &str = "node.kubernetes.io/";

/// What decides where something may run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Likeness {
    roles: BTreeSet<String>,
    architecture: String,
    labels: BTreeMap<String, String>,
    /// Key, value and effect.
    taints: BTreeSet<[String; 3]>,
    kvm: Option<bool>,
}

impl Likeness {
    fn of(node: &Node) -> Self {
        let labels = node.labels.iter().filter(|(key, _)| {
            let domain = key.split('/').next().unwrap_or_default();
            let labeller = LABELLERS.iter().any(|l| domain.ends_with(l));
            !labeller && !key.starts_with(ROLE_LABEL) && !IMPLIED.contains(&key.as_str())
        });
        let taints = node.taints.iter();
        let taints = taints.filter(|t| !t.key.starts_with(CONDITIONS));
        Self {
            roles: node.roles().map(ToOwned::to_owned).collect(),
            architecture: node.architecture.clone(),
            labels: labels.map(|(k, v)| (k.clone(), v.clone())).collect(),
            taints: taints
                .map(|t| [t.key.clone(), t.value.clone(), t.effect.clone()])
                .collect(),
            kvm: node.kvm,
        }
    }

    /// In a line: `worker, arm64, zone=a, taint gpu=true:NoSchedule`.
    fn text(&self) -> String {
        let roles: Vec<_> = self.roles.iter().map(String::as_str).collect();
        let roles = match roles.is_empty() {
            true => "no role".to_owned(),
            false => roles.join("+"),
        };
        let mut parts = vec![roles, self.architecture.clone()];
        parts.extend(self.labels.iter().map(|(k, v)| format!("{k}={v}")));
        let taint = |[key, value, effect]: &[String; 3]| match value.as_str() {
            "" => format!("taint {key}:{effect}"),
            value => format!("taint {key}={value}:{effect}"),
        };
        parts.extend(self.taints.iter().map(taint));
        match self.kvm {
            Some(true) => parts.push("KVM".to_owned()),
            Some(false) => parts.push("no KVM".to_owned()),
            None => {}
        }
        parts.retain(|p| !p.is_empty());
        parts.join(", ")
    }

    /// A pool's name, without its architecture.
    fn name(&self) -> String {
        let control_plane = ["control-plane", "master"].iter();
        let control_plane = control_plane.copied().find(|r| self.roles.contains(*r));
        let special = self
            .roles
            .iter()
            .map(String::as_str)
            .find(|r| *r != "worker");
        let role = control_plane.map(|_| "control-plane").or(special);
        let role = role.unwrap_or(if self.roles.is_empty() {
            "node"
        } else {
            "worker"
        });
        let plain = |c: char| match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => c,
            _ => '-',
        };
        let name: String = role.chars().map(plain).collect();
        name.trim_matches('-').to_owned()
    }
}

/// The lists `nodePools` and `nodes` that declare some nodes, as YAML below `spec`: those that are
/// alike as a pool, single ones under their name.
pub fn pools(nodes: &[Node]) -> String {
    let mut alike: BTreeMap<Likeness, Vec<&Node>> = BTreeMap::new();
    for node in nodes {
        alike.entry(Likeness::of(node)).or_default().push(node);
    }
    let architectures: BTreeSet<_> = nodes.iter().map(|n| &n.architecture).collect();
    let (mut pools, mut singles) = (String::new(), String::new());
    let mut names = BTreeMap::new();
    for (likeness, nodes) in &alike {
        if let [node] = nodes.as_slice() {
            entry(&node.name, None, likeness, &mut singles);
            continue;
        }
        let mut name = likeness.name();
        if architectures.len() > 1 {
            name = format!("{name}-{}", likeness.architecture);
        }
        let seen = names.entry(name.clone()).or_insert(0);
        *seen += 1;
        if *seen > 1 {
            name = format!("{name}-{seen}");
        }
        entry(&name, Some(nodes.len()), likeness, &mut pools);
    }
    let mut out = String::new();
    for (list, entries) in [("nodePools", pools), ("nodes", singles)] {
        if !entries.is_empty() {
            out.push_str(&format!("  {list}:\n{entries}"));
        }
    }
    if out.is_empty() {
        out.push_str("  nodePools: []\n");
    }
    out
}

fn entry(name: &str, count: Option<usize>, likeness: &Likeness, out: &mut String) {
    let scalar = |text: &str| yaml::emit(&text.into()).trim_end().to_owned();
    out.push_str(&format!("    - name: {}\n", scalar(name)));
    if let Some(count) = count {
        out.push_str(&format!("      count: {count}\n"));
    }
    out.push_str(&format!(
        "      architecture: {}\n",
        scalar(&likeness.architecture)
    ));
    let roles: Vec<_> = likeness.roles.iter().map(|r| scalar(r)).collect();
    out.push_str(&format!("      roles: [{}]\n", roles.join(", ")));
    if !likeness.labels.is_empty() {
        out.push_str("      labels:\n");
        for (key, value) in &likeness.labels {
            out.push_str(&format!("        {}: {}\n", scalar(key), scalar(value)));
        }
    }
    if !likeness.taints.is_empty() {
        out.push_str("      taints:\n");
        for [key, value, effect] in &likeness.taints {
            out.push_str(&format!("        - key: {}\n", scalar(key)));
            if !value.is_empty() {
                out.push_str(&format!("          value: {}\n", scalar(value)));
            }
            out.push_str(&format!("          effect: {}\n", scalar(effect)));
        }
    }
    if let Some(kvm) = likeness.kvm {
        out.push_str(&format!("      kvm: {kvm}\n"));
    }
}

/// Where two sets of nodes differ: one line for each kind of node that one has more of.
///
/// `declared` counts as far as it goes: labels that it never mentions are not looked at, and KVM
/// only where it says something. A `master` is a `control-plane`.
pub fn node_differences(declared: &[Node], found: &[Node]) -> Vec<String> {
    let mentioned: BTreeSet<_> = declared
        .iter()
        .flat_map(|n| Likeness::of(n).labels)
        .map(|l| l.0)
        .collect();
    let says_kvm = declared.iter().any(|n| n.kvm.is_some());
    let mut counts: BTreeMap<Likeness, (usize, usize)> = BTreeMap::new();
    let look = |node: &Node| {
        let mut likeness = Likeness::of(node);
        likeness.labels.retain(|key, _| mentioned.contains(key));
        if likeness.roles.remove("master") {
            likeness.roles.insert("control-plane".to_owned());
        }
        likeness.kvm = likeness.kvm.filter(|_| says_kvm);
        likeness
    };
    for node in declared {
        counts.entry(look(node)).or_default().0 += 1;
    }
    for node in found {
        counts.entry(look(node)).or_default().1 += 1;
    }
    let differ = counts.iter().filter(|(_, (a, b))| a != b);
    differ
        .map(|(likeness, (a, b))| format!("{}: {a} declared, {b} found", likeness.text()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::Taint;

    fn node(name: &str, architecture: &str, role: &str) -> Node {
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        Node {
            name: name.to_owned(),
            architecture: architecture.to_owned(),
            labels: [
                label(&format!("{ROLE_LABEL}{role}"), ""),
                label("kubernetes.io/hostname", name),
                label("cpu-feature.node.kubevirt.io/avx", "true"),
            ]
            .into(),
            ..Node::default()
        }
    }

    #[test]
    fn alike_ones_are_a_pool() {
        let mut nodes = vec![
            node("m-0", "amd64", "master"),
            node("m-1", "amd64", "master"),
            node("w-0", "arm64", "worker"),
            node("w-1", "arm64", "worker"),
            node("gpu", "arm64", "worker"),
        ];
        nodes[4].labels.insert("gpu".to_owned(), "true".to_owned());
        nodes[4].taints.push(Taint {
            key: "gpu".to_owned(),
            value: String::new(),
            effect: "NoSchedule".to_owned(),
        });
        nodes[2].taints.push(Taint {
            key: "node.kubernetes.io/unreachable".to_owned(),
            value: String::new(),
            effect: "NoExecute".to_owned(),
        });
        assert_eq!(
            pools(&nodes),
            "  nodePools:
    - name: control-plane-amd64
      count: 2
      architecture: amd64
      roles: [master]
    - name: worker-arm64
      count: 2
      architecture: arm64
      roles: [worker]
  nodes:
    - name: gpu
      architecture: arm64
      roles: [worker]
      labels:
        gpu: \"true\"
      taints:
        - key: gpu
          effect: NoSchedule
"
        );
        assert_eq!(pools(&[]), "  nodePools: []\n");
    }

    #[test]
    fn differences_are_counted_by_kind() {
        let declared = [
            node("a", "amd64", "control-plane"),
            node("b", "arm64", "worker"),
        ];
        let mut found = [node("x", "amd64", "master"), node("y", "arm64", "worker")];
        // What the declaration doesn't mention does not count.
        found[1].labels.insert("zone".to_owned(), "z".to_owned());
        found[1].kvm = Some(true);
        assert_eq!(node_differences(&declared, &found), Vec::<String>::new());
        found[1].architecture = "s390x".to_owned();
        assert_eq!(
            node_differences(&declared, &found),
            [
                "worker, arm64: 1 declared, 0 found",
                "worker, s390x: 0 declared, 1 found"
            ]
        );
    }
}
