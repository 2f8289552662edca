//! An upgrade, printed: the change itself, a checklist of all its steps, and for programs each step.

use std::io::{self, Write};

use maud::Markup;
use serde_json::{Value, json};

use super::{Changes, Format, html, human, json, markdown, write};
use crate::diff::ClusterDiff;
use crate::report::Report;
use crate::review::{Review, clusters};

/// The steps of an upgrade, each with the release that it leads to and what it does to the clusters.
#[derive(Debug)]
pub struct Steps {
    /// In their order.
    pub steps: Vec<(String, Vec<ClusterDiff>)>,
    /// How many clusters were looked at.
    pub compared: usize,
    /// The clusters that run the last release already, or a later one.
    pub already_there: Vec<String>,
}

impl Steps {
    /// What a reviewer is told of all of them.
    pub fn review(&self) -> Review<'_> {
        Review::of_steps(&self.steps, self.compared)
    }

    /// `Upgrade to 1.19 by way of 1.18 (on it or later already: clusters/lab)`.
    fn title(&self) -> String {
        let names: Vec<&str> = self.already_there.iter().map(String::as_str).collect();
        match names.len() {
            0 => self.way(),
            n if n == self.compared => {
                format!("{}: all run it or a later release already", self.way())
            }
            _ => format!("{} (on it or later already: {})", self.way(), clusters(&names)),
        }
    }

    fn way(&self) -> String {
        let names: Vec<&str> = self.steps.iter().map(|(name, _)| &**name).collect();
        match names.as_slice() {
            [] => "Upgrade".to_owned(),
            [one] => format!("Upgrade to {one}"),
            [way @ .., last] => format!("Upgrade to {last} by way of {}", way.join(", ")),
        }
    }

    fn changes<'a>(&'a self, of: &Changes<'a>) -> Changes<'a> {
        Changes {
            left: "what runs now",
            right: self.steps.last().map_or("", |(name, _)| name),
            clusters: &[],
            compared: self.compared,
            findings: &[],
            ..*of
        }
    }
}

/// Prints an upgrade, and the change that comes before it where there is one.
///
/// # Errors
/// When the writer fails.
pub fn write_upgrade(format: Format, steps: &Steps, changes: &Changes<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (review, title) = (steps.review(), steps.title());
    let upgrade = steps.changes(changes);
    match format {
        Format::Human => {
            human::write_upgrade(&upgrade, &review, &title, out)?;
            if !changes.clusters.is_empty() || !changes.findings.is_empty() {
                writeln!(out)?;
                write(format, changes, out)?;
            }
            Ok(())
        }
        Format::Markdown => {
            let text = markdown::upgrade(changes, &upgrade, &review, &title);
            out.write_all(text.as_bytes())
        }
        Format::Html => {
            let page = html::upgrade(changes, &upgrade, &review, &title);
            out.write_all(page.as_bytes())
        }
        Format::Outputs => super::outputs::write(&review, out),
        _ => write(format, changes, out),
    }
}

/// The checklist as a part of a page.
pub(in crate::report) fn checklist(steps: &Steps, report: &Report<'_>) -> Markup {
    let changes = Changes {
        left: "",
        right: "",
        clusters: &[],
        compared: steps.compared,
        findings: &[],
        existing_count: true,
        root: report.root,
        left_root: report.root,
        terminal: report.terminal,
        budget: None,
    };
    html::checklist(&steps.changes(&changes), &steps.review(), &steps.title())
}

/// Each step as one document, for `upgrade` of the plan's; the last one has the checklist.
pub fn steps_document(steps: &Steps, changes: &Changes<'_>) -> Value {
    let review = steps.review();
    let mut out: Vec<Value> = Vec::new();
    for (to, clusters) in &steps.steps {
        let step = Changes { left: "before", right: to, clusters, ..steps.changes(changes) };
        let mut document = json::document(&step);
        document["to"] = json!(to);
        out.push(document);
    }
    if let Some(last) = out.last_mut() {
        last["checklist"] = json::reviewed(&steps.changes(changes), &review);
    }
    out.into()
}
