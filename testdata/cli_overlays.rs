//! Tests that need a kustomize and more than a console.

use super::*;

/// Overlays have the same findings as the built clusters, except for locations.
#[test]
fn overlays_have_the_findings_of_plain_directories() {
    let scene = Scene::new(&main_directory().join("testdata/cli/every-command/in"));
    scene.add_kustomize();
    let findings = |directory: &str| {
        *scene.current.borrow_mut() = directory.to_owned();
        let words = ["lint", "--pedantic", "--format", "json"];
        let mut command = scene.command(env!("CARGO_BIN_EXE_hcoplan"));
        let done = command.args(words).output().expect("hcoplan runs");
        let read: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        let mut out = Vec::new();
        for finding in read["findings"].as_array().expect("a list") {
            let several = finding["clusters"].as_array().cloned();
            for cluster in several.unwrap_or_else(|| vec![finding["cluster"].clone()]) {
                let what = ["rule", "severity", "message", "help", "object"].map(|k| &finding[k]);
                out.push(format!("{cluster} {what:?}"));
            }
        }
        out.sort();
        out
    };
    let (plain, overlays) = (findings("plain"), findings("overlays"));
    assert!(plain.len() > 4, "{plain:#?}");
    assert_eq!(overlays, plain);
}

/// A language client with a time limit.
struct Editor {
    server: std::process::Child,
    input: std::process::ChildStdin,
    /// The server's messages, read by a separate thread.
    said: std::sync::mpsc::Receiver<serde_json::Value>,
    root: String,
    requests: u32,
}

impl Editor {
    fn new(scene: &Scene) -> Self {
        use std::io::{BufRead as _, BufReader, Read as _};
        let mut command = scene.command(env!("CARGO_BIN_EXE_hcoplan"));
        let command = command.arg("lsp");
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = piped.spawn().expect("hcoplan runs");
        let input = server.stdin.take().expect("piped");
        let mut output = BufReader::new(server.stdout.take().expect("piped"));
        let (sender, said) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let mut length = 0;
            while output.read_line(&mut line).is_ok_and(|n| n > 0) {
                if let Some(number) = line.trim().strip_prefix("Content-Length: ") {
                    length = number.parse().expect("a number");
                } else if line.trim().is_empty() {
                    let mut bytes = vec![0; length];
                    output.read_exact(&mut bytes).expect("the whole message");
                    let message = serde_json::from_slice(&bytes).expect("JSON");
                    let _ = sender.send(message);
                }
                line.clear();
            }
        });
        let root = format!("file://{}", scene.path("").display());
        let mut editor = Self { server, input, said, root: root.trim_end_matches('/').to_owned(), requests: 0 };
        let folders = serde_json::json!([{"uri": editor.root, "name": "w"}]);
        let hello =
            serde_json::json!({"processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": folders});
        editor.ask("initialize", hello);
        editor.notify("initialized", serde_json::json!({}));
        editor
    }

    fn send(&mut self, message: &serde_json::Value) {
        use std::io::Write as _;
        let text = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.input.write_all(framed.as_bytes()).expect("sent");
        self.input.flush().expect("sent");
    }

    fn notify(&mut self, method: &str, params: serde_json::Value) {
        self.send(&serde_json::json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: serde_json::Value) -> serde_json::Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.wait(method, |message| (message["id"] == id).then(|| message["result"].clone()))
    }

    /// Waits for a message for which `wanted` returns a value.
    fn wait<T>(&self, what: &str, wanted: impl Fn(&serde_json::Value) -> Option<T>) -> T {
        let patience = std::time::Duration::from_secs(60);
        let mut heard = Vec::new();
        loop {
            let Ok(message) = self.said.recv_timeout(patience) else {
                panic!("no {what} among {heard:#?}");
            };
            if let Some(found) = wanted(&message) {
                return found;
            }
            heard.push(message);
        }
    }

    fn open(&mut self, path: &str, text: &str) {
        let document = serde_json::json!({"uri": format!("{}/{path}", self.root), "languageId": "yaml", "version": 1, "text": text});
        let params = serde_json::json!({"textDocument": document});
        self.notify("textDocument/didOpen", params);
    }

    /// The line (1-based) of a rule's finding in a file.
    fn shown(&self, path: &str, rule: &str) -> u64 {
        let uri = format!("{}/{path}", self.root);
        self.wait(rule, |message| {
            let params = &message["params"];
            let mut all = params["diagnostics"].as_array().into_iter().flatten();
            let found = all.find(|d| params["uri"] == *uri && d["code"] == rule)?;
            Some(found["range"]["start"]["line"].as_u64()? + 1)
        })
    }

    /// The actions on a line (1-based): title, whether preferred, and edits by file.
    fn offered(&mut self, path: &str, line: u64) -> Vec<String> {
        let at = serde_json::json!({"line": line - 1, "character": 16});
        let params = serde_json::json!({
            "textDocument": {"uri": format!("{}/{path}", self.root)}, "range": {"start": at, "end": at},
            "context": {"diagnostics": [], "only": ["quickfix"]}});
        let actions = self.ask("textDocument/codeAction", params);
        let told = actions.as_array().expect("a list").iter().map(|action| {
            let title = action["title"].as_str().expect("a title");
            let preferred = if action["isPreferred"] == true { ", preferred" } else { "" };
            let changes = action["edit"]["changes"].as_object().expect("changes");
            let files = changes.iter().map(|(uri, edits)| {
                let file = uri.trim_start_matches(&*self.root);
                let text = edits[0]["newText"].as_str().expect("text").trim();
                format!("{file}: {text}")
            });
            let files: Vec<_> = files.collect();
            format!("{title}{preferred} [{}]", files.join(", "))
        });
        told.filter(|title| !title.starts_with("ignore ")).collect()
    }
}

/// The diagnostics at a word of a layer's file.
fn said_of(editor: &mut Editor, path: &str, text: &str, word: &str) -> String {
    let at = text.find(word).expect("there");
    let line = text[..at].matches('\n').count();
    let character = text[..at].rsplit('\n').next().map_or(0, str::len);
    let params = serde_json::json!({
        "textDocument": {"uri": format!("{}/{path}", editor.root)},
        "position": {"line": line, "character": character + 1}});
    let said = editor.ask("textDocument/hover", params);
    said["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

/// The overlays used by all commands, built by configuration.
fn built_overlays() -> Scene {
    let scene = Scene::new(&main_directory().join("testdata/cli/every-command/in/overlays"));
    scene.add_kustomize();
    scene
}

/// A hover in a layer's file uses the release and nodes of a cluster.
#[test]
fn a_layer_is_described_for_its_cluster() {
    let scene = built_overlays();
    let text = |path: &str| fs::read_to_string(scene.path(path)).expect("readable");
    let (base, patch) = ("base/hyperconverged.yaml", "clusters/prod/patch.yaml");
    let mut editor = Editor::new(&scene);
    assert_eq!(editor.shown(base, "deploy-ovs-implicit"), 7);
    editor.open(patch, &text(patch));
    let said = said_of(&mut editor, patch, &text(patch), "parallelMigrationsPerCluster");
    assert!(said.contains("Because of it, in clusters/prod"), "{said}");
    assert!(!said.contains("nothing says which release"), "{said}");
    // Lab has no patch of the base.
    editor.open(base, &text(base));
    let said = said_of(&mut editor, base, &text(base), "parallelMigrationsPerCluster");
    assert!(said.contains("Because of it, in clusters/lab:"), "{said}");
    let overridden = "In clusters/prod another layer has the last word";
    assert!(said.contains(overridden), "{said}");
    // The patch's own value.
    let lab = "clusters/lab/kustomization.yaml";
    let other = "patches:\n- target: {kind: HyperConverged}\n  patch: |-\n    - {op: replace, path: /spec/evictionStrategy, value: None}\n";
    fs::write(scene.path(lab), text(lab) + other).expect("written");
    drop(editor);
    let mut editor = Editor::new(&scene);
    assert_eq!(editor.shown(base, "deploy-ovs-implicit"), 7);
    editor.open(base, &text(base));
    let said = said_of(&mut editor, base, &text(base), "evictionStrategy");
    assert!(said.contains("In clusters/lab another layer has the last word"), "{said}");
    let same = "In clusters/prod every object would be the same without it";
    assert!(said.contains(same), "{said}");
}

/// The diff applies in the stated directory: the current one, or the top of the work tree.
#[test]
fn git_applies_the_diff_of_a_layer() {
    let scene = Scene::new(&main_directory().join("testdata/cli/every-command/in/overlays"));
    scene.add_kustomize();
    let base = scene.path("base/hyperconverged.yaml");
    let old = fs::read_to_string(&base).expect("readable");
    let fixed = old.replace("\"True\"", "\"true\"");
    scene.run("commit", &mut String::new());
    let apply = |from: &str, at: &str| {
        fs::write(&base, &old).expect("written");
        *scene.current.borrow_mut() = from.to_owned();
        let mut command = scene.command(env!("CARGO_BIN_EXE_hcoplan"));
        let done = command.args(["fix", "--unsafe", "--select", "deploy-ovs-implicit"]).output().expect("hcoplan runs");
        fs::write(scene.path("fix.diff"), done.stdout).expect("written");
        *scene.current.borrow_mut() = at.to_owned();
        let patch = scene.path("fix.diff");
        let applied = scene.command("git").arg("apply").arg(patch).output().expect("git runs");
        let said = String::from_utf8_lossy(&applied.stderr).into_owned();
        assert!(applied.status.success(), "from {from:?} at {at:?}: {said}");
        assert_eq!(fs::read_to_string(&base).expect("readable"), fixed, "from {from:?}");
    };
    apply("", "");
    apply("base", "base");
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The editor shows clusters' errors in the layer that causes them, while it is unsaved, and offers to change that
/// layer, with the affected clusters.
#[test]
fn an_editor_shows_findings_in_overlays() {
    let scene = built_overlays();
    let text = |path: &str| fs::read_to_string(scene.path(path)).expect("readable");
    let (base, patch) = ("base/hyperconverged.yaml", "clusters/prod/patch.yaml");

    let mut editor = Editor::new(&scene);
    assert_eq!(editor.shown(base, "deploy-ovs-implicit"), 7);
    editor.open(base, &text(base).replace("Cluster: 10", "Cluster: ten"));
    assert_eq!(editor.shown(base, "scalar-type-mismatch"), 11);
    editor.open(patch, &text(patch).replace("Cluster: 20", "Cluster: many"));
    assert_eq!(editor.shown(patch, "scalar-type-mismatch"), 9);
    drop(editor);

    let mut editor = Editor::new(&scene);
    let unquoted = text(base).replace("\"True\"", "\"no\"");
    editor.open(base, &unquoted);
    editor.wait("no", |m| m.to_string().contains("deployOVS is \\\"no\\\"").then_some(()));
    let both = "write \"false\", in clusters/lab and clusters/prod";
    let edit = format!("[/{base}: \"false\"]");
    let offered = editor.offered(base, 7);
    assert_eq!(offered, [format!("{both}, preferred {edit}")]);
    let own = text(patch).replace("spec:", "  annotations:\n    deployOVS: \"off\"\nspec:");
    editor.open(patch, &own);
    assert_eq!(editor.shown(patch, "deploy-ovs-implicit"), 7);
    let offered = editor.offered(patch, 7);
    let expected = format!("write \"false\", preferred [/{patch}: \"false\"]");
    assert_eq!(offered, [expected]);
    drop(editor);

    // Another overlay tests the value, so that it must not change.
    let kustomization = "clusters/prod/kustomization.yaml";
    let tests = "- target: {kind: HyperConverged}\n  patch: |-\n    - {op: test, path: /metadata/annotations/deployOVS, value: \"no\"}\n";
    fs::write(scene.path(kustomization), text(kustomization) + tests).expect("written");
    let mut editor = Editor::new(&scene);
    editor.open(base, &unquoted);
    editor.wait("no", |m| m.to_string().contains("deployOVS is \\\"no\\\"").then_some(()));
    let offered = editor.offered(base, 7);
    let start = format!("{both}; clusters/prod then has the error: the operation `test` fails at ");
    let [one] = offered.as_slice() else { panic!("{offered:?}") };
    assert!(one.starts_with(&start) && one.ends_with(&edit) && !one.contains("preferred"), "{one}");
}

/// A kustomize that records the built directory and prints the base, which has a field that only the program builds.
fn noting_kustomize(scene: &Scene) {
    use std::os::unix::fs::PermissionsExt;
    program_only(scene);
    let programs = tempfile::tempdir().expect("a directory");
    let path = programs.path().join("kustomize");
    let script = "#!/bin/sh\necho \"${PWD##*/}\" >> \"${0%/*}/log\"\nexec cat ../../base/hyperconverged.yaml\n";
    fs::write(&path, script).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("made a program");
    *scene.programs.borrow_mut() = Some(programs);
}

/// Gives the base a field that only kustomize builds.
pub(crate) fn program_only(scene: &Scene) {
    let path = scene.path("base/kustomization.yaml");
    let text = fs::read_to_string(&path).expect("readable");
    let field = "replacements:\n- source: {kind: HyperConverged, fieldPath: metadata.name}\n  targets:\n  \
                 - {select: {kind: HyperConverged}, fieldPaths: [metadata.labels.name]}\n";
    fs::write(path, text + field).expect("written");
}

/// Only requested directories are built, and no revision with the same content. Without fixes: to try one in a shared
/// file builds again.
#[test]
fn only_what_is_asked_for_is_built() {
    let scene = Scene::new(&main_directory().join("examples/kustomize"));
    noting_kustomize(&scene);
    let mut said = String::new();
    scene.run("commit", &mut said);
    let patch = "clusters/prod-east/hyperconverged.patch.yaml";
    scene.run(&format!("append {patch} '# changed'"), &mut said);
    let log = scene.programs.borrow().as_ref().expect("there").path().join("log");
    let mut built = |line: &str| {
        fs::write(&log, "").expect("written");
        scene.run(&format!("hcoplan {line}"), &mut said);
        let text = fs::read_to_string(&log).expect("readable");
        let mut names: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        names.sort();
        names
    };
    let all = ["edge-oslo", "lab", "prod-east", "prod-west"];
    let changed = ["edge-oslo", "lab", "prod-east", "prod-east", "prod-west"];
    assert_eq!(built("lint --format concise"), all);
    assert_eq!(built("lint --format concise --against HEAD"), changed);
    assert_eq!(built("lint --format concise --trust-base HEAD"), changed);
    assert_eq!(built("diff --against HEAD"), changed);
    for command in ["lint", "plan", "render", "matrix", "report", "diff --against HEAD"] {
        assert_eq!(built(&format!("{command} --cluster lab")), ["lab"], "{command}");
    }
    assert_eq!(built("lint --against HEAD --cluster lab"), ["lab"]);
    let exclude = "lint --exclude prod-* --exclude lab";
    assert_eq!(built(exclude), ["edge-oslo"]);
    assert_eq!(built("why lab KubeVirt spec.configuration"), ["lab"]);
    assert_eq!(built("why clusters/lab KubeVirt spec.configuration"), ["lab"]);
    // The edited file may be part of all builds.
    assert_eq!(built("fix --cluster lab").len(), 4);
    assert!(!said.contains("\n? "), "{said}");
}

/// A kustomization file selects its build, and a file selects the overlays that use it; with and without git.
#[test]
fn a_kustomizations_file_selects_its_builds() {
    let scene = Scene::new(&main_directory().join("examples/kustomize"));
    noting_kustomize(&scene);
    let mut said = String::new();
    let log = scene.programs.borrow().as_ref().expect("there").path().join("log");
    for git in [false, true] {
        if git {
            scene.run("commit", &mut said);
        }
        for (path, expected) in [
            ("base/hyperconverged.yaml", &["edge-oslo", "lab", "prod-east", "prod-west"][..]),
            ("base/kustomization.yaml", &["edge-oslo", "lab", "prod-east", "prod-west"]),
            ("clusters/lab/kustomization.yaml", &["lab"]),
        ] {
            fs::write(&log, "").expect("written");
            scene.run(&format!("hcoplan lint --format concise {path}"), &mut said);
            let text = fs::read_to_string(&log).expect("readable");
            let mut names: Vec<&str> = text.lines().collect();
            names.sort_unstable();
            assert_eq!(names, expected, "{path}, git: {git}\n{said}");
        }
    }
}
