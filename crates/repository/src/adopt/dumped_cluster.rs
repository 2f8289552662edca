//! A running cluster, of which an inventory is made or brought up to date.

use hcoplan_planner::inventory::{Node, drift, pools, pools_yaml};
use hcoplan_planner::release::Platform;
use hcoplan_yaml::edit::{self, Change};
use hcoplan_yaml::{self as yaml, Document, Path};

use super::INVENTORY_SCHEMA;
use super::facts::{all_facts, facts, is_of_dump, is_same};
use crate::repo::{ClusterRef, Dump, Fact, FactOrigin, Identity, Loaded};

/// By this comment Argo CD skips a file.
const NOT_APPLIED: &str = "# +argocd:skip-file-rendering\n";

/// Everything that an inventory says of a running cluster.
#[derive(Debug)]
pub struct DumpedCluster {
    /// What it is beside its nodes.
    pub identity: Identity,
    dump: Dump,
    nodes: Vec<Node>,
    /// The text of the HyperConverged, in which placements name labels.
    text: String,
}

impl DumpedCluster {
    /// A cluster's dump with its nodes, and the cluster's manifests. What the dump says counts first: it is what the
    /// cluster really has.
    pub fn new(dump: Dump, nodes: Vec<Node>, manifests: Option<&Loaded>) -> Self {
        let mut identity = dump.identity();
        // The dump's files are nobody's to examine in the repository.
        identity.namespace.place = None;
        identity.platform.place = None;
        if let Some(release) = &mut identity.release {
            release.place = None;
        }
        // A dump may hold the nodes, too, and those have every label.
        let text = manifests.map(|m| m.document.file.text().get(m.document.root.span.range()).unwrap_or_default());
        let text = text.unwrap_or_default().to_owned();
        if let Some(own) = manifests {
            identity = identity.with_fallback(own.identity.clone());
        }
        if identity.platform.by == FactOrigin::Nothing {
            identity.platform.by = FactOrigin::Nodes;
            identity.platform.value = if dump.is_openshift() { Platform::OpenShift } else { Platform::Kubernetes };
        }
        Self { identity, dump, nodes, text }
    }

    /// Takes the release out, for who writes it down elsewhere: the one that the dump says, if it does.
    pub fn take_release(&mut self) -> Option<String> {
        self.identity.release.take().filter(|r| is_of_dump(r.by)).map(|r| r.value)
    }

    /// Whether a placement names a label.
    fn names(&self, key: &str) -> bool {
        self.dump.names_label(key) || self.text.contains(key)
    }

    /// A new inventory.
    pub fn inventory(&self, name: &str) -> String {
        let fact = |fact: Fact| {
            let Fact { field, value, by } = fact;
            format!("  {field}: {}  # {by}\n", edit::inline(&value))
        };
        let more: String = self.dump.facts().into_iter().map(fact).collect();
        format!(
            "# yaml-language-server: $schema={INVENTORY_SCHEMA}\n\
             apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nmetadata:\n  name: {}\n\
             spec:\n{}{more}{}",
            edit::inline(&name.into()),
            facts(&self.identity),
            pools_yaml(&pools(&self.nodes, |key| self.names(key))),
        )
    }

    /// The same for a cluster of a repository whose controllers are to skip it.
    pub fn inventory_of(&self, cluster: &ClusterRef) -> String {
        let mut parts = cluster.name().rsplit('/');
        let own = parts.find(|part| !matches!(*part, "" | "." | "files" | "templates"));
        format!("{NOT_APPLIED}{}", self.inventory(own.unwrap_or("cluster")))
    }

    /// An inventory brought up to date: its text, and what was changed, in words.
    ///
    /// # Errors
    /// An edit that can't be made in its layout.
    pub fn update(&self, document: &Document) -> Result<(String, Vec<String>), edit::Reason> {
        let spec = Path::dotted("spec");
        let mut changes = Vec::new();
        let mut said = Vec::new();
        let mut facts = all_facts(&self.identity, self.dump.facts());
        // What the nodes look like counts where nobody has said it.
        if self.identity.platform.by == FactOrigin::Nodes && document.root.at(&spec.key("platform")).is_none() {
            facts.push(Fact {
                field: "platform",
                value: self.identity.platform.value.as_str().into(),
                by: "the nodes",
            });
        }
        for Fact { field, value, by } in facts {
            let path = spec.key(field);
            let now = document.root.at(&path).map(yaml::Node::to_json);
            if now.as_ref().is_some_and(|now| is_same(field, now, &value)) {
                continue;
            }
            let was = now.map_or_else(String::new, |now| format!(", was {now}"));
            said.push(format!("{field}: {value} ({by}{was})"));
            changes.push(Change::Set(path, value));
        }
        let drift = drift(document, &self.nodes, |key| self.names(key));
        for count in drift.counts.iter().filter(|c| !c.nodes.is_empty()) {
            let (name, found) = (&count.name, count.nodes.len());
            said.push(format!("pool {name}: {found} nodes, were {}", count.declared));
            let path = spec.key(count.list).index(count.index).key("count");
            changes.push(Change::Set(path, found.into()));
        }
        // From the back, so that the places of the others stay.
        for gone in drift.counts.iter().rev().filter(|c| c.nodes.is_empty()) {
            said.push(format!("{} is gone", gone.name));
            let path = spec.key(gone.list).index(gone.index);
            changes.push(Change::Remove(path));
        }
        let mut names = names(document);
        for unknown in &drift.unknown {
            let mut pool = unknown.pool.clone();
            for number in 2.. {
                if !names.contains(&pool.name) {
                    break;
                }
                pool.name = format!("{}-{number}", unknown.pool.name);
            }
            names.push(pool.name.clone());
            said.push(format!("{}: new ({})", pool.name, pool.text()));
            changes.push(Change::Append(spec.key(pool.list()), pool.to_json()));
        }
        let edits = edit::edits(document, &changes)?;
        Ok((edit::apply(document.file.text(), &edits)?, said))
    }
}

/// The names of an inventory's pools and nodes.
fn names(document: &Document) -> Vec<String> {
    let lists = ["nodePools", "nodes"].into_iter();
    let lists = lists.filter_map(|list| document.root.at(&Path::dotted("spec").key(list)));
    let entries = lists.flat_map(yaml::Node::items);
    let names = entries.filter_map(|e| e.get("name").and_then(yaml::Node::as_str));
    names.map(ToOwned::to_owned).collect()
}
