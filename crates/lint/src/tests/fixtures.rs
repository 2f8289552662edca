//! Each rule reports its bad fixtures at the right location, and no good one.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use hcoplan_diagnostics::finding::{Applicability, Finding, FixKind, Group, Rule};
use hcoplan_diagnostics::source::{Location, Position, SourceFile, Span};
use hcoplan_testing::annotations::{self, Annotation, ELSEWHERE};
use snapbox::Data;
use snapbox::assert::{Action, DEFAULT_ACTION_ENV};
use snapbox::data::DataFormat;

use super::load::Case;
use crate::{RunPhase, Selector, Settings, rules};

pub(super) fn root() -> PathBuf {
    hcoplan_testing::root().join("testdata/lint")
}

/// The fixture directories of a rule with a prefix: `bad`, `bad-v1`.
pub(super) fn directories(rule: &Rule, kind: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root().join(rule.name)) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .map(|e| e.expect("a directory entry").path())
        .filter(|p| {
            let name = p.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name == kind || name.starts_with(&format!("{kind}-"))
        })
        .collect();
    found.sort();
    found
}

/// The findings of a rule in a fixture, and those of other rules.
fn findings(rule: &'static Rule, dir: &Path) -> (Vec<Finding>, Vec<Finding>) {
    let case = Case::read(dir, None).unwrap_or_else(|| panic!("nothing in {}", dir.display()));
    let settings = Settings {
        select: [Selector::Rule(rule.name)].into_iter().chain(everything()).collect(),
        ..Settings::default()
    };
    let found = case.lint(&settings);
    found.into_iter().partition(|f| f.rule.name == rule.name)
}

pub(super) fn everything() -> impl Iterator<Item = Selector> {
    Group::ALL.into_iter().map(Selector::Group)
}

/// Findings at one location, or without one.
struct LocatedFindings {
    place: Option<Location>,
    label: String,
    below: Vec<String>,
}

impl LocatedFindings {
    /// As an annotation in a file's text.
    fn annotation(&self, place: &Location) -> Annotation {
        let position = |Position { line, column }| annotations::Position { line, column };
        Annotation {
            start: position(place.start()),
            end: position(place.end()),
            label: self.label.clone(),
            below: self.below.clone(),
        }
    }
}

/// Findings as annotations: message, location, notes, help. Several findings are numbered; several notes of one have
/// letters.
fn said(findings: &[Finding]) -> Vec<LocatedFindings> {
    let mut out = Vec::new();
    for (number, finding) in (1..).zip(findings) {
        let number = match findings {
            [_] => String::new(),
            _ => number.to_string(),
        };
        let header = format!("{} {number}", finding.severity.as_str());
        let mut below = text_lines(header.trim_end(), &finding.message);
        below.extend(finding.help.iter().flat_map(|h| text_lines("help", h)));
        for fix in &finding.fixes {
            let applicability = format!("{:?}", fix.applicability).to_lowercase();
            below.extend(text_lines(&format!("fix ({applicability})"), &fix.title));
        }
        out.push(LocatedFindings {
            place: finding.location.clone(),
            label: finding.label.as_deref().unwrap_or_default().to_owned(),
            below,
        });
        for (letter, related) in ('a'..='z').zip(&finding.related) {
            let letter = match finding.related.as_slice() {
                [_] => String::new(),
                _ => letter.to_string(),
            };
            let header = format!("note {number}{letter}");
            out.push(LocatedFindings {
                place: Some(related.location.clone()),
                label: format!("{}: {}", header.trim_end(), related.message),
                below: Vec::new(),
            });
        }
        assert!(finding.related.len() <= 26, "more notes than letters");
    }
    out
}

/// The text after a header; further lines are indented.
fn text_lines(header: &str, text: &str) -> Vec<String> {
    let mut lines = text.trim_end().split('\n');
    let first = format!("{header}: {}", lines.next().unwrap_or_default());
    let further = lines.map(|l| format!("  {l}"));
    let all = std::iter::once(first).chain(further);
    all.map(|l| l.trim_end().to_owned()).collect()
}

/// The findings, with locations as text.
fn in_words<'s>(said: impl IntoIterator<Item = &'s LocatedFindings>) -> String {
    let mut out = String::new();
    for said in said {
        if let Some(place) = &said.place {
            let (path, start, end) = (place.file.path(), place.start(), place.end());
            let place = format!("{path}:{}:{}-{}:{}", start.line, start.column, end.line, end.column);
            let _ = writeln!(out, "{}", format!("{place}: {}", said.label).trim_end());
        }
        for line in &said.below {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// Whether a location's file can have annotations: it exists, has the same line breaks, and the location's text.
fn can_be_annotated(directory: &Path, place: &Location) -> bool {
    let text = fs::read_to_string(directory.join(place.file.path()));
    text.is_ok_and(|t| !t.contains('\r') && annotations::strip(&t) == place.file.text())
}

/// Compares a fixture's annotations, and its expected findings elsewhere, with the actual findings.
fn compare(directory: &Path, findings: &[Finding]) -> Vec<String> {
    let said = said(findings);
    let (inside, elsewhere): (Vec<_>, Vec<_>) = said.iter().partition(|s| {
        let place = s.place.as_ref();
        place.is_some_and(|p| can_be_annotated(directory, p))
    });
    let mut complaints = Vec::new();
    for (path, bytes) in annotations::read(directory).expect("a fixture") {
        let places = inside.iter().filter_map(|s| Some((s, s.place.as_ref()?)));
        let here = places.filter(|(_, place)| place.file.path().as_std_path() == path);
        let here: Vec<Annotation> = here.map(|(s, place)| s.annotation(place)).collect();
        // A shared inventory isn't part of the fixture.
        let Ok(written) = fs::read(directory.join(&path)) else {
            continue;
        };
        if let (Ok(text), Ok(written)) = (String::from_utf8(bytes), String::from_utf8(written)) {
            let shared = annotations::shared_line(&written).map_or(String::new(), |line| format!("{line}\n"));
            let annotated = shared + &annotations::annotate(&text, &here);
            complaints.extend(differs(&directory.join(path), annotated));
        }
    }
    let elsewhere = in_words(elsewhere);
    let file = directory.join(ELSEWHERE);
    let overwrites = Action::with_env_var(DEFAULT_ACTION_ENV) == Some(Action::Overwrite);
    if elsewhere.is_empty() && overwrites && file.exists() {
        fs::remove_file(file).expect("removed");
    } else if elsewhere.is_empty() && !file.exists() {
    } else {
        complaints.extend(differs(&file, elsewhere));
    }
    complaints
}

/// The difference between a file and its expected content; `SNAPSHOTS=overwrite` rewrites it.
fn differs(path: &Path, expected: String) -> Option<String> {
    let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path);
    let written = Data::read_from(path, Some(DataFormat::Text)).raw();
    let compared =
        snapbox::Assert::new().action_env(DEFAULT_ACTION_ENV).try_eq(Some(&name.display()), expected.into(), written);
    compared.err().map(|e| e.to_string())
}

fn safe_fixes_applied(text: &str, findings: &[Finding]) -> String {
    let safe = |f: &Finding| f.fixes.iter().find(|f| f.applicability == Applicability::Safe).cloned();
    let mut edits: Vec<_> = findings.iter().filter_map(safe).flat_map(|f| f.edits).collect();
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
        if registered.when == RunPhase::Elsewhere {
            continue;
        }
        for kind in ["bad", "good", "fixed"] {
            let wanted = kind != "fixed" || rule.fix == FixKind::Safe;
            if wanted && directories(rule, kind).is_empty() {
                complaints.push(format!("{}: testdata/lint/{0}/{kind} is missing", rule.name));
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
        assert!(known || entry.path().is_file(), "testdata/lint/{name} isn't a rule's");
    }
}

/// General rules: a rule's fixture must not have their findings.
const GENERAL: [&str; 3] = ["admission-rejected", "reconcile-fails", "ssp-rejected"];

#[test]
fn bad_fixtures_are_found_and_good_ones_are_not() {
    let mut complaints = Vec::new();
    for rule in rules().iter().map(|r| r.rule) {
        for dir in directories(rule, "bad") {
            let (found, others) = findings(rule, &dir);
            if found.is_empty() {
                let others = in_words(&said(&others));
                complaints.push(format!("silent on {}; there is\n{others}", dir.display()));
                continue;
            }
            complaints.extend(compare(&dir, &found));
            let again = others.iter().map(|f| f.rule.name);
            let again = again.filter(|name| GENERAL.contains(name) && *name != rule.name);
            complaints.extend(again.map(|name| format!("{name} speaks in {}", dir.display())));
        }
        for dir in directories(rule, "good") {
            let found = in_words(&said(&findings(rule, &dir).0));
            if !found.is_empty() {
                complaints.push(format!("{}:\n{found}", dir.display()));
            }
            complaints.extend(compare(&dir, &[]));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn safe_fixes_make_the_fixed_fixture() {
    for rule in rules().iter().map(|r| r.rule) {
        for fixed in directories(rule, "fixed") {
            let name = fixed.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bad = fixed.with_file_name(name.replacen("fixed", "bad", 1));
            let text = fs::read_to_string(bad.join("hyperconverged.yaml")).expect("a bad fixture");
            let text = annotations::strip(&text);
            let applied = safe_fixes_applied(&text, &findings(rule, &bad).0);
            let expected = Data::read_from(&fixed.join("hyperconverged.yaml"), None).raw();
            snapbox::assert_data_eq!(applied, expected);
        }
    }
}

#[test]
fn puts_annotations_elsewhere_where_no_line_fits() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    fs::write(path.join("a.yaml"), "a: 1\n#~ ^\n").expect("written");
    fs::write(path.join("crlf.yaml"), "a: 1\r\n").expect("written");
    let place = |file: &str, text: &str| Location::new(&SourceFile::new(file, text), Span::new(3, 4));
    assert!(can_be_annotated(path, &place("a.yaml", "a: 1\n")));
    assert!(!can_be_annotated(path, &place("a.yaml", "b: 1\n")));
    assert!(!can_be_annotated(path, &place("crlf.yaml", "a: 1\r\n")));
    assert!(!can_be_annotated(path, &place("missing.yaml", "")));
    let rule = rules()[0].rule;
    let severity = rule.severity.as_str();
    let nowhere = Finding::new(rule, "one\ntwo").help("do");
    let finding = Finding::new(rule, "what").at(place("crlf.yaml", "a: 1\r\n"));
    let finding = finding.label("here").related(place("a.yaml", "a: 1\n"), "too");
    let expected = format!(
        "\
{severity} 1: one
  two
help: do
crlf.yaml:1:4-1:5: here
{severity} 2: what
a.yaml:1:4-1:5: note 2: too
"
    );
    assert_eq!(in_words(&said(&[nowhere, finding])), expected);
}
