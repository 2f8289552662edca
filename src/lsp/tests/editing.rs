//! Code actions produce the same bytes as `hcoplan fix`.

use std::collections::BTreeMap;

use hcoplan_testing::annotations;

use super::*;
use crate::finding::Applicability;
use crate::fix::{Choice, round};
use crate::lint::Settings;
use hcoplan_analysis::{Exit, FixRequest, KeptNotices, Sources, find_to_edit};

/// Copies directories of one kind of fixture, without annotations, into the returned directory.
fn fixtures(begins: &str) -> (tempfile::TempDir, Vec<PathBuf>) {
    let directory = tempfile::tempdir().expect("a directory");
    annotations::copy(&package().join("testdata/lint"), directory.path()).expect("copied");
    let mut out = Vec::new();
    for rule in fs::read_dir(directory.path()).expect("readable") {
        let rule = rule.expect("an entry").path();
        for case in fs::read_dir(&rule).into_iter().flatten() {
            let case = case.expect("an entry").path();
            let name = case.file_name().expect("a name").to_string_lossy().into_owned();
            if name.starts_with(begins) && case.join("hyperconverged.yaml").is_file() {
                out.push(case);
            }
        }
    }
    out.sort();
    assert!(out.len() > 50, "{}", out.len());
    (directory, out)
}

const FILE: &str = "hyperconverged.yaml";

/// The text after all safe fixes of the command.
fn text_after_fix(case: &Path, text: &str) -> String {
    let sources = Sources { directory: utf8(case).to_owned(), ..Sources::default() };
    let found = find_to_edit(&sources, &KeptNotices::default()).expect("readable");
    let settings = Settings::configured(found.repo.config()).expect("configured");
    let request = FixRequest { writes: true, ..FixRequest::default() };
    let fixed = found.fix(&request, &settings, &mut Exit::default(), &KeptNotices::default()).expect("fixed");
    fixed.files.get(utf8(Path::new(FILE))).map_or_else(|| text.to_owned(), |file| file.text.clone())
}

#[test]
fn a_quick_fix_makes_the_bytes_that_fix_makes() {
    let (mut safe, mut others) = (0, 0);
    let (_directory, cases) = fixtures("bad");
    for case in cases {
        let mut editor = Editor::plain(&case);
        let text = editor.open_file(FILE);
        let uri = editor.uri(FILE);
        let actions = editor.actions(FILE, Some("quickfix"));
        let seen = editor.session.findings();
        for finding in seen.iter().filter(|f| f.location.as_ref().is_some_and(|l| l.file.path() == FILE)) {
            for fix in &finding.fixes {
                let by_hand = round(&[Choice { finding, fix }]);
                let Some(file) = by_hand.files.get(utf8(Path::new(FILE))) else {
                    continue;
                };
                let preferred = fix.applicability == Applicability::Safe;
                let same = |a: &&Value| {
                    let title = a["title"].as_str().unwrap_or_default();
                    title.starts_with(&fix.title)
                        && (a["isPreferred"] == true) == preferred
                        && edited(&text, a, &uri) == file.text
                };
                let offered = actions.iter().find(same);
                assert!(offered.is_some(), "{}: {}: {actions:#?}", case.display(), fix.title);
                if preferred { safe += 1 } else { others += 1 }
            }
        }
    }
    assert!(safe > 40 && others > 20, "{safe} safe, {others} others");
}

#[test]
fn fix_all_makes_the_bytes_that_fix_writes() {
    let mut changed = 0;
    let (_directory, cases) = fixtures("bad");
    for case in cases {
        let more = fs::read_dir(&case).expect("readable").count();
        // Other objects and configuration are not part of this test.
        let known = ["hyperconverged.yaml", "inventory.yaml", "nodes.yaml"];
        if known.iter().filter(|n| case.join(n).exists()).count() != more {
            continue;
        }
        let resolves = json!({"textDocument": {"codeAction": {
            "dataSupport": true, "resolveSupport": {"properties": ["edit"]},
        }}});
        for can in [json!({}), resolves] {
            let mut editor = Editor::with(&case, &can);
            let text = editor.open_file(FILE);
            let uri = editor.uri(FILE);
            let actions = editor.actions(FILE, Some("source.fixAll"));
            let after = match actions.as_slice() {
                [] => text.clone(),
                [action] => {
                    let mut action = action.clone();
                    if can != json!({}) {
                        assert_eq!(action.get("edit"), None);
                        action = editor.ask("codeAction/resolve", &action).expect("no error");
                    }
                    // An action has no edit if the fixes would cause an error.
                    if action.get("edit").is_some() { edited(&text, &action, &uri) } else { text.clone() }
                }
                more => panic!("{more:#?}"),
            };
            assert_eq!(after, text_after_fix(&case, &text), "{}", case.display());
            changed += usize::from(after != text);
        }
    }
    assert!(changed > 60, "{changed}");
}

#[test]
fn a_comment_suppresses_a_finding() {
    let (mut gone, mut stayed) = (0, Vec::new());
    let (_directory, cases) = fixtures("bad");
    for case in cases {
        let mut editor = Editor::plain(&case);
        let text = editor.open_file(FILE);
        let uri = editor.uri(FILE);
        let mut tried: BTreeMap<String, usize> = BTreeMap::new();
        for action in editor.actions(FILE, Some("quickfix")) {
            let title = action["title"].as_str().expect("a title").to_owned();
            let Some(rule) = title.strip_prefix("ignore ").and_then(|t| t.strip_suffix(" here")) else {
                continue;
            };
            // One fixture has hundreds of equal findings.
            let count = tried.entry(rule.to_owned()).or_default();
            *count += 1;
            if *count > 5 {
                continue;
            }
            let place = &action["diagnostics"][0]["range"]["start"]["line"];
            let line = place.as_u64().expect("a line");
            editor.change(FILE, &edited(&text, &action, &uri));
            editor.run_jobs();
            // The comment moves the finding down by a line.
            let still = format!("{}:", line + 1);
            let codes = editor.codes(FILE);
            if !codes.iter().any(|c| c.starts_with(&still) && c.ends_with(&format!(" {rule}"))) {
                gone += 1;
            } else {
                stayed.push(format!("{}: {rule}", case.display()));
            }
        }
    }
    assert!(gone > 100, "{gone}");
    assert_eq!(stayed, Vec::<String>::new());
}

#[test]
fn offers_a_comment_next_to_one_of_several_clusters() {
    let vm = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a, namespace: shop}\nspec:\n  runStrategy: \
              Always\n  template:\n    spec:\n      evictionStrategy: LiveMigrate\n      domain:\n        devices: \
              {}\n        memory: {guest: 1Gi}\n        features: {hypervPassthrough: {enabled: true}}\n";
    let (_temp, root) = workspace(&[
        ("east/hyperconverged.yaml", HYPERCONVERGED),
        ("east/inventory.yaml", INVENTORY),
        ("east/vm.yaml", vm),
        ("west/hyperconverged.yaml", HYPERCONVERGED),
        ("west/inventory.yaml", INVENTORY),
    ]);
    let mut editor = Editor::plain(&root);
    editor.open("east/vm.yaml", vm);
    let actions = editor.actions("east/vm.yaml", Some("quickfix"));
    let titles: Vec<&str> = actions.iter().filter_map(|a| a["title"].as_str()).collect();
    assert!(titles.contains(&"ignore vm-not-evictable here"), "{titles:?}");
}

#[test]
fn edits_fit_texts_with_marks_and_carriage_returns() {
    let (_temp, root) = workspace(&[("inventory.yaml", INVENTORY)]);
    let mut editor = Editor::plain(&root);
    let text = format!("\u{feff}{}", HYPERCONVERGED.replace('\n', "\r\n"));
    editor.open(FILE, &text);
    let uri = editor.uri(FILE);
    let actions = editor.actions(FILE, None);
    assert_eq!(editor.codes(FILE), ["7:2 ignored-field"]);
    let titles: Vec<&str> = actions.iter().filter_map(|a| a["title"].as_str()).collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
    let fixed = edited(&text, &actions[0], &uri);
    assert_eq!(fixed.matches("localStorageClassName").count(), 0);
    assert!(fixed.starts_with('\u{feff}') && !fixed.replace("\r\n", "").contains('\n'), "{fixed:?}");
    let ignored = edited(&text, &actions[1], &uri);
    let comment = "\r\n  # hcoplan: ignore[ignored-field] TODO: say why\r\n  localStorageClassName";
    assert!(ignored.contains(comment), "{ignored:?}");
}

#[test]
fn answers_only_requested_kinds_of_actions() {
    let text = HYPERCONVERGED.replace("localStorageClassName", "DefaultRuntimeClass");
    let (_temp, root) = workspace(&[("inventory.yaml", INVENTORY), (FILE, &text)]);
    let versioned = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}});
    let mut editor = Editor::with(&root, &versioned);
    editor.open_file(FILE);
    let kinds = |editor: &mut Editor, only| -> Vec<String> {
        let actions = editor.actions(FILE, only);
        actions.iter().filter_map(|a| a["kind"].as_str()).map(ToOwned::to_owned).collect()
    };
    let all = ["quickfix", "quickfix", "source.fixAll.hcoplan"];
    assert_eq!(kinds(&mut editor, None), all);
    assert_eq!(kinds(&mut editor, Some("")), all);
    assert_eq!(kinds(&mut editor, Some("quickfix")), all[..2]);
    assert_eq!(kinds(&mut editor, Some("source")), all[2..]);
    assert_eq!(kinds(&mut editor, Some("source.fixAll.hcoplan")), all[2..]);
    assert_eq!(kinds(&mut editor, Some("source.fixAll.other")), all[..0]);
    assert_eq!(kinds(&mut editor, Some("refactor")), all[..0]);
    let action = &editor.actions(FILE, Some("quickfix"))[0];
    let document = &action["edit"]["documentChanges"][0]["textDocument"];
    assert_eq!(document["version"], 1);
    assert_eq!(action["diagnostics"][0]["code"], "hco-unknown-field");
}
