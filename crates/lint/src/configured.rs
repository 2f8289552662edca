//! Reads the rules' settings from `hcoplan.yaml`.

use globset::Glob;
use hcoplan_diagnostics::finding::nearest;
use hcoplan_repository::repo::{Config, Located, SuppressConfig};
use hcoplan_rule_pages::rules::CONFIGURATION_INVALID;
use ignore::gitignore::GitignoreBuilder;

use super::date::Date;
use super::registry::{self, find, selector};
use super::selector::Selector;
use super::settings::{RuleSettings, Settings};
use super::suppression::{Scope, Suppression};
use crate::prelude::*;

impl Settings {
    /// The settings of a configuration.
    ///
    /// # Errors
    /// A finding for each unknown rule or option, and each invalid date or pattern.
    pub fn configured(config: &Config) -> Result<Self, Vec<Finding>> {
        let mut wrong = Vec::new();
        let mut settings = Self {
            select: selectors(&config.lint.select, &mut wrong),
            ignore: selectors(&config.lint.ignore, &mut wrong),
            pedantic: config.lint.pedantic,
            ..Self::default()
        };
        for rule in &config.rules {
            let name = &rule.name;
            selectors(std::slice::from_ref(name), &mut wrong);
            let known = find(&name.value).map_or(&[][..], |r| r.rule.options);
            for (option, value) in &rule.options {
                // The schema checks the types of values.
                if !known.iter().any(|o| o.name == option) {
                    let message = format!("{} has no option {option}", name.value);
                    wrong.push(invalid(message, value, did_you_mean(option, known.iter().map(|o| o.name))));
                }
            }
            let options = rule.options.iter();
            let options = options.map(|(option, value)| (option.clone(), value.value.clone()));
            let rule_settings = RuleSettings { severity: rule.severity, options: options.collect() };
            settings.rules.insert(name.value.clone(), rule_settings);
        }
        let entries = config.suppress.iter();
        let suppressions = entries.filter_map(|entry| suppression(entry, &mut wrong));
        settings.suppressions = suppressions.collect();
        if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
    }
}

pub(super) fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean {near}?"))
}

fn invalid<T>(message: String, value: &Located<T>, help: Option<String>) -> Finding {
    let finding = Finding::new(&CONFIGURATION_INVALID, message).at(value.place.clone());
    Finding { help: help.map(Into::into), ..finding }
}

fn selectors(names: &[Located<String>], wrong: &mut Vec<Finding>) -> Vec<Selector> {
    let mut out = Vec::new();
    for name in names {
        match selector(&name.value) {
            Some(selector) => out.push(selector),
            None => {
                let message = format!("there is no rule or group {}", name.value);
                wrong.push(invalid(message, name, did_you_mean(&name.value, registry::names())));
            }
        }
    }
    out
}

fn suppression(entry: &SuppressConfig, wrong: &mut Vec<Finding>) -> Option<Suppression> {
    let before = wrong.len();
    let rules = selectors(&entry.rules, wrong);
    let mut invalid = |message: String, value: &Located<String>| wrong.push(invalid(message, value, None));
    let mut until = None;
    if let Some(day) = &entry.until {
        until = Date::parse(&day.value);
        if until.is_none() {
            invalid(format!("{} isn't a day", day.value), day);
        }
    }
    let mut path = None;
    if let Some(pattern) = &entry.path {
        let mut builder = GitignoreBuilder::new("");
        let built = builder.add_line(None, &pattern.value).and_then(|b| b.build());
        match built {
            Ok(built) => path = Some(Box::new(built)),
            Err(error) => invalid(error.to_string(), pattern),
        }
    }
    let mut cluster = None;
    if let Some(pattern) = &entry.cluster {
        match Glob::new(&pattern.value) {
            Ok(glob) => cluster = Some(glob.compile_matcher()),
            Err(error) => invalid(error.to_string(), pattern),
        }
    }
    (wrong.len() == before && !rules.is_empty()).then(|| Suppression {
        rules,
        reason: entry.reason.as_ref().map(|r| r.value.clone()).unwrap_or_default(),
        until,
        place: entry.place.clone(),
        scope: Scope::Matching { path, object: entry.object.as_ref().map(|o| o.value.clone()), cluster },
    })
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::{Location, SourceFile, Span};

    use super::*;
    use crate::{Run, apply_suppressions};

    fn placed(value: &str) -> Located<String> {
        let file = SourceFile::new("hcoplan.yaml", value);
        Located { value: value.to_owned(), place: Location::new(&file, Span::new(0, value.len())) }
    }

    fn entry(rule: &str, path: &str, until: Option<&str>) -> SuppressConfig {
        SuppressConfig {
            rules: vec![placed(rule)],
            path: Some(placed(path)),
            object: Some(placed("HyperConverged/kubevirt-hyperconverged")),
            cluster: Some(placed("prod-*")),
            reason: Some(placed("known")),
            until: until.map(placed),
            place: placed("suppress").place,
        }
    }

    #[test]
    fn entries_match_by_file_object_and_cluster() {
        let config = Config { suppress: vec![entry("jsonpatch", "legacy/**", None)], ..Config::default() };
        let settings = Settings::configured(&config).unwrap();
        let finding = |path: &str, cluster: &str| {
            let place = Location::new(&SourceFile::new(path, "x"), Span::new(0, 1));
            let rule = find("jsonpatch-present").unwrap().rule;
            let mut finding = Finding::new(rule, "m").at(place);
            finding.object = Some("HyperConverged kubevirt-hyperconverged".into());
            finding.cluster = Some(cluster.into());
            finding
        };
        let run = Run {
            findings: vec![
                finding("legacy/a/hco.yaml", "prod-east"),
                finding("legacy/a/hco.yaml", "test"),
                finding("new/hco.yaml", "prod-east"),
                finding("/legacy/hco.yaml", "prod-east"),
            ],
            ..Run::default()
        };
        let today = Date::parse("2026-11-21").unwrap();
        let result = apply_suppressions(run, [], &settings, today);
        assert_eq!((result.suppressed.len(), result.findings.len()), (1, 3));
    }

    #[test]
    fn names_and_days_that_do_not_exist_are_errors() {
        let config = Config {
            suppress: vec![entry("jsonpatch-presen", "a", None), entry("jsonpatch", "a", Some("2026-02-30"))],
            ..Config::default()
        };
        let wrong = Settings::configured(&config).unwrap_err();
        assert_eq!(wrong.len(), 2);
        assert_eq!(wrong[0].help.as_deref(), Some("did you mean jsonpatch-present?"));
    }
}
