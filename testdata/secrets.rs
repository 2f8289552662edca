//! Secrets in manifests never appear in output: planted in many forms, searched in every format.

#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use hcoplan::report::Format;
use hcoplan::report::named::{all, names};

/// The planted secrets, none part of another word.
const PLANTED: [&str; 14] = [
    "Hunter2Hunter2",
    "SHVudGVyMkh1bnRlcjI=",
    "c2Vjb25kLWxpbmUtU0VDUkVU",
    "StringDataSecret1",
    "0757575",
    "AnnotatedToken9",
    "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzYTp4In0.c2lnbmF0dXJlMDE",
    "MIIEvQIBADANBgkqhkiG9w0BAQEF",
    "AppliedSecret77",
    "ProxyUser:ProxyPass5",
    "EscapedSecret42",
    "BlockSecret33",
    "CloudInitPass6",
    "sha256~AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg",
];

const SECRET: &str = r#"apiVersion: v1
kind: Secret
metadata:
  name: s
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","kind":"Secret","stringData":{"x":"AppliedSecret77"}}
data:
  a: SHVudGVyMkh1bnRlcjI=
  b: |
    c2Vjb25kLWxpbmUtU0VDUkVU
    c2Vjb25kLWxpbmUtU0VDUkVU
  a: SHVudGVyMkh1bnRlcjI=
stringData:
  c: StringDataSecret1
  d: 0757575
  e: yes
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  escaped: "{\"kind\":\"Secret\",\"stringData\":{\"x\":\"EscapedSecret42\"}}"
  block: |
    kind: Secret
    stringData: {x: BlockSecret33}
"#;

const HYPERCONVERGED: &str = r#"apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
  annotations:
    example.com/deploy-token: AnnotatedToken9
    kubevirt.io/x: Bearer sha256~AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg
    example.com/x: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzYTp4In0.c2lnbmF0dXJlMDE
    example.com/y: |
      -----BEGIN PRIVATE KEY-----
      MIIEvQIBADANBgkqhkiG9w0BAQEF
      -----END PRIVATE KEY-----
    kubectl.kubernetes.io/last-applied-configuration: '{"metadata":{"annotations":{"a/password":"Hunter2Hunter2"}}}'
    containerizeddataimporter.kubevirt.io/jsonpatch: |-
      [{"op": "add", "path": "/spec/config/importProxy",
        "value": {"HTTPProxy": "http://ProxyUser:ProxyPass5@proxy.example.com:3128"}}]
spec:
  localStorageClassName: x
  # password: Hunter2Hunter2
  notAField: Hunter2Hunter2
  defaultCPUModel: 5 # token: StringDataSecret1
  resourceRequirements: {vmiCPUAllocationRatio: "AnnotatedToken9"}
  dataImportCronTemplates:
    - metadata: {name: own}
      spec:
        schedule: "AnnotatedToken9"
        managedDataSource: own
        template: {spec: {source: {registry: {url: "docker://ProxyUser:ProxyPass5@quay.io/own:1"}}}}
"#;

const MACHINE: &str = r#"apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm, namespace: ns}
spec:
  running: true
  template:
    spec:
      architecture: arm65
      domain: {machine: {type: pc-q35-rhel8.2.0}, devices: {}}
      volumes:
        - name: i
          cloudInitNoCloud:
            userData: |
              #cloud-config
              password: CloudInitPass6
"#;

const INVENTORY: &str = r#"apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: east, annotations: {x/token: AnnotatedToken9}}
spec:
  release: "1.17"
  platform: OpenShift
  nodePools:
    - {name: m, count: 3, architecture: amd64, roles: [control-plane, worker]}
"#;

struct Scene(tempfile::TempDir);

impl Scene {
    fn new(files: &[(&str, String)]) -> Self {
        let scene = Self(tempfile::tempdir().expect("a directory"));
        for (name, text) in files {
            let path = scene.0.path().join(name);
            fs::create_dir_all(path.parent().expect("one")).expect("made");
            fs::write(path, text).expect("written");
        }
        scene
    }

    fn git(&self, line: &str) {
        let done = Command::new("git")
            .args(line.split(' '))
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git runs");
        assert!(done.status.success(), "git {line}");
    }

    fn commit(&self) {
        self.git("init -q -b main");
        self.git("add -A");
        self.git("-c user.name=t -c user.email=t@example.com commit -qm x");
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hcoplan"));
        command
            .args(line.split(' '))
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command and checks both streams for secrets; returns the output.
    #[track_caller]
    fn expect(&self, line: &str) -> String {
        let done = self.command(line).output().expect("hcoplan runs");
        // argocd reports a rejected HyperConverged with exit code 2.
        let is_usage = done.status.code() == Some(2) && !line.starts_with("argocd");
        assert!(!is_usage && !matches!(done.status.code(), Some(70) | None), "{line}: {done:?}");
        let all = [done.stdout, done.stderr].concat();
        let said = String::from_utf8(all).expect("UTF-8");
        nothing_leaks(line, &said);
        said
    }
}

#[track_caller]
fn nothing_leaks(what: &str, said: &str) {
    for secret in PLANTED {
        let at = said.find(secret);
        if let Some(at) = at {
            let line = said[..at].lines().count();
            let near: Vec<_> = said.lines().skip(line.saturating_sub(6)).take(9).collect();
            panic!("{what} says {secret}:\n{}", near.join("\n"));
        }
    }
}

fn files() -> Vec<(&'static str, String)> {
    // The Secret in the HyperConverged's file, before and after it.
    let all = format!("{SECRET}---\n{HYPERCONVERGED}---\n{MACHINE}---\n{SECRET}");
    vec![("east/hyperconverged.yaml", all), ("east/inventory.yaml", INVENTORY.to_owned())]
}

#[test]
fn masks_findings_in_every_format() {
    let scene = Scene::new(&files());
    for format in names(all::<Format>()) {
        let said = scene.expect(&format!("lint . --pedantic --format {format}"));
        assert!(said.contains("hco-unknown-field") || said.contains("notAField"), "{format}: {said}");
    }
    scene.expect("lint . --pedantic --show-files");
    scene.expect("plan . --force");
    scene.expect("matrix .");
    scene.expect("report . --format html=page.html");
    let page = fs::read_to_string(scene.0.path().join("page.html")).expect("written");
    nothing_leaks("report", &page);
    assert!(page.contains("notAField"), "{page}");
}

#[test]
fn reports_files_that_cannot_be_parsed() {
    for broken in
        ["spec: [\n", "  a:\tb\n", "a: b: c\n", "--- Hunter2Hunter2\n", "\"Hunter2Hunter2\n", "*Hunter2Hunter2\n"]
    {
        let mut files = files();
        files[0].1.push_str(broken);
        let scene = Scene::new(&files);
        for format in names(all::<Format>()) {
            scene.expect(&format!("lint . --format {format}"));
        }
        scene.expect("plan .");
    }
}

#[test]
fn masks_secrets_in_fixes() {
    let mut files = files();
    // Fields of the wrong API version, and others with fixes, next to secrets.
    files[0].1 = files[0].1.replace(
        "spec:\n  localStorageClassName: x\n",
        "spec:\n  # token: AnnotatedToken9\n  localStorageClassName: x\n  defaultCpuModel: Haswell\n  \
         workloads: null\n  featureGates: {withHostPassthroughCPU: \"true\"}\n",
    );
    let scene = Scene::new(&files);
    let said = scene.expect("fix .");
    let unsafe_too = scene.expect("fix . --unsafe");
    assert!(said.contains("to apply") || unsafe_too.contains("to apply"), "{said}{unsafe_too}");
    for format in ["json", "sarif", "human"] {
        scene.expect(&format!("lint . --pedantic --format {format}"));
    }
}

/// Masked edits would be applied by programs.
#[test]
fn reports_omit_edits_that_write_secrets() {
    let file = HYPERCONVERGED.replace("/spec/config/importProxy", "/spec/config/filesystemOverhead");
    let file = file.replace(
        r#"{"HTTPProxy": "http://ProxyUser:ProxyPass5@proxy.example.com:3128"}"#,
        r#"{"global": "http://ProxyUser:ProxyPass5@proxy.example.com:3128"}"#,
    );
    let scene = Scene::new(&[("east/hyperconverged.yaml", file), ("east/inventory.yaml", INVENTORY.to_owned())]);
    for format in ["json", "sarif"] {
        let said = scene.expect(&format!("lint . --pedantic --format {format}"));
        let report: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        edits(&report);
    }
}

fn edits(value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(entries) => {
            for (key, value) in entries {
                let edits = ["edits", "replacements"].contains(&key.as_str());
                assert!(!edits || !value.to_string().contains("***"), "{value}");
                self::edits(value);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(edits),
        _ => {}
    }
}

#[test]
fn reports_differences() {
    let plain = HYPERCONVERGED.replace("AnnotatedToken9", "x").replace("  notAField: Hunter2Hunter2\n", "");
    let plain = plain.replace("vmiCPUAllocationRatio: \"x\"", "vmiCPUAllocationRatio: 3");
    let plain = plain.replace("schedule: \"x\"", "schedule: \"0 1 * * *\"");
    let plain = plain.replace("defaultCPUModel: 5", "defaultCPUModel: Haswell");
    let all = format!("{SECRET}---\n{plain}");
    let scene = Scene::new(&[("east/hyperconverged.yaml", all.clone()), ("east/inventory.yaml", INVENTORY.to_owned())]);
    scene.expect("plan .");
    scene.commit();
    let changed = all.replace("proxy.example.com", "other.example.com").replace("ProxyPass5@", "ProxyPass5x@");
    fs::write(scene.0.path().join("east/hyperconverged.yaml"), changed).expect("written");
    let plan = scene.expect("plan .");
    assert!(plan.contains("other.example.com"), "{plan}");
    for format in ["human", "json", "markdown", "html"] {
        let said = scene.expect(&format!("diff . --against main --format {format}"));
        assert!(said.contains("example.com"), "{format}: {said}");
    }
    for format in ["human", "json"] {
        for field in
            ["CDI spec.config.importProxy", "CDI spec.config.importProxy.HTTPProxy", "KubeVirt spec.configuration"]
        {
            scene.expect(&format!("why east {field} --format {format}"));
        }
    }
}

#[test]
fn shows_hovers_in_an_editor() {
    let scene = Scene::new(&files());
    let root = scene.0.path().canonicalize().expect("there");
    let uri = format!("file://{}", root.display());
    let text = fs::read_to_string(root.join("east/hyperconverged.yaml")).expect("readable");
    let mut messages = vec![
        serde_json::json!({"id": 1, "method": "initialize", "params": {"capabilities": {},
            "workspaceFolders": [{"uri": uri, "name": "w"}]}}),
        serde_json::json!({"method": "initialized", "params": {}}),
        serde_json::json!({"method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": format!("{uri}/east/hyperconverged.yaml"), "languageId": "yaml", "version": 1, "text": text}}}),
    ];
    for (line, written) in text.lines().enumerate() {
        for character in [written.len() - written.trim_start().len() + 1, written.len().saturating_sub(2)] {
            messages.push(serde_json::json!({"id": 100 + line * 2, "method": "textDocument/hover", "params": {
                "textDocument": {"uri": format!("{uri}/east/hyperconverged.yaml")},
                "position": {"line": line, "character": character}}}));
        }
    }
    let framed = messages.iter_mut().map(|m| {
        m["jsonrpc"] = "2.0".into();
        let text = m.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    });
    let input: String = framed.collect();
    let mut child = scene.command("lsp").spawn().expect("hcoplan runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).expect("taken");
    // The last request is answered last.
    let mut said = Vec::new();
    let mut stdout = child.stdout.take().expect("piped");
    let last = format!("\"id\":{}", 100 + (text.lines().count() - 1) * 2);
    let mut some = [0; 4096];
    while !String::from_utf8_lossy(&said).contains(&last) {
        let read = stdout.read(&mut some).expect("readable");
        assert!(read > 0, "it ended: {}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&some[..read]);
    }
    drop(stdin);
    stdout.read_to_end(&mut said).expect("readable");
    child.wait().expect("it ends");
    let said = String::from_utf8(said).expect("UTF-8");
    nothing_leaks("lsp", &said);
    assert!(said.contains("publishDiagnostics") && said.contains("\"contents\""), "{said}");
}

/// Without masking, the secrets are found.
#[test]
fn each_case_tests_something() {
    let all: String = files().into_iter().map(|f| f.1).collect();
    for secret in PLANTED {
        assert!(all.contains(secret), "{secret}");
    }
    assert!(Path::new(env!("CARGO_BIN_EXE_hcoplan")).exists());
}

/// A dump of nodes with secrets in labels and taints.
const DUMP: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node",
  "metadata": {"name": "n-0", "labels": {"node-role.kubernetes.io/worker": "", "example.com/deploy-token": "AnnotatedToken9"},
    "annotations": {"example.com/password": "Hunter2Hunter2"}},
  "spec": {"taints": [{"key": "x/password", "value": "Hunter2Hunter2", "effect": "NoSchedule"}]},
  "status": {"nodeInfo": {"architecture": "amd64"}}}]}"#;

/// The commands that print parts of the repository, with all their formats.
fn printers() -> Vec<(&'static str, Vec<&'static str>)> {
    use hcoplan::report::{changes, matrix};
    let findings = || names(all::<Format>());
    let changes = || names(all::<changes::Format>());
    let both = || vec!["human", "json"];
    vec![
        ("lint . --pedantic", findings()),
        ("lint . --pedantic --against main", findings()),
        ("lint . --pedantic --trust-base main --show-files", vec![]),
        ("plan . --against main", changes()),
        ("plan . --against main --force", vec!["human", "sarif", "github", "gitlab", "junit"]),
        ("plan . --upgrade-to 1.18,1.19", changes()),
        ("plan . --live live.yaml", changes()),
        ("diff . --against main", changes()),
        ("diff . --release 1.17..1.19", changes()),
        ("matrix .", names(all::<matrix::Format>())),
        ("report . --against main", vec!["html"]),
        ("fix .", both()),
        ("fix . --unsafe", both()),
        ("fix . --migrate v1", both()),
        ("why east CDI spec.config", both()),
        ("why east KubeVirt spec.configuration", both()),
        ("explain hyperconverged.spec", vec![]),
        ("argocd .", both()),
        ("inventory check east/inventory.yaml dump/nodes.json", both()),
        ("init --dry-run", vec![]),
    ]
}

/// Commands that print nothing of the repository, or objects unchanged, as SECURITY.md documents. The language server
/// has its own test.
const EXEMPT: [&str; 8] = ["render", "import", "cmp", "lsp", "release", "schema", "completions", "help"];

#[test]
fn every_printer_masks_every_secret() {
    let mut files = files();
    files.push(("live.yaml", HYPERCONVERGED.replace("defaultCPUModel: 5", "defaultCPUModel: 6")));
    files.push(("dump/nodes.json", DUMP.to_owned()));
    files.push((".gitignore", "dump/\nlive.yaml\n".to_owned()));
    let scene = Scene::new(&files);
    scene.commit();
    let path = scene.0.path().join("east/hyperconverged.yaml");
    let text = fs::read_to_string(&path).expect("readable");
    let changed =
        text.replace("proxy.example.com", "other.example.com").replace("defaultCPUModel: 5", "defaultCPUModel: 7");
    fs::write(path, changed).expect("written");
    for (line, formats) in printers() {
        scene.expect(line);
        for format in formats {
            scene.expect(&format!("{line} --format {format}"));
        }
    }
}

#[test]
fn every_command_is_a_printer_or_exempt() {
    let scene = Scene::new(&[]);
    let help = scene.expect("--help");
    let commands = help.split_once("Commands:\n").and_then(|(_, rest)| rest.split_once("\n\n")).expect("commands").0;
    let names = commands.lines().filter_map(|l| l.strip_prefix("  ")?.split(' ').next().filter(|n| !n.is_empty()));
    for name in names {
        let is_printer = printers().iter().any(|(line, _)| line.split(' ').next() == Some(name));
        assert!(is_printer || EXEMPT.contains(&name), "{name}");
    }
}
