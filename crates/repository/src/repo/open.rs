//! Opens a repository: finds its HyperConvergeds, inventories and kustomizations.

use hcoplan_diagnostics::source::{Limits, Listing, Memory, SkipReason, in_order};

use super::build::BUILT;
use super::candidate::{is_candidate, is_of_tests};
use super::config::{self, CONFIG_FILE, Config};
use super::error::Error;
use super::file_summary::{ByteBudget, FileSummary, is_manifest, not_fetched, other_resources, patches, scan_all};
use super::files::{FileRole, FileUse, contents};
use super::gitops::{self, LeftOut};
use super::helm;
use super::kustomization::{is_kustomization, omits};
use super::objects::{ObjectRef, Objects, SourceRef, StatementRef};
use super::owners::Owners;
use super::pair::pair;
use super::paths::{in_root, parent, typed_parent};
use super::problem::{Problem, unparseable_file, unreadable};
use super::recent_files::RecentFiles;
use super::rendered::Rendered;
use super::scan::{Content, FoundKind, scan};
use super::texts::is_text;
use super::trust::Trust;
use super::wrappers::files::{PROGRAM_MARKERS, is_program, is_script, is_text as may_hold_manifests, may_be_script};
use super::{Options, Repo};
use crate::emit::TOP_MANIFEST;
use crate::prelude::*;

impl Repo {
    /// The repository in a directory; or one file of it, with the inventory next to it.
    ///
    /// # Errors
    /// The root can't be read, or the configuration is invalid.
    pub fn open(root: &Utf8Path, options: &Options) -> Result<Self, Error> {
        if root.is_file() {
            let directory = typed_parent(root);
            let only = root.file_name().map(Utf8PathBuf::from);
            return Self::build(on_disk(directory, options)?, options, only, &[]);
        }
        let left_out = below(root, &options.left_out);
        Self::build(on_disk(root, options)?, options, None, &left_out)
    }

    /// The configuration for a tree.
    ///
    /// # Errors
    /// It is invalid, or can't be read.
    pub fn configuration(tree: &dyn Tree, options: &Options) -> Result<Config, Error> {
        let part = options.part.as_deref();
        match (&options.config, &options.trust) {
            (Some(file), _) => config::read(file, part).map_err(Error::Configuration),
            (None, Trust::Base(base)) => configuration(&**base.tree(), part),
            (None, Trust::Files | Trust::Nobody) => configuration(tree, part),
        }
    }

    /// The repository of any tree: a git revision, files in memory.
    ///
    /// # Errors
    /// It can't be listed, or its configuration is invalid.
    pub fn from_tree(tree: Arc<dyn Tree>, options: &Options) -> Result<Self, Error> {
        Self::build(with_builds(tree, options), options, None, &[])
    }

    /// A stream of documents, such as a build's output on standard input.
    ///
    /// # Errors
    /// An inventory on the command line can't be read.
    pub fn from_stream(bytes: Vec<u8>, options: &Options) -> Result<Self, Error> {
        let stream = Memory::stream(STREAM, bytes);
        Self::build(Arc::new(stream), options, None, &[])
    }

    /// `only`: the only file from which HyperConvergeds are read; inventories are next to it.
    fn build(
        tree: Arc<dyn Tree>,
        options: &Options,
        only: Option<Utf8PathBuf>,
        left_out: &[Utf8PathBuf],
    ) -> Result<Self, Error> {
        let config = Self::configuration(&*tree, options)?;
        // `ignore` disables checks, so it has to come from a trusted source.
        let ignore = match &options.trust {
            Trust::Nobody => &[][..],
            Trust::Files | Trust::Base(_) => &config.ignore[..],
        };
        let mut listing = tree.list(&Walk {
            ignore: ignore.iter().map(|p| p.value.clone()).collect(),
            depth: (only.is_some() || options.shallow).then_some(1),
            checkout: options.checkout,
        })?;
        let mut reading = Reading::default();
        let named: HashSet<_> = config.clusters.iter().filter_map(|c| in_root(&c.path.value)).collect();
        let is_built_on = |f: &Utf8Path| options.built.iter().any(|b| b.reached.contains(f)) && !named.contains(f);
        let built_on = listing.files.iter().filter(|f| is_built_on(f));
        reading.files.extend(built_on.map(|file| FileUse::skipped(file, &"part of a kustomization")));
        let within = options.within.as_deref().unwrap_or(Utf8Path::new(""));
        // What a controller applies is no test's.
        let gitops = LazyCell::new(|| gitops::read(&*tree, &listing.files));
        let is_expected = |f: &Utf8Path| {
            let is_named_so =
                only.is_none() && !options.checkout && is_expected_output(f, within) && !named.contains(f);
            is_named_so && !gitops.applies(&*tree, parent(f))
        };
        let expected: HashSet<Utf8PathBuf> = listing.files.iter().filter(|f| is_expected(f)).cloned().collect();
        drop(gitops);
        let is_expected = |f: &Utf8Path| expected.contains(f);
        let of_tests = listing.files.iter().filter(|f| is_candidate(f) && is_expected(f));
        reading.files.extend(of_tests.map(|file| FileUse::skipped(file, &"is what a test expects")));
        listing.files.retain(|f| !left_out.contains(f) && !is_built_on(f) && !is_expected(f));
        let unrendered =
            if options.builds.helm { Default::default() } else { helm::not_rendered(&*tree, &listing.files) };
        let of_builds = options.built.iter().flat_map(|b| b.findings.iter().cloned());
        reading.findings = unrendered.findings.into_iter().chain(of_builds).collect();
        let failed = options.built.iter().flat_map(|b| &b.failed);
        reading.problems.extend(failed.map(|failed| Problem::error(failed.finding.clone())));
        let rendered = Rendered::find(&*tree, &listing.files);
        let why = format!("holds {TOP_MANIFEST}");
        reading.files.extend(rendered.tops.iter().map(|top| FileUse::skipped(top, &why)));
        reading.output_trees = rendered.tops.iter().cloned().collect();
        reading.skipped(&listing);
        reading.texts = listing.files.iter().filter(|p| is_text(p)).cloned().collect();
        let of_kustomizations = listing.files.iter().filter(|path| options.built.is_none() && is_kustomization(path));
        reading.objects.unbuilt.extend(of_kustomizations.map(|path| parent(path).to_owned()));
        let candidates = candidates(&*tree, &config, listing).into_iter();
        let mut candidates: Vec<Arc<Utf8Path>> = candidates.map(Into::into).collect();
        candidates.shrink_to_fit();
        reading.files.reserve_exact(candidates.len());
        let most = options.max_total.unwrap_or(Limits::DEFAULT.max_total);
        let budget = ByteBudget::new(most);
        let mut looked = scan_all(&*tree, &candidates, &budget);
        // kustomize reads resources with any file name.
        let mut others = other_resources(&*tree, &candidates, &looked);
        others.retain(|f| !is_built_on(f));
        looked.extend(scan_all(&*tree, &others, &budget));
        candidates.extend(others);
        if budget.is_over() {
            return Err(Error::TooMuch(most));
        }
        not_fetched(&candidates, &looked)?;
        let patches = patches(&candidates, &looked);
        for (file, (path, looked)) in (0..).zip(candidates.iter().zip(looked)) {
            match patches.get(&**path) {
                Some(of) => reading.file(path, FileRole::Patch { of: of.to_path_buf() }),
                // hcoplan's output trees have no HyperConverged.
                None if rendered.has(path) && !looked.has_hyperconverged() => {}
                None => reading.add(file, path, looked),
            }
        }
        if let Some(built) = &options.built {
            let inputs = built.unbuilt.values().flatten().filter_map(|input| input.parent());
            reading.objects.unbuilt.extend(inputs.map(ToOwned::to_owned));
            let directories = built.unbuilt.keys().chain(built.failed.iter().map(|f| &f.directory));
            reading.objects.unbuilt.extend(directories.cloned());
        }
        reading.objects.unrendered = unrendered.clusters;
        reading.objects.paths = candidates;
        for path in &options.inventory {
            reading.given(path)?;
        }
        if let Some(only) = only {
            let Objects { paths, hyperconvergeds, unrecognized, named, .. } = &mut reading.objects;
            let is_selected = |o: &ObjectRef| paths.get(o.file as usize).is_some_and(|p| **p == *only);
            [hyperconvergeds, unrecognized, named].into_iter().for_each(|all| all.retain(is_selected));
            reading.objects.is_one_file = true;
            // A file on the command line must be readable, even without relevant objects.
            let is_selected = |p: &Problem| p.finding.file() == Some(&*only);
            reading.problems.iter_mut().filter(|p| is_selected(p)).for_each(|p| *p = p.clone().fatal());
        }
        reading.finish(tree, config, options)
    }
}

fn on_disk(directory: &Utf8Path, options: &Options) -> Result<Arc<dyn Tree>, Error> {
    let tree: Arc<dyn Tree> = match &options.directory {
        Some(open) => Arc::new(Arc::clone(open)),
        None => Arc::new(options.open(directory)?),
    };
    let tree: Arc<dyn Tree> =
        if options.edited.is_empty() { tree } else { Arc::new(EditedTree::new(tree, options.edited.clone())) };
    Ok(with_builds(tree, options))
}

/// A tree with the builds as additional files.
fn with_builds(tree: Arc<dyn Tree>, options: &Options) -> Arc<dyn Tree> {
    match &options.built {
        Some(built) => Arc::new(EditedTree::new(tree, built.files.clone()).with_origins(built.origins.clone())),
        None => tree,
    }
}

/// Whether a file is what a test expects or reads, which nothing applies; `within` is what the user asks for.
fn is_expected_output(path: &Utf8Path, within: &Utf8Path) -> bool {
    let below = path.strip_prefix(within).unwrap_or(path);
    let name = path.file_name().unwrap_or_default();
    [".expected.", "-expected.", "-assert."].iter().any(|part| name.contains(part)) || is_of_tests(parent(below))
}

/// The files below a directory, relative to it.
fn below(root: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
    let Ok(root) = root.canonicalize_utf8() else {
        return Vec::new();
    };
    let files = files.iter().filter_map(|f| f.canonicalize_utf8().ok());
    let below = files.filter_map(|f| f.strip_prefix(&root).map(ToOwned::to_owned).ok());
    below.collect()
}

/// The name of standard input.
pub(super) const STREAM: &str = "-";

pub(super) fn configuration(tree: &dyn Tree, part: Option<&Utf8Path>) -> Result<Config, Error> {
    let path = Utf8Path::new(CONFIG_FILE);
    match tree.read(path) {
        Ok(bytes) => {
            let file = SourceFile::from_bytes(path, bytes);
            config::read(&file, part).map_err(Error::Configuration)
        }
        Err(Unreadable::Missing) => Ok(Config::default()),
        Err(other) => Err(Error::File(path.to_owned(), other)),
    }
}

/// The files to examine, sorted: those that may contain manifests, and those that the configuration names although git
/// ignores them.
fn candidates(tree: &dyn Tree, config: &Config, listing: Listing) -> Vec<Utf8PathBuf> {
    // Files without a suffix are examined if they begin like a script.
    let is_marker = |p: &&Utf8PathBuf| p.file_name().is_some_and(|name| PROGRAM_MARKERS.contains(&name));
    let programs: HashSet<Utf8PathBuf> = listing.files.iter().filter(is_marker).map(|p| parent(p).to_owned()).collect();
    let is_program = |p: &Utf8Path| !programs.is_empty() && is_program(p, |marker| programs.contains(parent(marker)));
    let mut out = listing.files;
    let is_known = |p: &Utf8Path| is_candidate(p) || may_hold_manifests(p) || p.as_str() == STREAM || is_program(p);
    let is_script = |p: &Utf8Path| tree.read(p).is_ok_and(|bytes| is_script(p, &bytes));
    out.retain(|p| is_known(p) || may_be_script(p) && is_script(p));
    let entries = config.clusters.iter();
    let named = entries.flat_map(|c| c.inventory.iter().chain([&c.path]));
    for path in config.inventory.iter().chain(named) {
        if let Some(path) = in_root(&path.value)
            && let Err(at) = out.binary_search(&path)
            && tree.check(&path).is_ok()
        {
            out.insert(at, path);
        }
    }
    out
}

/// The results of reading files so far.
#[derive(Default)]
struct Reading {
    /// The findings about charts.
    findings: Vec<Finding>,
    output_trees: Vec<Utf8PathBuf>,
    objects: Objects,
    files: Vec<FileUse>,
    texts: Vec<Utf8PathBuf>,
    problems: Vec<Problem>,
    /// What can't be read.
    unreadable_paths: Vec<(Utf8PathBuf, Unreadable)>,
    /// Files outside the root, by their index.
    given: HashMap<u32, Arc<Content>>,
}

impl Reading {
    /// Records the files that the listing skipped.
    fn skipped(&mut self, listing: &Listing) {
        for skipped in &listing.skipped {
            let is_shown = match &skipped.why {
                // Other tools read it, so its content would be applied unchecked.
                SkipReason::Unreadable(why @ Unreadable::Name) if is_candidate(&skipped.path) => {
                    self.problems.push(unreadable(&skipped.path, why).fatal());
                    true
                }
                // Without it, more is read than intended.
                SkipReason::Unreadable(why) if skipped.path.file_name() == Some(".gitignore") => {
                    self.problems.push(unreadable(&skipped.path, why));
                    true
                }
                SkipReason::Unreadable(why) => {
                    self.unreadable_paths.push((skipped.path.clone(), why.clone()));
                    // A socket is only named where a manifest is expected.
                    is_candidate(&skipped.path) || *why == Unreadable::Denied
                }
                SkipReason::Ignored | SkipReason::LinkedDirectory | SkipReason::Submodule => true,
            };
            self.files.extend(is_shown.then(|| FileUse::skipped(&skipped.path, &skipped.why)));
        }
    }

    fn file(&mut self, path: &Arc<Utf8Path>, what: FileRole) {
        let path = Arc::clone(path);
        self.files.push(FileUse { path, what });
    }

    fn add(&mut self, file: u32, path: &Arc<Utf8Path>, looked: FileSummary) {
        let FileSummary { found, unreadable, problems, .. } = looked;
        if found.is_empty() && problems.is_empty() && !is_manifest(path) {
            return;
        }
        let what = match problems.first() {
            Some(problem) => FileRole::Skipped(match &unreadable {
                Some(why) => why.to_string(),
                None => problem.finding.message.clone(),
            }),
            None if **path == *CONFIG_FILE => FileRole::Configuration,
            None if found.is_empty() => FileRole::Nothing,
            None => FileRole::Read(contents(&found)),
        };
        self.file(path, what);
        self.problems.extend(problems);
        for found in found {
            let place = found.place;
            let object = ObjectRef { file, place };
            match found.what {
                FoundKind::HyperConverged => self.objects.hyperconvergeds.push(object),
                FoundKind::Inventory(kind) => self.objects.sources.push(SourceRef { kind, object }),
                FoundKind::Statement(kind) => {
                    self.objects.statements.push(StatementRef { kind, object });
                }
                FoundKind::Unrecognized => self.objects.unrecognized.push(object),
                FoundKind::NotPlanned => self.objects.named.push(object),
                FoundKind::Changing => self.objects.changing.push(object),
            }
        }
    }

    /// Reads an inventory of the command line, relative to the current directory.
    fn given(&mut self, path: &Utf8Path) -> Result<(), Error> {
        let directory = typed_parent(path);
        let reject = |why: Unreadable| Error::File(path.to_owned(), why);
        let name = path.file_name().ok_or_else(|| reject(Unreadable::Directory))?;
        let tree = Directory::open(directory, max_bytes())?;
        let scanned = scan(&tree, Utf8Path::new(name));
        if let Some(why) = scanned.unreadable {
            return Err(reject(why));
        }
        let Some(content) = scanned.content else {
            let why = "it contains neither a ClusterInventory nor a node";
            return Err(reject(Unreadable::Io(why.to_owned())));
        };
        // Reported paths are joined to the root, which this file needn't be in.
        let name = camino::absolute_utf8(path).unwrap_or_else(|_| path.to_owned());
        let content = Content::parse(SourceFile::new(name, content.file.text()));
        if content.is_broken() {
            self.problems.extend(unparseable_file(&content));
        }
        let file = u32::try_from(self.objects.paths.len()).expect("fewer than 2^32 files");
        self.objects.paths.push(path.into());
        for found in &scanned.found {
            if let FoundKind::Inventory(kind) = found.what {
                let place = found.place;
                let object = ObjectRef { file, place };
                self.objects.given.push(SourceRef { kind, object });
            }
        }
        self.given.insert(file, Arc::new(content));
        Ok(())
    }

    fn finish(mut self, tree: Arc<dyn Tree>, config: Config, options: &Options) -> Result<Repo, Error> {
        self.files.sort_unstable_by(|a, b| in_order(&a.path, &b.path));
        let mut repo = Repo {
            tree,
            files: self.files,
            texts: self.texts,
            output_trees: self.output_trees,
            problems: self.problems,
            findings: Vec::new(),
            clusters: Vec::new(),
            patches: Vec::new(),
            owners: Owners::default(),
            release: options.release.as_ref().map(Arc::clone),
            update: options.update,
            shared: Vec::new(),
            given: self.given,
            built: options.built.clone().unwrap_or_default(),
            recent: RecentFiles::default(),
            gitops: OnceLock::new(),
            applied: OnceLock::new(),
            in_charts: OnceLock::new(),
            built_on: OnceLock::new(),
            paths: std::mem::take(&mut self.objects.paths),
            config: Config::default(),
        };
        self.objects.paths.clone_from(&repo.paths);
        let is_named =
            |path: &Utf8Path| config.clusters.iter().any(|c| in_root(&c.path.value).as_deref() == Some(path));
        let is_only = self.objects.hyperconvergeds.len() < 2;
        let paths = || self.objects.hyperconvergeds.iter().map(|object| &*repo.paths[object.file as usize]);
        let builds = paths().filter(|path| path.file_name() == Some(BUILT));
        let built: HashSet<Utf8PathBuf> = builds.map(|path| parent(path).to_owned()).collect();
        // A file that links name is those directories'.
        let linked: HashSet<Utf8PathBuf> =
            paths().filter_map(|path| Some(repo.tree.real(path)).filter(|real| path != real)).collect();
        let mut left_out = Vec::new();
        self.objects.hyperconvergeds.retain(|object| {
            let path = Arc::clone(&repo.paths[object.file as usize]);
            if self.objects.is_one_file || is_named(&path) {
                return true;
            }
            if linked.contains(&*path) && repo.appliers_of_file(&path).next().is_none() {
                return false;
            }
            let is_omitted = || {
                if !is_only {
                    return built.contains(parent(&path));
                }
                omits(&*repo.tree, &path, |_| true) && repo.appliers_of_file(&path).next().is_none()
            };
            let is_stray = path.file_name() != Some(BUILT) && !repo.built.files.contains_key(&*path) && is_omitted();
            let why = repo.left_out_by_all(&path).or_else(|| is_stray.then_some(LeftOut::Kustomization));
            let Some(why) = why else { return true };
            if !is_only {
                let uses = repo.files.iter_mut().filter(|file| file.path == path);
                uses.for_each(|file| file.what = FileRole::Skipped(why.to_string()));
            }
            left_out.push((*object, why));
            is_only
        });
        let within = options.within.as_deref().unwrap_or(Utf8Path::new(""));
        let own = options.trust.base().and_then(|_| configuration(&*repo.tree, options.part.as_deref()).ok());
        let paired = pair(&repo, &self.objects, (&config, own.as_ref(), within));
        if !paired.missing_inventories.is_empty() {
            return Err(Error::Configuration(paired.missing_inventories));
        }
        for (path, finding) in paired.wrong_entries {
            // An unreadable file of an entry is reported itself.
            let is_meant = |file: &Utf8Path| path.as_deref().is_some_and(|path| file == path || parent(file) == path);
            let unread = repo.problems.iter_mut().filter(|problem| problem.finding.file().is_some_and(is_meant));
            let mut is_read = true;
            for problem in unread {
                is_read = false;
                *problem = problem.clone().fatal();
            }
            self.findings.extend(is_read.then_some(finding));
        }
        repo.shared.resize_with(paired.shared, OnceLock::new);
        repo.clusters = paired.clusters;
        repo.findings = repo.changes_by_wrappers(&self.objects);
        repo.findings.extend(paired.findings);
        repo.findings.append(&mut self.findings);
        repo.report_left_out(&left_out, is_only);
        repo.report_unreadable_paths(self.unreadable_paths);
        repo.report_non_clusters(&self.objects, &own.iter().chain([&config]).collect::<Vec<_>>());
        repo.report_submodules();
        repo.report_folded_paths();
        repo.report_unread_charts();
        repo.report_broken_controllers();
        repo.findings.extend(options.trust.configuration(&*repo.tree));
        let unbuilt = options.built.iter().flat_map(|built| built.unbuilt.keys());
        let has_several = paired.directories.len() > 1;
        repo.owners = Owners::new(paired.directories, unbuilt.chain(&self.objects.unrendered));
        if repo.clusters.len() > 1 && !repo.gitops().applied.is_empty() {
            if has_several {
                repo.owners.applied = repo.clusters_of_files();
                repo.assign_applied_statements(&self.objects.statements);
            }
            repo.findings.extend(repo.overwritten());
        }
        repo.config = config;
        Ok(repo)
    }
}
