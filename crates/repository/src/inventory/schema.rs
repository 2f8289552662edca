//! Validates a ClusterInventory with the published JSON Schema, and the rules that report what is wrong.

use crate::prelude::*;
use hcoplan_diagnostics::finding::{Applicability, Edit, Fix};
use hcoplan_kubernetes::schema::{DocumentSchema, Mistake};
use hcoplan_planner::inventory::Architecture;
use hcoplan_rule_pages::rules::INVENTORY_INVALID;
use hcoplan_yaml::Node;
use hcoplan_yaml::Segment;

/// The published schema, which editors use, too.
pub const INVENTORY_SCHEMA: &str = hcoplan_schemas::INVENTORY;

/// The schema, compiled at its first use.
pub(super) fn schema() -> &'static DocumentSchema {
    static SCHEMA: OnceLock<DocumentSchema> = OnceLock::new();
    SCHEMA.get_or_init(|| DocumentSchema::of(INVENTORY_SCHEMA))
}

/// What the schema rejects in a ClusterInventory, except aliases of architectures, which are accepted and reported when
/// read.
pub(super) fn check(document: &Document) -> Vec<Finding> {
    let mistakes = schema().check(&document.file, &document.root);
    let is_alias = |m: &Mistake| {
        let value = document.root.at(&m.path).and_then(Node::as_str);
        let is_architecture = matches!(m.path.0.last(), Some(Segment::Key(k)) if k == "architecture");
        is_architecture && matches!(value.map(Architecture::of), Some(Architecture::Alias(_)))
    };
    let mut found = Vec::with_capacity(mistakes.len());
    let mistakes = mistakes.into_iter().filter(|m| !is_alias(m));
    found.extend(mistakes.map(|m| finding(document, m)));
    found
}

fn finding(document: &Document, mistake: Mistake) -> Finding {
    let location = document.location(mistake.span);
    let mut finding = Finding::new(&INVENTORY_INVALID, mistake.message).at(location.clone());
    if let Some(help) = mistake.help {
        finding = finding.help(help);
    }
    match mistake.instead {
        Some(text) => {
            let title = format!("write {text}");
            finding.fix(replace(&location, text, title, Applicability::Suggestion))
        }
        None => finding,
    }
}

/// A fix that replaces the value with `text`.
pub(super) fn replace(
    location: &Location,
    text: impl Into<String>,
    title: impl Into<String>,
    applicability: Applicability,
) -> Fix {
    Fix {
        title: title.into(),
        applicability,
        edits: vec![Edit { file: Arc::clone(&location.file), span: location.span, text: text.into() }],
    }
}
