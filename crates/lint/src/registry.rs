//! The list of all rules, and their pages from `docs/rules/`.

use std::sync::LazyLock;

use hcoplan_diagnostics::finding::{Group, Rule};
use hcoplan_planner::inventory::{INVENTORY_INCONSISTENT, INVENTORY_INVALID};
use hcoplan_repository::repo;

use super::registered_rule::{RegisteredRule, RunPhase};
use super::rules::{RULES, TABLES};
use super::selector::Selector;
use super::suppression_rules::{SUPPRESSION_INVALID, SUPPRESSION_UNUSED};

/// Rules that are reported while reading files.
static ELSEWHERE: &[&Rule] = &[&INVENTORY_INCONSISTENT, &INVENTORY_INVALID, &SUPPRESSION_INVALID, &SUPPRESSION_UNUSED];

static ALL: LazyLock<Vec<RegisteredRule>> = LazyLock::new(|| {
    let elsewhere = ELSEWHERE.iter().chain(repo::RULES).map(|rule| RegisteredRule {
        rule,
        when: RunPhase::Elsewhere,
        check: |_, _| {},
    });
    let here = TABLES.iter().copied().flatten().chain(RULES);
    let mut all: Vec<RegisteredRule> = here.copied().chain(elsewhere).collect();
    all.sort_by_key(|r| r.rule.name);
    all
});

/// All rules, sorted by name.
pub fn rules() -> &'static [RegisteredRule] {
    &ALL
}

/// A rule by its name.
pub fn find(name: &str) -> Option<&'static RegisteredRule> {
    let found = ALL.binary_search_by_key(&name, |r| r.rule.name);
    ALL.get(found.ok()?)
}

/// The rule or group with a name.
pub fn selector(name: &str) -> Option<Selector> {
    let group = Group::ALL.into_iter().find(|g| g.as_str() == name);
    group.map(Selector::Group).or_else(|| find(name).map(|r| Selector::Rule(r.rule.name)))
}

/// A rule's page as Markdown: name, two lines of properties, and sections.
pub fn page(rule: &Rule) -> &'static str {
    hcoplan_rule_pages::page(rule.name).unwrap_or_default()
}

/// A rule's page, starting with its first section.
pub fn sections(rule: &Rule) -> &'static str {
    let page = page(rule);
    page.find("\n## ").map_or("", |start| page[start..].trim())
}
