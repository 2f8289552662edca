//! The rules by name: their checks, phases and pages, and what selects them.

use std::sync::LazyLock;

use hcoplan_diagnostics::finding::{Group, Rule};
use hcoplan_planner::inventory::{INVENTORY_INCONSISTENT, INVENTORY_INVALID};
use hcoplan_repository::repo;

use super::context::Context;
use super::rules::{RULES, TABLES};
use super::sink::Sink;
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
    let rule = || find(name).map(|r| Selector::Rule(r.rule.name));
    group.map(Selector::Group).or_else(rule)
}

/// When a rule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// With most rules, sorted by name.
    Always,
    /// After those: a general rule, if none of them explained the problem better.
    Late,
    /// At the end: reports what no rule explained.
    Last,
    /// Reported while reading files, not by the engine.
    Elsewhere,
}

/// A rule with its check.
#[derive(Debug, Clone, Copy)]
pub struct RegisteredRule {
    /// Metadata and page.
    pub rule: &'static Rule,
    /// Its phase.
    pub when: RunPhase,
    /// Checks one cluster.
    pub check: fn(&Context<'_>, &mut Sink),
}

/// A rule of the first phase.
pub(super) const fn always(rule: &'static Rule, check: fn(&Context<'_>, &mut Sink)) -> RegisteredRule {
    RegisteredRule { rule, when: RunPhase::Always, check }
}

/// A rule of the last phase.
pub(super) const fn last(rule: &'static Rule, check: fn(&Context<'_>, &mut Sink)) -> RegisteredRule {
    RegisteredRule { rule, when: RunPhase::Last, check }
}

/// A rule or a group of rules, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// One rule.
    Rule(&'static str),
    /// All rules of a group.
    Group(Group),
}

impl Selector {
    /// The name of the rule or group.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule(name) => name,
            Self::Group(group) => group.as_str(),
        }
    }

    /// Whether it selects a rule.
    pub fn matches(self, rule: &Rule) -> bool {
        match self {
            Self::Rule(name) => name == rule.name,
            Self::Group(group) => group == rule.group,
        }
    }
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
