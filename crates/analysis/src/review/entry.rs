//! The consequences of a change: an entry for each effect, with its sentence, clusters and causes.

use super::level::Level;
use super::list;
use crate::prelude::*;
use hcoplan_explain::diff::{Cause, add_new};
use hcoplan_rule_pages::rules::CHANGE_CONSEQUENCE;
use std::borrow::Cow;

/// A consequence of the change, in one or more clusters.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The effect.
    pub effect: Effect,
    /// The clusters' names, in order.
    pub clusters: Vec<&'a str>,
    /// Findings that say the same.
    pub rules: Vec<&'a Finding>,
    /// In an upgrade, the releases that cause it.
    pub releases: Vec<&'a str>,
}

/// A difference of the inputs.
#[derive(Debug)]
pub struct InputDifference<'a> {
    /// The changed input: `spec.evictionStrategy`.
    pub what: &'a str,
    /// Whether only the side before has it.
    pub gone: bool,
    /// Whether only the side after has it.
    pub is_new: bool,
    /// Its value before, if it is a field.
    pub before: Option<&'a Value>,
    /// Its value after.
    pub after: Option<&'a Value>,
    /// Its locations, by cluster.
    pub places: Vec<&'a Location>,
}

/// The level of an effect.
pub fn level_of(effect: &Effect) -> Level {
    match (effect.impact, effect.certain) {
        (Impact::Stops | Impact::DataLoss | Impact::BootFailure, true) => Level::Bad,
        (Impact::Better, _) => Level::Good,
        (Impact::Images | Impact::Behaviour, _) => Level::Calm,
        _ => Level::Warn,
    }
}

impl<'a> Entry<'a> {
    pub(super) fn new(effect: Effect, clusters: Vec<&'a str>) -> Self {
        Self { effect, clusters, rules: Vec::new(), releases: Vec::new() }
    }

    /// Its level; that of a finding which says the same may be worse.
    pub fn level(&self) -> Level {
        let own = level_of(&self.effect);
        let found = self.rules.iter().map(|f| Level::from(f.severity)).filter(|_| own != Level::Good);
        found.fold(own, Level::min)
    }

    /// What the entries of several clusters share. Images have other names in clusters with several architectures.
    pub(super) fn key(&self) -> String {
        let Effect { impact, certain, when, text, subjects, action, .. } = &self.effect;
        let subjects = (*impact != Impact::Images).then_some(subjects);
        format!("{impact:?} {certain} {when:?} {text} {subjects:?} {action:?}")
    }

    /// Adds the same entry of another cluster or release.
    pub(super) fn merge(&mut self, more: Self) {
        add_new(&mut self.clusters, more.clusters);
        add_new(&mut self.releases, more.releases);
        add_new(&mut self.effect.subjects, more.effect.subjects);
        add_new(&mut self.effect.machines, more.effect.machines);
        for finding in more.rules {
            if !self.rules.iter().any(|known| known.rule.name == finding.rule.name) {
                self.rules.push(finding);
            }
        }
    }

    /// As a finding with the `--fail-on` severity that it counts as, unless one of that severity reports it.
    pub(super) fn as_finding(&self, cause: Option<&Location>) -> Option<Finding> {
        let effect = &self.effect;
        let severity = level_of(effect).severity()?;
        if self.rules.iter().any(|f| f.severity >= severity) {
            return None;
        }
        let words = self.releases.iter().copied().chain((!effect.certain).then_some("possibly"));
        let mut clusters = self.clusters.iter().map(|name| ClusterName::from(*name));
        let finding = Finding {
            severity,
            location: effect.place.as_ref().or(cause).cloned(),
            cluster: clusters.next(),
            also: clusters.collect(),
            help: effect.action.clone().map(Cow::Owned),
            ..Finding::new(&CHANGE_CONSEQUENCE, joined(words.chain([&*self.sentence(4)]), ": "))
        };
        // The message is the consequence.
        Some(finding.silent())
    }

    /// The sentence with at most `most` subjects by name, without a full stop.
    pub fn sentence(&self, most: usize) -> String {
        let effect = &self.effect;
        // The finding knows which value is wrong, and how.
        let refusal = self.rules.first().filter(|finding| effect.is_refusal && finding.rejection);
        if let Some(finding) = refusal.filter(|finding| !effect.text.starts_with(&finding.message)) {
            return finding.message.clone();
        }
        let text = if effect.subjects.is_empty() {
            effect.text.clone()
        } else {
            let names = list(&effect.subjects, most);
            match effect.subjects.len() {
                1 => effect.text.replace("{}", &names),
                _ => about_several(&effect.text, &names),
            }
        };
        if effect.is_of_machine {
            return text;
        }
        let text = match effect.when.phrase() {
            "" => text,
            when => format!("{text}, {when}"),
        };
        match effect.machines.as_slice() {
            [] => text,
            machines => format!("{text}: {}", list(machines, most)),
        }
    }
}

type Pairs = Vec<(&'static str, &'static str)>;

/// Nouns, and words about one subject and about several: anywhere behind the name, or right behind it.
static SEVERAL: Table<(Vec<&str>, Pairs, Pairs)> = Table::of(include_str!("several.json"));

/// A sentence about several subjects instead of one: the words before and after the names.
fn about_several(text: &str, names: &str) -> String {
    let (nouns, within, next) = &*SEVERAL;
    let Some((before, behind)) = text.split_once("{}") else {
        return text.to_owned();
    };
    // `the golden image {}`: several are `the golden images`.
    let noun = before.rsplit(' ').nth(1).unwrap_or_default();
    let before = match noun {
        "policy" => before.replace("policy ", "policies "),
        noun if nouns.contains(&noun) => format!("{}s ", before.trim_end()),
        _ => before.to_owned(),
    };
    let mut behind = behind.to_owned();
    for (one, several) in within {
        behind = behind.replace(one, several);
    }
    for (one, several) in next {
        if let Some(rest) = behind.strip_prefix(*one) {
            behind = format!("{several}{rest}");
            break;
        }
    }
    format!("{before}{names}{behind}")
}

/// The causes with these indexes.
pub(super) fn because<'a>(diff: &'a ClusterDiff, causes: &[usize]) -> Vec<InputDifference<'a>> {
    let all = &diff.comparison.causes;
    let found = causes.iter().filter_map(|i| all.get(*i));
    let one = |cause: &'a Cause| InputDifference {
        what: &cause.what,
        gone: cause.is_removed,
        is_new: cause.is_new,
        before: cause.before.as_ref(),
        after: cause.after.as_ref(),
        places: cause.location.iter().collect(),
    };
    found.map(one).collect()
}
