//! Runs git; nothing else starts it.
//!
//! A repository's own configuration can name programs (`core.fsmonitor`, `core.sshCommand`,
//! `remote.*.vcs`, hooks), and so can `GIT_*` of the environment. Here git gets only commands that
//! read objects, configuration in which such programs are off, and no way to fetch what it lacks.
//! Sources: git-config(1), git(1) "Environment Variables", `transport_check_allowed` in git.

use crate::prelude::*;
use std::env;
use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::source::program;
use crate::source::tree::Error;

/// Configuration that overrides the repository's own, so that git starts no program, fetches nothing, and doesn't use
/// a bare repository inside a checkout.
const CONFIGURATION: [&str; 14] = [
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=true",
    "credential.helper=",
    "diff.external=",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Variables that stay: where the user's and the machine's own configuration is.
const KEPT_VARIABLES: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// Variables that hcoplan sets. An empty list of protocols overrides `protocol.*.allow` of the repository, also
/// with a git that doesn't know `GIT_NO_LAZY_FETCH` yet (before 2.45).
const SET_VARIABLES: [(&str, &str); 6] = [
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// The reason for a git that fails and prints nothing.
pub(super) const NO_MESSAGE: &str = "it failed and printed nothing";

/// A repository to run git in.
#[derive(Debug)]
pub(super) struct Git {
    /// The directory that has `.git`, or is a bare repository.
    top: Utf8PathBuf,
    bare: bool,
}

impl Git {
    /// The repository that a directory is in, and the directory's path in it. hcoplan searches for it itself: git
    /// takes any directory with the right names in it for a bare repository, and a checkout may contain one. Only a
    /// directory outside any repository may be a bare one.
    pub(super) fn around(directory: &Utf8Path) -> Result<(Self, Utf8PathBuf), Error> {
        let real = directory.canonicalize_utf8().map_err(|e| Error::Root(directory.to_owned(), e.into()))?;
        let Some(top) = real.ancestors().find(|a| a.join(".git").exists()) else {
            if ["HEAD", "objects", "refs"].iter().all(|name| real.join(name).exists()) {
                return Ok((Self { top: real, bare: true }, Utf8PathBuf::new()));
            }
            return Err(Error::Git(format!("{directory} is not in a git repository")));
        };
        let below = real.strip_prefix(top).unwrap_or(Utf8Path::new(""));
        Ok((Self { top: top.to_owned(), bare: false }, below.to_owned()))
    }

    /// The same of the outermost repository: a submodule's `.git` is a file that names a directory in the `.git` of the
    /// repository that has it.
    pub(super) fn around_outermost(directory: &Utf8Path) -> Result<(Self, Utf8PathBuf), Error> {
        let (mut git, mut below) = Self::around(directory)?;
        while let Some(above) = git.superproject() {
            below = git.top.strip_prefix(&above).unwrap_or(Utf8Path::new("")).join(below);
            git.top = above;
        }
        Ok((git, below))
    }

    fn superproject(&self) -> Option<Utf8PathBuf> {
        let text = std::fs::read_to_string(self.top.join(".git")).ok()?;
        let own = self.top.join(text.strip_prefix("gitdir:")?.trim()).canonicalize_utf8().ok()?;
        let mut above = self.top.ancestors().skip(1);
        let is_of = |above: &&Utf8Path| {
            let modules = above.join(".git").canonicalize_utf8().map(|git| git.join("modules"));
            modules.is_ok_and(|modules| own.starts_with(modules))
        };
        above.find(is_of).map(ToOwned::to_owned)
    }

    /// The directory of the repository.
    pub(super) fn top(&self) -> &Utf8Path {
        &self.top
    }

    /// git in the repository, for arguments to be added.
    pub(super) fn command(&self) -> Command {
        let git = program("git").unwrap_or_else(|| "git".into());
        let mut command = Command::new(git);
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") && !KEPT_VARIABLES.contains(&&*text) {
                command.env_remove(&name);
            }
        }
        command.envs(SET_VARIABLES);
        if let Some(above) = self.top.parent() {
            // An invalid `.git` is an error, not a reason to search further up.
            command.env("GIT_CEILING_DIRECTORIES", above);
        }
        command.args(["--no-pager", "--literal-pathspecs"]);
        for setting in CONFIGURATION {
            command.args(["-c", setting]);
        }
        for directory in trusted(|name| env::var(name).ok()) {
            command.arg("-c").arg(format!("safe.directory={directory}"));
        }
        command.arg("-C").arg(&self.top);
        if self.bare {
            command.arg("--git-dir=.");
        }
        command
    }

    /// git's output.
    pub(super) fn bytes<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, Error> {
        let done =
            self.command().args(arguments).stdin(Stdio::null()).output().map_err(|e| Error::NoGit(e.to_string()))?;
        if done.status.success() {
            return Ok(done.stdout);
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let line = said.lines().next().unwrap_or(NO_MESSAGE);
        Err(Error::Git(line.trim_start_matches("fatal: ").to_owned()))
    }

    /// git's output, as one line.
    pub(super) fn line<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, Error> {
        let text = String::from_utf8(self.bytes(arguments)?);
        let text = text.map_err(|_| Error::Git("its answer isn't UTF-8".to_owned()))?;
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// The directories that the environment trusts, as CI containers set it whose files another user owns:
/// `GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_0`, … with `safe.directory` alone.
fn trusted(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    const MAX_SETTINGS: usize = 1000;
    let count = variable("GIT_CONFIG_COUNT").and_then(|n| n.parse().ok());
    let numbers = 0..count.unwrap_or(0).min(MAX_SETTINGS);
    let value = |n| {
        let key = variable(&format!("GIT_CONFIG_KEY_{n}"))?;
        let meant = key.eq_ignore_ascii_case("safe.directory");
        variable(&format!("GIT_CONFIG_VALUE_{n}")).filter(|_| meant)
    };
    numbers.filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_only_safe_directories_from_the_environment() {
        let variable = |name: &str| {
            let value = match name {
                "GIT_CONFIG_COUNT" => "3",
                "GIT_CONFIG_KEY_0" => "core.fsmonitor",
                "GIT_CONFIG_VALUE_0" => "./run",
                "GIT_CONFIG_KEY_1" => "Safe.Directory",
                "GIT_CONFIG_VALUE_1" => "/builds/x",
                _ => return None,
            };
            Some(value.to_owned())
        };
        assert_eq!(trusted(variable), ["/builds/x"]);
        assert!(trusted(|_| None).is_empty());
    }
}
