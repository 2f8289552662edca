//! Compares the rules with recordings of the real operators: all recordings if they exist, else the selection.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use hcoplan_diagnostics::finding::Severity;
use hcoplan_planner::release::Release;
use hcoplan_testing::recordings;
use rayon::prelude::*;
use serde_json::Value;
use snapbox::Data;

use super::claims::{ClaimTally, check_claims};
use super::load::Case;
use crate::Settings;

/// A rule that predicts an alert, and how often the alert fires by the recorded metrics.
type Alert = (&'static str, fn(&Value) -> usize);

const ALERTS: [Alert; 4] = [
    ("multi-arch-boot-images-disabled", |m| usize::from(m["kubevirt_hco_multi_arch_boot_images_enabled"] == 0)),
    ("dict-missing-architectures-annotation", |m| {
        zeros(&m["kubevirt_hco_dataimportcrontemplate_with_architecture_annotation"])
    }),
    ("dict-no-supported-architecture", |m| {
        zeros(&m["kubevirt_hco_dataimportcrontemplate_with_supported_architectures"])
    }),
    ("jsonpatch-present", |m| {
        let entries = m["kubevirt_hco_unsafe_modifications"].as_array();
        let entries = entries.into_iter().flatten();
        entries.filter(|e| e["value"].as_u64() > Some(0)).count()
    }),
];

fn zeros(gauge: &Value) -> usize {
    let entries = gauge.as_array().into_iter().flatten();
    entries.filter(|e| e["value"] == 0).count()
}

/// The results of a case: differences, rules with an error although it is accepted, and rules that explain the
/// rejections.
#[derive(Default)]
struct CaseResult {
    differences: Vec<String>,
    errors: Vec<&'static str>,
    rejections: Vec<&'static str>,
    held: ClaimTally,
}

fn look(set: &Path, release: &str, expected: &Value) -> CaseResult {
    let name = expected["case"].as_str().expect("a name");
    let mut seen = CaseResult::default();
    let Some(case) = Case::read(&set.join("cases").join(name), Some(release)) else {
        return seen;
    };
    let settings = Settings::default();
    let findings = case.lint(&settings);
    let accepted = expected["admission"]["accepted"] == true;
    let rejections = findings.iter().filter(|f| f.rejection).count();
    // The recording has the first reason only; others appear after it is fixed.
    let reasons = usize::from(!accepted) + case.surroundings(&settings).admission().further.len();
    if rejections != reasons {
        let line = format!("{release} {name}: {rejections} rejections for {reasons} reasons, accepted: {accepted}");
        seen.differences.push(line);
    }
    for finding in findings.iter().filter(|f| f.rejection) {
        seen.rejections.push(finding.rule.name);
        let place = finding.location.as_ref();
        let inside = place.is_some_and(|p| case.is_inside(p));
        if !inside || finding.severity != Severity::Error || finding.message.is_empty() {
            let line = format!("{release} {name}: the rejection has no place or words");
            seen.differences.push(line);
        }
    }
    let mut wrong = Vec::new();
    for finding in &findings {
        seen.held += check_claims(&case, &settings, finding, &mut wrong);
    }
    let wrong = wrong.into_iter().map(|w| format!("{release} {name}:{w}"));
    seen.differences.extend(wrong);
    if !accepted {
        return seen;
    }
    let warnings = expected["admission"]["warnings"].as_array();
    let warnings = warnings.into_iter().flatten().filter_map(Value::as_str);
    for warning in warnings.filter(|w| !w.starts_with("unknown field")) {
        let about = subject(warning);
        let says = |f: &&hcoplan_diagnostics::finding::Finding| {
            let label = f.label.as_deref().unwrap_or_default();
            f.message.contains(about) || label.contains(about)
        };
        if !findings.iter().any(|f| says(&f)) {
            let line = format!("{release} {name}: HCO warns and nothing says so: {warning}");
            seen.differences.push(line);
        }
    }
    let count = |rule: &str| findings.iter().filter(|f| f.rule.name == rule).count();
    for (rule, fires) in ALERTS {
        let (want, got) = (fires(&expected["metrics"]), count(rule));
        if want != got {
            let line = format!("{release} {name}: {rule} wanted {want} got {got}");
            seen.differences.push(line);
        }
    }
    let fails = expected["reconcileErrors"].as_array().map_or(0, Vec::len);
    let errors = findings.iter().filter(|f| f.severity == Severity::Error);
    seen.errors = errors.map(|f| f.rule.name).collect();
    seen.errors.sort_unstable();
    seen.errors.dedup();
    if fails > 0 && seen.errors.is_empty() {
        let line = format!("{release} {name}: the reconcile fails and nothing says so");
        seen.differences.push(line);
    }
    seen
}

/// The sets of recordings: all, or the selection in this repository.
pub(super) fn sets(shared: Option<&Path>) -> Vec<PathBuf> {
    match shared {
        Some(shared) => ["curated", "random"].map(|s| shared.join("golden").join(s)).into(),
        None => vec![hcoplan_testing::root().join("testdata/golden")],
    }
}

/// The cases of sets of recordings, each with a release and the recorded result.
pub(super) fn recorded(sets: &[PathBuf]) -> Vec<(PathBuf, &'static str, Value)> {
    let mut cases = Vec::new();
    for set in sets {
        for release in Release::known_names() {
            let file = set.join(format!("expected/{release}.jsonl"));
            let text = fs::read_to_string(file).expect("the recordings");
            for line in text.lines() {
                let expected: Value = serde_json::from_str(line).expect("JSON");
                cases.push((set.clone(), release, expected));
            }
        }
    }
    cases
}

/// The subject of a warning of HCO: a feature gate, or the tuning policy.
fn subject(warning: &str) -> &str {
    let words: Vec<&str> = warning.split_whitespace().collect();
    let gate = warning.strip_prefix("spec.featureGates.");
    let gate = gate.and_then(|rest| rest.split_whitespace().next());
    gate.or_else(|| words.iter().position(|w| *w == "featureGate").map(|i| words[i - 1]))
        .or_else(|| warning.strip_prefix("feature gate ").and_then(|rest| rest.split(' ').next()))
        .unwrap_or("highBurst")
}

#[test]
fn rules_that_predict_an_alert_fire_where_it_would() {
    let all = recordings();
    let cases = recorded(&sets(all.as_deref()));
    let seen: Vec<CaseResult> = cases.par_iter().map(|(set, release, expected)| look(set, release, expected)).collect();
    let differences: Vec<String> = seen.iter().flat_map(|s| s.differences.clone()).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let mut held = ClaimTally::default();
    seen.iter().for_each(|s| held += s.held);
    eprintln!("claims in {} recorded cases: {held}", cases.len());
    assert!(held.proven > 0, "nothing is claimed of the recorded cases");
    if all.is_none() {
        return;
    }

    // Their pages explain what breaks although the operators accept the case.
    let errors = seen.iter().flat_map(|s| s.errors.iter().copied());
    assert_counts(errors, "golden-errors.txt");
    // Every reason of a rejected case is explained once, by the most specific rule.
    let rejections = seen.iter().flat_map(|s| s.rejections.iter().copied());
    assert_counts(rejections, "golden-rejections.txt");
}

/// Compares the number of findings of each rule with a file.
fn assert_counts<'r>(rules: impl Iterator<Item = &'r str>, file: &str) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in rules {
        *counts.entry(rule).or_default() += 1;
    }
    let mut list = String::new();
    for (rule, cases) in counts {
        let _ = writeln!(list, "{rule} {cases}");
    }
    let root = hcoplan_testing::root().join("testdata/lint");
    snapbox::assert_data_eq!(list, Data::read_from(&root.join(file), None).raw());
}
