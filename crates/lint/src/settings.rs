//! Which rules run, how bad their findings are, and their options.

use std::collections::BTreeMap;

use hcoplan_diagnostics::finding::{Rule, Severity};
use hcoplan_repository::repo::Trust;
use serde_json::Value;

use super::selector::Selector;
use super::suppression::Suppression;

/// Which rules run, how bad their findings are, and their options.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Only these run; empty = all but the pedantic ones.
    pub select: Vec<Selector>,
    /// These don't run.
    pub ignore: Vec<Selector>,
    /// Run the pedantic rules, too.
    pub pedantic: bool,
    /// What the configuration says about single rules and groups.
    pub rules: BTreeMap<String, RuleSettings>,
    /// Findings that the configuration says to leave out.
    pub suppressions: Vec<Suppression>,
    /// Only some clusters are examined, so that a suppression may be about another one.
    pub partial: bool,
    /// Whose suppressions count, of those that are in documents.
    pub trust: Trust,
}

/// What the configuration says about a rule or a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleSettings {
    /// `Some(None)` switches it off.
    pub severity: Option<Option<Severity>>,
    /// Its options by name.
    pub options: BTreeMap<String, Value>,
}

impl Settings {
    /// What of them makes a gate stricter: the pedantic rules, and severities above a rule's own.
    /// Nothing is switched off or left out. `all` are the rules that there are.
    #[must_use]
    pub fn tightened<'r>(&self, all: impl Iterator<Item = &'r Rule>) -> Self {
        let higher = all.filter_map(|rule| {
            let severity = self.severity(rule)?.filter(|s| *s > rule.severity)?;
            let settings = RuleSettings { severity: Some(Some(severity)), ..RuleSettings::default() };
            Some((rule.name.to_owned(), settings))
        });
        Self { pedantic: self.pedantic, rules: higher.collect(), trust: Trust::Nobody, ..Self::default() }
    }

    /// Whether something is switched off, left out or less severe than its rule. `all` are the rules that there are.
    pub fn loosens<'r>(&self, mut all: impl Iterator<Item = &'r Rule>) -> bool {
        let lower = |rule: &Rule| self.severity(rule).is_some_and(|s| s.is_none_or(|s| s < rule.severity));
        !self.select.is_empty() || !self.ignore.is_empty() || !self.suppressions.is_empty() || all.any(lower)
    }

    /// Whether a rule runs.
    pub fn is_enabled(&self, rule: &Rule) -> bool {
        let by_name = |s: &Selector| *s == Selector::Rule(rule.name);
        let selected = if self.select.is_empty() {
            self.pedantic || !rule.pedantic
        } else {
            self.select.iter().any(|s| by_name(s) || (s.matches(rule) && (self.pedantic || !rule.pedantic)))
        };
        let ignored = self.ignore.iter().any(|s| s.matches(rule)) && !self.select.iter().any(by_name);
        selected && !ignored && self.severity(rule) != Some(None)
    }

    /// The configured severity; a rule's own entry beats its group's. `Some(None)`: off.
    pub fn severity(&self, rule: &Rule) -> Option<Option<Severity>> {
        let of = |name: &str| self.rules.get(name)?.severity;
        of(rule.name).or_else(|| of(rule.group.as_str()))
    }

    /// The configured value of a rule's option.
    pub(super) fn option(&self, rule: &str, option: &str) -> Option<&Value> {
        self.rules.get(rule)?.options.get(option)
    }
}
