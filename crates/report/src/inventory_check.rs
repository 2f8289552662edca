//! Output of `hcoplan inventory check`: the differences between a dump and its inventory.

use crate::prelude::*;
use hcoplan_diagnostics::secret::mask_object;
use hcoplan_diagnostics::words::list;
use hcoplan_repository::adopt::Contradiction;
use hcoplan_repository::inventory::{CountDrift, Drift, UnknownPool};
use hcoplan_repository::repo::Fact;

/// A checked inventory.
#[derive(Debug)]
pub struct InventoryCheck<'a> {
    /// Its file.
    pub inventory: &'a Utf8Path,
    /// The files of the dump.
    pub dump: &'a [Utf8PathBuf],
    /// The facts that the dump contradicts.
    pub facts: &'a [Contradiction],
    /// Nodes without a pool, and pools with another number of nodes.
    pub drift: &'a Drift,
}

/// A difference.
struct Difference<'a> {
    place: Option<&'a Location>,
    message: String,
    help: String,
    /// Additional fields of the JSON.
    more: Value,
}

impl<'a> InventoryCheck<'a> {
    /// Whether nothing differs.
    pub fn holds(&self) -> bool {
        self.drift.is_empty() && self.facts.is_empty()
    }

    /// The differences with help, for people.
    pub fn text(&self) -> String {
        let file = self.inventory;
        let one = |Difference { place, message, help, .. }: Difference<'_>| {
            let at = place.map(|place| format!(":{}", place.start()));
            format!("{file}{}: {message}\n  help: {help}\n", at.unwrap_or_default())
        };
        self.differences().map(one).collect()
    }

    /// The document of `hcoplan schema inventory-check`.
    pub fn document(&self) -> Value {
        let one = |Difference { place, message, help, mut more }: Difference<'_>| {
            if let Some(at) = place.map(Location::start) {
                (more["line"], more["column"]) = (json!(at.line), json!(at.column));
            }
            (more["message"], more["help"]) = (json!(message), json!(help));
            more
        };
        let mut document = json!({
            "schemaVersion": "1",
            "inventory": self.inventory.as_str(),
            "matches": self.holds(),
            "differences": self.differences().map(one).collect::<Vec<_>>(),
        });
        mask_object(&mut document);
        document
    }

    fn differences(&self) -> impl Iterator<Item = Difference<'a>> {
        let dump = joined(self.dump.iter().map(|d| d.as_str()), " ");
        let import = format!("`hcoplan import {dump} --out {}`", self.inventory);
        let update = format!("{import} brings it up to date");
        let facts = self.facts.iter().map(move |Contradiction { place, declared, fact }| {
            let Fact { field, value, by } = fact;
            Difference {
                place: Some(place),
                message: format!("{field} is {declared} here, and {value} by {by}"),
                help: update.clone(),
                more: json!({"kind": "fact", "field": field, "declared": declared, "found": value, "by": by}),
            }
        });
        let counts = self.drift.counts.iter().map(|count| Difference {
            place: Some(&count.place),
            message: count_message(count),
            help: match count.nodes.len() {
                0 => "remove the entry if it is gone for good".to_owned(),
                found => format!("write `count: {found}`"),
            },
            more: json!({
                "kind": if count.nodes.is_empty() { "missing" } else { "count" },
                "name": count.name, "list": count.list, "declared": count.declared, "nodes": count.nodes,
            }),
        });
        let unknown = self.drift.unknown.iter().map(move |unknown| Difference {
            place: None,
            message: unknown_message(unknown),
            help: format!("{import} adds them"),
            more: json!({
                "kind": "unknown", "nodes": unknown.pool.nodes, "pool": unknown.pool.to_json(),
                "nearest": unknown.nearest.as_ref().map(|(name, _)| name),
            }),
        });
        facts.chain(counts).chain(unknown)
    }
}

/// Maximum nodes named.
const SHOWN: usize = 8;

fn count_message(count: &CountDrift) -> String {
    let (name, declared) = (&count.name, count.declared);
    match (count.list, count.nodes.as_slice()) {
        ("nodes", _) => format!("the node {name} is not in the dump"),
        (_, []) => format!("pool {name}: {declared} declared, none found"),
        (_, nodes) => {
            let found = nodes.len();
            format!("pool {name}: {declared} declared, {found} found ({})", list(nodes, SHOWN))
        }
    }
}

fn unknown_message(unknown: &UnknownPool) -> String {
    let nodes = &unknown.pool.nodes;
    let verb = if nodes.len() == 1 { "is" } else { "are" };
    let what = unknown.pool.text();
    let nearest =
        unknown.nearest.as_ref().map(|(name, differences)| format!("; the nearest is {name}, but for {differences}"));
    let nearest = nearest.unwrap_or_default();
    format!("{} ({what}) {verb} in no pool{nearest}", list(nodes, SHOWN))
}
