//! A dumped cluster, from which an inventory is created or updated.

use crate::inventory::{drift, pools, pools_yaml};
use hcoplan_planner::inventory::Node;
use hcoplan_yaml::edit::{self, Change};

use super::INVENTORY_SCHEMA;
use super::facts::{all_facts, comment, facts, is_same, is_same_release};
use crate::prelude::*;
use crate::repo::{ClusterRef, Dump, Fact, FactOrigin, Identity, Loaded, known_release, nearest_release};

/// Argo CD skips a file with this comment.
const NOT_APPLIED: &str = "# +argocd:skip-file-rendering\n";

/// The facts for an inventory of a running cluster.
#[derive(Debug)]
pub struct DumpedCluster {
    /// Its facts, except for the nodes.
    pub identity: Identity,
    /// The dump's release, if another source than the inventory has another one.
    pub contradicted: Option<String>,
    /// Whether such a source has a release: a copy of it would be old after the next upgrade.
    states_release: bool,
    dump: Dump,
    nodes: Vec<Node>,
    /// The text of the HyperConverged, whose placements name labels.
    text: String,
}

impl DumpedCluster {
    /// Combines a cluster's dump and nodes with its manifests. The dump takes precedence: it has the cluster's actual
    /// state.
    pub fn new(dump: Dump, nodes: Vec<Node>, manifests: Option<&Loaded>) -> Self {
        let mut identity = dump.identity();
        // The dump's files aren't part of the repository.
        identity.namespace.place = None;
        identity.platform.place = None;
        if let Some(release) = &mut identity.release {
            release.place = None;
        }
        // Only the HyperConverged's text: a dump may contain the nodes, with all their labels.
        let text = manifests.map(|m| m.document.file.text().get(m.document.root.span.range()).unwrap_or_default());
        let text = text.unwrap_or_default().to_owned();
        let (mut contradicted, mut states_release) = (None, false);
        if let Some(own) = manifests {
            let stated = own.identity.release.as_ref().filter(|own| own.by != FactOrigin::Inventory);
            let found = identity.release.as_ref().map(|found| found.value.clone());
            let is_other = |found: &String| stated.is_some_and(|own| !is_same_release(&own.value, found));
            let is_default = stated.is_some_and(|own| own.by == FactOrigin::Configured);
            contradicted = found.filter(is_other);
            states_release = stated.is_some() && !(is_default && contradicted.is_some());
            if states_release {
                identity.release = None;
            } else {
                contradicted = None;
            }
            identity = identity.with_fallback(own.identity.clone());
        }
        if let (FactOrigin::Nothing, Some(value)) = (identity.platform.by, dump.platform()) {
            identity.platform.by = FactOrigin::Nodes;
            identity.platform.value = value;
        }
        Self { identity, contradicted, states_release, dump, nodes, text }
    }

    /// The facts to write into an inventory.
    fn written(&self) -> Identity {
        let release = self.identity.release.clone();
        let release = release.filter(|release| !self.states_release || release.by == FactOrigin::CommandLine);
        let release = release.filter(|release| known_release(&release.value).is_ok());
        Identity { release, ..self.identity.clone() }
    }

    /// The release that runs and isn't modelled, so that an inventory can't have it, with the nearest modelled one.
    pub fn not_modelled(&self) -> Option<(String, String)> {
        let release = self.identity.release.as_ref().filter(|release| known_release(&release.value).is_err())?;
        let nearest = nearest_release(&release.value)?;
        Some((format!("{} has {}, which isn't modelled", release.by, release.value), nearest.label().to_owned()))
    }

    /// Whether a placement names a label.
    fn names(&self, key: &str) -> bool {
        self.dump.names_label(key) || self.text.contains(key)
    }

    /// The text of a new inventory.
    pub fn inventory(&self, name: &str) -> String {
        let fact = |Fact { field, value, by }| format!("  {field}: {}  # {by}\n", edit::inline(&value));
        let more: String = self.dump.facts().into_iter().map(fact).collect();
        let nearest = self.not_modelled().map(|(why, nearest)| {
            format!("  # {}; the nearest release that is:\n  # release: {nearest:?}\n", comment(&why))
        });
        format!(
            "# yaml-language-server: $schema={INVENTORY_SCHEMA}\n\
             apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nmetadata:\n  name: {}\n\
             spec:\n{}{}{more}{}",
            edit::inline(&name.into()),
            nearest.unwrap_or_default(),
            facts(&self.written()),
            pools_yaml(&pools(&self.nodes, |key| self.names(key))),
        )
    }

    /// The text of a new inventory in a repository; Argo CD skips it.
    pub fn inventory_of(&self, cluster: &ClusterRef) -> String {
        let mut parts = cluster.name().rsplit('/');
        let own = parts.find(|part| !matches!(*part, "" | "." | "files" | "templates"));
        self.skipped_inventory(own.unwrap_or("cluster"))
    }

    /// The text of a new inventory that Argo CD skips.
    pub fn skipped_inventory(&self, name: &str) -> String {
        format!("{NOT_APPLIED}{}", self.inventory(name))
    }

    /// Updates an inventory; returns its text and descriptions of the changes.
    ///
    /// # Errors
    /// An edit that the inventory's layout doesn't allow.
    pub fn update(&self, document: &Document) -> Result<(String, Vec<String>), edit::Reason> {
        let spec = Path::dotted("spec");
        let mut changes = Vec::new();
        let mut descriptions = Vec::new();
        let mut facts = all_facts(&self.written(), self.dump.facts());
        // A platform derived from the nodes is only used if none is declared.
        if self.identity.platform.by == FactOrigin::Nodes && document.root.at(&spec.key("platform")).is_none() {
            facts.push(Fact {
                field: "platform",
                value: self.identity.platform.value.as_str().into(),
                by: "the nodes",
            });
        }
        for Fact { field, value, by } in facts {
            let path = spec.key(field);
            let declared = document.root.at(&path).map(yaml::Node::to_json);
            if declared.as_ref().is_some_and(|declared| is_same(field, declared, &value)) {
                continue;
            }
            let was = declared.map_or_else(String::new, |declared| format!(", was {declared}"));
            descriptions.push(format!("{field}: {value} ({by}{was})"));
            changes.push(Change::Set(path, value));
        }
        let drift = drift(document, &self.nodes, |key| self.names(key));
        for count in drift.counts.iter().filter(|c| !c.nodes.is_empty()) {
            let (name, found) = (&count.name, count.nodes.len());
            descriptions.push(format!("pool {name}: {found} nodes, were {}", count.declared));
            let path = spec.key(count.list).index(count.index).key("count");
            changes.push(Change::Set(path, found.into()));
        }
        // From the back, so that the indexes of the others stay valid.
        for removed in drift.counts.iter().rev().filter(|c| c.nodes.is_empty()) {
            descriptions.push(format!("{} is removed", removed.name));
            let path = spec.key(removed.list).index(removed.index);
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
            descriptions.push(format!("{}: new ({})", pool.name, pool.text()));
            changes.push(Change::Append(spec.key(pool.list()), pool.to_json()));
        }
        let edits = edit::edits(document, &changes)?;
        Ok((edit::apply(document.file.text(), &edits)?, descriptions))
    }
}

/// The names of an inventory's pools and nodes.
fn names(document: &Document) -> Vec<String> {
    let entries = ["spec.nodePools", "spec.nodes"].into_iter().flat_map(|list| document.root.list_at(list));
    entries.filter_map(|entry| entry.text_at("name")).map(ToOwned::to_owned).collect()
}
