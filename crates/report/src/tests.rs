use super::named::all;
use super::*;
use hcoplan_diagnostics::finding::{Applicability, Edit, Finding, Fix, Severity};
use hcoplan_diagnostics::source::{Location, SourceFile, Span};
use hcoplan_lint as lint;

fn findings() -> Vec<Finding> {
    let file = SourceFile::new("east/hco.yaml", "spec:\n  größe: |pipe|\n  b: 2\n");
    let inventory = SourceFile::new("east/inventory.yaml", "nodes: []\n");
    let rule = lint::find("multi-arch-boot-images-disabled").expect("registered").rule;
    let fix = Fix {
        title: "say yes".to_owned(),
        applicability: Applicability::Safe,
        edits: vec![Edit { file: file.clone(), span: Span::new(18, 24), text: "yes".to_owned() }],
    };
    let first = Finding::new(rule, "100% of \"it\" is <odd> | and: more,\nin two lines")
        .at(Location::new(&file, Span::new(17, 23)))
        .label("here it is")
        .help("fix it")
        .related(Location::new(&inventory, Span::new(0, 5)), "declared here")
        .fix(fix);
    let second = Finding::new(rule, "nowhere in particular").error();
    vec![first, second]
}

fn print(format: Format, findings: &[Finding]) -> String {
    let summary = Summary {
        clusters: 1,
        names: vec!["east".to_owned()],
        fail_on: Some(Severity::Error),
        suppressed: 2,
        ..Summary::default()
    };
    let report = Report {
        findings,
        summary: &summary,
        root: "fleet".into(),
        root_in_repository: Some("examples/fleet".into()),
        typed: &Typed::default(),
        terminal: Terminal::default(),
    };
    let mut out = Vec::new();
    write(format, &report, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn places_and_clusters_are_named_once() {
    let (base, other) = (SourceFile::new("base/hco.yaml", "a: b\n"), SourceFile::new("other/hco.yaml", "a: b\n"));
    let found = |(cluster, file): (&str, _)| {
        let own = SourceFile::new(format!("{cluster}/inventory.yaml"), "c: d\n");
        let place = |file| Location::new(file, Span::new(0, 1));
        Finding {
            cluster: Some(cluster.into()),
            ..Finding::new(findings()[0].rule, "m").at(place(file)).related(place(&own), "r")
        }
    };
    let all = [("a", &base), ("b", &base), ("c", &other), ("d", &other)];
    let text = print(Format::Human, &all.map(found));
    assert!(text.contains("  = 4 clusters: a, b, c, d\n"), "{text}");
    assert!(text.contains("  = also at: fleet/other/hco.yaml:1:1\n"), "{text}");
}

#[test]
fn human_shows_both_files_and_the_help() {
    let text = print(Format::Human, &findings());
    for part in [
        "fleet/east/hco.yaml:2:10",
        "here it is",
        "declared here",
        "fix it",
        "1 error, 1 warning in 1 cluster (2 suppressed)",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn json_is_the_same_text_however_many_findings_there_are() {
    for times in [1, 40, 200] {
        let many: Vec<Finding> = (0..times).flat_map(|_| findings()).collect();
        let text = print(Format::Json, &many);
        let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read["findings"].as_array().map(Vec::len), Some(many.len()));
        let again = serde_json::to_string_pretty(&read).expect("JSON");
        assert_eq!(text, again + "\n", "{times}");
    }
}

#[test]
fn concise_is_a_line_each() {
    let text = print(Format::Concise, &findings()[1..]);
    assert_eq!(
        text,
        "error[multi-arch-boot-images-disabled] nowhere in particular\n1 error in 1 cluster (2 suppressed)\n"
    );
}

#[test]
fn github_escapes() {
    let text = print(Format::Github, &findings());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("::warning file=examples/fleet/east/hco.yaml,line=2,endLine=2,col=10,endColumn=16,title="),
        "{}",
        lines[0]
    );
    assert!(lines[0].contains("100%25 of") && lines[0].contains("%0Ain two lines"));
    assert!(lines[1].starts_with("::error title="));
}

#[test]
fn gitlab_distinguishes_equal_findings() {
    let twice = [findings().remove(1), findings().remove(1)];
    let text = print(Format::Gitlab, &twice);
    let issues: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    assert_ne!(issues[0]["fingerprint"], issues[1]["fingerprint"]);
    assert_eq!(print(Format::Gitlab, &[]), "[]\n");
}

#[test]
fn junit_has_a_passing_case_when_clean() {
    let clean = print(Format::Junit, &[]);
    assert!(clean.contains(r#"tests="1" failures="0""#), "{clean}");
    assert!(clean.contains(r#"<testcase name="east" classname="hcoplan.cluster"/>"#));
    let text = print(Format::Junit, &findings());
    assert!(text.contains("&lt;odd&gt;"), "{text}");
    // The cluster has no finding; of the repository's findings, the error fails the run and the warning doesn't.
    assert!(text.contains(r#"tests="2" failures="1""#), "{text}");
    assert!(text.contains(r#"<failure type="error" message="nowhere in particular">"#), "{text}");
    assert!(text.contains("<system-out>fleet/east/hco.yaml:2:10: warning["), "{text}");
}

#[test]
fn sarif_places_every_result_and_lists_the_rules_that_occur() {
    let text = print(Format::Sarif, &findings());
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let run = &document["runs"][0];
    let listed = run["tool"]["driver"]["rules"].as_array().expect("rules").len();
    assert_eq!(listed, 1);
    for result in run["results"].as_array().expect("results") {
        assert!(result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64() >= Some(1));
        let index = result["ruleIndex"].as_u64().expect("index") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
}

/// The first errors of a document by a vendored schema.
fn schema_errors(schema: &str, document: &serde_json::Value) -> Vec<String> {
    let path = hcoplan_testing::root().join("testdata/schemas").join(schema);
    let text = std::fs::read_to_string(path).expect("vendored");
    // The published pattern of `language` has an unbalanced bracket.
    let text = text.replace("{2}]?$", "{2}$");
    let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors = validator.iter_errors(document).take(5);
    errors.map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn sarif_is_valid() {
    for findings in [findings(), Vec::new()] {
        let text = print(Format::Sarif, &findings);
        let document = serde_json::from_str(&text).expect("JSON");
        assert_eq!(schema_errors("sarif-2.1.0.json", &document), [""; 0]);
    }
}

#[test]
fn markdown_keeps_its_table() {
    let text = print(Format::Markdown, &findings());
    let rows = text.lines().filter(|l| l.starts_with("| 🔴") || l.starts_with("| 🟡"));
    for row in rows {
        let bars = row.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 5, "{row}");
    }
}

#[test]
fn every_format_has_a_name_of_its_own() {
    for format in all::<Format>() {
        assert_eq!(Format::named(format.name()), Some(format));
    }
}
