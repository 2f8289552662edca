//! Checks our JUnit and GitLab output against their readers' requirements, written down in our own tables: the elements
//! of Jenkins' `junit-10.xsd` (xUnit plugin), the keys of GitLab's documentation.

use super::snapshots::{findings, json as document, nowhere, written};
use super::{Format, Terminal};
use crate::prelude::*;

/// A JUnit element: allowed and required attributes, allowed children.
struct Element {
    may: &'static [&'static str],
    must: &'static [&'static str],
    inside: &'static [&'static str],
}

fn element(name: &str) -> Option<Element> {
    const OUTCOME: Element = Element { may: &["type", "message"], must: &[], inside: &[] };
    Some(match name {
        "testsuites" => {
            Element { may: &["name", "time", "tests", "failures", "errors"], must: &[], inside: &["testsuite"] }
        }
        "testsuite" => Element {
            may: &[
                "name",
                "tests",
                "failures",
                "errors",
                "group",
                "time",
                "skipped",
                "timestamp",
                "hostname",
                "id",
                "package",
                "file",
                "log",
                "url",
            ],
            must: &["name", "tests", "failures", "errors"],
            inside: &["testsuite", "testcase", "properties", "system-out", "system-err"],
        },
        "testcase" => Element {
            may: &["name", "time", "classname", "group"],
            must: &["name"],
            inside: &["skipped", "error", "failure", "system-out", "system-err"],
        },
        "failure" | "error" | "skipped" => OUTCOME,
        "system-out" | "system-err" => Element { may: &[], must: &[], inside: &[] },
        _ => return None,
    })
}

/// Attributes of a tag: `name="value"`, quoted and escaped.
fn attributes(mut text: &str) -> BTreeMap<&str, &str> {
    let mut out = BTreeMap::new();
    while let Some((name, rest)) = text.trim_start().split_once("=\"") {
        let (value, rest) = rest.split_once('"').expect("a closing quote");
        assert!(!value.contains('<'), "{value}");
        assert!(out.insert(name, value).is_none(), "{name} is there twice");
        text = rest;
    }
    assert_eq!(text.trim(), "", "more than attributes");
    out
}

/// Returns the errors of a JUnit report.
fn junit_errors(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("the declaration");
    for part in body.split('<').skip(1) {
        let (tag, content) = part.split_once('>').expect("a tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes what is open");
        } else {
            let (tag, empty) = match tag.strip_suffix('/') {
                Some(tag) => (tag, true),
                None => (tag, false),
            };
            let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
            let parent = open.last().copied().unwrap_or_default();
            match element(parent) {
                Some(around) if !around.inside.contains(&name) => {
                    wrong.push(format!("{name} in {parent}"));
                }
                None if name != "testsuites" => wrong.push(format!("{name} at the top")),
                _ => {}
            }
            let Some(known) = element(name) else {
                wrong.push(format!("no element {name}"));
                continue;
            };
            let found = attributes(rest);
            let extra = found.keys().filter(|a| !known.may.contains(a));
            wrong.extend(extra.map(|a| format!("{name} has no attribute {a}")));
            let missing = known.must.iter().filter(|a| !found.contains_key(*a));
            wrong.extend(missing.map(|a| format!("{name} needs {a}")));
            if !empty {
                open.push(name);
            }
        }
        let texts = ["failure", "error", "skipped", "system-out", "system-err"];
        let may_hold = open.last().is_some_and(|o| texts.contains(o));
        if !may_hold && !content.trim().is_empty() {
            wrong.push(format!("text in {:?}: {content}", open.last()));
        }
    }
    assert!(open.is_empty(), "{open:?} stays open");
    wrong
}

fn schema_errors(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).expect("a JSON Schema");
    let errors = validator.iter_errors(document);
    errors.map(|e| format!("{}: {e}", e.instance_path())).collect()
}

/// A schema for GitLab's "Code Quality report format".
fn gitlab() -> Value {
    let line = json!({"type": "integer", "minimum": 1});
    json!({"type": "array", "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "pattern": "^[^./]|^\\.[^./]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": line, "end": line},
                    },
                },
            },
        },
    }})
}

fn cases() -> [Vec<Finding>; 3] {
    [findings(), Vec::new(), vec![nowhere()]]
}

#[test]
fn junit_is_valid_for_jenkins() {
    for findings in cases() {
        let text = written(&findings, Format::Junit, Terminal::default());
        assert_eq!(junit_errors(&text), [""; 0], "{text}");
    }
    let wrong = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites><testcase line=\"1\">x\
                 </testcase></testsuites>";
    assert_eq!(junit_errors(wrong).len(), 4);
}

#[test]
fn gitlab_reports_have_the_required_fields() {
    for findings in cases() {
        let errors = schema_errors(&gitlab(), &document(Format::Gitlab, &findings));
        assert_eq!(errors, [""; 0]);
    }
    assert_eq!(schema_errors(&gitlab(), &json!([{"severity": "bad"}])).len(), 5);
}
