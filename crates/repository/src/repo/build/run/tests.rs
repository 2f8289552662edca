#![cfg(unix)]

use hcoplan_diagnostics::source::Memory;

use super::*;

fn shell(script: &str, most: usize, stop: &dyn Fn() -> bool) -> BuildEnd {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    let running = RunningBuild::start(&mut command, most).expect("a shell");
    running.finish(stop).expect("waited for")
}

#[test]
fn only_a_remote_build_gets_what_fetching_needs() {
    let tree = Memory::default();
    let (inputs, links) = (BTreeSet::new(), BTreeMap::new());
    let printed = |network| {
        let (root, directory) = (Utf8Path::new("."), Utf8Path::new(""));
        let place = BuildTarget { tree: &tree, root, directory, inputs: &inputs, links: &links, network };
        let env = program("env").expect("on the PATH");
        let bytes = run_program(&place, "env", &env, &[], 1 << 20, &|| false).expect("printed");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (remote, local) = (printed(true), printed(false));
    assert!(remote.contains("PATH=") && !remote.contains("GIT_ALLOW_PROTOCOL="), "{remote}");
    assert!(!remote.contains("CARGO_MANIFEST_DIR="), "{remote}");
    assert!(!local.contains("CARGO_MANIFEST_DIR=") && local.contains("GIT_ALLOW_PROTOCOL="), "{local}");
    let tells = |line: &str| line.starts_with("PATH=") || line.starts_with("HOME=");
    assert!(!local.lines().any(tells), "{local}");
}

#[test]
fn errors_have_no_timestamp() {
    let said = "E1122 23:18:35.236906   26207 run.go:72] \"command failed\" err=\"x\"";
    assert_eq!(without_header(said), "\"x\"");
    for line in ["a [b] c", "E1122 x] y", "error: list[0] is wrong"] {
        assert_eq!(without_header(line), line);
    }
}

#[test]
fn the_error_is_shown_without_warnings() {
    let kubectl = "# Warning: 'bases' is deprecated.\nE1122 23:18:35.236906   26207 run.go:72] \
                   \"command failed\" err=<\n\ttrouble with `\n\tpaths:\n\t- a`: b\n >\n";
    assert_eq!(error_lines(kubectl), "trouble with `\n  paths:\n  - a`: b");
    assert_eq!(error_lines("Error: a\n"), "a");
    assert_eq!(error_lines("# Warning: a\n"), "# Warning: a");
}

#[test]
fn limits_time_and_output_of_a_build() {
    let never = || false;
    assert!(matches!(shell("echo a", 10, &never), BuildEnd::Printed(b) if b == b"a\n"));
    assert!(matches!(shell("echo b >&2; exit 3", 10, &never), BuildEnd::Failed(b) if b == b"b\n"));
    assert!(matches!(shell("yes", 1000, &never), BuildEnd::TooMuch));
    let began = Instant::now();
    // Its child keeps the pipe open, and ends with it.
    assert!(matches!(shell("sleep 100 & sleep 100", 10, &|| true), BuildEnd::Stopped));
    assert!(matches!(shell("sleep 100 & echo c", 10, &never), BuildEnd::Printed(b) if b == b"c\n"));
    assert!(began.elapsed() < Duration::from_secs(50));
}
