//! What controllers apply from the repository, by path.

use hcoplan_planner::lifecycle::UpdateMethod;

use super::{Applied, Controller, Kind, PathPattern, Source};
use crate::prelude::*;
use crate::repo::identity::{FactOrigin, WithSource, sync_method};

/// What controllers apply from the repository.
#[derive(Debug, Default)]
pub(in crate::repo) struct AppliedPaths {
    /// By their paths, so that none is compared with each file.
    exact: BTreeMap<Utf8PathBuf, Vec<AppliedPath>>,
    /// Those in whose paths a generator fills in parts.
    templates: Vec<AppliedPath>,
}

impl AppliedPaths {
    /// Takes in what a controller's object applies.
    pub(in crate::repo) fn take(&mut self, applied: &Applied) {
        for applied in applied_paths(applied) {
            match &applied.path.expression {
                Some(_) => self.templates.push(applied),
                None => self.exact.entry(applied.path.start.clone()).or_default().push(applied),
            }
        }
    }

    /// Those that apply a file.
    pub(in crate::repo) fn of<'a>(&'a self, file: &'a Utf8Path) -> impl Iterator<Item = &'a AppliedPath> {
        let templates = self.templates.iter().filter(|applied| applied.path.covers(file));
        templates.chain(file.ancestors().filter_map(|above| self.exact.get(above)).flatten())
    }

    /// The one of the nearest path.
    pub(in crate::repo) fn nearest<'a>(&'a self, file: &'a Utf8Path) -> Option<&'a AppliedPath> {
        self.of(file).max_by_key(|applied| applied.path.start.components().count())
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
            || self.templates.iter().any(|applied| applied.path.start.starts_with(directory))
            || self.of(&directory.join("a.yaml")).next().is_some()
    }
}

/// What a controller applies from the repository.
#[derive(Debug)]
pub(in crate::repo) struct AppliedPath {
    path: PathPattern,
    /// Whether Argo CD skips the dry run of kinds that the cluster doesn't know yet; `None` of Flux.
    pub(in crate::repo) skips_dry_run: Option<bool>,
    /// The update method, with the object's kind and the location; `None` where it isn't known of the controller.
    pub(in crate::repo) method: Option<WithSource<UpdateMethod>>,
}

/// What a controller's object applies.
fn applied_paths(applied: &Applied) -> Vec<AppliedPath> {
    let document = &applied.document;
    let root = &document.root;
    let is_argo = applied.kind.controller() == Controller::ArgoCd;
    let spec = if applied.kind == Kind::ApplicationSet { "spec.template.spec" } else { "spec" };
    let Some(spec) = root.below(spec) else { return Vec::new() };
    let options = spec.list_at("syncPolicy.syncOptions").iter().filter_map(Node::as_str);
    let skips_dry_run = is_argo.then(|| options.clone().any(|o| o == "SkipDryRunOnMissingResource=true"));
    let is_client_side = is_argo || spec.text_at("upgrade.serverSideApply") == Some("disabled");
    let usual = if is_client_side { UpdateMethod::Apply } else { UpdateMethod::ServerSide };
    let value = sync_method(options.filter(|_| is_argo)).unwrap_or(usual);
    let (by, place) = (FactOrigin::Object(applied.kind.name()), Some(document.location(root.span)));
    let is_known = matches!(applied.kind.controller(), Controller::ArgoCd | Controller::Flux);
    let method = is_known.then_some(WithSource { value, by, place });
    let paths = applied.sources.iter().filter_map(Source::pattern);
    paths.map(|path| AppliedPath { path, skips_dry_run, method: method.clone() }).collect()
}
