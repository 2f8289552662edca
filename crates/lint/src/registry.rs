//! The list of all rules.

use std::sync::LazyLock;

use hcoplan_diagnostics::finding::Group;

use super::registered_rule::{RegisteredRule, RunPhase, always};
use super::rules::{TABLES, of_file};
use super::selector::Selector;
use crate::prelude::*;

static ALL: LazyLock<Vec<RegisteredRule>> = LazyLock::new(|| {
    let row = |rule: &'static Rule| {
        let in_table = TABLES.iter().copied().flatten().find(|row| row.rule.name == rule.name).copied();
        let in_file = || of_file(rule).map(|check| always(rule, check));
        let elsewhere = RegisteredRule { rule, when: RunPhase::Elsewhere, check: |_, _| {} };
        in_table.or_else(in_file).unwrap_or(elsewhere)
    };
    hcoplan_rule_pages::RULES.iter().copied().map(row).collect()
});

/// All rules, sorted by name.
pub fn rules() -> &'static [RegisteredRule] {
    &ALL
}

/// The names of all rules.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|r| r.rule.name)
}

/// A rule by its name.
pub fn find(name: &str) -> Option<&'static RegisteredRule> {
    let found = ALL.binary_search_by_key(&name, |r| r.rule.name);
    ALL.get(found.ok()?)
}

/// The rule or group with a name.
pub fn selector(name: &str) -> Option<Selector> {
    Group::named(name).map(Selector::Group).or_else(|| find(name).map(|r| Selector::Rule(r.rule.name)))
}
