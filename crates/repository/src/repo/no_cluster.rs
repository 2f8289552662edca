//! Reports files of a repository that aren't clusters, although they were meant to be.

use super::Repo;
use super::config::Config;
use super::files::{FileRole, FileUse};
use super::gitops::{Controller, GitOps, of_object};
use super::is_same_document;
use super::kustomization::is_kustomization;
use super::mentions::mentions_hyperconverged;
use super::objects::{Objects, SourceRef};
use super::paths::{files_of, has_in, in_root, parent, reached};
use super::problem::Problem;
use super::scan::may_name_hyperconverged;
use super::unplanned;
use super::unrecognized::{self, unused_inventory};
use super::wrapper_changes;
use super::wrappers::unknown::may_become_hyperconverged;
use super::wrappers::{ansible, without_blanks};
use crate::inventory::SourceKind;
use crate::prelude::*;
use hcoplan_kubernetes::text::last_part;

impl Repo {
    /// Findings about controllers' changes to the HyperConvergeds that they apply.
    pub(super) fn changes_by_wrappers(&self, objects: &Objects) -> Vec<Finding> {
        let built = |path: &Utf8Path| self.inputs_of(path).into_iter().flatten();
        let files = self.clusters.iter().flat_map(|c| std::iter::once(c.path()).chain(built(c.path()).map(|i| &**i)));
        let files: BTreeSet<&Utf8Path> = files.collect();
        let in_charts = self.controllers_in_charts().iter().map(Arc::clone);
        let documents = objects.changing.iter().filter_map(|object| self.object(*object));
        let mentioning = LazyCell::new(|| {
            let mentions = |path: &&Utf8Path| self.tree.read(path).is_ok_and(|bytes| may_name_hyperconverged(&bytes));
            self.paths.iter().map(AsRef::as_ref).filter(mentions).collect::<BTreeSet<_>>()
        });
        let mentions = |directory: &Utf8Path| has_in(&mentioning, directory);
        let found = |document: Arc<Document>| {
            let origin = self.gitops().origin.as_deref();
            wrapper_changes::findings(&document, &files, &mentions, &*self.tree, origin, self.is_planned(&document))
        };
        let elsewhere = self.gitops().applied.iter().filter_map(|applied| applied.elsewhere(&files));
        documents.chain(in_charts).flat_map(found).chain(elsewhere).collect()
    }

    /// Whether what a controller's object adds to what it applies is planned.
    fn is_planned(&self, document: &Document) -> bool {
        let builds = |own: &Arc<Document>| {
            let inputs = self.inputs_of(own.file.path()).filter(|_| own.file.is_generated());
            inputs.is_some_and(|inputs| inputs.contains(document.file.path()))
        };
        self.gitops().is_built(document)
            || is_kustomization(document.file.path()) && self.gitops().documents.iter().any(builds)
            || self.built.appliers.values().any(|by| is_same_document(by, document))
                && document.text("kind") == "HelmRelease"
    }

    /// Reports submodules that aren't checked out, whose content is unknown: each from which something is applied or
    /// built, and all if there is no cluster.
    pub(super) fn report_submodules(&mut self) {
        const GITMODULES: &str = ".gitmodules";
        let Ok(file) = self.tree.source(Utf8Path::new(GITMODULES)) else { return };
        let lines = (0..).map_while(|number| file.line(number));
        for (start, line) in lines {
            let Some((key, path)) = line.split_once('=') else { continue };
            // git ignores the case of keys, and allows quoted values.
            let path = path.trim().trim_matches('"');
            let is_path = key.trim().eq_ignore_ascii_case("path");
            let Some(path) = in_root(path).filter(|_| is_path) else { continue };
            let is_skipped = |file: &FileUse| matches!(file.what, FileRole::Skipped(_)) && *file.path == path;
            let is_there = |name: &&str| self.tree.check(&path.join(name)).is_ok();
            if self.files_below(&path).any(|file| !is_skipped(file)) || [".git", "README.md"].iter().any(is_there) {
                continue;
            }
            let is_deployed = self.is_deployed(&path);
            if !is_deployed && !self.clusters.is_empty() {
                continue;
            }
            let place = Location::new(&file, without_blanks((start, line)));
            let message = format!("the submodule {path} is not checked out, so it is not planned");
            let finding =
                unplanned(message, place).label("not examined").help("check it out: `git submodule update --init`");
            if is_deployed {
                self.problems.push(Problem::error(finding));
            } else {
                self.findings.push(finding);
            }
        }
    }

    /// What controllers apply from the repository, those that are objects themselves and those in charts' templates.
    pub(super) fn applied(&self) -> [&GitOps; 2] {
        let in_charts = self.applied.get_or_init(|| {
            let in_charts = self.controllers_in_charts().iter();
            GitOps::of_charts(in_charts.flat_map(|document| of_object(document, &*self.tree, &[])).collect())
        });
        [self.gitops(), in_charts]
    }

    /// Whether Argo CD runs a file: a directory's Jsonnet. Its output is then as unknown as an unreadable manifest.
    fn is_run(&self, path: &Utf8Path) -> bool {
        let is_by_argo = |all: &GitOps| all.covering(path).any(|by| by.kind.controller() == Controller::ArgoCd);
        path.extension() == Some("jsonnet") && self.applied().into_iter().any(is_by_argo)
    }

    /// Findings about the Jsonnets that Argo CD runs and that, or whose imports, may create a HyperConverged.
    fn jsonnets_with_hyperconverged(&self, reported: &HashSet<Utf8PathBuf>) -> Vec<Finding> {
        static IMPORT: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r#"\bimport(?:str|bin)?\s+@?["'][./]*([^"']+)["']"#).expect("an import"));
        let run: Vec<&Arc<Utf8Path>> =
            self.paths.iter().filter(|path| !reported.contains(&***path) && self.is_run(path)).collect();
        let by_name = LazyCell::new(|| {
            let mut out: BTreeMap<String, Vec<Utf8PathBuf>> = BTreeMap::new();
            for path in files_of(&*self.tree) {
                out.entry(path.file_name().unwrap_or_default().to_owned()).or_default().push(path);
            }
            out
        });
        // What is imported may be in a library.
        let imported = |by: &Utf8PathBuf| -> Vec<Utf8PathBuf> {
            let Ok(file) = self.tree.source(by) else { return Vec::new() };
            let named = |name: &str| {
                let all = by_name.get(last_part(name, '/')).into_iter().flatten();
                all.filter(|path| path.ends_with(name)).cloned().collect::<Vec<_>>()
            };
            IMPORT.captures_iter(file.text()).flat_map(|found| named(&found[1])).collect()
        };
        let mut importers: BTreeMap<Utf8PathBuf, Vec<Utf8PathBuf>> = BTreeMap::new();
        let read = reached(run.iter().map(|path| path.to_path_buf()), |by| {
            let imported = imported(by);
            imported.iter().for_each(|one| importers.entry(one.clone()).or_default().push(by.clone()));
            imported
        });
        let speaks = |path: &Utf8PathBuf| {
            self.tree.read(path).is_ok_and(|bytes| {
                may_name_hyperconverged(&bytes) || mentions_hyperconverged(SourceFile::from_bytes(path, bytes).text())
            })
        };
        let with_one = reached(read.into_iter().filter(speaks), |one| importers.remove(one).unwrap_or_default());
        let found = run.into_iter().filter(|path| with_one.contains(&***path)).filter_map(|path| {
            let file = self.tree.source(path).ok()?;
            let message = "Argo CD runs this Jsonnet, which may create a HyperConverged";
            let finding = unplanned(message, Location::new(&file, Span::default()));
            Some(finding.help("check its output: `jsonnet … | hcoplan lint -`"))
        });
        found.collect()
    }

    /// Reports unrecognised HyperConvergeds, and inventories without a cluster; `configs` has an untrusted one, too.
    pub(super) fn report_non_clusters(&mut self, objects: &Objects, configs: &[&Config]) {
        let (mut findings, mut fatal, mut patches) = (Vec::new(), Vec::new(), Vec::new());
        for object in &objects.unrecognized {
            let Some(document) = self.object(*object) else { continue };
            if may_become_hyperconverged(&document.root) {
                fatal.push(unrecognized::filled_in_later(&document));
            } else {
                findings.push(unrecognized::finding(&document));
            }
        }
        // In a build, point at its source file.
        findings.iter_mut().for_each(Finding::point_at_origins);
        let mut reported = HashSet::new();
        findings.retain(|f| {
            let place = f.place().map(|(file, span)| (file.to_owned(), span.start));
            reported.insert((place, f.message.clone()))
        });
        for object in &objects.named {
            if let Ok(content) = self.content(object.file) {
                // What a controller adds to a build is planned.
                let is_rendered = |own: &Document| self.built.appliers.values().any(|by| is_same_document(by, own));
                let is_planned = |document: &Arc<Document>| self.is_planned(document) || is_rendered(document);
                let document = content.documents.get(object.place.document as usize);
                if document.is_some_and(is_planned) {
                    continue;
                }
                patches.extend(document.into_iter().flat_map(|tasks| ansible::patches(tasks)));
                let mut named = content.not_planned(object.place.document);
                // The finding about the chart that takes these values names it.
                named.retain(|found| !self.findings.iter().any(|known| known.file() == found.file()));
                if self.is_run(content.file.path()) { fatal.extend(named) } else { findings.extend(named) }
            }
        }
        let reported: HashSet<_> = fatal.iter().filter_map(|f| Some(f.file()?.to_owned())).collect();
        fatal.extend(self.jsonnets_with_hyperconverged(&reported));
        self.problems.extend(fatal.into_iter().map(Problem::error));
        if objects.given.is_empty() && !objects.is_one_file {
            let used: BTreeSet<SourceRef> = self.clusters.iter().flat_map(|c| c.sources.iter().copied()).collect();
            let unused = objects.sources.iter().filter(|s| !used.contains(s));
            let declared = unused.filter(|s| s.kind == SourceKind::Declared);
            // Its HyperConverged may be in an unreadable file, which was reported.
            let problems = self.problems.iter().filter_map(|p| p.finding.location.as_ref());
            let broken: Vec<_> = problems.map(|place| place.file.path()).collect();
            let declared = declared.filter(|s| {
                let path = objects.path(s.object);
                let directory = parent(path);
                // An entry's cluster may not be selected, and not be built; a wrong entry is reported itself.
                let mut named = configs.iter().flat_map(|config| &config.clusters).flat_map(|entry| &entry.inventory);
                if named.any(|named| in_root(&named.value).is_some_and(|named| path.starts_with(named))) {
                    return false;
                }
                // Failed builds were reported.
                let mut unbuilt = objects.unbuilt.iter().chain(&objects.unrendered);
                let is_unbuilt = unbuilt.any(|d| d.starts_with(directory));
                !is_unbuilt && !broken.iter().any(|path| path.starts_with(directory))
            });
            let places = declared.filter_map(|s| self.named_at(s.object));
            findings.extend(places.map(unused_inventory));
        }
        self.findings.append(&mut findings);
        self.patches = patches;
    }
}
