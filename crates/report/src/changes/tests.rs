//! Prints differences between releases of the recorded cases in every format.

use std::sync::OnceLock;

use camino::Utf8Path;
use proptest::prelude::*;
use serde_json::Value;

use super::{Changes, Format, MIN_BUDGET, write};
use crate::Terminal;
use crate::named::all;
use crate::prelude::Steps;
use crate::recorded_cases::each_recorded_case;
use hcoplan_explain::diff::{ClusterDiff, Side, compare_plans, notes};
use hcoplan_planner::plan::{AdmissionMode, plan_with};
use hcoplan_planner::release::Release;

/// Each recorded case of the selection, between consecutive releases.
fn pairs() -> &'static [ClusterDiff] {
    static ALL: OnceLock<Vec<ClusterDiff>> = OnceLock::new();
    ALL.get_or_init(|| {
        let releases: Vec<&str> = Release::known_names().collect();
        let mut out = Vec::new();
        each_recorded_case(|case, loaded| {
            let inventory = &loaded.inventory;
            for two in releases.windows(2) {
                let planned: Vec<_> = two
                    .iter()
                    .map(|name| {
                        let release = Release::known(name).expect("known");
                        let nodes = &inventory.inventory;
                        let plan = plan_with(&release, nodes, &loaded.json, AdmissionMode::Force);
                        (release, plan)
                    })
                    .collect();
                let side = |i: usize| Side {
                    stated: None,
                    release: &planned[i].0,
                    inventory,
                    document: Some(&loaded.document),
                    object: &loaded.json,
                    plan: &planned[i].1,
                };
                let (before, after) = (side(0), side(1));
                out.push(ClusterDiff {
                    comparison: compare_plans(&before, &after),
                    notes: notes(&before, &after),
                    ..ClusterDiff::new(case)
                });
            }
        });
        out
    })
}

fn printed(format: Format, clusters: &[ClusterDiff], budget: Option<usize>, width: usize) -> String {
    printed_with(format, clusters, None, budget, width)
}

fn printed_with(
    format: Format,
    clusters: &[ClusterDiff],
    steps: Option<&Steps>,
    budget: Option<usize>,
    width: usize,
) -> String {
    let changes = Changes {
        before: "1.17",
        after: "1.18",
        clusters,
        compared: clusters.len(),
        root: Utf8Path::new("."),
        root_before: Utf8Path::new("."),
        terminal: Terminal { width, wraps: true, ..Terminal::default() },
        findings: &[],
        existing_count: true,
        typed: &crate::Typed { command: "hcoplan diff".to_owned(), ..Default::default() },
        budget,
        is_short: false,
    };
    let mut out = Vec::new();
    write(format, &changes, steps, &mut out).expect("memory takes everything");
    String::from_utf8(out).expect("UTF-8")
}

/// Checks that tags and fences are closed.
fn balanced(markdown: &str) -> Result<(), String> {
    let mut fence: Option<&str> = None;
    let mut depth = 0;
    for line in markdown.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) if ticks >= open.len() && line[ticks..].is_empty() => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(&line[..ticks]),
            None => {
                depth += line.matches("<details>").count();
                let closed = line.matches("</details>").count();
                if closed > depth {
                    return Err(format!("closed too often: {line}"));
                }
                depth -= closed;
            }
        }
    }
    match (fence, depth) {
        (None, 0) => Ok(()),
        (fence, depth) => Err(format!("open at the end: {fence:?}, {depth} details")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_comment_fits_any_size_limit(
        first in any::<prop::sample::Index>(),
        more in 0usize..4,
        budget in MIN_BUDGET..60_000,
    ) {
        let all = pairs();
        let start = first.index(all.len());
        let clusters = &all[start..(start + 1 + more).min(all.len())];
        let cut = printed(Format::Markdown, clusters, Some(budget), 100);
        let whole = printed(Format::Markdown, clusters, None, 100);
        prop_assert_eq!(balanced(&cut), Ok(()));
        prop_assert_eq!(balanced(&whole), Ok(()));
        prop_assert!(cut.len() <= budget, "{} bytes of {budget}", cut.len());
        prop_assert!(cut.starts_with("<!-- hcoplan:diff -->\n"));
        // A cut is always reported.
        if cut != whole {
            prop_assert!(cut.contains("left out**, as"), "{cut}");
        }
        let differs = clusters.iter().any(|c| !c.is_empty());
        let verdict = cut.lines().nth(1).unwrap_or_default();
        prop_assert_eq!(verdict.contains("no changes"), !differs);
    }
}

#[test]
fn every_pair_prints_in_every_format() {
    for cluster in pairs() {
        let one = std::slice::from_ref(cluster);
        for format in all::<Format>() {
            for width in [60, 140] {
                let text = printed(format, one, None, width);
                assert!(text.ends_with('\n') || format == Format::Html || text.is_empty());
            }
        }
        serde_json::from_str::<Value>(&printed(Format::Json, one, None, 100)).expect("JSON");
        let page = printed(Format::Html, one, None, 100);
        assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
        assert_eq!(page.matches("<script").count(), 1);
        assert!(!page.contains("http://"));
    }
}

#[test]
fn the_document_is_valid_by_its_schema() {
    let schema = include_str!("../../../../schemas/diff.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let schema = jsonschema::draft202012::new(&schema).expect("a schema");
    for cluster in pairs() {
        let text = printed(Format::Json, std::slice::from_ref(cluster), None, 100);
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let wrong: Vec<String> = schema.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert_eq!(wrong, Vec::<String>::new());
    }
}

/// Snapshots of the screens of plan and diff, on narrow and wide terminals.
#[test]
fn changes_fit_narrow_and_wide_terminals() {
    let clusters = pairs().get(..4).expect("recorded cases");
    for width in [80, 120, 160] {
        let text = printed(Format::Human, clusters, None, width);
        crate::snapshots::screen(&format!("diff-{width}"), &text);
    }
    // Two cases over all releases.
    let names: Vec<String> = Release::known_names().skip(1).map(str::to_owned).collect();
    let of_step = |step: usize| pairs().iter().skip(step).step_by(names.len()).take(2).cloned().collect();
    let steps = names.iter().enumerate().map(|(step, name)| (name.clone(), of_step(step))).collect();
    let steps = Steps { steps, compared: 2, already_there: Vec::new() };
    for width in [80, 120, 160] {
        let text = printed_with(Format::Human, &[], Some(&steps), None, width);
        crate::snapshots::screen(&format!("upgrade-{width}"), &text);
    }
}
