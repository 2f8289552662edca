//! Finds and selects clusters for a subcommand, and reports problems on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::arguments::Sources;
use super::builds::{build_directory, build_revision, builds, bundle, has_bundle};
use super::exit::Verdict;
use super::failure::Failure;
use super::findings::Findings;
use super::output::Output;
use super::root::{Place, finding_with_help, is_of_meant, nothing_found, problems, show_files};
use super::selection::{Selection, last_parts};
use super::shard::Shard;
use super::sides::Side;
use crate::emit;
use crate::finding::{Edit, Finding};
use crate::fix;
use crate::lint;
use crate::repo::{self, CONFIG_FILE, ClusterFilter, ClusterRef, Options, Repo, Trust, TrustBase};
use crate::source::{Directory, Revision, SourceFile, Tree, max_bytes, read_limited};
use crate::yaml::edit::Reason;
use hcoplan_analysis::{After, Before, ComparisonMode, Outcome, Pair, Progress, Work};

/// The clusters of a run.
#[derive(Debug)]
pub(super) struct Clusters {
    /// The repository that they are in.
    pub(super) repo: Repo,
    /// What the paths of the repository are relative to.
    pub(super) root: Utf8PathBuf,
    /// Whether no cluster was left out by choice.
    pub(super) everything: bool,
    /// Whether what is looked at is an operator's bundle, without a HyperConverged.
    pub(super) is_bundle: bool,
    /// What happened on the way.
    pub(super) verdict: Verdict,
    /// The revision that is trusted, where one is.
    base: Option<Repo>,
    /// What this side is called.
    name: String,
    /// The release that the command line says.
    release: Option<String>,
    selection: Selection,
    /// The directory that was given, relative to the root; `None` where it is the root.
    below: Option<Utf8PathBuf>,
    directory: Utf8PathBuf,
    options: Options,
}

/// Finds the clusters in the given place; some files are no sources, wherever they lie.
pub(super) fn find(sources: &Sources, left_out: Vec<Utf8PathBuf>, output: &Output) -> Result<Clusters, Failure> {
    find_in(sources, left_out, None, output)
}

/// The same where files are edited: every cluster is built, also those that aren't meant, as what they
/// are built of may change.
pub(super) fn find_to_edit(sources: &Sources, output: &Output) -> Result<Clusters, Failure> {
    find_in(sources, Vec::new(), Some(ClusterFilter::default()), output)
}

/// The same where one cluster is named, by its whole name or its last parts: only what has that name is built,
/// wherever it lies.
pub(super) fn find_named(
    sources: &Sources,
    left_out: Vec<Utf8PathBuf>,
    name: &str,
    output: &Output,
) -> Result<Clusters, Failure> {
    let name = name.to_owned();
    let chosen = ClusterFilter::new(move |cluster| last_parts(cluster).any(|part| part == name));
    find_in(sources, left_out, Some(chosen), output)
}

fn find_in(
    sources: &Sources,
    left_out: Vec<Utf8PathBuf>,
    to_build: Option<ClusterFilter>,
    output: &Output,
) -> Result<Clusters, Failure> {
    let mut selection = Selection::new(sources)?;
    if let Some(jobs) = sources.reading.jobs {
        // Threads that read files, too. It fails only where the pool exists already: a second run in one process.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.get());
        let _ = pool.build_global();
    }
    let place = place(sources)?;
    let directory = place.root;
    let root = root_of(&directory);
    let trust = trust(sources, &root)?;
    let release = sources.release.as_ref().map(|name| {
        let release = trust.named_release(name)?;
        repo::not_modelled(name, &release).iter().for_each(|message| output.note(message));
        Ok::<_, Failure>(release)
    });
    let mut options = Options {
        release: release.transpose()?,
        inventory: sources.inventory.clone(),
        config: configuration(sources, &trust)?,
        trust,
        left_out,
        within: place.below.clone().filter(|_| to_build.is_none()),
        chosen: to_build.unwrap_or_else(|| selection.to_build()),
        ..Options::default()
    };
    let wrong = |error| Failure::opening(error, &root);
    let asked = sources.reading.builds();
    let revision = sources.revision.as_ref().map(|name| Revision::open(&root, name, max_bytes()));
    let revision = revision.transpose()?.map(Arc::new);
    let open = |options: &Options| match &revision {
        Some(tree) => Repo::from_tree(Arc::<Revision>::clone(tree), options),
        None => Repo::open(&directory, options),
    };
    let opened = if sources.directory == "-" {
        let read = read_limited(&mut std::io::stdin().lock());
        let bytes = read.map_err(|e| Failure::Unreadable(format!("standard input: {e}")))?;
        Repo::from_stream(bytes, &options)
    } else {
        if let Some(tree) = &revision {
            options.builds = builds(asked, &**tree, &options).map_err(wrong)?;
            build_revision(&**tree, &root, &mut options)?;
        } else if !directory.is_file() {
            let tree = Directory::open(&root, options.max_bytes).map_err(repo::Error::from).map_err(wrong)?;
            options.builds = builds(asked, &tree, &options).map_err(wrong)?;
            let notes = build_directory(&root, &mut options)?;
            if sources.reading.files.show_files {
                notes.iter().for_each(|note| output.show(note));
                if options.built.as_ref().is_some_and(|built| !built.files.is_empty()) {
                    repo::builder().iter().for_each(|said| output.show(said));
                }
            }
        }
        open(&options)
    };
    let mut repo = opened.map_err(wrong)?;
    let is_bundle = sources.bundles && repo.clusters().is_empty() && has_bundle(&repo);
    if is_bundle {
        bundle(&mut options);
        repo = open(&options).map_err(wrong)?;
    }
    if let Some(below) = &place.below {
        selection.only_below(below, &repo);
    }
    if sources.reading.files.show_files {
        show_files(&repo, &selection, output);
    }
    let mut verdict =
        Verdict { unreadable: problems(&repo, place.below.as_deref()).any(|p| p.fatal), ..Verdict::default() };
    let is_below = |c: &ClusterRef| place.below.as_ref().is_none_or(|b| repo.is_within(c, b));
    let is_unparsed = repo.not_planned().iter().any(|(name, _)| selection.has(name));
    if !repo.clusters().iter().any(is_below) && repo.skipped_builds().next().is_none() && !is_unparsed {
        let directory = &sources.directory;
        let unplanned: Vec<_> = repo.unplanned(place.below.as_deref()).collect();
        let is_unplanned = !unplanned.is_empty();
        // Nobody has looked into a chart or a submodule, so nothing is known to be wrong.
        let is_unread = !unplanned.is_empty() && unplanned.iter().all(|f| is_unread(f));
        // That some are not built is a finding.
        let is_unbuilt = verdict.unreadable && has_failed(&options);
        match () {
            () if is_unread => {
                output.error(format_args!("no HyperConverged was looked at in {directory}"));
                unplanned.iter().for_each(|finding| output.error(finding_with_help(finding)));
                verdict.nothing_found = true;
            }
            () if is_unplanned => {
                output.error(format_args!("no HyperConverged that could be planned is in {directory}"));
                verdict.nothing_planned = true;
            }
            () if is_unbuilt => verdict.nothing_found = true,
            () => {
                output.error(nothing_found(&repo, directory));
                verdict.nothing_found = true;
            }
        }
    } else if let Some(pattern) = selection.unmatched(names(&repo))
        && !has_failed(&options)
    {
        return Err(Failure::usage(
            format!("--cluster {pattern} matches no cluster"),
            format!("there are {}", some(names(&repo))),
        ));
    }
    let base = match options.trust.base() {
        Some(base) => Some(before(base, &root, &options)?),
        None => None,
    };
    let found = Clusters {
        base,
        root,
        is_bundle,
        everything: selection.is_everything(),
        verdict,
        name: sources.name.clone().unwrap_or_else(|| "the working tree".to_owned()),
        release: sources.release.clone(),
        selection,
        below: place.below,
        directory,
        options,
        repo,
    };
    found.say_shard(output);
    Ok(found)
}

/// The names of the clusters, of those that can't be planned, and of those that weren't asked for.
pub(super) fn names(repo: &Repo) -> impl Iterator<Item = &str> + Clone {
    let built = repo.clusters().iter().map(ClusterRef::name);
    let unplanned = repo.not_planned().into_iter().map(|(name, _)| name);
    let unplanned = unplanned.filter(|name| !repo.clusters().iter().any(|c| c.name() == *name));
    built.chain(unplanned.collect::<Vec<_>>()).chain(repo.skipped_builds())
}

/// Whether a finding is about something that wasn't looked into: a chart, a submodule.
fn is_unread(finding: &Finding) -> bool {
    finding.rule.name == repo::HELM_CHART_NOT_RENDERED.name
        || finding.location.as_ref().is_some_and(|place| place.file.path() == ".gitmodules")
}

/// Whether a build has failed, so that there may be clusters which nobody knows the names of.
fn has_failed(options: &Options) -> bool {
    let built = options.built.as_ref();
    built.is_some_and(|built| !built.failed.is_empty())
}

/// What the directory is looked at from: the root that its configuration is in; else, where
/// kustomizations tie it to what lies elsewhere, the root of the git work tree.
pub(super) fn place(sources: &Sources) -> Result<Place, Failure> {
    let path = &kustomized(&sources.directory);
    let place = configured_place(sources, path)?;
    if path == "-" || place.below.is_some() || path.join(CONFIG_FILE).is_file() {
        return Ok(place);
    }
    let top = Place::top(path);
    let Some(below) = &top.below else {
        return Ok(place);
    };
    let open = |directory: &Utf8Path| Directory::open(directory, max_bytes());
    let has_kustomization = |tree: &Directory| {
        let listing = tree.list(&crate::source::Walk::default());
        listing.is_ok_and(|l| l.files.iter().any(|f| repo::is_kustomization(f)))
    };
    let has_outside_references = open(&root_of(path)).is_ok_and(|tree| has_kustomization(&tree))
        && open(&top.root).is_ok_and(|tree| repo::has_outside_references(&tree, below));
    Ok(if has_outside_references { top } else { place })
}

/// The directory of a kustomization's file, which represents its build; else the path.
fn kustomized(path: &Utf8Path) -> Utf8PathBuf {
    if repo::is_kustomization(path) && path.is_file() { root_of(path) } else { path.to_owned() }
}

/// What the directory is looked at from. Where a revision is trusted, that revision says where the
/// configuration is: a change could put another one in its way.
fn configured_place(sources: &Sources, path: &Utf8Path) -> Result<Place, Failure> {
    if path == "-" {
        return Ok(Place::itself(path));
    }
    if let Some(file) = &sources.reading.config {
        return Ok(Place::configured_by(path, file));
    }
    let Some(revision) = &sources.reading.trust_base else {
        return Ok(Place::configured(path));
    };
    let top = Place::work_tree(path).root;
    let base = TrustBase::open(&root_of(&top), revision)?;
    let Ok(real) = root_of(&top).canonicalize_utf8() else {
        return Ok(Place::itself(path));
    };
    Ok(Place::find(path, |directory| {
        let below = directory.strip_prefix(&real);
        below.is_ok_and(|below| base.tree().read(&below.join(CONFIG_FILE)).is_ok())
    }))
}

/// The configuration of a file that the command line names, of the trusted revision where there is one.
pub(super) fn configuration(sources: &Sources, trust: &Trust) -> Result<Option<Arc<SourceFile>>, Failure> {
    let Some(path) = &sources.reading.config else {
        return Ok(None);
    };
    let bytes = repo::read_named(&sources.directory, path, trust)?;
    Ok(Some(SourceFile::from_bytes(path, bytes)))
}

/// The trust source that the command line names.
pub(super) fn trust(sources: &Sources, root: &Utf8Path) -> Result<Trust, Failure> {
    let Some(name) = &sources.reading.trust_base else {
        return Ok(Trust::Files);
    };
    if sources.directory == "-" {
        return Err(Failure::usage(
            "--trust-base needs a directory: a stream has no revisions",
            "give the directory that the stream is built from",
        ));
    }
    Ok(Trust::Base(TrustBase::open(root, name)?))
}

/// The clusters of the revision that is trusted, built as the files are.
fn before(base: &TrustBase, root: &Utf8Path, now: &Options) -> Result<Repo, Failure> {
    let tree = Arc::clone(base.tree());
    let mut options =
        Options { within: now.within.clone(), builds: now.builds, chosen: now.chosen.clone(), ..Options::default() };
    build_revision(&*tree, root, &mut options)?;
    let opened = Repo::from_tree(Arc::new(tree), &options);
    opened.map_err(|error| Failure::opening(error, root))
}

/// Every cluster of a repository that was opened.
pub(super) fn all_clusters(repo: Repo, directory: Utf8PathBuf, options: Options) -> Clusters {
    Clusters {
        base: None,
        root: Utf8PathBuf::from("."),
        is_bundle: false,
        everything: true,
        verdict: Verdict { unreadable: repo.problems().iter().any(|p| p.fatal), ..Verdict::default() },
        name: "the working tree".to_owned(),
        release: None,
        selection: Selection::everything(),
        below: None,
        directory,
        options,
        repo,
    }
}

/// The cluster that a directory of an output tree is for.
pub(super) fn cluster_name(directory: &Utf8Path) -> &str {
    match directory.as_str() {
        "" => ".",
        name => name,
    }
}

/// What paths are relative to: the directory, or the one that a file is in.
fn root_of(path: &Utf8Path) -> Utf8PathBuf {
    if path == "-" {
        return Utf8PathBuf::from(".");
    }
    match path.parent().filter(|_| path.is_file()) {
        Some(parent) if parent.as_str().is_empty() => Utf8PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path.to_owned(),
    }
}

/// The first names of a list that may be long.
fn some<'n>(names: impl Iterator<Item = &'n str> + Clone) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<_> = names.clone().take(SHOWN).collect();
    match names.count().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

impl Clusters {
    /// The same clusters with paths that are relative to another directory.
    pub(super) fn in_root(self, root: Utf8PathBuf) -> Self {
        Self { root, ..self }
    }

    /// The same clusters, read again with other content in some files.
    pub(super) fn edited(self, files: BTreeMap<Utf8PathBuf, Vec<u8>>) -> Result<Self, Failure> {
        let mut options = self.options;
        options.edited.extend(files);
        if options.built.is_some() {
            build_directory(&self.root, &mut options)?;
        }
        let repo = Repo::open(&self.directory, &options);
        let repo = repo.map_err(|error| Failure::opening(error, &self.root))?;
        Ok(Self { repo, options, ..self })
    }

    /// The directory that was given, relative to the root; `None` where it is the root.
    pub(super) fn below(&self) -> Option<&Utf8Path> {
        self.below.as_deref()
    }

    /// The part of the clusters that is meant, where it is one.
    pub(super) fn shard(&self) -> Option<Shard> {
        self.selection.shard()
    }

    /// Says what keeps something from being planned, for subcommands that print no findings.
    pub(super) fn say_problems(&self, output: &Output) {
        for problem in problems(&self.repo, self.below()).filter(|p| p.fatal) {
            output.error(finding_with_help(&problem.finding));
        }
    }

    /// Says that a shard has nothing to do, and that another one says what is wrong.
    fn say_shard(&self, output: &Output) {
        let Some(shard) = self.shard() else {
            return;
        };
        let all = names(&self.repo).count();
        if all > 0 && self.chosen().is_empty() {
            let noun = if all == 1 { "cluster" } else { "clusters" };
            output.note(format_args!("shard {shard} has none of the {all} {noun}"));
        }
        let mut others = problems(&self.repo, self.below()).filter(|p| p.fatal);
        if !shard.is_first() && others.any(|p| !is_of_meant(&p.finding)) {
            output.error(format_args!("a file can't be read; shard 1/{} says which", shard.of));
        }
    }

    /// The trust source.
    pub(super) fn trust(&self) -> &Trust {
        &self.options.trust
    }

    /// What this side is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Their directory as a side, read as they were.
    pub(super) fn side(&self) -> Side {
        Side {
            inventory: self.options.inventory.clone(),
            release: self.release.clone(),
            config: self.options.config.clone(),
            trust: self.options.trust.clone(),
            builds: self.options.builds,
            chosen: self.options.chosen.clone(),
            within: self.below.clone(),
            ..Side::of(&self.directory)
        }
    }

    /// Another directory, as it is read instead.
    pub(super) fn side_of(&self, directory: &Utf8Path) -> Result<Side, Failure> {
        let sources = Sources { directory: directory.to_owned(), ..Sources::default() };
        let place = place(&sources)?;
        Ok(Side {
            name: directory.to_string(),
            config: configuration(&sources, &self.options.trust)?,
            within: place.below,
            directory: place.root,
            ..self.side()
        })
    }

    /// Whether anything was built.
    pub(super) fn is_built(&self) -> bool {
        self.options.built.as_ref().is_some_and(|built| !built.files.is_empty())
    }

    /// Whether they come from standard input.
    pub(super) fn is_stream(&self) -> bool {
        self.repo.is_stream()
    }

    /// Whether a cluster of this name is meant.
    pub(super) fn has(&self, name: &str) -> bool {
        self.selection.has(name)
    }

    /// Those that are meant, by name.
    pub(super) fn chosen(&self) -> Vec<&ClusterRef> {
        let all = self.repo.clusters().iter();
        all.filter(|c| self.selection.has(c.name())).collect()
    }

    /// Those that are meant, each with what it is on the side before; also those that aren't planned, and those that
    /// are on that side only.
    pub(super) fn pairs<'a>(&'a self, before: Before<'a>) -> Vec<Pair<'a>> {
        let is_below = |finding: &Finding| {
            let place = finding.location.as_ref();
            self.below().is_none_or(|b| place.is_none_or(|p| p.file.path().starts_with(b)) || is_of_meant(finding))
        };
        let entries = hcoplan_analysis::entries(&self.repo, is_below);
        let Before::Sources(old, mode) = before else {
            return entries.into_iter().filter(|pair| self.has(pair.name())).collect();
        };
        let clusters: Vec<&ClusterRef> = old.clusters().iter().collect();
        if let ([was], [Pair { after: After::Cluster(is), .. }], ComparisonMode::Alternatives) =
            (clusters.as_slice(), entries.as_slice(), mode)
        {
            // Two directories with a cluster each, of any names.
            return vec![Pair::of(was, is)];
        }
        let mut pairs = hcoplan_analysis::pairs((old, &clusters), (&self.repo, entries));
        pairs.retain(|pair| match (pair.after, pair.before) {
            (After::Nothing, Some(was)) => {
                let is_named = self.has(was.name()) || self.selection.has_lost(was.name());
                is_named && self.below().is_none_or(|below| old.is_within(was, below))
            }
            _ => self.has(pair.name()),
        });
        pairs
    }

    /// Takes each of them through the analysis, with a progress bar on a terminal. `take` gets each one's result, in
    /// their order; the findings are collected.
    pub(super) fn each(
        &self,
        work: &Work<'_>,
        jobs: Option<NonZeroUsize>,
        output: &Output,
        mut take: impl FnMut(&mut Outcome, &Progress),
    ) -> Findings {
        let mut findings = Findings::new(&self.repo, self.below(), self.shard());
        match (work.before, &self.base) {
            (Before::Sources(before, _), _) => findings.mark_existing(before),
            (_, Some(before)) => {
                let is_below = |name: &str| {
                    let clusters = before.clusters().iter();
                    let mut named = clusters.filter(|c| c.name() == name);
                    let below = self.below();
                    below.is_none_or(|below| named.any(|c| before.is_within(c, below)))
                };
                let meant = |name: &str| self.selection.has_lost(name) && is_below(name);
                findings.extend(repo::removed(before, &self.repo, meant));
            }
            _ => {}
        }
        let chosen = self.pairs(work.before);
        let progress = Progress::of(chosen.len(), output.quiet());
        let sink = |mut outcome: Outcome| {
            take(&mut outcome, &progress);
            findings.add(&mut outcome);
            ControlFlow::Continue(())
        };
        hcoplan_analysis::run(&self.repo, &chosen, work, jobs, &progress, sink);
        findings
    }

    /// Whether the builds are what fixes that were applied were to make of them.
    ///
    /// # Errors
    /// What is wrong with one.
    pub(super) fn is_as_meant(&self, round: &fix::Round) -> Result<(), Reason> {
        let mut made: BTreeMap<&Utf8Path, Vec<&Edit>> = BTreeMap::new();
        for edit in round.applied.iter().flat_map(|a| &a.made) {
            made.entry(edit.file.path()).or_default().push(edit);
        }
        made.into_iter().try_for_each(|(path, edits)| {
            let built = self.options.built.as_ref();
            let built = built.and_then(|b| b.files.get(path)).ok_or(Reason::Layout)?;
            fix::is_as_meant(&edits, &String::from_utf8_lossy(built))
        })
    }

    /// What is found in the clusters that aren't meant and are built of some files, and in what can't be built.
    pub(super) fn findings_of_others<'f>(
        &self,
        files: impl Iterator<Item = &'f Utf8PathBuf>,
        settings: &lint::Settings,
        jobs: Option<NonZeroUsize>,
    ) -> Vec<Finding> {
        let users = self.repo.users_of_files();
        let users = files.flat_map(|f| users.get(f).into_iter().flatten());
        let names: BTreeSet<&str> = users.map(|(name, _)| name.as_str()).collect();
        let is_meant = |c: &&ClusterRef| names.contains(c.name()) && !self.selection.has(c.name());
        let others: Vec<_> = self.repo.clusters().iter().filter(is_meant).collect();
        let others: Vec<Pair<'_>> = others.into_iter().map(Pair::new).collect();
        let work = Work { lint: Some(lint::Selection::of(settings).without_fixes()), ..Work::default() };
        let problems = self.repo.problems().iter().map(|p| &p.finding);
        let mut out: Vec<Finding> = problems.chain(self.repo.findings()).cloned().collect();
        hcoplan_analysis::run(&self.repo, &others, &work, jobs, &Progress::of(others.len(), true), |outcome| {
            out.extend(outcome.found.findings);
            ControlFlow::Continue(())
        });
        out
    }

    /// The names of the others that were found.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        names(&self.repo).filter(|n| !self.selection.has(n))
    }

    /// Of the directories of an output tree those that belong to none of the clusters, and whose
    /// clusters would be meant.
    pub(super) fn removed_clusters(&self, directories: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
        let mut gone = self.without(directories);
        gone.retain(|d| self.selection.has_gone(cluster_name(d)));
        gone
    }

    /// The directories of an output tree that belong to none of the clusters.
    pub(super) fn without(&self, mut directories: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
        let known: BTreeSet<_> = names(&self.repo).filter_map(|n| emit::cluster_directory(n).ok()).collect();
        directories.retain(|d| !known.contains(d));
        directories
    }
}
