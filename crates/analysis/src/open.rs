//! Opens a side: finds its clusters and reports problems.

use super::builds::{build_revision, build_side, bundle, has_bundle};
use super::root::{Place, nothing_found, problems, show_files};
use super::selection::{Selection, last_parts, names};
use super::sources::Sources;
use crate::clusters::Clusters;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::root::with_help;
use crate::sides::Side;
use hcoplan_diagnostics::source::{Tree, Unreadable, read_limited};
use hcoplan_diagnostics::words::list;
use hcoplan_repository::repo::TrustBase;

/// Finds the clusters in a directory; `left_out` files aren't sources.
pub fn find(sources: &Sources, left_out: Vec<Utf8PathBuf>, notices: &dyn Notices) -> Result<Clusters, Failure> {
    find_in(sources, left_out, None, notices)
}

/// Finds clusters for editing: builds all clusters, even unselected ones, because their sources may change.
pub fn find_to_edit(sources: &Sources, notices: &dyn Notices) -> Result<Clusters, Failure> {
    find_in(sources, Vec::new(), Some(ClusterFilter::default()), notices)
}

/// Finds one cluster by its name or last path segments, and builds only matching ones.
pub fn find_named(
    sources: &Sources,
    left_out: Vec<Utf8PathBuf>,
    name: &str,
    notices: &dyn Notices,
) -> Result<Clusters, Failure> {
    let name = name.to_owned();
    let chosen = ClusterFilter::new(move |cluster| last_parts(cluster).any(|part| part == name));
    find_in(sources, left_out, Some(chosen), notices)
}

fn find_in(
    sources: &Sources,
    left_out: Vec<Utf8PathBuf>,
    to_build: Option<ClusterFilter>,
    notices: &dyn Notices,
) -> Result<Clusters, Failure> {
    let mut selection = Selection::new(sources)?;
    if let Some(jobs) = sources.jobs {
        // These threads also read files. It fails only if the pool exists already, for a second run in one process.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.get());
        let _ = pool.build_global();
    }
    let place = place(sources)?;
    let directory = place.root;
    let root = root_of(&directory);
    let trust = trust(sources, &root)?;
    let files: Vec<_> = sources.files.iter().map(|file| below_root(file, &root)).collect::<Result<_, _>>()?;
    let release = sources.release.as_ref().map(|name| {
        let release = repo::known_release(name)?;
        repo::not_modelled(name, &release).iter().for_each(|message| notices.note(message));
        Ok::<_, Failure>(release)
    });
    let mut options = Options {
        release: release.transpose()?,
        update: sources.update,
        inventory: sources.inventory.clone(),
        config: configuration(sources, &trust)?,
        trust,
        left_out: left_out.clone(),
        within: place.below.clone().filter(|_| to_build.is_none() && files.is_empty()),
        chosen: to_build.clone().unwrap_or_else(|| selection.to_build()),
        ..Options::default()
    };
    let wrong = |error| Failure::opening(error, &root);
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
        if revision.is_some() || !directory.is_file() {
            let notes = build_side(&root, revision.as_deref(), sources.builds, &mut options)?;
            if sources.show_files && revision.is_none() {
                notes.iter().for_each(|note| notices.show(note));
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
    match &place.below {
        _ if !files.is_empty() => selection.only_of(&files, &repo),
        Some(below) => selection.only_below(below, &repo),
        None => {}
    }
    if sources.show_files {
        show_files(&repo, &selection, notices);
    }
    let mut verdict =
        Exit { unreadable: problems(&repo, place.below.as_deref(), &selection).any(|p| p.fatal), ..Exit::default() };
    let is_below = |c: &ClusterRef| place.below.as_ref().is_none_or(|b| !files.is_empty() || repo.is_within(c, b));
    let is_unparsed = repo.not_planned().iter().any(|(name, _)| selection.has(name));
    if !repo.clusters().iter().any(is_below) && repo.skipped_builds().next().is_none() && !is_unparsed {
        let directory = &sources.directory;
        let unplanned: Vec<_> = repo.unplanned(place.below.as_deref()).collect();
        let is_unplanned = !unplanned.is_empty();
        // A chart or submodule that wasn't searched isn't an error.
        let is_unread = !unplanned.is_empty() && unplanned.iter().all(|f| is_unread(f));
        // A finding reports clusters that aren't built.
        let is_unbuilt = (verdict.unreadable || !files.is_empty()) && has_failed(&options);
        match () {
            () if is_unread => {
                let help = unplanned.iter().find_map(|finding| finding.help.as_ref());
                notices.error(with_help(format!("no HyperConverged was checked in {directory}"), help));
                verdict.nothing_found = true;
            }
            () if is_unplanned => {
                notices.error(format_args!("no HyperConverged that could be planned is in {directory}"));
                verdict.nothing_planned = true;
            }
            () if is_unbuilt => verdict.nothing_found = files.is_empty(),
            // It may belong to a cluster elsewhere in the repository.
            () if files.is_empty() && revision.is_none() && directory.is_file() => {
                let sources = Sources { files: vec![directory.clone()], ..sources.clone() };
                return find_in(&sources, left_out, to_build, notices);
            }
            () => {
                notices.error(nothing_found(&repo, directory));
                verdict.nothing_found = true;
            }
        }
    } else if let Some(pattern) = selection.unmatched(names(&repo))
        && !has_failed(&options)
    {
        return Err(Failure::usage(
            format!("--cluster {pattern} matches no cluster"),
            format!("the clusters are {}", list(&names(&repo).map(|name| name.to_string()).collect::<Vec<_>>(), 10)),
        ));
    }
    let base = match options.trust.base() {
        Some(base) => Some(before(base, &root, &options)?.into()),
        None => None,
    };
    let found = Clusters {
        jobs: sources.jobs,
        base,
        root,
        is_bundle,
        everything: selection.is_everything(),
        verdict,
        name: sources.name.clone().unwrap_or_else(|| "the working tree".to_owned()),
        release: sources.release.clone(),
        selection,
        below: place.below,
        is_editable: revision.is_none() && sources.directory != "-",
        directory,
        options,
        repo: repo.into(),
    };
    if !files.is_empty() && found.chosen().is_empty() {
        notices.note("the files belong to no cluster");
    }
    found.say_unowned(notices);
    Ok(found)
}

/// Whether a finding reports a chart or submodule that wasn't searched.
fn is_unread(finding: &Finding) -> bool {
    finding.rule.name == hcoplan_rule_pages::rules::HELM_CHART_NOT_RENDERED.name
        || finding.file().is_some_and(|file| file == ".gitmodules")
}

/// Whether a build failed, so that there may be clusters without a known name.
fn has_failed(options: &Options) -> bool {
    let built = options.built.as_ref();
    built.is_some_and(|built| !built.failed.is_empty())
}

/// The root of the directory: that of its configuration; else the git work tree (outside of one the current directory) if a
/// controller's object in it applies the directory, files above have facts about its clusters, or kustomizations refer to
/// files outside of the directory.
pub(super) fn place(sources: &Sources) -> Result<Place, Failure> {
    repo::check_links(&sources.directory)?;
    // A kustomization file means its directory's build.
    let own = &sources.directory;
    let path = &if repo::is_kustomization(own) && own.is_file() { root_of(own) } else { own.clone() };
    if path == "-" {
        return Ok(Place::itself(path));
    }
    if let Some(place) = configured_place(sources, path)? {
        return Ok(place);
    }
    let top = Place::work_tree(path);
    if !sources.files.is_empty() {
        return Ok(top);
    }
    let is_of_git = top.below.is_some();
    let top = if is_of_git { Some(top) } else { Place::current(path) };
    let open = |directory: &Utf8Path| Directory::open(directory, max_bytes());
    let has_kustomization = || {
        let listing = open(&root_of(path)).map(|tree| tree.list(&hcoplan_diagnostics::source::Walk::default()));
        listing.is_ok_and(|l| l.is_ok_and(|l| l.files.iter().any(|f| repo::is_kustomization(f))))
    };
    let belongs_to = |top: &Place| {
        let (Some(below), Ok(tree)) = (&top.below, open(&top.root)) else { return false };
        // Outside of git, the current directory may hold anything.
        let is_read = is_of_git && !sources.is_compared;
        is_read && (repo::is_applied_from_top(&tree, below) || repo::has_facts_above(&tree, below))
            || has_kustomization() && repo::has_outside_references(&tree, below)
    };
    Ok(top.filter(belongs_to).unwrap_or_else(|| Place::itself(path)))
}

/// The root with a configuration. A trusted revision decides where the configuration is, because the change could add
/// another one.
fn configured_place(sources: &Sources, path: &Utf8Path) -> Result<Option<Place>, Failure> {
    if let Some(file) = &sources.config {
        return Ok(Place::configured_by(path, file));
    }
    let Some(revision) = &sources.trust_base else {
        return Ok(Place::configured(path));
    };
    let top = Place::work_tree(path).root;
    let base = TrustBase::open(&root_of(&top), revision)?;
    let real = root_of(&top).canonicalize_utf8();
    Ok(real.ok().and_then(|real| {
        Place::find(path, |directory| {
            let below = directory.strip_prefix(&real);
            below.is_ok_and(|below| base.tree().read(&below.join(CONFIG_FILE)).is_ok())
        })
    }))
}

/// The configuration file given on the command line, from the trusted revision if there is one.
pub(super) fn configuration(sources: &Sources, trust: &Trust) -> Result<Option<Arc<SourceFile>>, Failure> {
    let Some(path) = &sources.config else {
        return Ok(None);
    };
    let bytes = repo::read_named(&sources.directory, path, trust)?;
    Ok(Some(SourceFile::from_bytes(path, bytes)))
}

/// The trust source given on the command line.
pub(super) fn trust(sources: &Sources, root: &Utf8Path) -> Result<Trust, Failure> {
    let Some(name) = &sources.trust_base else {
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

/// The clusters of the trusted revision, built like the working tree.
fn before(base: &TrustBase, root: &Utf8Path, now: &Options) -> Result<Repo, Failure> {
    let tree = Arc::clone(base.tree());
    let mut options =
        Options { within: now.within.clone(), builds: now.builds, chosen: now.chosen.clone(), ..Options::default() };
    build_revision(&*tree, root, &mut options)?;
    let opened = Repo::from_tree(Arc::new(tree), &options);
    opened.map_err(|error| Failure::opening(error, root))
}

/// All clusters of an open repository.
pub fn all_clusters(repo: Repo, directory: Utf8PathBuf, options: Options) -> Clusters {
    Clusters {
        jobs: None,
        base: None,
        root: Utf8PathBuf::from("."),
        is_bundle: false,
        everything: true,
        verdict: Exit { unreadable: repo.problems().iter().any(|p| p.fatal), ..Exit::default() },
        name: "the working tree".to_owned(),
        release: None,
        selection: Selection::everything(),
        below: None,
        is_editable: false,
        directory,
        options,
        repo: repo.into(),
    }
}

/// All clusters of a directory, with an editor's text of some files. `shallow` reads only the directory's own files and
/// builds nothing, for files outside of a workspace.
///
/// # Errors
/// If it can't be read or built, or its configuration is wrong.
pub fn find_edited(
    directory: &Utf8Path,
    edited: BTreeMap<Utf8PathBuf, Vec<u8>>,
    shallow: bool,
    notices: &dyn Notices,
) -> Result<Clusters, Failure> {
    let mut options = Options { edited, shallow, ..Options::default() };
    if !shallow && let Err(error) = build_side(directory, None, Builds::default(), &mut options) {
        match error {
            Failure::Build(_) => notices.error(error),
            other => return Err(other),
        }
    }
    let repo = Repo::open(directory, &options).map_err(|error| Failure::opening(error, directory))?;
    let root = directory.to_owned();
    Ok(Clusters { is_editable: true, root: root.clone(), ..all_clusters(repo, root, options) })
}

/// The base of paths: the directory, or a file's directory.
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

/// A path below the root, relative to it.
fn below_root(path: &Utf8Path, root: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let wrong = |why| repo::Error::File(path.to_owned(), why);
    let real = path.canonicalize_utf8().map_err(|_| wrong(Unreadable::Missing))?;
    let below = root.canonicalize_utf8().ok().and_then(|root| real.strip_prefix(root).map(Utf8Path::to_owned).ok());
    Ok(below.ok_or_else(|| wrong(Unreadable::LeavesRoot))?)
}

impl Clusters {
    /// Another directory as a side.
    pub fn side_of(&self, directory: &Utf8Path) -> Result<Side, Failure> {
        let sources = Sources { directory: directory.to_owned(), is_compared: true, ..Sources::default() };
        let place = place(&sources)?;
        let mut side = Side { name: directory.to_string(), directory: place.root, ..self.side() };
        side.options.config = configuration(&sources, &self.options.trust)?;
        side.options.within = place.below;
        Ok(side)
    }
}
