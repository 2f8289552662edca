//! Prints a rule's page: its properties, the sections of `docs/rules`, and its options.

use crate::prelude::*;
use std::fmt::Write as _;

use hcoplan_diagnostics::finding::{OptionValue, Prediction};
use hcoplan_planner::release::Distribution;

use crate::rows::Rows;

/// What a rule needs, its fix, and when it runs, in words.
static FACTS: Rows<(&str, &str)> = Rows::of("ruleFacts");

/// A rule's page as Markdown: name, summary, two lines of properties, sections and options.
pub fn page(rule: &Rule) -> String {
    format!("{}\n{}\n{}", head(rule), sections(rule), options(rule))
}

/// The sections of a rule's page.
pub fn sections(rule: &Rule) -> &'static str {
    let page = hcoplan_rule_pages::page(rule.name).unwrap_or_default();
    page.find("\n## ").map_or("", |start| page[start..].trim())
}

/// The page up to its first section: name, summary, and two lines of properties.
fn head(rule: &Rule) -> String {
    let (severity, group, confidence) = (rule.severity.as_str(), rule.group.as_str(), rule.confidence.as_str());
    let releases = match (rule.since, rule.until) {
        (None, None) => "all releases".to_owned(),
        (Some(first), None) => format!("from release {first} on"),
        (None, Some(last)) => format!("up to release {last}"),
        (Some(first), Some(last)) => format!("releases {first} to {last}"),
    };
    let mut facts = format!("**{severity}** · {group} · {confidence} confidence · {releases}");
    for fact in [rule.needs.as_str(), rule.fix.as_str(), if rule.pedantic { "pedantic" } else { "" }].map(words) {
        if !fact.is_empty() {
            let _ = write!(facts, " · {fact}");
        }
    }
    let (name, summary) = (rule.name, sentence(rule.summary));
    format!("# {name}\n\n{summary}.\n\n{facts}\n\n{}\n", consequence(rule))
}

/// The section with the rule's options; empty without options.
fn options(rule: &Rule) -> String {
    let mut out = String::new();
    if !rule.options.is_empty() {
        out.push_str("\n## Options\n\nIn `hcoplan.yaml`, below `rules:`.\n\n");
        let _ = writeln!(out, "```yaml\nrules:\n  {}:", rule.name);
        for option in rule.options {
            let default = default(option.default);
            let _ = writeln!(out, "    {}: {default}  # {}", option.name, option.doc);
        }
        out.push_str("```\n");
    }
    out
}

/// A text with a capital at its start.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// The words for a fact of a rule.
fn words(fact: &str) -> &'static str {
    FACTS.iter().find(|row| row.0 == fact).map_or("", |row| row.1)
}

/// What a rule's finding has as its consequence: `Alert: …`.
pub fn consequence(rule: &Rule) -> String {
    let quoted = |words: &str| if words.contains('<') { format!("`{words}`") } else { words.to_owned() };
    match rule.predicts {
        Prediction::Alert { name, runbook } => {
            let vendors = Distribution::vendors_runbooks(name).into_iter();
            let vendors = vendors.map(|(title, address)| format!(" ([{title}]({address}))"));
            vendors.fold(format!("Alert: [{name}]({runbook})"), |out, own| out + &own)
        }
        Prediction::Rejection(words) => format!("Rejected with: {}", quoted(words)),
        Prediction::ReconcileError(words) => format!("Reconcile error: {}", quoted(words)),
        Prediction::Silent(what) => format!("Consequence: {what}"),
    }
}

fn default(value: OptionValue) -> String {
    match value {
        OptionValue::Flag(on) => on.to_string(),
        OptionValue::Number(number) => number.to_string(),
        OptionValue::Names(names) => format!("[{}]", names.join(", ")),
    }
}
