//! Reports what is deployed from the repository, may have a HyperConverged, and can't be read: charts that aren't here,
//! packed charts, and links that lead nowhere.

use super::Repo;
use super::candidate::is_candidate;
use super::charts::{CHART, chart_of, is_in_chart, is_rendered};
use super::escapes::contains;
use super::fields;
use super::gitops::{GitOps, LeftOut};
use super::helm::packed_may_render_hyperconverged;
use super::kustomization::Kustomizations;
use super::mentions::names_hyperconverged;
use super::objects::ObjectRef;
use super::paths::{files_of, first_document, has_in, parent, path_words, start_of};
use super::problem::{unparseable_controller, unreadable};
use super::unplanned;
use super::wrapper_changes::fetched;
use super::wrappers::masked_template;
use crate::prelude::*;

impl Repo {
    /// Whether a controller applies a path or something in it, or a kustomization builds on it.
    pub(super) fn is_deployed(&self, path: &Utf8Path) -> bool {
        let built_on = || Kustomizations::new(&*self.tree).references().into_iter().map(|(_, to)| to).collect();
        self.applied().into_iter().any(|all| all.meets(path)) || has_in(self.built_on.get_or_init(built_on), path)
    }

    /// Reports links that lead nowhere, pipes and the like: where something is deployed from as errors.
    pub(super) fn report_unreadable_paths(&mut self, lost: Vec<(Utf8PathBuf, Unreadable)>) {
        for (path, why) in lost {
            if self.is_deployed(&path) {
                self.problems.push(unreadable(&path, &why).fatal());
            } else if is_candidate(&path) || why == Unreadable::Denied {
                self.problems.push(unreadable(&path, &why));
            }
        }
    }

    /// The controllers' objects in charts' templates, with their actions masked.
    pub(super) fn controllers_in_charts(&self) -> &[Arc<Document>] {
        self.in_charts.get_or_init(|| {
            let is_template = |path: &&Utf8Path| is_rendered(path) && chart_of(&*self.tree, path).is_some();
            let templates = self.paths.iter().map(|path| &**path).filter(is_template);
            let documents = templates.filter_map(|path| {
                let file = self.tree.source(path).ok()?;
                (file.text().contains("{{") && contains(file.text(), |text| fields::are_in(text, "controllers")))
                    .then(|| masked_template(&file))
            });
            documents.flatten().map(Arc::new).collect()
        })
    }

    /// Reports HyperConvergeds that what applies their directory leaves out; `planned`: they are planned all the same.
    pub(super) fn report_left_out(&mut self, objects: &[(ObjectRef, LeftOut)], planned: bool) {
        let finding = |(object, why): &(ObjectRef, LeftOut)| {
            let (message, help) = match why {
                LeftOut::Kustomization => (
                    "the kustomization beside it doesn't name this HyperConverged's file, so it doesn't apply it"
                        .to_owned(),
                    "name the file in the kustomization, unless something else applies it",
                ),
                why => (
                    format!("nothing here applies this HyperConverged: {why}"),
                    "apply it, or list its file in hcoplan.yaml if something else does",
                ),
            };
            let finding = unplanned(message, self.named_at(*object)?).info().help(help);
            Some(if planned { finding.label("planned all the same").silent() } else { finding })
        };
        let found: Vec<Finding> = objects.iter().filter_map(finding).collect();
        self.findings.extend(found);
    }

    /// Reports files with controllers' objects that can't be parsed and name a cluster's directory.
    pub(super) fn report_broken_controllers(&mut self) {
        let directories = self.clusters.iter().map(|cluster| cluster.directory().as_str());
        let directories: Vec<&str> = directories.filter(|directory| !directory.is_empty()).collect();
        if directories.is_empty() {
            return;
        }
        let names_one = |text: &str| {
            path_words(text).any(|path| directories.contains(&path.trim_start_matches("./").trim_matches('/')))
        };
        let is_meant = |file: &&Arc<SourceFile>| names_one(file.text()) && !is_in_chart(&*self.tree, file.path());
        let found: Vec<Finding> =
            self.gitops().broken.iter().filter(is_meant).filter_map(unparseable_controller).collect();
        self.findings.extend(found);
    }

    /// Reports charts that charts depend on and that aren't here, and packed charts that something deploys.
    pub(super) fn report_unread_charts(&mut self) {
        let listing = LazyCell::new(|| files_of(&*self.tree));
        let own_charts = LazyCell::new(|| {
            let charts = self.paths.iter().filter(|path| path.file_name() == Some(CHART));
            let charts = charts.filter_map(|path| first_document(&*self.tree, path));
            charts.map(|chart| chart.root.text("name").to_owned()).collect::<BTreeSet<_>>()
        });
        let mut findings = Vec::new();
        for path in self.paths.iter().filter(|p| matches!(p.file_name(), Some(CHART | "requirements.yaml"))) {
            let Some(chart) = first_document(&*self.tree, path) else { continue };
            let directory = parent(path);
            let values = first_document(&*self.tree, &directory.join("values.yaml"));
            for dependency in chart.root.list_at("dependencies") {
                let text = |key: &str| dependency.text(key);
                let (name, repository) = (text("name"), text("repository"));
                if name.is_empty() || repository.is_empty() || repository.starts_with("file://") {
                    continue;
                }
                let charts = directory.join("charts");
                let is_archive = |file: &Utf8PathBuf| {
                    let own = file.strip_prefix(&charts).ok().and_then(|own| own.as_str().strip_prefix(name));
                    own.is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".tgz"))
                };
                if self.tree.check(&charts.join(name).join(CHART)).is_ok() || listing.iter().any(is_archive) {
                    continue;
                }
                let own = |key: &str| values.as_ref().and_then(|v| v.root.get(key)).map(|v| v.to_json().to_string());
                let given =
                    [own(name), own(text("alias"))].into_iter().flatten().any(|values| names_hyperconverged(&values));
                let severity = if given || [name, text("alias"), repository].into_iter().any(names_hyperconverged) {
                    Severity::Error
                } else if self.clusters.is_empty() && !own_charts.contains(name) {
                    Severity::Warning
                } else {
                    // One that is published from this repository is read as its source.
                    continue;
                };
                let place = chart.location(dependency.get("name").unwrap_or(dependency).span);
                findings.push(fetched(path.as_str(), name, place).severity(severity));
            }
        }
        for path in self
            .applied()
            .into_iter()
            .flat_map(GitOps::packed)
            .filter(|path| packed_may_render_hyperconverged(&*self.tree, path))
        {
            let message = format!("the packed chart `{path}` may have a HyperConverged and is not rendered");
            let finding = Finding::new(&HELM_CHART_NOT_RENDERED, message).error();
            let finding = finding.at(start_of(path)).label("an archive");
            findings.push(finding.help("unpack it into a directory, and deploy that"));
        }
        self.findings.append(&mut findings);
    }
}
