//! `hcoplan diff`: what a change does to the clusters, told by meaning.

use std::io::Write as _;
use std::ops::ControlFlow;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::arguments::{InputArguments, Sources};
use super::base;
use super::clusters;
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Target};
use super::output::Output;
use super::output_tree_arguments::OutputTreeArguments;
use super::root;
use super::selection::Selection;
use super::sides::{self, Side};
use crate::app::{self, ComparisonMode, PairOutcome, Progress};
use crate::diff::{ClusterDiff, PreviousTree};
use crate::emit::DiskTree;
use crate::finding::Finding;
use crate::lint::Settings;
use crate::repo::{Builds, ClusterRef, Repo};
use crate::report::changes::{Changes, Format, LEAST_BUDGET, write};

/// Show what a change does to the clusters, object by object and field by field
///
/// Without a choice of sides, the left one is the committed output tree (else the revision where this
/// branch left the main one) and the right one what the sources render now. Nothing is written.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan diff --against origin/main           what this branch changes
  hcoplan diff --release 1.17..1.18            the same files on two releases
  hcoplan diff --against main --format markdown")]
pub(super) struct Arguments {
    /// Directory with the sources
    #[arg(value_name = "DIR", default_value = ".")]
    directory: Utf8PathBuf,

    /// Another directory, for the right side
    #[arg(value_name = "DIR_B", conflicts_with = "against")]
    other: Option<Utf8PathBuf>,

    /// The left side is DIR in this git revision; with A..B, the right side is DIR in B; with A...B,
    /// the left side is where the two parted (A... is where HEAD left A)
    #[arg(long, value_name = "REV|A..B", help_heading = "Sides")]
    against: Option<String>,

    /// Both sides are DIR, on two releases; one release alone is that of both sides
    #[arg(long, value_name = "X.Y..X.Y", help_heading = "Sides")]
    release: Option<String>,

    /// The left side's inventory, and the right side's, whatever lies beside the HyperConverged
    #[arg(long, value_name = "FILE", num_args = 1..=2, help_heading = "Sides")]
    inventory: Vec<Utf8PathBuf>,

    /// The right side's inventory alone
    #[arg(long, value_name = "FILE", help_heading = "Sides")]
    inventory_b: Option<Utf8PathBuf>,

    /// The left side is what a cluster runs: files of `kubectl get -o yaml`, or a must-gather
    #[arg(long, value_name = "PATH", help_heading = "Sides",
        conflicts_with_all = ["against", "other", "inventory_b"])]
    live: Option<Utf8PathBuf>,

    /// How both sides are read.
    #[command(flatten)]
    reading: InputArguments,

    #[command(flatten)]
    out: OutputTreeArguments,

    /// Only clusters of this name; `*` and `**` match, a name without `/` also the last part
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    cluster: Vec<String>,

    /// Not the clusters of this name
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    exclude: Vec<String>,

    /// Exit with 1 when anything changes
    #[arg(long, help_heading = "Output")]
    exit_code: bool,

    /// How to print the result, as often as needed: human, json, markdown,
    /// html, outputs (`name=value` for the steps of a workflow), each alone or with `=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target<Format>>,

    /// The most bytes of the markdown
    #[arg(long, value_name = "N", help_heading = "Output",
        value_parser = clap::value_parser!(u64).range(LEAST_BUDGET as u64..))]
    budget_bytes: Option<u64>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let targets = format::resolve(&arguments.format, "diff", &Format::ALL)?;
    let mut run = Run::new(arguments)?;
    let (left, right) = match arguments.choice(&run.selection)? {
        Choice::Repositories(left, right) => {
            run.repositories(&left, &right, output)?;
            (left.name, right.name)
        }
        Choice::Tree(right) => {
            let name = run.tree(right.clone(), output)?;
            (name, right.name)
        }
        Choice::Live(path, right) => {
            run.live(&path, &right, output)?;
            (path.into_string(), right.name)
        }
    };
    // A part of the clusters is no comparison.
    if app::interrupted() {
        return Ok(run.verdict);
    }
    run.compared += base::add_unplanned(std::mem::take(&mut run.unbuilt), &mut run.clusters);
    let standing: Vec<&Finding> = run.clusters.iter().flat_map(|c| &c.refusals).collect();
    let changes = |terminal| Changes {
        left: &left,
        right: &right,
        clusters: &run.clusters,
        compared: run.compared,
        root: &run.root,
        left_root: &run.left_root,
        terminal,
        standing: &standing,
        budget: arguments.budget_bytes.and_then(|n| usize::try_from(n).ok()),
    };
    for target in &targets {
        let mut text = Vec::new();
        let changes = changes(target.terminal(output));
        write(target.format, &changes, &mut text)?;
        text.flush()?;
        target.write(&text, output)?;
    }
    let differs = run.clusters.iter().any(ClusterDiff::differs);
    run.verdict.failed |= arguments.exit_code && differs;
    // What another release makes of it is a question, and a refusal its answer.
    run.verdict.failed |= run.refused && !arguments.is_of_two_releases();
    Ok(run.verdict)
}

/// What is compared.
enum Choice {
    /// Two states of the sources.
    Repositories(Side, Side),
    /// The output tree, and what the sources render.
    Tree(Side),
    /// What a cluster runs, and what the sources render.
    Live(Utf8PathBuf, Side),
}

/// Whether a repository has no clusters, nor any that weren't asked for.
fn is_empty(repo: &Repo) -> bool {
    repo.clusters().is_empty() && repo.skipped_builds().next().is_none()
}

impl Arguments {
    /// Whether the sides are two releases.
    fn is_of_two_releases(&self) -> bool {
        let range = self.release.as_deref().and_then(|r| sides::range(r).ok());
        range.is_some_and(|(_, right)| right.is_some())
    }

    /// A directory, and which of its clusters.
    fn sources(&self, directory: &Utf8Path) -> Sources {
        Sources {
            directory: directory.to_owned(),
            reading: self.reading.clone(),
            cluster: self.cluster.clone(),
            exclude: self.exclude.clone(),
            ..Sources::default()
        }
    }

    /// The side as it lies in a directory.
    fn side(&self, directory: &Utf8Path) -> Result<Side, Failure> {
        let sources = self.sources(directory);
        let place = clusters::place(&sources)?;
        let trust = clusters::trust(&sources, &place.root)?;
        Ok(Side {
            config: clusters::configuration(&sources, &trust)?,
            trust,
            builds: Builds {
                kustomize: self.reading.kustomize || self.reading.kustomize_remote,
                remote: self.reading.kustomize_remote,
                helm: self.reading.helm,
            },
            within: place.below,
            ..Side::of(&place.root)
        })
    }

    fn choice(&self, selection: &Selection) -> Result<Choice, Failure> {
        let mut left = self.side(&self.directory)?;
        let mut right = self.side(self.other.as_ref().unwrap_or(&self.directory))?;
        (left.chosen, right.chosen) = (selection.to_build(), selection.to_build());
        let mut two = false;
        if self.other.is_some() {
            let given = |other: Option<&Utf8PathBuf>| other.unwrap_or(&self.directory).to_string();
            (left.name, right.name) = (given(None), given(self.other.as_ref()));
            two = true;
        }
        if let Some(range) = &self.against {
            let (a, b) = sides::range(range)?;
            if let Some(b) = &b {
                right.name.clone_from(b);
            }
            left.name.clone_from(&a);
            (left.revision, right.revision) = (Some(a), b);
            two = true;
        }
        if let Some(range) = &self.release {
            let (a, b) = sides::range(range)?;
            if let Some(b) = &b {
                let name = |side: &Side, release: &str| {
                    if two { format!("{} on release {release}", side.name) } else { format!("release {release}") }
                };
                left.name = name(&left, &a);
                right.name = name(&right, b);
                two = true;
            }
            right.release = Some(b.unwrap_or_else(|| a.clone()));
            left.release = Some(a);
        }
        let given = self.inventory.as_slice();
        let (a, b) = (given.first(), given.get(1).or(self.inventory_b.as_ref()));
        left.inventory.extend(a.cloned());
        right.inventory.extend(b.or(a).cloned());
        if let Some(b) = b {
            let own = "the repository's inventory";
            let (a, b) = (a.map_or(own, |a| a.as_str()), b.as_str());
            if two {
                left.name = format!("{} with {a}", left.name);
                right.name = format!("{} with {b}", right.name);
            } else {
                (left.name, right.name) = (a.to_owned(), b.to_owned());
            }
            two = true;
        }
        Ok(match (&self.live, two) {
            (Some(path), false) => Choice::Live(path.clone(), right),
            (Some(_), true) => {
                return Err(Failure::usage(
                    "--live is the left side; the right one can't be two",
                    "give one release and one inventory at most",
                ));
            }
            (None, true) => Choice::Repositories(left, right),
            (None, false) => Choice::Tree(right),
        })
    }
}

/// A comparison under way.
struct Run<'a> {
    arguments: &'a Arguments,
    selection: Selection,
    clusters: Vec<ClusterDiff>,
    compared: usize,
    /// The clusters of the right side that could not be built.
    unbuilt: Vec<ClusterDiff>,
    root: Utf8PathBuf,
    /// The root of the left side's files.
    left_root: Utf8PathBuf,
    /// Whether a cluster is refused on the right side.
    refused: bool,
    verdict: Verdict,
}

impl<'a> Run<'a> {
    fn new(arguments: &'a Arguments) -> Result<Self, Failure> {
        let directory = arguments.other.as_ref().unwrap_or(&arguments.directory);
        let sources = arguments.sources(directory);
        Ok(Self {
            arguments,
            selection: Selection::new(&sources)?,
            clusters: Vec::new(),
            compared: 0,
            unbuilt: Vec::new(),
            root: clusters::place(&sources)?.root,
            left_root: clusters::place(&arguments.sources(&arguments.directory))?.root,
            refused: false,
            verdict: Verdict::default(),
        })
    }

    /// The clusters that are meant.
    fn chosen<'r>(&self, repo: &'r Repo, side: &Side) -> Vec<&'r ClusterRef> {
        let all = repo.clusters().iter();
        all.filter(|c| self.selection.has(c.name()) && side.has(repo, c)).collect()
    }

    fn settings(&self, repo: &Repo) -> Result<Settings, Failure> {
        let settings = Settings::configured(repo.config());
        settings.map_err(|wrong| Failure::Configuration(wrong, self.root.clone()))
    }

    fn repositories(&mut self, left: &Side, right: &Side, output: &Output) -> Result<(), Failure> {
        let (before, after) = (self.read(left, output)?, self.read(right, output)?);
        if is_empty(&before) && is_empty(&after) {
            self.nothing(&after, output);
        }
        self.note_problems(&after, right, output);
        let settings = self.settings(&after)?;
        let (old, new) = (self.chosen(&before, left), self.chosen(&after, right));
        let pairs = match (old.as_slice(), new.as_slice(), &self.arguments.other) {
            // Two directories with a cluster each, whatever they are called.
            ([old], [new], Some(_)) => vec![app::Pair::of(old, new)],
            _ => app::pairs((&before, &old), (&after, &new)),
        };
        let progress = Progress::of(pairs.len(), output.quiet());
        let jobs = self.arguments.reading.jobs;
        // Two directories may be two clusters; two states of one are one cluster.
        let relation = match self.arguments.other {
            Some(_) => ComparisonMode::Alternatives,
            None => ComparisonMode::BeforeAndAfter,
        };
        let sides = (&before, &after, relation);
        app::compare(sides, &pairs, &settings, jobs, &progress, |c| self.take(c, output));
        Ok(())
    }

    /// Compares with the output tree, or, where none is committed, with the revision where this
    /// branch left the main one; says which one that is.
    fn tree(&mut self, right: Side, output: &Output) -> Result<String, Failure> {
        let path = self.arguments.out.path(&self.root);
        let disk = DiskTree::open(&path)?;
        let (before, note) = PreviousTree::find(&path, disk.as_ref())?;
        let committed = matches!(before, PreviousTree::Committed { .. });
        if let Some(left) = (!committed).then(|| base::left_main(&right)).flatten() {
            self.repositories(&left, &right, output)?;
            return Ok(left.name);
        }
        let repo = self.open(&right, output)?;
        if let Some(note) = note {
            output.note(format_args!("the diff is against the tree on disk: {note}"));
        }
        let chosen = self.chosen(&repo, &right);
        let progress = Progress::of(chosen.len(), output.quiet());
        let left = app::OldSide::Tree(&before);
        let jobs = self.arguments.reading.jobs;
        app::compare_with(&left, &repo, &chosen, jobs, &progress, |c| self.take(c, output));
        let is_everything = self.selection.is_everything() && right.within.is_none();
        if is_everything && !self.verdict.stops() {
            let names = repo.clusters().iter().map(ClusterRef::name);
            for gone in app::removed_clusters(&before, names)? {
                self.compared += 1;
                self.clusters.push(gone);
            }
        }
        Ok(before.described(&path))
    }

    fn live(&mut self, path: &Utf8Path, right: &Side, output: &Output) -> Result<(), Failure> {
        let objects = sides::export(path)?;
        let repo = self.open(right, output)?;
        let chosen = self.chosen(&repo, right);
        if chosen.len() > 1 {
            let names: Vec<_> = chosen.iter().map(|c| c.name()).collect();
            return Err(Failure::usage(
                "--live is one cluster's export, and there is more than one cluster here",
                format!("choose one with --cluster: {}", names.join(", ")),
            ));
        }
        let progress = Progress::of(chosen.len(), output.quiet());
        let left = app::OldSide::Live(&objects);
        let jobs = self.arguments.reading.jobs;
        app::compare_with(&left, &repo, &chosen, jobs, &progress, |c| self.take(c, output));
        Ok(())
    }

    /// Reads a side, and says what of it was read where that is asked for.
    fn read(&self, side: &Side, output: &Output) -> Result<Repo, Failure> {
        let repo = side.open()?;
        if self.arguments.reading.files.show_files {
            output.show(format_args!("{}:", side.name));
            clusters::show_files(&repo, &self.selection, output);
        }
        Ok(repo)
    }

    fn open(&mut self, side: &Side, output: &Output) -> Result<Repo, Failure> {
        let repo = self.read(side, output)?;
        if is_empty(&repo) {
            self.nothing(&repo, output);
        }
        self.note_problems(&repo, side, output);
        // No rule runs, and a wrong configuration is an error all the same.
        self.settings(&repo)?;
        Ok(repo)
    }

    fn nothing(&mut self, repo: &Repo, output: &Output) {
        self.verdict.nothing_found = true;
        // That some are not built is said as a problem.
        if !repo.unbuilt(None).is_empty() {
            return;
        }
        output.error(format_args!("no HyperConverged found in {}", self.root));
    }

    /// Files of the right side that can't be read, and clusters that can't be built.
    fn note_problems(&mut self, repo: &Repo, side: &Side, output: &Output) {
        let is_meant = |name: &str| self.selection.has(name);
        self.unbuilt = app::unbuilt(repo, side.within.as_deref(), is_meant);
        for problem in repo.problems().iter().filter(|p| p.fatal) {
            self.verdict.unreadable = true;
            output.error(root::finding_with_help(&problem.finding));
        }
    }

    fn take(&mut self, mut compared: PairOutcome, output: &Output) -> ControlFlow<()> {
        self.compared += 1;
        compared.diff.point_at_origins();
        let cluster = &compared.diff.cluster;
        if let Some(said) = &compared.panicked {
            self.verdict.bug = true;
            output.error(format_args!("{cluster}: hcoplan has a bug: {said}"));
        }
        self.refused |= compared.diff.refused;
        let broken = compared.diff.broken.as_ref();
        // What stands as it was is no failure of this change.
        let broken = broken.filter(|b| !b.left && !b.both);
        self.verdict.unusable |= broken.is_some_and(|b| !b.unreadable);
        self.verdict.unreadable |= broken.is_some_and(|b| b.unreadable);
        // Also a cluster whose differences change nothing is told, by their number, and one that is refused as
        // it was.
        let diff = &compared.diff;
        let is_told = !diff.refusals.is_empty() || diff.comparison.noise_count() > 0;
        if !diff.is_empty() || is_told {
            self.clusters.push(compared.diff);
        }
        ControlFlow::Continue(())
    }
}
