//! The contents of a repository's objects.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::command::Git;
use crate::source::tree::{Error, Unreadable};

/// A running `git cat-file --batch`.
#[derive(Debug)]
pub(super) struct Objects {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Objects {
    pub(super) fn start(git: &Git) -> Result<Self, Error> {
        let mut command = git.command();
        // Ctrl-C must not end git before hcoplan, which may still have a file to read.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| Error::NoGit(e.to_string()))?;
        let requests = child.stdin.take();
        let answers = child.stdout.take().expect("stdout was piped");
        Ok(Self { child, requests, answers: BufReader::new(answers) })
    }

    /// The content of a blob.
    pub(super) fn read(&mut self, object: &str, max_bytes: usize) -> Result<Vec<u8>, Unreadable> {
        let requests = self.requests.as_mut().expect("open until dropped");
        let mut head = String::new();
        // git ends where it would have to fetch the object.
        let asked = writeln!(requests, "{object}").and_then(|()| requests.flush());
        asked.and_then(|()| self.answers.read_line(&mut head)).map_err(|_| Unreadable::NotFetched)?;
        // `<object> blob <size>`, else `<object> missing`.
        let size = head.trim_end().rsplit_once(' ').map_or("", |(_, size)| size);
        let Ok(size) = size.parse::<u64>() else {
            return Err(Unreadable::NotFetched);
        };
        let mut content = (&mut self.answers).take(size + 1);
        if size > u64::try_from(max_bytes).unwrap_or(u64::MAX) {
            std::io::copy(&mut content, &mut std::io::sink())?;
            return Err(Unreadable::TooBig(max_bytes));
        }
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        bytes.pop();
        Ok(bytes)
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // git ends when its input does.
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
