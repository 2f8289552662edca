//! Prints the matrices of the recorded cases in every format.

use std::sync::OnceLock;

use serde_json::Value;

use super::{Format, MatrixPage, document, write};
use crate::Terminal;
use crate::recorded_cases::each_recorded_case;
use hcoplan_analysis::matrix::{ClusterMatrix, MatrixInput, counts, matrix};
use hcoplan_lint::{Context, Input, Settings};
use hcoplan_planner::plan::{AdmissionMode, plan_with};
use hcoplan_planner::release::Release;

/// The cases of the selection on every release, and one without an inventory.
fn clusters() -> &'static [ClusterMatrix] {
    static ALL: OnceLock<Vec<ClusterMatrix>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut out = vec![ClusterMatrix {
            cluster: "a|b".to_owned(),
            release: String::new(),
            basis: hcoplan_repository::repo::ReleaseBasis::Stated,
            multi_arch: false,
            architectures: Vec::new(),
            states_nodes: true,
            obstacle: Some(hcoplan_analysis::matrix::Obstacle::NoWorkloadNodes),
            images: Vec::new(),
            machines: Vec::new(),
        }];
        each_recorded_case(|case, loaded| {
            let inventory = &loaded.inventory;
            for name in Release::known_names() {
                let release = Release::known(name).expect("known");
                let plan = plan_with(&release, &inventory.inventory, &loaded.json, AdmissionMode::Force);
                let admission = &plan.admission;
                let input = Input {
                    cluster: &case.into(),
                    release: &release,
                    document: &loaded.document,
                    object: &loaded.json,
                    inventory,
                    plan: &plan,
                };
                let settings = Settings::default();
                out.push(matrix(&MatrixInput {
                    context: &Context::new(input, &settings),
                    rejected: admission.stage().map(|_| admission.message.as_str()),
                }));
            }
        });
        out
    })
}

fn page(clusters: &[ClusterMatrix], problems: bool, width: usize) -> MatrixPage<'_> {
    MatrixPage { clusters, problems, terminal: Terminal { width, wraps: true, ..Terminal::default() } }
}

fn printed(format: Format, page: &MatrixPage<'_>) -> String {
    let mut out = Vec::new();
    write(format, page, &mut out).expect("memory takes everything");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn the_document_is_valid_by_its_schema() {
    let schema = include_str!("../../../../schemas/matrix.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let schema = jsonschema::draft202012::new(&schema).expect("a schema");
    for problems in [false, true] {
        let document = document(&page(clusters(), problems, 100));
        let wrong: Vec<String> = schema.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert_eq!(wrong, Vec::<String>::new());
    }
    let broken = serde_json::json!({"schemaVersion": "1", "clusters": [{}], "summary": {}});
    assert!(!schema.is_valid(&broken));
}

/// The recorded cases have every state and nearly every reason.
#[test]
fn cases_cover_each_outcome() {
    let all = counts(clusters());
    for (name, n) in [
        ("covered", all.covered),
        ("wrong", all.wrong),
        ("missing", all.missing),
        ("off", all.off),
        ("external", all.external),
        ("unneeded", all.unneeded),
        ("dangling", all.dangling),
        ("obstructed", all.obstructed),
    ] {
        assert!(n > 0, "no cell is {name}: {all:?}");
    }
}

#[test]
fn tables_fit_into_the_terminal() {
    for width in [40, 60, 80, 120] {
        for cluster in clusters() {
            let one = std::slice::from_ref(cluster);
            let text = printed(Format::Human, &page(one, false, width));
            for line in text.lines() {
                // A word may be wider than the terminal.
                let longest = line.split_whitespace().map(|w| w.chars().count()).max();
                let most = width.max(longest.unwrap_or(0) + 24);
                assert!(line.chars().count() <= most, "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn only_problems_are_shown_when_asked() {
    let text = printed(Format::Human, &page(clusters(), true, 100));
    assert!(!text.contains("plain Kubernetes:"), "{text}");
    for cluster in clusters().iter().filter(|c| !c.is_problem()) {
        let one = std::slice::from_ref(cluster);
        let text = printed(Format::Human, &page(one, true, 100));
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn pages_have_balanced_elements() {
    let text = printed(Format::Html, &page(clusters(), false, 100));
    for tag in ["table", "details", "article", "section", "span", "ul", "li"] {
        let opened = text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    assert_eq!(text.matches("<script").count(), 1);
    assert!(!text.contains("http://"));
}

/// The totals agree with the cells in every format.
#[test]
fn totals_count_the_cells() {
    let all = clusters();
    let document = document(&page(all, false, 100));
    let mut cells: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for cluster in document["clusters"].as_array().expect("clusters") {
        for image in cluster["images"].as_array().into_iter().flatten() {
            for cell in image["cells"].as_array().into_iter().flatten() {
                let state = cell["state"].as_str().expect("a state");
                *cells.entry(state.to_owned()).or_default() += 1;
            }
        }
    }
    let of = |state: &str| cells.get(state).copied().unwrap_or_default();
    let covered = of("covered");
    let wanted = covered + of("wrong") + of("missing") + of("undetermined") + of("unknown");
    assert!(covered > 0 && wanted > covered, "{cells:?}");
    let expected = format!("{covered} of {wanted} pairs of golden image and architecture covered");
    for format in [Format::Human, Format::Html] {
        let text = printed(format, &page(all, false, 100));
        assert!(text.contains(&expected), "{format:?}: {expected}");
    }
    assert_eq!(document["summary"]["covered"], covered);
}

/// Snapshots of the screen, on narrow and wide terminals.
#[test]
fn the_matrix_fits_narrow_and_wide_terminals() {
    let some = clusters().get(..3).expect("recorded cases");
    for width in [80, 120, 160] {
        let text = printed(Format::Human, &page(some, false, width));
        crate::snapshots::screen(&format!("matrix-{width}"), &text);
    }
}
