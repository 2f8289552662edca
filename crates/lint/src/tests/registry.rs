//! The registry is complete and stable.

use hcoplan_diagnostics::finding::Claim;
use hcoplan_diagnostics::finding::{Prediction, Rule};

use crate::{find, rules, sections};

/// The sections of every page, in this order.
const SECTIONS: [&str; 5] =
    ["## What is wrong", "## Why it matters", "## How to fix it", "## When to ignore it", "## Sources"];

/// The maximum length of a page: one screen.
const MAX_LINES: usize = 60;

fn complaints(rule: &Rule) -> Vec<String> {
    let mut out = Vec::new();
    let mut complain = |what: &str| out.push(format!("{}: {what}", rule.name));
    let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if rule.name.is_empty() || !rule.name.chars().all(kebab) {
        complain("the name is not kebab-case");
    }
    if rule.summary.is_empty() || rule.summary.ends_with('.') {
        complain("the summary is empty or ends with a full stop");
    }
    if rule.predicts == Prediction::Silent("") {
        complain("it predicts nothing: say what happens when nobody complains");
    }
    let page = sections(rule);
    let headings: Vec<&str> = page.lines().filter(|l| l.starts_with("## ") && *l != "## Options").collect();
    if headings != SECTIONS {
        complain(&format!("the page's sections are {headings:?}"));
    }
    let sections = page.split("\n## ").skip(1);
    for section in sections.filter(|s| s.trim().lines().count() < 2) {
        complain(&format!("an empty section: {section}"));
    }
    if !page.contains("```") {
        complain("the page has no example");
    }
    let (_, ignoring) = page.split_once("## When to ignore it").unwrap_or_default();
    if matches!(rule.predicts, Prediction::Rejection(_)) && !ignoring.contains("Never") {
        complain("the page doesn't say that a rejection is never ignored");
    }
    let length = page.lines().count();
    if length > MAX_LINES {
        complain(&format!("the page has {length} lines, {MAX_LINES} are allowed"));
    }
    out
}

#[test]
fn every_rule_is_complete() {
    let complaints: Vec<String> = rules().iter().flat_map(|r| complaints(r.rule)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn rules_are_sorted_and_unique() {
    let names: Vec<&str> = rules().iter().map(|r| r.rule.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
}

/// The catalogue of rules that was written first; all of it is implemented.
#[test]
fn every_rule_of_the_catalogue_is_there() {
    let path = hcoplan_testing::root().join("testdata/lint/catalogue.txt");
    let catalogue = std::fs::read_to_string(path).expect("the catalogue's names");
    let missing = catalogue.lines().filter(|name| find(name).is_none());
    let missing: Vec<&str> = missing.collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(catalogue.lines().count(), 159);
}

/// Names, groups and severities are an interface: users select and suppress by them.
#[test]
fn names_and_severities_are_known() {
    let line = |r: &crate::RegisteredRule| {
        let rule = r.rule;
        let (severity, group) = (rule.severity.as_str(), rule.group.as_str());
        let (needs, fix) = (rule.needs.as_str(), rule.fix.as_str());
        let pedantic = if rule.pedantic { " pedantic" } else { "" };
        let name = rule.name;
        format!("{name} {severity} {group} needs={needs} fix={fix}{pedantic}\n")
    };
    let list: String = rules().iter().map(line).collect();
    let path = hcoplan_testing::root().join("testdata/lint/rules.txt");
    snapbox::assert_data_eq!(list, snapbox::Data::read_from(&path, None).raw());
}

/// A claim that tests can't check names its source: an operator, a project, or a page.
#[test]
fn unproven_claims_have_a_source() {
    const PROJECTS: [&str; 19] = [
        "AAQ",
        "Argo CD",
        "CDI",
        "Docker",
        "Flux",
        "HCO",
        "KubeVirt",
        "Kubernetes",
        "OLM",
        "Operator SDK",
        "SSP",
        "https://",
        "kustomize",
        "openshift",
        "schemas/",
        "skopeo",
        // Claims about hcoplan refer to its own documentation.
        "docs/",
        "hcoplan",
        "YAML",
    ];
    for rule in rules().iter().map(|r| r.rule) {
        if rule.claim() != Claim::Outside {
            continue;
        }
        let sources = sections(rule).split_once("## Sources").map_or("", |(_, s)| s);
        assert!(PROJECTS.iter().any(|project| sources.contains(project)), "{} has no source", rule.name);
    }
}

#[test]
fn unproven_claims_name_checkable_evidence() {
    let marks = ["http", "`", ".md", "docs/"];
    let is_evidence = |line: &str| marks.iter().any(|mark| line.contains(mark));
    for rule in rules().iter().map(|r| r.rule) {
        let (_, sources) = sections(rule).split_once("## Sources").expect("sources");
        if rule.claim() == Claim::Outside {
            assert!(sources.lines().any(is_evidence), "{}: {sources}", rule.name);
        }
    }
}
