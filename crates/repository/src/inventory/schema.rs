//! Validates a ClusterInventory with the published JSON Schema, and the rules that report what is wrong.

use crate::prelude::*;
use hcoplan_diagnostics::finding::Rule;
use hcoplan_kubernetes::schema::{DocumentSchema, Mistake};
use hcoplan_planner::inventory::Architecture;
use hcoplan_yaml::Node;
use hcoplan_yaml::Segment;

/// The published schema, which editors use, too.
pub const INVENTORY_SCHEMA: &str = hcoplan_schemas::INVENTORY;

static SCHEMA: LazyLock<DocumentSchema> = LazyLock::new(|| DocumentSchema::of(INVENTORY_SCHEMA));

/// What the schema rejects in a ClusterInventory, except aliases of architectures, which are accepted and reported when
/// read.
pub(super) fn check(document: &Document) -> Vec<Finding> {
    let mistakes = SCHEMA.check(&document.file, &document.root);
    let is_alias = |m: &Mistake| {
        let value = document.root.at(&m.path).and_then(Node::as_str);
        let is_architecture = matches!(m.path.0.last(), Some(Segment::Key(k)) if k == "architecture");
        is_architecture && matches!(value.map(Architecture::of), Some(Architecture::Alias(_)))
    };
    let mistakes = mistakes.into_iter().filter(|m| !is_alias(m));
    mistakes.map(|m| finding(&INVENTORY_INVALID, document, m)).collect()
}

/// The finding about what a schema rejects in a document.
pub(crate) fn finding(rule: &'static Rule, document: &Document, mistake: Mistake) -> Finding {
    let place = document.location(mistake.span);
    let mut finding = Finding::new(rule, mistake.message).at(place.clone());
    finding.help = mistake.help.map(Into::into);
    if let Some(text) = mistake.instead {
        finding.fixes.push(Fix::edit(format!("write {text}"), Applicability::Suggestion, place, text));
    }
    finding
}
