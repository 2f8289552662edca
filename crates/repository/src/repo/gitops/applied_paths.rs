//! What controllers apply from the repository, by path.

use super::{Applied, Controller, PathPattern, Source};
use crate::prelude::*;

/// What controllers apply from the repository.
#[derive(Debug, Default)]
pub(in crate::repo) struct AppliedPaths {
    /// By their paths, so that none is compared with each file.
    exact: BTreeMap<Utf8PathBuf, Vec<Controller>>,
    /// Those in whose paths a generator fills in parts.
    templates: Vec<(PathPattern, Controller)>,
    /// What objects in charts' templates apply.
    pub(in crate::repo) in_charts: Vec<Applied>,
}

impl AppliedPaths {
    pub(in crate::repo) fn new(applied: &[Applied], in_charts: Vec<Applied>) -> Self {
        let mut out = Self::default();
        for by in applied.iter().chain(&in_charts) {
            let controller = by.kind.controller();
            for path in by.sources.iter().filter_map(Source::pattern) {
                match &path.expression {
                    Some(_) => out.templates.push((path, controller)),
                    None => out.exact.entry(path.start).or_default().push(controller),
                }
            }
        }
        Self { in_charts, ..out }
    }

    /// The controllers that apply a file.
    pub(in crate::repo) fn of<'a>(&'a self, file: &'a Utf8Path) -> impl Iterator<Item = Controller> {
        let templates = self.templates.iter().filter(|(path, _)| path.covers(file)).map(|(_, controller)| controller);
        templates.chain(file.ancestors().filter_map(|above| self.exact.get(above)).flatten()).copied()
    }

    /// The packed charts that they apply.
    pub(in crate::repo) fn packed(&self) -> impl Iterator<Item = &Utf8Path> {
        self.exact.keys().map(Utf8PathBuf::as_path).filter(|path| matches!(path.extension(), Some("tgz" | "gz")))
    }

    /// Whether any applies a directory, or something in it.
    pub(in crate::repo) fn meet(&self, directory: &Utf8Path) -> bool {
        let below =
            self.exact.range(directory.to_owned()..).next().is_some_and(|(path, _)| path.starts_with(directory));
        below
            || self.templates.iter().any(|(path, _)| path.start.starts_with(directory))
            || self.of(&directory.join("a.yaml")).next().is_some()
    }
}
