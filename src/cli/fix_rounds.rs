//! What `hcoplan fix` did, or would do.

use std::borrow::Cow;
use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use crate::finding::{Finding, Fix};
use crate::fix::{Applied, DroppedFix, NewError, Rewritten};
use crate::secret::{InputText, masked_file_text};
use crate::source::SourceFile;
use hcoplan_report::in_repository;
use hcoplan_report::shown_path;
use similar::TextDiff;

/// The result of all rounds.
#[derive(Debug, Default)]
pub(super) struct FixRounds {
    /// Files by path, as they were read and as they are to be.
    pub(super) files: BTreeMap<Utf8PathBuf, Rewritten>,
    /// What was done.
    pub(super) applied: Vec<Applied>,
    /// What can't be.
    pub(super) dropped: Vec<DroppedFix>,
    /// Findings with a fix that was not applied.
    pub(super) left: Vec<Finding>,
    /// Fixes by which a cluster that the edited file goes into would get an error, with that error.
    pub(super) harmful: Vec<(Finding, Fix, NewError)>,
    /// Findings whose fix of a build can't be one of a layer, with why.
    pub(super) not_carried: Vec<(Finding, String)>,
    /// Clusters that would be rejected also after all.
    pub(super) refused: Vec<String>,
    /// Whether there was more to do than rounds.
    pub(super) exhausted: bool,
}

/// Text of the input, on a line of ours.
pub(super) fn line(text: &str) -> Cow<'_, str> {
    InputText::new(text).line()
}

impl FixRounds {
    /// Where the root is in the git work tree, if the diff's paths have to count from the top of that: a file
    /// lies outside of the current directory, where no patch reaches.
    pub(super) fn root_from_top(&self, root: &Utf8Path) -> Option<Utf8PathBuf> {
        let is_outside = |f: &Rewritten| {
            let path = shown_path(root, &f.before);
            path.is_absolute() || path.starts_with("..")
        };
        let outside = self.files.values().any(is_outside);
        in_repository(root).filter(|_| outside)
    }
}

/// A file's change as a unified diff, without what must not be shown; `from_top` is where the root is, where paths
/// are to count from the top of the work tree, as git's do.
pub(super) fn diff_of(root: &Utf8Path, from_top: Option<&Utf8Path>, file: &Rewritten) -> String {
    let path = match from_top {
        Some(root) => root.join(file.before.path()),
        None => shown_path(root, &file.before),
    };
    // As git and patch -p1 read it, where the path says where that is.
    let (a, b) = if path.is_absolute() {
        (path.to_string(), path.to_string())
    } else {
        (format!("a/{path}"), format!("b/{path}"))
    };
    let after = SourceFile::new(file.before.path(), file.text.as_str());
    let (a, b) = (line(&a), line(&b));
    let (before, after) = (masked_file_text(&file.before), masked_file_text(&after));
    TextDiff::from_lines(&*before, &*after).unified_diff().context_radius(3).header(&a, &b).to_string()
}
