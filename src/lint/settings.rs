//! Which rules run, how bad their findings are, and their options.

use std::collections::BTreeMap;

use serde_json::Value;

use super::registry;
use super::suppress::Suppression;
use crate::finding::{Group, Rule, Severity};

/// A rule or a group of rules, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// One rule.
    Rule(&'static str),
    /// Every rule of a group.
    Group(Group),
}

impl Selector {
    /// The rule or group of this name; `None` when there is none.
    pub fn named(name: &str) -> Option<Self> {
        let group = Group::ALL.into_iter().find(|g| g.as_str() == name);
        let rule = || registry::find(name).map(|r| Self::Rule(r.rule.name));
        group.map(Self::Group).or_else(rule)
    }

    /// The name of the rule or group.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule(name) => name,
            Self::Group(group) => group.as_str(),
        }
    }

    /// Whether a rule is meant.
    pub fn matches(self, rule: &Rule) -> bool {
        match self {
            Self::Rule(name) => name == rule.name,
            Self::Group(group) => group == rule.group,
        }
    }
}

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
    /// Only some clusters are looked at, so that a suppression may be about another one.
    pub partial: bool,
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
    /// Whether a rule runs.
    pub fn is_enabled(&self, rule: &Rule) -> bool {
        let by_name = |s: &Selector| *s == Selector::Rule(rule.name);
        let selected = match self.select.is_empty() {
            true => self.pedantic || !rule.pedantic,
            false => self
                .select
                .iter()
                .any(|s| by_name(s) || (s.matches(rule) && (self.pedantic || !rule.pedantic))),
        };
        let ignored =
            self.ignore.iter().any(|s| s.matches(rule)) && !self.select.iter().any(by_name);
        selected && !ignored && self.severity(rule) != Some(None)
    }

    /// Whether every rule that is meant runs.
    pub(super) fn runs_completely(&self, selector: Selector) -> bool {
        let mut meant = registry::rules()
            .iter()
            .filter(|r| selector.matches(r.rule));
        meant.all(|r| self.is_enabled(r.rule) || (r.rule.pedantic && self.select.is_empty()))
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
