//! Checks that a finding's help describes its fixes: each is applied, and its edit contains the named words. Without an
//! edit, the page's remedy is tested (`page_examples`).

use std::collections::{BTreeMap, BTreeSet};

use hcoplan_diagnostics::finding::{Finding, Fix};
use rayon::prelude::*;

use super::fixtures::{directories, everything};
use super::load::Case;
use crate::words::or;
use crate::{Settings, rules};

/// What a help line proposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Proposal {
    /// A removal.
    Removal,
    /// A change to the named text.
    Words,
    /// A reason or a choice.
    Reason,
}

const REMOVALS: [&str; 5] = ["remove ", "drop ", "leave ", "take ", "delete "];
const WRITTEN: [&str; 12] = [
    "write ",
    "did you mean ",
    "use ",
    "add ",
    "set ",
    "name ",
    "in hco.kubevirt.io",
    "it belongs at ",
    "move ",
    "rename ",
    "`",
    "replace ",
];

fn proposal(help: &str) -> Proposal {
    match help {
        _ if REMOVALS.iter().any(|verb| help.starts_with(verb)) => Proposal::Removal,
        _ if WRITTEN.iter().any(|verb| help.starts_with(verb)) => Proposal::Words,
        _ => Proposal::Reason,
    }
}

/// The texts named by a help line: in backticks, else the words after the verb.
fn named(help: &str) -> Vec<&str> {
    let ticks: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    if !ticks.is_empty() {
        return ticks;
    }
    let verb = WRITTEN.iter().find(|verb| help.starts_with(**verb));
    let words = verb.and_then(|verb| help[verb.len()..].split(';').next()).unwrap_or_default();
    words.split([' ', ',', '?']).filter(|word| word.len() > 2).collect()
}

/// The last segment of a path, or the value of `key: value`, without quotes.
fn last_part(name: &str) -> &str {
    let value = name.rsplit_once(": ").map_or(name, |(_, value)| value);
    value.rsplit(['.', '/']).next().unwrap_or(value).trim_matches(['"', '\'', '}', ']'])
}

/// Whether one of the fixes does what the help proposes.
fn agrees(help: &str, fixes: &[Fix]) -> bool {
    let written = |fix: &Fix| fix.edits.iter().map(|e| e.text.as_str()).collect::<String>();
    let removed = |fix: &Fix| fix.edits.iter().map(|e| (e.span.end - e.span.start) as usize).sum::<usize>();
    fixes.iter().any(|fix| match proposal(help) {
        Proposal::Removal => removed(fix) > written(fix).len() || help.contains(", or "),
        Proposal::Words => named(help).iter().any(|name| written(fix).contains(last_part(name))),
        Proposal::Reason => true,
    })
}

#[test]
fn help_proposes_what_the_fixes_do() {
    let settings = Settings { select: everything().collect(), ..Settings::default() };
    let all: Vec<_> =
        rules().iter().flat_map(|r| directories(r.rule, "bad").into_iter().map(move |d| (r.rule, d))).collect();
    let found: Vec<Finding> = all
        .par_iter()
        .filter_map(|(rule, directory)| {
            let findings = Case::read(directory, None)?.lint(&settings);
            Some(findings.into_iter().filter(|f| f.rule.name == rule.name).collect::<Vec<_>>())
        })
        .flatten()
        .collect();
    let helps: BTreeSet<(&str, &str, bool)> =
        found.iter().filter_map(|f| Some((f.rule.name, f.help.as_deref()?, f.fixes.is_empty()))).collect();
    let mut counts: BTreeMap<(bool, Proposal), usize> = BTreeMap::new();
    for (_, help, is_words) in &helps {
        *counts.entry((*is_words, proposal(help))).or_default() += 1;
    }
    let from_edits = helps.iter().filter(|(rule, help, _)| {
        let mut alike = found.iter().filter(|f| f.rule.name == *rule && f.help.as_deref() == Some(*help));
        alike.any(is_from_edit)
    });
    println!(
        "{} help lines are the words of the edit; the others, by whether there is no edit and what they propose: {counts:?}",
        from_edits.count()
    );
    let wrong = found.iter().filter_map(|f| {
        let help =
            f.help.as_deref().filter(|help| !f.fixes.is_empty() && !is_from_edit(f) && !agrees(help, &f.fixes))?;
        let titles: Vec<&str> = f.fixes.iter().map(|fix| fix.title.as_str()).collect();
        Some(format!("{}: {help}: {titles:?}", f.rule.name))
    });
    let wrong: BTreeSet<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", Vec::from_iter(wrong).join("\n"));
}

/// Whether the help consists of the fixes' titles.
fn is_from_edit(finding: &Finding) -> bool {
    let titles: Vec<&str> = finding.fixes.iter().map(|fix| fix.title.as_str()).collect();
    finding.help.as_deref() == Some(&*or(&titles)) && !titles.is_empty()
}
