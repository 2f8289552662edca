//! Prints the same findings in every format and compares them with snapshots and schemas.

use std::path::Path;

use serde_json::Value;
use snapbox::Data;

use super::linted::linted;
use super::named::all;
use super::{Format, Named as _, Report, Summary, Terminal, write};
use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_diagnostics::source::{Location, SourceFile, Span};
use hcoplan_lint::{Settings, selector};

fn path(file: &str) -> std::path::PathBuf {
    hcoplan_testing::root().join("testdata").join(file)
}

pub(super) fn findings() -> Vec<Finding> {
    let hyperconverged = include_str!("../../../testdata/report/hyperconverged.yaml");
    let inventory = include_str!("../../../testdata/report/inventory.yaml");
    // A fixed selection, so that a new rule doesn't change every snapshot.
    let rules = [
        "dict-architectures-annotation-malformed",
        "hco-unknown-field",
        "jsonpatch-present",
        "jsonpatch-remove-has-no-effect",
        "multi-arch-boot-images-disabled",
    ];
    let settings = Settings { select: rules.iter().filter_map(|r| selector(r)).collect(), ..Settings::default() };
    linted([hyperconverged, inventory, ""], &settings)
}

pub(super) fn written(findings: &[Finding], format: Format, terminal: Terminal) -> String {
    let summary = Summary {
        clusters: 3,
        names: ["east", "north", "west"].map(str::to_owned).to_vec(),
        fail_on: Some(Severity::Error),
        suppressed: 1,
        baselined: 2,
        oldest_baselined: Some("2026-10-11".to_owned()),
        ..Summary::default()
    };
    let report = Report {
        findings,
        summary: &summary,
        root: "fleet".into(),
        root_in_repository: Some("infra/fleet".into()),
        typed: &crate::Typed::default(),
        terminal,
    };
    let mut out = Vec::new();
    write(format, &report, &mut out).expect("memory takes everything");
    String::from_utf8(out).expect("text")
}

pub(super) fn json(format: Format, findings: &[Finding]) -> Value {
    serde_json::from_str(&written(findings, format, Terminal::default())).expect("JSON")
}

fn holds(schema: &Path, document: &Value) {
    let schema = std::fs::read_to_string(schema).expect("a schema");
    let mut schema: Value = serde_json::from_str(&schema).expect("JSON");
    // SARIF's pattern for languages has an unbalanced bracket; we don't use the field.
    for place in ["toolComponent", "run"] {
        let pointer = format!("/definitions/{place}/properties/language");
        if let Some(language) = schema.pointer_mut(&pointer) {
            *language = Value::Bool(true);
        }
    }
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let errors: Vec<String> = validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn every_format_matches_its_snapshot() {
    let findings = findings();
    for format in all::<Format>() {
        let mut text = written(&findings, format, Terminal::default());
        if format == Format::Sarif {
            // The rules' pages have their own snapshots.
            let mut log: Value = serde_json::from_str(&text).expect("JSON");
            log["runs"][0]["tool"]["driver"]["rules"] = Value::Null;
            for result in log["runs"][0]["results"].as_array_mut().expect("results") {
                result["ruleIndex"] = Value::Null;
            }
            text = serde_json::to_string_pretty(&log).expect("JSON");
        }
        let expected = path(&format!("report/{}.txt", format.name()));
        snapbox::assert_data_eq!(text, Data::read_from(&expected, None).raw());
    }
}

#[test]
fn people_get_colours_links_and_narrow_lines() {
    let findings = findings();
    let style = Terminal { width: 60, color: true, links: true, wraps: true, ..Terminal::default() };
    let text = written(&findings, Format::Human, style);
    let expected = path("report/human-terminal.txt");
    snapbox::assert_data_eq!(text, Data::read_from(&expected, None).raw());
    let ascii = Terminal { unicode: false, ..Terminal::default() };
    let text = written(&findings, Format::Human, ascii);
    let drawn = |text: &str| text.contains(|c| ('\u{2500}'..='\u{257f}').contains(&c));
    assert!(!drawn(&text), "{text}");
    let plain = written(&findings, Format::Human, Terminal::default());
    assert_eq!(plain.lines().count(), text.lines().count());
    assert!(drawn(&plain), "{plain}");
}

#[test]
fn every_format_has_the_same_findings_in_the_same_order() {
    let findings = findings();
    assert!(findings.len() > 5);
    for format in all::<Format>() {
        let mut ordered: Vec<&Finding> = findings.iter().collect();
        if format == Format::Junit {
            // Findings that fail the run come first.
            ordered.sort_by_key(|f| f.severity < Severity::Error);
        }
        let text = written(&findings, format, Terminal::default());
        let text = match format {
            // The list of rules comes first.
            Format::Sarif => text.split("\"results\"").nth(1).unwrap_or_default().to_owned(),
            _ => text,
        };
        let mut rest = text.as_str();
        for finding in ordered {
            let name = finding.rule.name;
            let at = rest.find(name);
            let at = at.unwrap_or_else(|| panic!("{}: {name} is missing", format.name()));
            rest = &rest[at + name.len()..];
            if let Some(place) = finding.location.as_ref().filter(|_| format == Format::Concise) {
                let line = format!(":{}:", place.start().line);
                assert!(text.contains(&line), "{line}");
            }
        }
    }
}

#[test]
fn sarif_is_valid_by_its_schema() {
    let schema = path("schemas/sarif-2.1.0.json");
    for findings in [findings(), Vec::new(), vec![nowhere()]] {
        let log = json(Format::Sarif, &findings);
        holds(&schema, &log);
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        for rule in rules {
            for key in ["shortDescription", "fullDescription"] {
                let text = rule[key]["text"].as_str().expect("text");
                assert!((1..=1024).contains(&text.len()), "{}: {key}", rule["id"]);
            }
            assert!(rule["properties"]["tags"].as_array().expect("tags").len() <= 20);
        }
        for result in run["results"].as_array().expect("results") {
            assert_eq!(rules[result["ruleIndex"].as_u64().expect("an index") as usize]["id"], result["ruleId"]);
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
            assert!(uri.starts_with("infra/fleet"), "{uri}");
            assert!(place["region"]["startLine"].as_u64() > Some(0));
        }
    }
}

/// A finding without a file.
pub(super) fn nowhere() -> Finding {
    let rule = hcoplan_lint::find("nodes-assumed").expect("a rule").rule;
    Finding::new(rule, "nowhere")
}

#[test]
fn json_is_valid_by_its_schema() {
    let schema = hcoplan_testing::root().join("schemas/findings.schema.json");
    for findings in [findings(), Vec::new(), vec![nowhere()]] {
        holds(&schema, &json(Format::Json, &findings));
        let lines = written(&findings, Format::JsonLines, Terminal::default());
        let lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
        let document = json(Format::Json, &findings);
        assert_eq!(document["findings"], Value::Array(lines));
    }
}

#[test]
fn gitlab_reports_are_valid() {
    let findings = findings();
    let issues = json(Format::Gitlab, &findings);
    let issues = issues.as_array().expect("a list");
    let mut prints: Vec<&str> = issues.iter().filter_map(|i| i["fingerprint"].as_str()).collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), findings.len());
    for issue in issues {
        let severity = issue["severity"].as_str().expect("a severity");
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&severity));
        assert!(issue["location"]["lines"]["begin"].as_u64() > Some(0));
        assert!(!issue["location"]["path"].as_str().expect("a path").starts_with("./"));
    }
    assert_eq!(json(Format::Gitlab, &[]), Value::Array(Vec::new()));
}

#[test]
fn reports_a_clean_run() {
    let junit = written(&[], Format::Junit, Terminal::default());
    assert!(junit.contains("tests=\"3\" failures=\"0\""), "{junit}");
    let human = written(&[], Format::Human, Terminal::default());
    assert!(human.starts_with("✓ no findings in 3 clusters ("), "{human}");
}

#[test]
fn secrets_and_escapes_are_not_shown() {
    let text = "kind: Secret\nstringData:\n  password: hunter2\n  name: \u{1b}[31mred\n";
    let file = SourceFile::new("secret.yaml", text);
    let rule = hcoplan_lint::find("yaml-syntax").expect("a rule").rule;
    let at = text.find("password").expect("there");
    let place = Location::new(&file, Span::new(at, at + 8));
    let finding = Finding::new(rule, "m").at(place).label("here");
    for format in all::<Format>() {
        let text = written(std::slice::from_ref(&finding), format, Terminal::default());
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

/// Snapshots of the screen of lint, on a narrow and a wide terminal.
#[test]
fn lint_fits_narrow_and_wide_terminals() {
    for width in [80, 140] {
        let text = written(&findings(), Format::Human, Terminal { width, wraps: true, ..Terminal::default() });
        screen(&format!("lint-{width}"), &text);
    }
}

/// Compares a screen with its file in `testdata/report/screens`.
pub(super) fn screen(name: &str, text: &str) {
    let expected = path(&format!("report/screens/{name}.txt"));
    snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .eq(text.to_owned(), Data::read_from(&expected, Some(snapbox::data::DataFormat::Text)).raw());
}
