//! The paths of controllers' sources, which may be templates.

use super::template::pattern_of;
use crate::prelude::*;
use crate::repo::paths::{has_in, in_root};

/// A path relative to the root, which may be a template.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    /// The path up to its first template expression.
    pub(crate) start: Utf8PathBuf,
    /// What it may be, where it has one.
    pub(super) expression: Option<Regex>,
}

impl PathPattern {
    pub(crate) fn new(path: &str) -> Option<Self> {
        if !path.contains("{{") {
            let start = in_root(path.trim_start_matches('/'))?;
            return Some(Self { start, expression: None });
        }
        let path = path.trim_start_matches("./");
        let expression = Regex::new(&format!("^{}(/|$)", pattern_of(path, |_| ".*"))).ok()?;
        Some(Self { expression: Some(expression), start: path.split("{{").next()?.into() })
    }

    /// Whether a file is at the path or below it.
    pub(super) fn covers(&self, file: &Utf8Path) -> bool {
        self.expression.as_ref().map_or_else(|| file.starts_with(&self.start), |e| e.is_match(file.as_str()))
    }

    /// Whether it is, or may be, this directory itself. One that begins with an expression may be any, so that it says
    /// nothing.
    pub(super) fn is(&self, directory: &Utf8Path) -> bool {
        let Some(expression) = &self.expression else { return directory == self.start };
        let end = |found: regex_lite::Match<'_>| found.end() == directory.as_str().len();
        !self.start.as_str().is_empty() && expression.find(directory.as_str()).is_some_and(end)
    }

    /// The same with its links followed.
    pub(crate) fn real(&self, tree: &dyn Tree) -> Self {
        Self { start: tree.real(&self.start), expression: self.expression.clone() }
    }

    /// Whether any of some files is at the path or below it.
    pub(crate) fn covers_any(&self, files: &BTreeSet<&Utf8Path>) -> bool {
        match &self.expression {
            Some(expression) => files.iter().any(|file| expression.is_match(file.as_str())),
            None => has_in(files, &self.start),
        }
    }
}
