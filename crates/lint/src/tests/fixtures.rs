//! Each rule fires on its bad fixtures, at the right characters, and on no good one.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use hcoplan_diagnostics::finding::{Applicability, Finding, FixKind, Group, Rule};
use hcoplan_diagnostics::source::Location;
use snapbox::Data;

use super::load::Case;
use crate::{Selector, Settings, When, rules};

pub(super) fn root() -> PathBuf {
    hcoplan_testing::root().join("testdata/lint")
}

/// The fixture directories of a rule whose names begin with `kind`: `bad`, `bad-v1`.
pub(super) fn directories(rule: &Rule, kind: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root().join(rule.name)) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .map(|e| e.expect("a directory entry").path())
        .filter(|p| {
            let name = p
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            name == kind || name.starts_with(&format!("{kind}-"))
        })
        .collect();
    found.sort();
    found
}

/// What one rule finds in a fixture, pedantic or not, and what the others find there.
fn findings(rule: &'static Rule, dir: &Path) -> (Vec<Finding>, Vec<Finding>) {
    let case = Case::read(dir, None).unwrap_or_else(|| panic!("nothing in {}", dir.display()));
    let settings = Settings {
        select: [Selector::Rule(rule.name)]
            .into_iter()
            .chain(everything())
            .collect(),
        ..Settings::default()
    };
    let found = case.lint(&settings);
    found.into_iter().partition(|f| f.rule.name == rule.name)
}

pub(super) fn everything() -> impl Iterator<Item = Selector> {
    Group::ALL.into_iter().map(Selector::Group)
}

fn excerpt(out: &mut String, place: &Location, label: &str) {
    let (start, end) = (place.start(), place.end());
    let _ = writeln!(
        out,
        "{}:{}:{}: {label}",
        place.file.path(),
        start.line,
        start.column
    );
    let line = place.file.text().lines().nth(start.line - 1).unwrap_or("");
    let width = match end.line == start.line {
        true => end.column - start.column,
        false => line.chars().count() + 1 - start.column,
    };
    let _ = writeln!(out, "    {line}");
    let _ = writeln!(
        out,
        "    {}{}",
        " ".repeat(start.column - 1),
        "^".repeat(width.max(1))
    );
}

/// A finding as the snapshots show it: what, where, why, how to mend it.
fn show(finding: &Finding) -> String {
    let mut out = format!("{}: {}\n", finding.severity.as_str(), finding.message);
    if let Some(place) = &finding.location {
        excerpt(&mut out, place, finding.label.as_deref().unwrap_or(""));
    }
    for related in &finding.related {
        excerpt(&mut out, &related.location, &related.message);
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "help: {help}");
    }
    for fix in &finding.fixes {
        let _ = writeln!(out, "fix ({:?}): {}", fix.applicability, fix.title);
    }
    out.lines().map(|l| format!("{}\n", l.trim_end())).collect()
}

fn safe_fixes_applied(text: &str, findings: &[Finding]) -> String {
    let safe = |f: &Finding| {
        f.fixes
            .iter()
            .find(|f| f.applicability == Applicability::Safe)
            .cloned()
    };
    let mut edits: Vec<_> = findings
        .iter()
        .filter_map(safe)
        .flat_map(|f| f.edits)
        .collect();
    edits.sort_by_key(|e| std::cmp::Reverse(e.span));
    edits.dedup_by(|a, b| a.span == b.span && a.text == b.text);
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.range(), &edit.text);
    }
    text
}

#[test]
fn every_rule_has_fixtures() {
    let mut complaints = Vec::new();
    for registered in rules() {
        let rule = registered.rule;
        if registered.when == When::Elsewhere {
            continue;
        }
        for kind in ["bad", "good", "fixed"] {
            let wanted = kind != "fixed" || rule.fix == FixKind::Safe;
            if wanted && directories(rule, kind).is_empty() {
                complaints.push(format!(
                    "{}: testdata/lint/{0}/{kind} is missing",
                    rule.name
                ));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_fixture_directory_belongs_to_a_rule() {
    for entry in fs::read_dir(root()).expect("testdata/lint") {
        let entry = entry.expect("a directory entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let known = rules().iter().any(|r| r.rule.name == name);
        assert!(
            known || entry.path().is_file(),
            "testdata/lint/{name} is no rule's"
        );
    }
}

#[test]
fn bad_fixtures_are_found_and_good_ones_are_not() {
    let mut complaints = Vec::new();
    for rule in rules().iter().map(|r| r.rule) {
        for dir in directories(rule, "bad") {
            let (found, others) = findings(rule, &dir);
            if found.is_empty() {
                let others: String = others.iter().map(show).collect();
                complaints.push(format!("silent on {}; there is\n{others}", dir.display()));
                continue;
            }
            let shown: Vec<String> = found.iter().map(show).collect();
            let expected = Data::read_from(&dir.join("findings.txt"), None).raw();
            let compared = snapbox::Assert::new()
                .action_env(snapbox::assert::DEFAULT_ACTION_ENV)
                .try_eq(Some(&dir.display()), shown.join("\n").into(), expected);
            complaints.extend(compared.err().map(|e| e.to_string()));
        }
        for dir in directories(rule, "good") {
            let found: String = findings(rule, &dir).0.iter().map(show).collect();
            if !found.is_empty() {
                complaints.push(format!("{}:\n{found}", dir.display()));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn safe_fixes_make_the_fixed_fixture() {
    for rule in rules().iter().map(|r| r.rule) {
        for fixed in directories(rule, "fixed") {
            let name = fixed
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let bad = fixed.with_file_name(name.replacen("fixed", "bad", 1));
            let text = fs::read_to_string(bad.join("hyperconverged.yaml")).expect("a bad fixture");
            let applied = safe_fixes_applied(&text, &findings(rule, &bad).0);
            let expected = Data::read_from(&fixed.join("hyperconverged.yaml"), None).raw();
            snapbox::assert_data_eq!(applied, expected);
        }
    }
}
