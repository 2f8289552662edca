//! Prints an upgrade: the change itself, a checklist of all steps, and JSON for each step.

use crate::document::{Block, Document, Level, Text};
use serde_json::{Value, json};

use super::{Changes, View, json};
use hcoplan_analysis::review::{Steps, clusters};
use hcoplan_diagnostics::finding::Finding;

/// The steps of an upgrade, for a screen.
pub(crate) struct UpgradeView<'a>(pub(crate) &'a Steps);

impl<'a> UpgradeView<'a> {
    /// `Upgrade to 1.19 via 1.18 (on it or later already: clusters/lab)`.
    fn title(&self) -> String {
        let names: Vec<&str> = self.0.already_there.iter().map(String::as_str).collect();
        match names.len() {
            0 => self.way(),
            n if n == self.0.compared => {
                format!("{}: all run it or a later release already", self.way())
            }
            _ => format!("{} (on it or later already: {})", self.way(), clusters(&names)),
        }
    }

    fn way(&self) -> String {
        let names: Vec<&str> = self.0.steps.iter().map(|(name, _)| &**name).collect();
        match names.as_slice() {
            [] => "Upgrade".to_owned(),
            [one] => format!("Upgrade to {one}"),
            [way @ .., last] => format!("Upgrade to {last} via {}", way.join(", ")),
        }
    }

    /// The checklist, after the change unless that is empty.
    pub(super) fn screen(&self, title: String, changes: &Changes<'a>, before: &View<'_>) -> Document {
        let (review, upgrade) = (self.0.review(), self.changes(changes));
        let view = View::new(&upgrade, &review);
        let named =
            |(level, text): (Level, Text)| (level, Text::new().strong(format!("{}: ", self.title())).then(text));
        let mut blocks = view.checklist();
        blocks.extend(view.findings());
        let is_known = |f: &&Finding| {
            review.added.iter().any(|l| (l.finding.rule.name, &l.finding.message) == (f.rule.name, &f.message))
        };
        let counts = before.review.counts;
        if counts.differing + counts.findings_added > 0 || !before.review.shown_again().iter().all(is_known) {
            let (level, verdict) = before.verdict();
            blocks.push(Block::Heading(1, "The change before the upgrade".into()));
            blocks.push(Block::Verdict(level, verdict));
            blocks.push(before.sides());
            blocks.extend(super::parts(before));
        }
        Document { title, verdict: Some(named(view.verdict())), blocks, last: Some(named(view.last())) }
    }

    /// The checklist as part of a page.
    pub(crate) fn checklist(&self, changes: &Changes<'a>) -> Vec<Block> {
        let (review, upgrade) = (self.0.review(), self.changes(changes));
        let view = View::new(&upgrade, &review);
        let (level, verdict) = view.verdict();
        let verdict = Block::Verdict(level, Text::new().plain(format!("{}: ", self.title())).then(verdict));
        // Section headings would mix with the page's.
        let inner = view.checklist().into_iter().chain(view.findings()).map(|block| match block {
            Block::Heading(_, text) => Block::Heading(2, text),
            other => other,
        });
        std::iter::once(verdict).chain(inner).collect()
    }

    fn changes(&self, of: &Changes<'a>) -> Changes<'a> {
        Changes {
            before: "what runs now",
            after: self.0.steps.last().map_or("", |(name, _)| name),
            clusters: &[],
            compared: self.0.compared,
            findings: &[],
            ..*of
        }
    }
}

/// Each step as JSON, for `upgrade` in the plan's document; the last one has the checklist.
pub fn steps_document<'a>(steps: &'a Steps, changes: &Changes<'a>) -> Value {
    let review = steps.review();
    let mut out: Vec<Value> = Vec::new();
    for (to, clusters) in &steps.steps {
        let step = Changes { before: "before", after: to, clusters, ..UpgradeView(steps).changes(changes) };
        let mut document = json::document(&step);
        document["to"] = json!(to);
        out.push(document);
    }
    if let Some(last) = out.last_mut() {
        last["checklist"] = json::reviewed(&UpgradeView(steps).changes(changes), &review);
    }
    out.into()
}
