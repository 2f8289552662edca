//! `docs/rules/`: each page starts with its rule's properties, and ends with its options.

use std::fmt::Write;
use std::fs;

use hcoplan_diagnostics::finding::{FixKind, Group, Needs, OptionValue, Prediction, Rule};
use hcoplan_planner::release::Distribution;

use crate::{page, rules};

/// A page with the head and options of its rule.
fn updated(rule: &Rule, page: &str) -> String {
    let sections = page.find("\n## ").map_or("", |start| page[start..].trim());
    let written = sections.split("\n## Options\n").next().unwrap_or_default().trim_end();
    format!("{}\n{written}\n{}", head(rule), options(rule))
}

#[test]
fn pages_begin_with_what_the_rules_say() {
    let docs = hcoplan_testing::root().join("docs/rules");
    let overwrites = std::env::var("SNAPSHOTS").is_ok_and(|s| s == "overwrite");
    let mut expected = vec![("README".to_owned(), index())];
    expected.extend(rules().iter().map(|r| (r.rule.name.to_owned(), updated(r.rule, page(r.rule)))));
    let mut complaints = Vec::new();
    for (name, expected) in &expected {
        let path = docs.join(format!("{name}.md"));
        let is = fs::read_to_string(&path).unwrap_or_default();
        if is == *expected {
            continue;
        }
        if overwrites {
            fs::write(&path, expected).expect("docs/rules can be written");
        } else {
            complaints.push(format!("docs/rules/{name}.md differs from its rule; expected:\n{expected}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_page_is_of_a_rule() {
    let names: Vec<&str> = rules().iter().map(|r| r.rule.name).collect();
    assert_eq!(hcoplan_rule_pages::names().collect::<Vec<_>>(), names);
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
    for fact in [needs(rule), fix(rule), if rule.pedantic { "runs with `--pedantic` or by name" } else { "" }] {
        if !fact.is_empty() {
            let _ = write!(facts, " · {fact}");
        }
    }
    let (name, summary) = (rule.name, sentence(rule.summary));
    format!("# {name}\n\n{summary}.\n\n{facts}\n\n{}: {}\n", predicts_what(rule), predicted(rule))
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

/// The index of all rules by group.
fn index() -> String {
    let mut out = String::from(
        "# Rules\n\n`hcoplan explain RULE` prints these pages.\n\nAn example is a part of a repository: without `kind` it \
         is part of a HyperConverged, and a fragment belongs where its first key is. The quote below it is the message of \
         `hcoplan lint`. A test runs all examples and remedies.\n\nHigh confidence: the finding follows from rendered \
         objects or recorded behaviour. Medium: it is right unless something outside git changes it. Low: a hint.\n\n\
         An error about a HyperConverged that the API server rejects can't be suppressed. For all others a comment \
         `# hcoplan: ignore[RULE] reason` above the line is enough ([suppressions](../baseline.md)).\n",
    );
    for group in Group::ALL {
        let mut of_group = rules().iter().filter(|r| r.rule.group == group).peekable();
        if of_group.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "\n## {}\n\n{}.\n", group.as_str(), sentence(about(group)));
        out.push_str("| rule | severity | finds | predicts |\n|---|---|---|---|\n");
        for rule in of_group.map(|r| r.rule) {
            let (name, severity) = (rule.name, rule.severity.as_str());
            let predicts = match rule.predicts {
                Prediction::Alert { name, .. } => name,
                Prediction::Rejection(_) => "rejection",
                Prediction::ReconcileError(_) => "reconcile error",
                Prediction::Silent(_) => "",
            };
            let pedantic = if rule.pedantic { " (pedantic)" } else { "" };
            let summary = rule.summary;
            let _ = writeln!(out, "| [{name}]({name}.md) | {severity}{pedantic} | {summary} | {predicts} |");
        }
    }
    out
}

/// The subject of a group.
fn about(group: Group) -> &'static str {
    match group {
        Group::Heterogeneous => "clusters whose nodes have several architectures",
        Group::GoldenImages => "golden images: DataImportCronTemplates and their imports",
        Group::Jsonpatch => "the jsonpatch annotations",
        Group::Placement => "node placement and topology",
        Group::Admission => "what the API server or a webhook rejects, or accepts although it breaks later",
        Group::Upgrade => "what an upgrade changes",
        Group::Gitops => "how the manifests are kept in git",
        Group::Operands => "operand objects that are also managed elsewhere",
        Group::Bundle => "operators' bundles that claim to be multi-arch",
        Group::Hygiene => "YAML itself, and the inventory",
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

fn needs(rule: &Rule) -> &'static str {
    match rule.needs {
        Needs::Document => "",
        Needs::Plan => "needs an accepted HyperConverged",
        Needs::Nodes => "needs an accepted HyperConverged and declared nodes",
    }
}

fn predicts_what(rule: &Rule) -> &'static str {
    match rule.predicts {
        Prediction::Alert { .. } => "Alert",
        Prediction::Rejection(_) => "Rejected with",
        Prediction::ReconcileError(_) => "Reconcile error",
        Prediction::Silent(_) => "Consequence",
    }
}

fn predicted(rule: &Rule) -> String {
    match rule.predicts {
        Prediction::Alert { name, runbook } => {
            let vendors = Distribution::vendors_runbooks(name).into_iter();
            let vendors = vendors.map(|(title, address)| format!(" ([{title}]({address}))"));
            vendors.fold(format!("[{name}]({runbook})"), |out, own| out + &own)
        }
        Prediction::Rejection(message) | Prediction::ReconcileError(message) => {
            if message.contains('<') {
                format!("`{message}`")
            } else {
                message.to_owned()
            }
        }
        Prediction::Silent(what) => what.to_owned(),
    }
}

fn fix(rule: &Rule) -> &'static str {
    match rule.fix {
        FixKind::None => "no fix",
        FixKind::Suggested => "suggested fixes",
        FixKind::Unsafe => "unsafe fix (`hcoplan fix --write --unsafe`)",
        FixKind::Safe => "safe fix (`hcoplan fix --write`)",
    }
}

fn default(value: OptionValue) -> String {
    match value {
        OptionValue::Flag(on) => on.to_string(),
        OptionValue::Number(number) => number.to_string(),
        OptionValue::Names(names) => format!("[{}]", names.join(", ")),
    }
}
