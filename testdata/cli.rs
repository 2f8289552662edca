//! Runs the binary as a user does.
//!
//! A case is a directory of `testdata/cli` with a `console` file: commands after `$`, each followed by its output. They
//! run in an empty directory with a copy of the case's `in/` and a clean environment. `SNAPSHOTS=overwrite cargo test
//! --test cli` records the present output.
//!
//! Besides `hcoplan`, a few commands prepare files: `copy` (from the repository; rules' fixtures without annotations),
//! `release` (a release's data, to a directory), `append FILE TEXT`, `remove`, `move`, `link` (target, name), `list`,
//! `show`, `commit` (all files, to git), `git`, `cd`; and `ARGOCD_APP_PARAMETERS='…'` before `hcoplan`. A case that has
//! `needs PROGRAM` isn't run where the program isn't installed.
//!
//! `CONSOLE=fix cargo test --test cli consoles` runs one case.
//!
//! `kustomize` adds one to the `PATH` that prints recorded output for the same files (`testdata/cli/kustomize-builds`,
//! by checksum); with `SNAPSHOTS=overwrite` it runs the installed one for unknown files.

#[path = "agreement.rs"]
mod agreement;
#[path = "committed_fleet.rs"]
mod committed_fleet;
#[path = "fix_twice.rs"]
mod fix_twice;
#[path = "init.rs"]
mod init;
#[path = "matrix.rs"]
mod matrix;
#[path = "picture.rs"]
mod picture;
#[cfg(unix)]
#[path = "cli_places.rs"]
mod places;
#[path = "plan.rs"]
mod plan;
#[path = "published_schema.rs"]
mod published_schema;
#[path = "review.rs"]
mod review;

#[cfg(unix)]
#[path = "cli_overlays.rs"]
mod overlays;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hcoplan_testing::annotations;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

fn main_directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A running case.
struct Scene {
    directory: tempfile::TempDir,
    /// The current directory, relative to it.
    current: RefCell<String>,
    /// Directories before the `PATH`, if any.
    programs: RefCell<Option<tempfile::TempDir>>,
}

impl Scene {
    fn new(inputs: &Path) -> Self {
        let scene = Self {
            directory: tempfile::tempdir().expect("a directory"),
            current: RefCell::default(),
            programs: RefCell::default(),
        };
        fs::create_dir(scene.path("")).expect("made");
        if inputs.is_dir() {
            copy(inputs, &scene.path(""));
            committed_fleet::restore(inputs, &scene.path(""));
        }
        scene
    }

    /// Adds a kustomize to the `PATH` that prints recorded output.
    #[cfg(unix)]
    fn add_kustomize(&self) {
        use std::os::unix::fs::PermissionsExt;
        let programs = tempfile::tempdir().expect("a directory");
        let recorded = main_directory().join("testdata/cli/kustomize-builds");
        let records = std::env::var("SNAPSHOTS").is_ok_and(|v| v == "overwrite");
        let real = std::env::var("PATH").unwrap_or_default();
        let script = format!("#!/bin/sh\nRECORDED='{}' RECORDS={records} REAL='{real}'\n{REPLAY}", recorded.display());
        let path = programs.path().join("kustomize");
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("made a program");
        *self.programs.borrow_mut() = Some(programs);
    }

    /// A path of the tree, whose directory names the root's own cluster.
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("tree").join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        let path = match &*self.programs.borrow() {
            Some(programs) => format!("{}:{path}", programs.path().display()),
            None => path,
        };
        command
            .current_dir(self.path(&self.current.borrow()))
            .env_clear()
            .env("PATH", path)
            .env("HOME", "/nowhere")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", std::env::temp_dir())
            .stdin(Stdio::null());
        command
    }

    /// Runs a line of the console and appends its output.
    fn run(&self, line: &str, out: &mut String) {
        let _ = writeln!(out, "$ {line}");
        let words = words(line);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["hcoplan", arguments @ .., "<", file] => {
                self.hcoplan(arguments, Some(file), None, out);
            }
            ["hcoplan", arguments @ ..] => self.hcoplan(arguments, None, None, out),
            ["ARGOCD_APP_PARAMETERS=", value, "hcoplan", arguments @ ..] => {
                self.hcoplan(arguments, None, Some(("ARGOCD_APP_PARAMETERS", value)), out);
            }
            ["copy", from] => {
                let from = main_directory().join(from);
                annotations::copy(&from, &self.path("")).expect("copied");
            }
            ["copy", from, to] => {
                let from = main_directory().join(from);
                annotations::copy(&from, &self.path(to)).expect("copied");
                committed_fleet::restore(&from, &self.path(to));
            }
            ["append", file, text] => {
                let path = self.path(file);
                let old = fs::read_to_string(&path).unwrap_or_default();
                fs::create_dir_all(path.parent().expect("a parent")).expect("made");
                fs::write(&path, format!("{old}{text}\n")).expect("written");
            }
            ["replace", file, from, to] => {
                let path = self.path(file);
                let old = fs::read_to_string(&path).expect("readable");
                assert!(old.contains(from), "{file} has no {from:?}");
                fs::write(&path, old.replace(from, to)).expect("written");
            }
            ["move", from, to] => {
                let to = self.path(to);
                fs::create_dir_all(to.parent().expect("a parent")).expect("made");
                fs::rename(self.path(from), to).expect("moved");
            }
            #[cfg(unix)]
            ["link", link, target] => {
                let link = self.path(link);
                fs::create_dir_all(link.parent().expect("a parent")).expect("made");
                std::os::unix::fs::symlink(target, link).expect("linked");
            }
            ["git", arguments @ ..] => self.git(arguments),
            ["cd", directory] => *self.current.borrow_mut() = (*directory).to_owned(),
            #[cfg(unix)]
            ["kustomize"] => self.add_kustomize(),
            ["remove", name] => {
                let path = self.path(name);
                if path.is_dir() {
                    fs::remove_dir_all(path).expect("removed");
                } else {
                    fs::remove_file(path).expect("removed");
                }
            }
            ["list", name] => {
                for file in files(&self.path(name)) {
                    let _ = writeln!(out, "{file}");
                }
            }
            ["needs", _] => {}
            ["show", name] => out.push_str(&fs::read_to_string(self.path(name)).expect("readable")),
            ["commit"] => {
                for arguments in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "m"]] {
                    self.git(arguments);
                }
            }
            other => panic!("no such command: {other:?}"),
        }
    }

    fn git(&self, arguments: &[&str]) {
        let done = self
            .command("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(done.status.success(), "git {arguments:?}: {done:?}");
    }

    fn hcoplan(&self, arguments: &[&str], input: Option<&str>, variable: Option<(&str, &str)>, out: &mut String) {
        let mut command = self.command(env!("CARGO_BIN_EXE_hcoplan"));
        if let Some(file) = input {
            command.stdin(fs::File::open(self.path(file)).expect("readable"));
        }
        if let Some((name, value)) = variable {
            command.env(name, value);
        }
        let done = command.args(arguments).output().expect("hcoplan runs");
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("UTF-8");
            let text = text.replace(self.path("").to_string_lossy().trim_end_matches('/'), "[ROOT]");
            match text.split_once("the oldest since ") {
                Some((before, after)) => format!("{before}the oldest since [DAY]{}", &after[10..]),
                None => text,
            }
        };
        out.push_str(&text(done.stdout));
        if !out.ends_with('\n') {
            out.push('\n');
        }
        for line in text(done.stderr).lines() {
            let _ = writeln!(out, "! {line}");
        }
        match done.status.code() {
            Some(0) => {}
            Some(code) => {
                let _ = writeln!(out, "? {code}");
            }
            None => out.push_str("? killed\n"),
        }
    }
}

/// A kustomize that prints recorded output for the files of a copied repository.
const REPLAY: &str = r#"
if [ "$1" = version ]; then echo v5.5.0; exit 0; fi
top=$(pwd | sed 's,\(/hcoplan-build-[^/]*\).*,\1,')
below=$(pwd | sed "s,^$top,,")
sum=$(cd "$top" && { echo "$below"; find . -type f | LC_ALL=C sort | while read -r f; do echo "$f"; cat "$f"; done; } | cksum | tr ' ' -)
if [ "$RECORDS" = true ] && [ ! -f "$RECORDED/$sum.yaml" ] && [ ! -f "$RECORDED/$sum.error" ]; then
  PATH=$REAL
  if command -v kustomize > /dev/null; then set -- kustomize build .; else set -- kubectl kustomize .; fi
  mkdir -p "$RECORDED"
  if "$@" > "$RECORDED/$sum.yaml" 2> "$RECORDED/$sum.error"; then rm "$RECORDED/$sum.error"; else
    rm "$RECORDED/$sum.yaml"
    sed "s,$top,@TOP@,g; s,^E[0-9]* [0-9:.]* *[0-9]* run.go:[0-9]*] ,," "$RECORDED/$sum.error" > "$RECORDED/$sum.sed"
    mv "$RECORDED/$sum.sed" "$RECORDED/$sum.error"
  fi
fi
if [ -f "$RECORDED/$sum.yaml" ]; then exec cat "$RECORDED/$sum.yaml"; fi
if [ -f "$RECORDED/$sum.error" ]; then sed "s,@TOP@,$top,g" "$RECORDED/$sum.error" >&2; exit 1; fi
echo "nobody has recorded this build: SNAPSHOTS=overwrite does, where there is a kustomize or kubectl" >&2
exit 1
"#;

/// The words of a command line; `'…'` quotes spaces.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        match i % 2 {
            1 => out.push(part.replace("\\n", "\n")),
            _ => out.extend(part.split_whitespace().map(ToOwned::to_owned)),
        }
    }
    out
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())) {
        let entry = entry.expect("entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// All files below a directory, sorted; `nothing` if it doesn't exist.
fn files(directory: &Path) -> Vec<String> {
    fn walk(root: &Path, directory: &Path, out: &mut Vec<String>) {
        for entry in fs::read_dir(directory).expect("readable") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                walk(root, &path, out);
            } else {
                let below = path.strip_prefix(root).expect("below");
                out.push(below.display().to_string());
            }
        }
    }
    if !directory.exists() {
        return vec!["nothing".to_owned()];
    }
    let mut out = Vec::new();
    walk(directory, directory, &mut out);
    out.sort();
    out
}

#[test]
fn prints_the_recorded_consoles() {
    let mut cases: Vec<_> = fs::read_dir(main_directory().join("testdata/cli"))
        .expect("cases")
        .map(|e| e.expect("entry").path())
        .filter(|p| p.join("console").is_file())
        .filter(|p| std::env::var("CONSOLE").map_or(true, |name| p.ends_with(name)))
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    let assert = snapbox::Assert::new().action_env("SNAPSHOTS");
    let differs = |case: &PathBuf| {
        let path = case.join("console");
        let expected = fs::read_to_string(&path).expect("readable");
        let commands = expected.lines().filter_map(|l| l.strip_prefix("$ "));
        let mut needed = commands.clone().filter_map(|command| command.strip_prefix("needs "));
        if let Some(program) = needed.find(|program| Command::new(program).arg("version").output().is_err()) {
            eprintln!("not run: {}, without {program}", case.display());
            return None;
        }
        let scene = Scene::new(&case.join("in"));
        let mut actual = String::new();
        for command in commands {
            scene.run(command, &mut actual);
        }
        let expected = snapbox::Data::read_from(&path, Some(snapbox::data::DataFormat::Text));
        let equal = assert.try_eq(Some(&case.display()), actual.into(), expected.raw());
        equal.err().map(|error| error.to_string())
    };
    let bad: Vec<String> = cases.par_iter().filter_map(differs).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// The example before its last change: the changed file and its new text.
fn fleet_before_its_last_change() -> (Scene, PathBuf, String) {
    let scene = Scene::new(&main_directory().join("examples/fleet"));
    let inventory = scene.path("clusters/lab-multiarch/inventory.yaml");
    let text = fs::read_to_string(&inventory).expect("readable");
    let (before, _) = text.split_once("    # Joined on Monday.\n").expect("the change");
    fs::write(&inventory, before).expect("written");
    (scene, inventory, text)
}

/// The example's committed tree was rendered before the last change, so that the README's first command shows a change.
/// `SNAPSHOTS=overwrite` renders it again, to be committed.
#[test]
fn the_committed_fleet_is_one_change_behind() {
    let (scene, _, _) = fleet_before_its_last_change();
    let mut said = String::new();
    scene.run("hcoplan render --out now", &mut said);
    if std::env::var("SNAPSHOTS").is_ok_and(|v| v == "overwrite") {
        let written = main_directory().join("examples/fleet/rendered");
        fs::remove_dir_all(&written).expect("removed");
        copy(&scene.path("now"), &written);
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let committed = committed_fleet::tree(directory.path());
    let names = files(&committed);
    assert_eq!(names, files(&scene.path("now")), "{said}");
    for name in names {
        let read = |root: &Path| fs::read_to_string(root.join(&name)).expect("readable");
        assert!(
            read(&committed) == read(&scene.path("now")),
            "examples/fleet/rendered/{name} is not as it would be rendered: run the tests with \
             SNAPSHOTS=overwrite, and commit"
        );
    }
}

/// The same bytes with any number of threads and any order of directory entries.
#[test]
fn plans_are_the_same_every_time() {
    let scene = Scene::new(&main_directory().join("examples/fleet"));
    for i in 0..40 {
        copy(&scene.path("clusters/lab-multiarch"), &scene.path(&format!("more/{}", i * 7 % 40)));
    }
    let mut said = String::new();
    scene.run("commit", &mut said);
    let run = |line: &str| {
        let mut out = String::new();
        scene.run(line, &mut out);
        let (_, printed) = out.split_once('\n').expect("a line");
        printed.to_owned()
    };
    run("hcoplan render --jobs 1 --out rendered");
    let first = run("hcoplan diff --release 1.17..1.18 --jobs 1");
    assert!(!first.contains("no changes"), "{first}");
    let tree = |root: &str| -> Vec<(String, String)> {
        let read = |file: String| {
            let text = fs::read_to_string(scene.path(root).join(&file)).expect("readable");
            (file, text)
        };
        files(&scene.path(root)).into_iter().map(read).collect()
    };
    let rendered = tree("rendered");
    for jobs in ["", " --jobs 7"] {
        assert!(run(&format!("hcoplan diff --release 1.17..1.18{jobs}")) == first, "{jobs}");
        run(&format!("hcoplan render --out rendered{jobs}"));
        assert!(tree("rendered") == rendered, "{jobs}");
    }
    let json = run("hcoplan render --format json --jobs 1");
    assert!(run("hcoplan render --format json --jobs 7") == json);
    // A separate thread pool reads files.
    for threads in ["1", "4"] {
        let plan = scene
            .command(env!("CARGO_BIN_EXE_hcoplan"))
            .args(["diff", "--release", "1.17..1.18"])
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .expect("hcoplan runs");
        let printed = String::from_utf8(plan.stdout).expect("UTF-8");
        assert!(printed.trim_end() == first.trim_end(), "{threads} threads");
    }
}

/// The same reports and diffs with any number of threads and any order of creating the files.
#[test]
fn reports_are_the_same_every_time() {
    let scene = |order: &mut dyn Iterator<Item = usize>| {
        let scene = Scene::new(Path::new("nowhere"));
        for i in order {
            copy(&main_directory().join("examples/fleet/clusters"), &scene.path(&format!("fleet/{i}")));
        }
        scene
    };
    let (one, other) = (scene(&mut (0..12)), scene(&mut (0..12).rev()));
    for line in [
        "hcoplan lint fleet --pedantic --format json",
        "hcoplan lint fleet --pedantic --format sarif",
        "hcoplan lint fleet --pedantic",
        "hcoplan diff fleet --release 1.17..1.18",
        "hcoplan diff fleet --release 1.17..1.18 --format json",
        "hcoplan diff fleet --release 1.17..1.18 --format markdown --budget-bytes 4000",
        "hcoplan diff fleet --release 1.17..1.18 --format html",
    ] {
        let (mut first, mut second) = (String::new(), String::new());
        one.run(&format!("{line} --jobs 1"), &mut first);
        other.run(&format!("{line} --jobs 5"), &mut second);
        assert!(first.len() > 1000, "{first}");
        let second = second.replace("--jobs 5", "--jobs 1");
        assert!(first == second, "{line}");
    }
}

/// A reader that closes the pipe early causes no error message.
#[test]
fn a_closed_pipe_is_quiet() {
    let scene = Scene::new(&main_directory().join("examples/fleet"));
    for arguments in [&["render"][..], &["lint", "--list"], &["plan", "--out", "x"]] {
        let mut child = scene
            .command(env!("CARGO_BIN_EXE_hcoplan"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("hcoplan runs");
        drop(child.stdout.take());
        let done = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{arguments:?}: {said}");
        assert!(!said.contains("error") && !said.contains("anic"), "{arguments:?}: {said}");
    }
}

/// An interrupt removes the build directory.
#[test]
#[cfg(unix)]
fn a_signal_removes_temporary_builds() {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;
    let scene = Scene::new(&main_directory().join("examples/kustomize"));
    overlays::program_only(&scene);
    let (programs, room) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let program = programs.path().join("kustomize");
    fs::write(&program, "#!/bin/sh\nexec sleep 100\n").expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made a program");
    let path = std::env::var("PATH").unwrap_or_default();
    let left = || fs::read_dir(room.path()).expect("readable").count();
    for signal in ["INT", "TERM"] {
        let mut child = scene
            .command(env!("CARGO_BIN_EXE_hcoplan"))
            .arg("lint")
            .env("PATH", format!("{}:{path}", programs.path().display()))
            .env("TMPDIR", room.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("hcoplan runs");
        while left() == 0 {
            assert!(child.try_wait().expect("waited for").is_none(), "it ended");
            std::thread::sleep(Duration::from_millis(10));
        }
        let kill = ["-s", signal, &child.id().to_string()];
        let done = Command::new("kill").args(kill).status().expect("kill runs");
        assert!(done.success());
        let status = child.wait().expect("it ends");
        assert!(!status.success(), "{signal}: {status}");
        assert_eq!(left(), 0, "{signal}");
    }
}

/// A comparison doesn't change fixes: all fixtures in one repository have the same fixes alone and compared with an
/// empty revision. Compared with an equal revision, an update may be rejected although a new object isn't, or vice
/// versa, which is another finding; remaining fixes are equally safe.
#[test]
fn fixes_are_as_safe_with_another_revision_as_without() {
    let room = tempfile::tempdir().expect("a directory");
    let here = room.path();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut run = Command::new("git");
        let run = run.args(identity).args(arguments).current_dir(here);
        let done = run.output().expect("git runs");
        assert!(done.status.success(), "{arguments:?}");
    };
    let fixes = |arguments: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_hcoplan"))
            .args(["lint", "--pedantic", "--format", "json"])
            .args(arguments)
            .current_dir(here)
            .output()
            .expect("hcoplan runs");
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let mut out = BTreeMap::new();
        for finding in report["findings"].as_array().into_iter().flatten() {
            for fix in finding["fix"].as_array().into_iter().flatten() {
                let place = ["file", "line", "rule", "message"].map(|key| &finding[key]);
                let key = format!("{place:?} {}", fix["title"]);
                out.insert(key, fix["applicability"].to_string());
            }
        }
        out
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    let rules = main_directory().join("testdata/lint");
    for rule in fs::read_dir(rules).expect("the fixtures") {
        let rule = rule.expect("an entry").path();
        for fixture in fs::read_dir(&rule).into_iter().flatten() {
            let fixture = fixture.expect("an entry").path();
            let name = fixture.file_name().expect("a name").to_string_lossy();
            if name.starts_with("bad") && !fixture.join("before.yaml").exists() {
                let to = here.join(rule.file_name().expect("a name")).join(&*name);
                fs::create_dir_all(&to).expect("a directory");
                annotations::copy(&fixture, &to).expect("copied");
            }
        }
    }
    git(&["add", "--force", "."]);
    git(&["commit", "-q", "-m", "all"]);
    let alone = fixes(&[]);
    assert_eq!(fixes(&["--against", "HEAD~1"]), alone);
    let against = fixes(&["--against", "HEAD"]);
    let both = |(fix, how): (&String, &String)| Some((fix.clone(), how.clone(), against.get(fix)?));
    let both: Vec<_> = alone.iter().filter_map(both).collect();
    for (fix, how, then) in &both {
        assert_eq!(how, *then, "{fix}");
    }
    eprintln!("{} fixes compared, {} of an update", alone.len(), both.len());
    assert!(both.len() > 800, "{} fixes", both.len());
}
