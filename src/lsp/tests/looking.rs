//! Diagnostics: content, location and removal.

use super::*;

#[test]
fn uses_the_editors_text_instead_of_the_file() {
    let (_temp, root) = workspace(&[("east/hyperconverged.yaml", HYPERCONVERGED), ("east/inventory.yaml", INVENTORY)]);
    let mut editor = Editor::plain(&root);
    editor.run_jobs();
    // Without open documents, all diagnostics are shown.
    assert_eq!(editor.codes("east/hyperconverged.yaml"), ["7:2 ignored-field"]);
    editor.open("east/hyperconverged.yaml", &HYPERCONVERGED.replace("  localStorageClassName: x\n", ""));
    editor.run_jobs();
    assert!(editor.shown.is_empty(), "{:?}", editor.shown);
    // Another file's unsaved text is used.
    editor.open("east/inventory.yaml", &INVENTORY.replace("1.17", "1.3"));
    editor.run_jobs();
    assert_eq!(editor.codes("east/inventory.yaml"), ["4:11 release-unknown"]);
    editor.change("east/inventory.yaml", &INVENTORY.replace("count: 3", "count: ["));
    editor.run_jobs();
    let codes = editor.codes("east/inventory.yaml");
    assert!(codes.iter().any(|c| c.ends_with("yaml-syntax")), "{codes:?}");
    for path in ["east/inventory.yaml", "east/hyperconverged.yaml"] {
        let document = json!({"uri": editor.uri(path)});
        editor.notify("textDocument/didClose", &json!({"textDocument": document}));
    }
    editor.run_jobs();
    assert_eq!(editor.codes("east/hyperconverged.yaml"), ["7:2 ignored-field"]);
    assert_eq!(editor.shown.len(), 1);
}

#[test]
fn a_diagnostic_says_all_that_the_client_can_show() {
    let (_temp, root) = workspace(&[("hyperconverged.yaml", HYPERCONVERGED), ("inventory.yaml", INVENTORY)]);
    let can = json!({
        "general": {"positionEncodings": ["utf-16", "utf-8"]},
        "textDocument": {"publishDiagnostics": {
            "relatedInformation": true, "codeDescriptionSupport": true, "versionSupport": true,
            "tagSupport": {"valueSet": [1, 2]},
        }},
    });
    let mut editor = Editor::with(&root, &can);
    // In UTF-8 the emoji has four code units.
    editor.open(
        "hyperconverged.yaml",
        &HYPERCONVERGED.replace(
            "  # 😀 the ones that are there\n  localStorageClassName: x\n",
            "  {\"😀\": 1, localStorageClassName: x}\n",
        ),
    );
    editor.run_jobs();
    let shown = &editor.shown["hyperconverged.yaml"];
    let ignored = shown.iter().find(|d| d["code"] == "ignored-field").expect("shown");
    assert_eq!(ignored["range"]["start"], json!({"line": 6, "character": 14}));
    assert_eq!(ignored["severity"], 2);
    assert_eq!(ignored["source"], "hcoplan");
    assert_eq!(ignored["tags"], json!([1]));
    let href = ignored["codeDescription"]["href"].as_str().expect("an address");
    assert!(href.ends_with("/docs/rules/ignored-field.md"), "{href}");
    let message = ignored["message"].as_str().expect("a text");
    assert!(message.contains("localStorageClassName") && message.contains("\nhelp: "), "{message}");
}

#[test]
fn a_related_place_may_be_in_another_file() {
    let list = "apiVersion: v1\nkind: List\nitems: []\n";
    let twice = format!("{INVENTORY}---\n{}", INVENTORY.replace("name: east", "name: other"));
    let (_temp, root) = workspace(&[
        ("hyperconverged.yaml", HYPERCONVERGED),
        ("inventory.yaml", INVENTORY),
        ("b/hyperconverged.yaml", HYPERCONVERGED),
        ("c.yaml", list),
        ("d/inventory.yaml", &twice),
    ]);
    let can = json!({"textDocument": {"publishDiagnostics": {"relatedInformation": true}}});
    let mut editor = Editor::with(&root, &can);
    editor.run_jobs();
    let all: Vec<&Value> = editor.shown.values().flatten().collect();
    let related = all.iter().filter_map(|d| d.get("relatedInformation"));
    let uris: Vec<&str> = related
        .flat_map(|r| r.as_array().expect("a list"))
        .map(|r| r["location"]["uri"].as_str().expect("a uri"))
        .collect();
    assert!(!uris.is_empty(), "{all:#?}");
    for uri in uris {
        assert!(address::to_path(uri).expect("a file").starts_with(utf8(&root)), "{uri}");
    }
}

#[test]
fn a_wrong_configuration_is_shown_where_it_is() {
    let (_temp, root) = workspace(&[("hyperconverged.yaml", HYPERCONVERGED), ("inventory.yaml", INVENTORY)]);
    let mut editor = Editor::plain(&root);
    editor.run_jobs();
    assert_eq!(editor.codes("hyperconverged.yaml"), ["7:2 ignored-field"]);
    editor.open("hcoplan.yaml", "lint:\n  selekt: []\n");
    editor.run_jobs();
    let codes = editor.codes("hcoplan.yaml");
    assert_eq!(codes.len(), 1, "{codes:?}");
    assert!(codes[0].ends_with("configuration-invalid"), "{codes:?}");
    // Hovers still find the cluster.
    let at = HYPERCONVERGED.find("localStorage").expect("there");
    editor.open("hyperconverged.yaml", HYPERCONVERGED);
    let hover = editor.hover("hyperconverged.yaml", HYPERCONVERGED, at);
    let text = hover["contents"]["value"].as_str().expect("a text");
    assert!(text.contains("No default in HCO 1.17"), "{text}");
}

#[test]
fn nothing_outside_of_the_workspace_is_read() {
    let (_temp, root) = workspace(&[
        ("inside/hyperconverged.yaml", HYPERCONVERGED),
        ("inventory.yaml", INVENTORY),
        ("outside/hyperconverged.yaml", HYPERCONVERGED),
    ]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(root.join("inventory.yaml"), root.join("inside/inventory.yaml")).expect("linked");
    let mut editor = Editor::plain(&root.join("inside"));
    editor.run_jobs();
    let codes = editor.codes("hyperconverged.yaml");
    assert!(codes.iter().any(|c| c.ends_with("release-assumed")), "{codes:?}");
    editor.open("../outside/hyperconverged.yaml", HYPERCONVERGED);
    editor.run_jobs();
    assert_eq!(editor.shown.keys().filter(|path| path.contains("outside")).count(), 0);
    let at = HYPERCONVERGED.find("localStorage").expect("there");
    let hover = editor.hover("../outside/hyperconverged.yaml", HYPERCONVERGED, at);
    assert_eq!(hover, Value::Null);
    assert_eq!(editor.actions("../outside/hyperconverged.yaml", None), Vec::<Value>::new());
}

#[test]
fn without_a_workspace_reads_files_next_to_the_open_one() {
    let (_temp, root) = workspace(&[
        ("hyperconverged.yaml", HYPERCONVERGED),
        ("inventory.yaml", INVENTORY),
        ("deep/hyperconverged.yaml", "apiVersion: hco.kubevirt.io/v1\n: ["),
    ]);
    let mut editor = Editor::new(utf8(&root).to_owned());
    let params = json!({"processId": null, "rootUri": null, "capabilities": {}});
    editor.ask("initialize", &params).expect("a result");
    editor.open_file("hyperconverged.yaml");
    editor.run_jobs();
    assert_eq!(editor.codes("hyperconverged.yaml"), ["7:2 ignored-field"]);
    assert_eq!(editor.shown.len(), 1);
}

#[test]
fn folders_come_and_go_and_the_inner_one_counts() {
    let (_temp, root) = workspace(&[("east/hyperconverged.yaml", HYPERCONVERGED), ("inventory.yaml", INVENTORY)]);
    let mut editor = Editor::plain(&root);
    editor.run_jobs();
    assert_eq!(editor.codes("east/hyperconverged.yaml"), ["7:2 ignored-field"]);
    let folder = json!([{"uri": editor.uri("east"), "name": "e"}]);
    let change = |added: &Value, removed: &Value| json!({"event": {"added": added, "removed": removed}});
    let method = "workspace/didChangeWorkspaceFolders";
    editor.notify(method, &change(&folder, &json!([])));
    editor.run_jobs();
    let codes = editor.codes("east/hyperconverged.yaml");
    assert!(codes.iter().any(|c| c.ends_with("release-assumed")), "{codes:?}");
    editor.notify(method, &change(&json!([]), &folder));
    editor.run_jobs();
    assert_eq!(editor.codes("east/hyperconverged.yaml"), ["7:2 ignored-field"]);
    let all = json!([{"uri": address::of_path(&editor.root), "name": "w"}]);
    editor.notify(method, &change(&json!([]), &all));
    editor.run_jobs();
    assert!(editor.shown.is_empty());
}

#[test]
fn a_folder_that_is_not_looked_at_yet_stays_due() {
    let (_temp, root) = workspace(&[("east/hyperconverged.yaml", HYPERCONVERGED), ("inventory.yaml", INVENTORY)]);
    let mut editor = Editor::plain(&root);
    let folder = json!([{"uri": editor.uri("east"), "name": "e"}]);
    let change = json!({"event": {"added": folder, "removed": []}});
    editor.notify("workspace/didChangeWorkspaceFolders", &change);
    let first = editor.session.job().expect("a job");
    editor.session.analysed(first.run());
    assert!(editor.session.due().is_some());
    let second = editor.session.job().expect("another job");
    editor.session.analysed(second.run());
    assert!(editor.session.due().is_none());
}
