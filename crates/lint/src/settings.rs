//! The selection of rules, their severities and options.

use hcoplan_repository::repo::Trust;
use serde_json::Value;

use super::selector::Selector;
use super::suppression::Suppression;
use crate::prelude::*;

/// The selection of rules, their severities and options.
#[derive(Debug, Default)]
pub struct Settings {
    /// Only these rules; empty means all but the pedantic ones.
    pub select: Vec<Selector>,
    /// Exclude these rules.
    pub ignore: Vec<Selector>,
    /// Include the pedantic rules.
    pub pedantic: bool,
    /// The configuration of rules and groups by name.
    pub rules: BTreeMap<String, RuleSettings>,
    /// The configured suppressions.
    pub suppressions: Vec<Suppression>,
    /// Only some clusters are examined, so that an unused suppression may concern another.
    pub partial: bool,
    /// The trust source of suppressions in documents.
    pub trust: Trust,
}

/// The configuration of a rule or group.
#[derive(Debug, Default)]
pub struct RuleSettings {
    /// `Some(None)` disables it.
    pub severity: Option<Option<Severity>>,
    /// Its options by name.
    pub options: BTreeMap<String, Value>,
}

impl Settings {
    /// The settings that make a gate stricter: pedantic rules and raised severities. Nothing is disabled or suppressed.
    /// `all` are all rules.
    #[must_use]
    pub fn tightened<'r>(&self, all: impl Iterator<Item = &'r Rule>) -> Self {
        let higher = all.filter_map(|rule| {
            let severity = self.severity(rule)?.filter(|s| *s > rule.severity)?;
            let settings = RuleSettings { severity: Some(Some(severity)), ..RuleSettings::default() };
            Some((rule.name.to_owned(), settings))
        });
        Self { pedantic: self.pedantic, rules: higher.collect(), trust: Trust::Nobody, ..Self::default() }
    }

    /// Whether a rule is disabled, suppressed or less severe than its default. `all` are all rules.
    pub fn loosens<'r>(&self, mut all: impl Iterator<Item = &'r Rule>) -> bool {
        let lower = |rule: &Rule| self.severity(rule).is_some_and(|s| s.is_none_or(|s| s < rule.severity));
        !self.select.is_empty() || !self.ignore.is_empty() || !self.suppressions.is_empty() || all.any(lower)
    }

    /// Whether a rule is enabled.
    pub fn is_enabled(&self, rule: &Rule) -> bool {
        let is_meant = || self.select.is_empty() || self.select.iter().any(|s| s.matches(rule));
        let selected = self.is_named(rule) || (self.pedantic || !rule.pedantic) && is_meant();
        selected && !self.is_off(rule)
    }

    fn is_named(&self, rule: &Rule) -> bool {
        self.select.contains(&Selector::Rule(rule.name))
    }

    /// Whether a rule is switched off by name or group, which findings about reading the repository obey, too.
    pub fn is_off(&self, rule: &Rule) -> bool {
        let is_ignored = self.ignore.iter().any(|s| s.matches(rule)) && !self.is_named(rule);
        is_ignored || self.severity(rule) == Some(None)
    }

    /// The configured severity; a rule's own entry takes precedence over its group's. `Some(None)` means disabled.
    pub fn severity(&self, rule: &Rule) -> Option<Option<Severity>> {
        let of = |name: &str| self.rules.get(name)?.severity;
        of(rule.name).or_else(|| of(rule.group.as_str()))
    }

    /// The configured value of a rule's option.
    pub(super) fn option(&self, rule: &str, option: &str) -> Option<&Value> {
        self.rules.get(rule)?.options.get(option)
    }
}
