//! Runs kustomize in isolation: no network, limited time and output, no leftovers.

use hcoplan_diagnostics::source::locked;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hcoplan_diagnostics::source::{Scratch, program};

use super::{BuildError, start_of};
use crate::prelude::*;
use crate::repo::fields;

/// The longest duration of a build.
const MAX_DURATION: Duration = Duration::from_secs(60);

/// The shown lines, and the read bytes, of a failing build's standard error.
const MAX_LINES: usize = 5;
const MAX_ERROR_BYTES: usize = 64 << 10;

/// A file that Helm reads at every start; Helm 4 fails where it is empty, and both do without one.
const REGISTRY: &str = "HELM_REGISTRY_CONFIG";

/// A build's files.
pub(crate) struct BuildTarget<'p> {
    pub(crate) tree: &'p dyn Tree,
    /// The prefix of reported paths.
    pub(crate) root: &'p Utf8Path,
    /// The kustomization's directory.
    pub(crate) directory: &'p Utf8Path,
    /// The files that it needs.
    pub(crate) inputs: &'p BTreeSet<Utf8PathBuf>,
    /// Links to directories on the way to those files, with their targets.
    pub(crate) links: &'p BTreeMap<Utf8PathBuf, Utf8PathBuf>,
    /// Whether it may use the network.
    pub(crate) network: bool,
}

/// The programs that build, with their subcommand.
const PROGRAMS: [(&str, &str); 2] = [("kustomize", "build"), ("kubectl", "kustomize")];

/// The inputs of a build: the kustomization's directory, the files' bytes, and links to directories.
type CopiedInputs = (Utf8PathBuf, BTreeMap<Utf8PathBuf, Vec<u8>>, BTreeMap<Utf8PathBuf, Utf8PathBuf>);

/// What was printed of which files, so that a revision is not built again where it is the same: `plan --against` of
/// thirty overlays takes 22 s of CPU where none changed, and 44 s where all did.
static PRINTED: Mutex<BTreeMap<CopiedInputs, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// The cache is cleared when it has this many builds, as an editor runs for days.
const MAX_PRINTED: usize = 1000;

/// Runs kustomize, or kubectl if it isn't installed; `None` if neither is. Returns the command as typed in a shell, and
/// its output of at most `most` bytes. `is_unrestricted`: whether files may be outside of their kustomization's
/// directory. `stop` is polled to end it early.
pub(super) fn run(
    place: &BuildTarget<'_>,
    is_unrestricted: bool,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> Option<Result<(String, Vec<u8>), BuildError>> {
    let ((name, verb), path) = PROGRAMS.iter().find_map(|p| Some((p, program(p.0)?)))?;
    let mut arguments = vec![(*verb).to_owned(), ".".to_owned()];
    if is_unrestricted {
        arguments.push("--load-restrictor=LoadRestrictionsNone".to_owned());
    }
    let shown = super::shown(place.root, place.directory);
    let typed = format!("{name} {verb} {}", shown.as_str().trim_end_matches('/'));
    let run = || {
        let inputs = (place.directory.to_owned(), read(place)?, place.links.clone());
        let known = || locked(&PRINTED);
        let printed = known().get(&inputs).cloned();
        if let Some(printed) = printed.filter(|p| p.len() <= most) {
            return Ok(printed);
        }
        let bytes = run_program(place, &typed, &path, &arguments, most, stop)?;
        let mut known = known();
        if known.len() >= MAX_PRINTED {
            known.clear();
        }
        known.insert(inputs, bytes.clone());
        Ok(bytes)
    };
    Some(run().map(|bytes| (typed.clone(), bytes)))
}

/// Runs a program in a copy of a build's files; returns its output of at most `most` bytes. `typed` is the command as
/// typed in a shell.
pub(crate) fn run_program(
    place: &BuildTarget<'_>,
    typed: &str,
    path: &Path,
    arguments: &[String],
    most: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u8>, BuildError> {
    let copy = copy_inputs(&read(place)?, place.links)?;
    let mut command = isolated(path, place.network);
    command.args(arguments).current_dir(copy.path().join(place.directory));
    command.env(REGISTRY, format!("{}-absent", copy.path()));
    let failed = |message: String| BuildError::Failed { command: typed.to_owned(), message };
    let done = RunningBuild::start(&mut command, most)
        .and_then(|running| running.finish(stop))
        .map_err(|error| failed(error.to_string()))?;
    match done {
        BuildEnd::Printed(bytes) => Ok(bytes),
        BuildEnd::Failed(stderr) => {
            let stderr = String::from_utf8_lossy(&stderr);
            let stderr = stderr.replace(copy.path().as_str(), place.root.as_str());
            Err(failed(error_lines(&stderr)))
        }
        BuildEnd::TooLong => {
            let seconds = MAX_DURATION.as_secs();
            Err(failed(format!("it didn't finish within {seconds} s and was stopped")))
        }
        BuildEnd::TooMuch => Err(failed(format!("it printed more than {most} bytes and was stopped"))),
        BuildEnd::Stopped => Err(BuildError::Interrupted),
    }
}

/// The first lines of a failing build's standard error, without warnings.
fn error_lines(stderr: &str) -> String {
    // kubectl's log puts multi-line messages between `<` and `>`.
    let lines = stderr.lines().map(|l| without_header(l).trim());
    let lines = lines.filter(|l| !["", "<", ">"].contains(l));
    let is_warning = |l: &&str| l.trim_start_matches("# ").starts_with("Warning: ");
    let (warnings, errors): (Vec<&str>, Vec<&str>) = lines.partition(is_warning);
    let mut shown = if errors.is_empty() { warnings } else { errors };
    shown.truncate(MAX_LINES);
    shown.join("\n  ")
}

/// A line without the headers of kubectl's log and kustomize: severity and day, time, process and line of code.
/// Otherwise the same failure would have a new text each time.
fn without_header(line: &str) -> &str {
    let (header, rest) = line.split_once("] ").unwrap_or_default();
    let mut words = header.split_whitespace();
    let is_day = |word: &str| {
        let digits = word.strip_prefix(['E', 'F', 'W', 'I']);
        digits.is_some_and(|d| d.len() == 4 && is_digits(d))
    };
    let line = if words.next().is_some_and(is_day) && words.count() == 3 { rest } else { line };
    let line = line.strip_prefix("\"command failed\" err=").unwrap_or(line);
    line.strip_prefix("Error: ").unwrap_or(line)
}

/// The files that a build needs.
fn read(place: &BuildTarget<'_>) -> Result<BTreeMap<Utf8PathBuf, Vec<u8>>, BuildError> {
    let read = place.inputs.iter().map(|input| {
        let unread = |why: Unreadable| BuildError::Unread { place: start_of(input), why: why.to_string() };
        let bytes = place.tree.read(input).map_err(unread);
        Ok((input.clone(), bytes?))
    });
    read.collect()
}

/// Creates a directory with only the files that a build needs: kustomize can't read other files of the tree, and a
/// revision or edited files are built as they are.
fn copy_inputs(
    inputs: &BTreeMap<Utf8PathBuf, Vec<u8>>,
    links: &BTreeMap<Utf8PathBuf, Utf8PathBuf>,
) -> Result<Scratch, BuildError> {
    let made = tempfile::Builder::new().prefix("hcoplan-build-").tempdir();
    let kept = made.map_err(BuildError::NoTemporaryDirectory)?.keep();
    let utf8 = Utf8PathBuf::from_path_buf(kept).and_then(|p| match p.canonicalize_utf8() {
        Ok(real) => Ok(real),
        Err(_) => Err(p.into()),
    });
    let no_utf8 = |_| BuildError::NoTemporaryDirectory(io::Error::other("its path isn't UTF-8"));
    let copy = Scratch::new(utf8.map_err(no_utf8)?, |path| std::fs::remove_dir_all(path));
    let prepared = |path: &Utf8Path| {
        let to = copy.path().join(path);
        std::fs::create_dir_all(to.parent().unwrap_or(copy.path())).map(|()| to)
    };
    for (input, bytes) in inputs {
        let written = prepared(input).and_then(|to| std::fs::write(to, bytes));
        written.map_err(BuildError::NoTemporaryDirectory)?;
    }
    for (link, target) in links {
        let linked = prepared(link).and_then(|from| link_to_directory(&copy.path().join(target), &from));
        linked.map_err(BuildError::NoTemporaryDirectory)?;
    }
    Ok(copy)
}

/// Creates a link to a directory, unless it exists.
fn link_to_directory(target: &Utf8Path, link: &Utf8Path) -> io::Result<()> {
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(target, link);
    #[cfg(windows)]
    let made = std::os::windows::fs::symlink_dir(target, link);
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// A command with few environment variables: with the network those that it needs for it, else without network if
/// possible.
fn isolated(path: &Path, network: bool) -> Command {
    let mut command = if network { Command::new(path) } else { without_network(path) };
    command.env_clear().envs(inherited(fields::of("inherited")));
    if network {
        command.envs(inherited(fields::of("inherited-to-fetch")));
    } else {
        command.envs(fields::pairs_of("environment"));
    }
    command
}

fn inherited(names: &'static [&'static str]) -> impl Iterator<Item = (&'static str, OsString)> {
    names.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)))
}

/// A command in its own network namespace without network, if util-linux or busybox can create one for an ordinary
/// user; else only the program.
fn without_network(path: &Path) -> Command {
    match unshare_program() {
        Some(unshare) => {
            let mut command = Command::new(unshare);
            command.args(["-U", "-n", "--"]).arg(path);
            command
        }
        None => Command::new(path),
    }
}

/// The program that creates namespaces, if the system allows it.
fn unshare_program() -> Option<&'static PathBuf> {
    static KNOWN: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        cfg!(target_os = "linux").then_some(())?;
        let (unshare, test) = (program("unshare")?, program("true")?);
        let mut command = Command::new(&unshare);
        command.args([OsString::from("-U"), "-n".into(), "--".into(), test.into()]);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|s| s.success()).then_some(unshare)
    });
    KNOWN.as_ref()
}

/// A running build. Every process that it started ends with it.
struct RunningBuild {
    child: Child,
    printed: JoinHandle<io::Result<Vec<u8>>>,
    stderr: JoinHandle<io::Result<Vec<u8>>>,
    full: Arc<AtomicBool>,
}

enum BuildEnd {
    Printed(Vec<u8>),
    Failed(Vec<u8>),
    TooLong,
    TooMuch,
    Stopped,
}

impl RunningBuild {
    fn start(command: &mut Command, most: usize) -> io::Result<Self> {
        // Its own process group, so that its children can be ended too.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let full = Arc::new(AtomicBool::new(false));
        let printed = child.stdout.take().expect("stdout was piped");
        let stderr = child.stderr.take().expect("stderr was piped");
        let mark = Arc::clone(&full);
        Ok(Self {
            child,
            printed: thread::spawn(move || bounded(printed, most, &mark)),
            stderr: thread::spawn(move || bounded(stderr, MAX_ERROR_BYTES, &AtomicBool::new(false))),
            full,
        })
    }

    fn finish(mut self, stop: &dyn Fn() -> bool) -> io::Result<BuildEnd> {
        let began = Instant::now();
        let ended = loop {
            if let Some(status) = self.child.try_wait()? {
                break Ok(status);
            }
            if self.full.load(Ordering::Relaxed) {
                break Err(BuildEnd::TooMuch);
            }
            if stop() {
                break Err(BuildEnd::Stopped);
            }
            if began.elapsed() > MAX_DURATION {
                break Err(BuildEnd::TooLong);
            }
            thread::sleep(Duration::from_millis(5));
        };
        self.end();
        let panicked = |_| io::Error::other("its output could not be read");
        let printed = self.printed.join().map_err(panicked)??;
        let stderr = self.stderr.join().map_err(panicked)??;
        Ok(match ended {
            Err(done) => done,
            Ok(_) if self.full.load(Ordering::Relaxed) => BuildEnd::TooMuch,
            Ok(status) if status.success() => BuildEnd::Printed(printed),
            Ok(_) => BuildEnd::Failed(stderr),
        })
    }

    /// Ends it and its children, if it still runs.
    fn end(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a stream to its end or limit. `full` is set if it exceeds the limit; the writer then blocks.
fn bounded(stream: impl Read, most: usize, full: &AtomicBool) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        full.store(true, Ordering::Relaxed);
        bytes.truncate(most);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
