//! Completion candidates while typing, and the result of accepting one.

use super::*;

/// The candidates at `|`: names, each with the resulting document.
fn offered(editor: &mut Editor, path: &str, text: &str) -> Vec<(String, String)> {
    let at = text.find('|').expect("a cursor");
    let text = text.replacen('|', "", 1);
    editor.open(path, &text);
    let position = Lines::new(&text, Encoding::Utf16).position(at);
    let params = json!({"textDocument": {"uri": editor.uri(path)}, "position": position});
    let items = editor.ask("textDocument/completion", &params).expect("no error");
    let items = items.as_array().expect("a list").iter();
    let taken = items.map(|item| {
        let lines = Lines::new(&text, Encoding::Utf16);
        let place = |key: &str| {
            let position = serde_json::from_value(item["textEdit"]["range"][key].clone());
            lines.offset(position.expect("a position"))
        };
        let new = item["textEdit"]["newText"].as_str().expect("a text");
        let mut taken = text.clone();
        taken.replace_range(place("start")..place("end"), new);
        (item["label"].as_str().expect("a label").to_owned(), taken)
    });
    taken.collect()
}

fn names(editor: &mut Editor, path: &str, text: &str) -> Vec<String> {
    offered(editor, path, text).into_iter().map(|(name, _)| name).collect()
}

/// Checks that the candidates include some names and exclude others.
fn check(editor: &mut Editor, path: &str, text: &str, there: &[&str], missing: &[&str]) {
    let found = names(editor, path, text);
    for name in there {
        assert!(found.iter().any(|f| f == name), "{text}\n{name} in {found:?}");
    }
    for name in missing {
        assert!(!found.iter().any(|f| f == name), "{text}\nno {name} in {found:?}");
    }
}

const HEAD: &str =
    "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged}\n";
const HEAD_V1: &str =
    "apiVersion: hco.kubevirt.io/v1\nkind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged}\n";

#[test]
fn completes_fields_and_values_of_a_hyperconverged() {
    let (_temp, root) = workspace(&[("inventory.yaml", INVENTORY), ("hco.yaml", HYPERCONVERGED)]);
    let mut editor = Editor::plain(&root);
    let file = "hco.yaml";
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("spec:\n  |", &["featureGates", "liveMigrationConfig"], &["status"]),
        ("spec:\n  live|", &["liveMigrationConfig"], &[]),
        ("spec:\n  infra: {}\n  |\n  workloads: {}\n", &["tlsSecurityProfile"], &["infra", "workloads"]),
        ("spec:\n  featureGates:\n    |", &["deployKubeSecondaryDNS", "downwardMetrics"], &["nothing"]),
        ("spec:\n  featureGates:\n    downwardMetrics: |", &["true", "false"], &[]),
        ("spec:\n  featureGates: {down|}", &["downwardMetrics"], &[]),
        ("spec:\n  evictionStrategy: |", &["LiveMigrate", "None"], &[]),
        ("spec:\n  tlsSecurityProfile: {type: O|}", &["Old", "Custom"], &[]),
        ("spec:\n  dataImportCronTemplates:\n  - |", &["metadata", "spec"], &[]),
        ("|", &["spec"], &["status", "kind"]),
        ("spec:\n  # |", &[], &["featureGates"]),
    ];
    for (body, there, missing) in cases {
        check(&mut editor, file, &format!("{HEAD}{body}"), there, missing);
    }
    let list =
        format!("apiVersion: v1\nkind: List\nitems:\n- {}\n  spec:\n    ev|\n", HEAD.trim_end().replace('\n', "\n  "));
    check(&mut editor, file, &list, &["evictionStrategy"], &["featuregates"]);
}

#[test]
fn knows_fields_and_gates_of_v1() {
    let inventory = INVENTORY.replace("1.17", "1.18");
    let files = [("inventory.yaml", inventory.as_str()), ("hco.yaml", HYPERCONVERGED)];
    let (_temp, root) = workspace(&files);
    let mut editor = Editor::plain(&root);
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("spec:\n  |", &["featureGates", "virtualization", "deployment"], &["liveMigrationConfig"]),
        ("spec:\n  virtualization:\n    |", &["liveMigrationConfig"], &[]),
        ("spec:\n  featureGates:\n  - |", &["name", "state"], &[]),
        ("spec:\n  featureGates:\n  - name: |", &["downwardMetrics", "deployKubeSecondaryDNS"], &[]),
        ("spec:\n  featureGates:\n  - {name: downwardMetrics, state: |}", &["Enabled", "Disabled"], &[]),
    ];
    for (body, there, missing) in cases {
        check(&mut editor, "hco.yaml", &format!("{HEAD_V1}{body}"), there, missing);
    }
}

#[test]
fn writes_accepted_completions_correctly() {
    let (_temp, root) = workspace(&[("hco.yaml", HYPERCONVERGED)]);
    let mut editor = Editor::plain(&root);
    let head = format!("{HEAD}spec:\n");
    for (typed, name, expected) in [
        ("  evic|", "evictionStrategy", "  evictionStrategy: "),
        ("  evic|: x", "evictionStrategy", "  evictionStrategy: x"),
        ("  evictionStrategy: Non|", "None", "  evictionStrategy: None"),
        ("  evictionStrategy: \"Non|\"", "None", "  evictionStrategy: \"None\""),
    ] {
        let taken = offered(&mut editor, "hco.yaml", &format!("{head}{typed}"));
        let taken = taken.iter().find(|(n, _)| n == name);
        let (_, text) = taken.unwrap_or_else(|| panic!("{name} at {typed}"));
        assert_eq!(text.strip_prefix(&head), Some(expected));
    }
}

#[test]
fn answers_completion_at_every_position() {
    let text = format!(
        "{HEAD}spec:\n  featureGates: {{downwardMetrics: true}}\n  infra:\n    # one\n    nodePlacement: [a, 'b']\n"
    );
    let (_temp, root) = workspace(&[("hco.yaml", &text)]);
    let mut editor = Editor::plain(&root);
    editor.open("hco.yaml", &text);
    editor.run_jobs();
    let (mut asked, mut offers) = (0, 0);
    for (at, _) in text.char_indices() {
        let position = Lines::new(&text, Encoding::Utf16).position(at);
        let params = json!({"textDocument": {"uri": editor.uri("hco.yaml")}, "position": position});
        let items = editor.ask("textDocument/completion", &params).expect("no error");
        asked += 1;
        offers += usize::from(items != json!([]));
    }
    assert!(offers > 15 && offers < asked, "{offers} of {asked}");
}

#[test]
fn items_say_what_explain_says() {
    let (_temp, root) = workspace(&[("inventory.yaml", INVENTORY), ("hco.yaml", HYPERCONVERGED)]);
    let mut editor = Editor::plain(&root);
    let mut said = |body: &str, label: &str| {
        let text = format!("{HEAD}{body}");
        editor.open("hco.yaml", &text);
        let position = Lines::new(&text, Encoding::Utf16).position(text.len());
        let params = json!({"textDocument": {"uri": editor.uri("hco.yaml")}, "position": position});
        let items = editor.ask("textDocument/completion", &params).expect("no error");
        let mut items = items.as_array().expect("a list").iter();
        let item = items.find(|item| item["label"] == label).unwrap_or_else(|| panic!("no {label}"));
        item["documentation"].as_str().unwrap_or_default().to_owned()
    };
    for (body, label, part) in [
        ("spec:\n  evic", "evictionStrategy", "What draining a node does"),
        ("spec:\n  evictionStrategy: ", "None", "they are shut down"),
        ("spec:\n  tun", "tuningPolicy", "ignored from 1.19 on"),
        ("spec:\n  featureGates:\n    down", "downwardMetrics", "Lets guests see"),
    ] {
        let found = said(body, label);
        assert!(found.contains(part), "{label}: {found:?}");
    }
}
