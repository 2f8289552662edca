//! Hostile input through the binary: a message with the file's name, the documented exit code, less than a gigabyte of
//! memory, no panic, and an unchanged output tree.
//!
//! Each run is limited to a gigabyte of address space.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A repository with one cluster and its output tree.
struct Scene {
    directory: tempfile::TempDir,
    rendered: Vec<(PathBuf, String)>,
    /// The user that runs hcoplan, if not the tests' own.
    user: Option<u32>,
}

struct Run {
    code: Option<i32>,
    output: String,
}

/// A user without files.
const NOBODY: u32 = 65534;

const ADDRESS_SPACE_KIB: u32 = 1 << 20;
const TIME_LIMIT: Duration = Duration::from_secs(120);

impl Scene {
    fn new() -> Self {
        let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cli/scenes/small/east");
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["hyperconverged.yaml", "inventory.yaml"] {
            fs::copy(small.join(name), directory.path().join(name)).expect("copied");
        }
        let mut scene = Self { directory, rendered: Vec::new(), user: None };
        let run = scene.run(&["render", "-q", "--out", "rendered"]);
        assert_eq!(run.code, Some(0), "{}", run.output);
        scene.rendered = scene.tree();
        assert!(scene.rendered.len() > 3);
        // A successful run would write this change.
        scene.write("hyperconverged.yaml", |text| {
            text.extend(b"  defaultCPUModel: Haswell\n");
        });
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.path(name)).unwrap_or_default();
        change(&mut bytes);
        fs::write(self.path(name), bytes).expect("written");
    }

    /// Changes the repository's owner, who runs hcoplan from now on.
    fn give_to(&mut self, user: u32) {
        fn give(path: &Path, user: u32) {
            chown(path, Some(user), Some(user)).expect("given");
            for entry in fs::read_dir(path).into_iter().flatten() {
                give(&entry.expect("an entry").path(), user);
            }
        }
        give(self.directory.path(), user);
        self.user = Some(user);
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let limited = format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"");
        let out = File::create(self.directory.path().with_extension("out")).expect("a file");
        let mut command = Command::new("sh");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let mut child = command
            .args(["-c", &limited, env!("CARGO_BIN_EXE_hcoplan")])
            .args(arguments)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("RAYON_NUM_THREADS", "2")
            .stdin(Stdio::null())
            .stdout(out.try_clone().expect("a handle"))
            .stderr(out)
            .spawn()
            .expect("hcoplan runs");
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("waited") {
                break status;
            }
            if started.elapsed() > TIME_LIMIT {
                child.kill().expect("killed");
                panic!("{arguments:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let out = self.directory.path().with_extension("out");
        let output = fs::read(&out).expect("readable");
        fs::remove_file(out).expect("removed");
        Run { code: status.code(), output: String::from_utf8_lossy(&output).into_owned() }
    }

    fn tree(&self) -> Vec<(PathBuf, String)> {
        let mut out = Vec::new();
        for entry in fs::read_dir(self.path("rendered")).expect("a tree") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let text = fs::read_to_string(&path).expect("readable");
                out.push((path, text));
            }
        }
        out.sort();
        out
    }

    /// Runs plan and lint: expects the exit code, the file's name and `words`. With other codes than 0 and 1, the tree
    /// is unchanged.
    #[track_caller]
    fn expect(&self, file: &str, code: i32, words: &str) {
        for arguments in [&["plan", ".", "--out", "rendered"][..], &["lint", "."]] {
            let run = self.run(arguments);
            let output = &run.output;
            let named = output.contains(file) && output.contains(words);
            let all = output.chars().take(3000).collect::<String>();
            assert_eq!(run.code, Some(code), "{arguments:?}: {all}");
            assert!(named, "{arguments:?} with {file} and {words:?}: {all}");
            assert!(!output.contains("panic"), "{arguments:?}: {all}");
            assert!(output.len() < 20_000, "{} bytes are output", output.len());
            if code > 1 {
                assert!(self.tree() == self.rendered, "the tree changed");
            }
        }
    }
}

const HYPERCONVERGED: &[u8] = b"apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n";
const LARGE: u64 = 100 << 20;

#[test]
fn reads_a_hundred_megabytes_of_nothing() {
    let scene = Scene::new();
    let file = File::create(scene.path("sparse.yaml")).expect("made");
    file.set_len(LARGE).expect("sized");
    scene.expect("sparse.yaml", 0, "larger than");
}

#[test]
fn reads_a_hundred_megabytes_with_our_group_in_them() {
    let scene = Scene::new();
    let mut file = File::create(scene.path("large.yaml")).expect("made");
    file.write_all(HYPERCONVERGED).expect("written");
    let line = b"# nothing but a comment, again and again and again and again\n".repeat(1 << 14);
    while file.stream_position().expect("known") < LARGE {
        file.write_all(&line).expect("written");
    }
    scene.expect("large.yaml", 4, "larger than");
}

#[test]
fn finds_our_group_at_the_end_of_a_hundred_megabytes() {
    let scene = Scene::new();
    let mut file = File::create(scene.path("late.yaml")).expect("made");
    file.seek(SeekFrom::Start(LARGE)).expect("sought");
    file.write_all(HYPERCONVERGED).expect("written");
    scene.expect("late.yaml", 4, "larger than");
}

/// As many nodes as the maximum file size allows.
#[test]
fn reads_many_small_nodes() {
    let scene = Scene::new();
    scene.write("nodes.yaml", |text| {
        text.extend(HYPERCONVERGED);
        text.extend(b"spec: [");
        text.extend(b"1,".repeat(30 << 20));
        text.extend(b"1]\n");
    });
    scene.expect("nodes.yaml", 4, "");
}

#[test]
fn survives_twenty_thousand_levels() {
    const LEVELS: usize = 20_000;
    let flow = format!("spec: {}{}\n", "[".repeat(LEVELS), "]".repeat(LEVELS));
    let maps = format!("spec: {}1{}\n", "{a: ".repeat(LEVELS), "}".repeat(LEVELS));
    let dashes = format!("spec:\n{}1\n", "- ".repeat(LEVELS));
    let mut block = "spec:\n".to_owned();
    for level in 1..3000 {
        let _ = writeln!(block, "{}a:", " ".repeat(level));
    }
    let json =
        format!("{{\"apiVersion\": \"hco.kubevirt.io/v1beta1\", \"x\": {}{}}}", "[".repeat(LEVELS), "]".repeat(LEVELS));
    for (name, text) in
        [("flow.yaml", flow), ("maps.yaml", maps), ("dashes.yaml", dashes), ("block.yaml", block), ("deep.json", json)]
    {
        let scene = Scene::new();
        scene.write(name, |file| {
            if !name.ends_with("json") {
                file.extend(HYPERCONVERGED);
            }
            file.extend(text.as_bytes());
        });
        // kubectl accepts three thousand levels, but no schema has them.
        if name == "block.yaml" {
            let run = scene.run(&["lint", name]);
            assert!(matches!(run.code, Some(1 | 2 | 4)), "{:?}: {}", run.code, run.output);
            continue;
        }
        scene.expect(name, 4, "");
    }
}

#[test]
fn survives_a_billion_laughs() {
    let scene = Scene::new();
    scene.write("laughs.yaml", |text| {
        text.extend(HYPERCONVERGED);
        text.extend(b"a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
        for i in 1..30 {
            let aliases = vec![format!("*a{}", i - 1); 10].join(", ");
            text.extend(format!("a{i}: &a{i} [{aliases}]\n").bytes());
        }
    });
    scene.expect("laughs.yaml", 4, "alias");
}

/// Deeper than real files, in enough files to use threads with small stacks.
#[test]
fn resolves_aliases_of_aliases() {
    let scene = Scene::new();
    let mut text = String::from_utf8_lossy(HYPERCONVERGED).into_owned() + "a0: &a0 1\n";
    for i in 1..50 {
        let (open, close) = ("[".repeat(250), "]".repeat(250));
        let _ = writeln!(text, "a{i}: &a{i} {open}*a{}{close}", i - 1);
    }
    for i in 0..40 {
        scene.write(&format!("f{i}.yaml"), |file| file.extend(text.bytes()));
    }
    for arguments in [&["lint", ".", "--format", "concise"][..], &["plan", ".", "--format", "json"]] {
        let run = scene.run(arguments);
        assert_eq!(run.code, Some(4), "{arguments:?}: {}", run.output);
        let words = "more than 255 levels of nesting, the limit";
        let named = (0..40).filter(|i| run.output.contains(&format!("f{i}.yaml"))).count();
        // JSON says an entry once, with its places.
        let least = if arguments.contains(&"json") { 1 } else { 40 };
        assert!(run.output.matches(words).count() >= least && named == 40, "{arguments:?}: {}", run.output);
    }
    assert!(scene.tree() == scene.rendered);
}

/// The maximum depth, through all code that walks documents.
#[test]
fn reads_up_to_the_maximum_depth() {
    const LEVELS: usize = 250;
    let scene = Scene::new();
    let (maps, lists) = ("{a: ".repeat(LEVELS), "[".repeat(LEVELS));
    let (ends, closes) = ("}".repeat(LEVELS), "]".repeat(LEVELS));
    scene.write("hyperconverged.yaml", |file| {
        file.extend(format!("  deep: {maps}1{ends}\n  flat: {lists}1{closes}\n").bytes());
        file.extend(format!("  infra: {{nodePlacement: {{affinity: {maps}1{ends}}}}}\n").bytes());
    });
    // Enough clusters and files to use threads with small stacks.
    for i in 0..5 {
        fs::create_dir(scene.path(&format!("c{i}"))).expect("made");
        for name in ["hyperconverged.yaml", "inventory.yaml"] {
            let copy = scene.path(&format!("c{i}/{name}"));
            fs::copy(scene.path(name), copy).expect("copied");
        }
    }
    for i in 0..40 {
        scene.write(&format!("{i}.yaml"), |file| {
            let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hco.kubevirt.io}\n";
            file.extend(format!("{head}deep: {maps}1{ends}\n").bytes());
        });
    }
    for arguments in [
        &["lint", "."][..],
        &["lint", ".", "--format", "sarif"],
        &["fix", "."],
        &["fix", ".", "--migrate", "v1"],
        &["plan", ".", "--force", "--format", "json"],
        &["render", ".", "--force"],
        &["render", ".", "--show", "stored"],
        &["diff", ".", "c1"],
        &["why", "c1", "KubeVirt", "spec.configuration", "."],
    ] {
        let run = scene.run(arguments);
        let end = run.output.len().saturating_sub(2000);
        let output = run.output.get(end..).unwrap_or_default();
        assert!(matches!(run.code, Some(0 | 1)), "{arguments:?}: {:?} {output}", run.code);
    }
}

#[test]
fn reports_files_that_are_not_text() {
    for (name, bytes) in
        [("nul.yaml", &b"spec: {a: \0}\n"[..]), ("half.yaml", b"spec: {a: \xc3"), ("control.yaml", b"spec: \x07\n")]
    {
        let scene = Scene::new();
        scene.write(name, |text| {
            text.extend(HYPERCONVERGED);
            text.extend(bytes);
        });
        scene.expect(name, 4, "");
    }
}

/// The API group is readable, but the text can't be decoded.
#[test]
fn reports_a_wrong_encoding() {
    let text = String::from_utf8_lossy(HYPERCONVERGED);
    let units = |of: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(of).collect() };
    for (name, mark, bytes) in [
        ("none.yaml", &b""[..], units(u16::to_be_bytes)),
        ("low.yaml", b"\xff\xfe", units(u16::to_be_bytes)),
        ("high.yaml", b"\xfe\xff", HYPERCONVERGED.to_vec()),
        ("odd.yaml", b"\xfe\xff\xff\xff", HYPERCONVERGED.to_vec()),
    ] {
        let scene = Scene::new();
        scene.write(name, |file| file.extend([mark, &bytes].concat()));
        scene.expect(name, 4, "");
    }
}

#[test]
fn skips_a_directory_with_a_files_name() {
    let scene = Scene::new();
    fs::create_dir(scene.path("x.yaml")).expect("made");
    let run = scene.run(&["lint", "."]);
    assert_eq!(run.code, Some(0), "{}", run.output);
    let run = scene.run(&["lint", "x.yaml"]);
    assert_eq!(run.code, Some(3), "{}", run.output);
    assert!(run.output.contains("in x.yaml"), "{}", run.output);
    let run = scene.run(&["plan", "--out", "rendered", "--inventory", "x.yaml"]);
    assert_eq!(run.code, Some(2), "{}", run.output);
    assert!(run.output.contains("x.yaml: "), "{}", run.output);
    // The inventory is missing.
    fs::remove_file(scene.path("inventory.yaml")).expect("removed");
    fs::create_dir(scene.path("inventory.yaml")).expect("made");
    assert!(scene.tree() == scene.rendered);
    let run = scene.run(&["plan", ".", "--out", "rendered"]);
    assert_eq!(run.code, Some(0), "{}", run.output);
    assert!(run.output.contains("nodes-assumed"), "{}", run.output);
}

#[test]
fn reports_a_file_that_another_program_has_locked() {
    const LEASE: &str = "import fcntl, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = open(sys.argv[1], 'r+')
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()
";
    let scene = Scene::new();
    let holder = Command::new("python3")
        .args(["-c", LEASE])
        .arg(scene.path("hyperconverged.yaml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    // Other programs are optional for the tests.
    let Ok(mut holder) = holder else {
        eprintln!("not tested: python3 isn't here, and the standard library has no leases");
        return;
    };
    let mut output = [0; 5];
    let out = holder.stdout.as_mut().expect("piped");
    if out.read_exact(&mut output).is_ok() {
        scene.expect("hyperconverged.yaml", 3, "another program has locked it");
    } else {
        eprintln!("not tested: this file system has no leases");
    }
    drop(holder.stdin.take());
    holder.wait().expect("it ends");
}

#[test]
fn skips_special_files() {
    let scene = Scene::new();
    let _listener = UnixListener::bind(scene.path("socket.yaml")).expect("bound");
    scene.expect("socket.yaml", 0, "not read");

    let scene = Scene::new();
    let made = Command::new("mkfifo").arg(scene.path("fifo.yaml")).status();
    assert!(made.expect("mkfifo runs").success());
    scene.expect("fifo.yaml", 0, "not read");

    let scene = Scene::new();
    symlink("/dev/zero", scene.path("zero.yaml")).expect("linked");
    scene.expect("zero.yaml", 0, "not read");
    for arguments in [
        &["plan", "--inventory", "/dev/zero"][..],
        &["lint", "--live", "/dev/zero"],
        &["lint", "--baseline", "/dev/zero"],
    ] {
        let run = scene.run(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.output);
        assert!(run.output.contains("/dev/zero"), "{arguments:?}: {}", run.output);
    }
}

#[test]
fn skips_broken_links() {
    let scene = Scene::new();
    symlink("gone.yaml", scene.path("broken.yaml")).expect("linked");
    scene.expect("broken.yaml", 0, "not read");

    let scene = Scene::new();
    symlink("b.yaml", scene.path("a.yaml")).expect("linked");
    symlink("a.yaml", scene.path("b.yaml")).expect("linked");
    scene.expect("a.yaml", 0, "not read");

    // A directory that contains a link to itself.
    let scene = Scene::new();
    symlink(".", scene.path("again")).expect("linked");
    let run = scene.run(&["lint", ".", "--show-files"]);
    assert_eq!(run.code, Some(0), "{}", run.output);
    assert!(run.output.contains("again: skipped"), "{}", run.output);
}

#[test]
fn skips_unreadable_files() {
    let mut scene = Scene::new();
    scene.write("secret.yaml", |text| text.extend(HYPERCONVERGED));
    let closed = || fs::Permissions::from_mode(0o000);
    fs::set_permissions(scene.path("secret.yaml"), closed()).expect("set");
    fs::create_dir(scene.path("shut")).expect("made");
    // Root can read it: hcoplan then runs as another user.
    if File::open(scene.path("secret.yaml")).is_ok() {
        scene.give_to(NOBODY);
        if scene.run(&["--version"]).code != Some(0) {
            eprintln!("not tested: root runs the tests, and nobody else may run hcoplan");
            return;
        }
    }
    fs::set_permissions(scene.path("shut"), closed()).expect("set");
    scene.expect("secret.yaml", 0, "not read");
    scene.expect("shut", 0, "permission denied");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(scene.path("shut"), open).expect("set");
}
