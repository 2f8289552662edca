//! A directory looked at as a whole, with what is open in the editor in the place of its files.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::overlay::Overlay;
use crate::finding::Finding;
use crate::fix::{choose, first_new_error, round};
use crate::lint::{self, Baseline, Finishing, Settings};
use crate::repo::{self, Options, Repo};
use crate::source::{self, Directory, Location, SourceFile, Span, Tree, encode, max_bytes};
use crate::verdict::{NotPlannedKind, Verdict};
use hcoplan_analysis::{ClusterTask, Progress, catch_panic};

/// What is to be looked at.
#[derive(Debug, Clone)]
pub struct Job {
    /// The directory; nothing outside of it is read.
    pub(super) root: Utf8PathBuf,
    /// Whether only the files of the directory itself count: it is nobody's workspace.
    pub(super) shallow: bool,
    /// The texts that are open, by their path from the directory.
    pub(super) texts: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// The editor's numbers of these texts.
    pub(super) versions: BTreeMap<Utf8PathBuf, i32>,
    /// The number of the state of things that this is.
    pub(super) state: u64,
}

/// What was seen.
#[derive(Debug)]
pub struct Analysis {
    /// Of which state of things.
    pub(super) job: Job,
    /// The repository; `None` where its configuration is wrong.
    pub(super) repo: Option<Repo>,
    /// What was found, after suppression.
    pub(super) findings: Vec<Finding>,
    /// Messages in addition to the findings.
    pub(super) said: Vec<String>,
}

impl Job {
    /// Runs it. After a panic, only the panic is reported.
    pub fn run(self) -> Analysis {
        match catch_panic(|| look(&self)) {
            Ok(seen) => Analysis { repo: seen.repo, findings: seen.findings, said: seen.said, job: self },
            Err(said) => Analysis {
                job: self,
                repo: None,
                findings: Vec::new(),
                said: vec![format!("hcoplan has a bug: {said}")],
            },
        }
    }

    /// The cluster that has an error with these files which is not among the findings.
    pub(super) fn harmed_by(mut self, edited: BTreeMap<Utf8PathBuf, Vec<u8>>, findings: &[Finding]) -> Option<String> {
        self.texts.extend(edited);
        first_new_error(findings, &look(&self).findings).map(|error| error.cluster)
    }

    /// A file as `hcoplan fix --write` would leave it: its safe fixes, and those that come up when
    /// they are made. `None` where nothing is to be done. Fixes that reach into other files are
    /// left out, and so is a round of them after which a cluster that is built has a new error.
    pub(super) fn apply_safe_fixes(mut self, path: &Utf8Path) -> Option<(Arc<SourceFile>, String)> {
        const MOST_ROUNDS: usize = 10;
        let mut mended: Option<(Arc<SourceFile>, String)> = None;
        let first = look(&self);
        let is_built = first.repo.is_some_and(|r| r.is_built());
        let mut findings = first.findings;
        for _ in 0..MOST_ROUNDS {
            let mut choices = choose(&findings, false);
            choices.retain(|c| c.fix.edits.iter().all(|e| e.file.path() == path));
            let Some(file) = round(&choices).files.remove(path) else {
                break;
            };
            let bytes = encode(&file.text, file.before.encoding());
            self.texts.insert(path.to_owned(), bytes);
            let after = look(&self).findings;
            // A base goes into other clusters, too.
            if is_built && first_new_error(&findings, &after).is_some() {
                break;
            }
            findings = after;
            match &mut mended {
                Some((_, text)) => *text = file.text,
                None => mended = Some((file.before, file.text)),
            }
        }
        mended.filter(|(before, text)| before.text() != text)
    }
}

#[derive(Default)]
struct Seen {
    repo: Option<Repo>,
    findings: Vec<Finding>,
    said: Vec<String>,
}

fn look(job: &Job) -> Seen {
    let opened = tree(job).map_err(repo::Error::from);
    let opened = opened.and_then(|tree| Repo::from_tree(tree, &Options::default()));
    let mut said = Vec::new();
    let opened = opened.and_then(|repo| built(job, repo, &mut said));
    let repo = match opened {
        Ok(repo) => repo,
        Err(repo::Error::Configuration(findings)) => {
            return Seen { findings, ..Seen::default() };
        }
        Err(other) => {
            return Seen { said: vec![other.to_string()], ..Seen::default() };
        }
    };
    let settings = match Settings::configured(repo.config()) {
        Ok(settings) => settings,
        Err(findings) => {
            return Seen { findings, ..Seen::default() };
        }
    };
    let read = match tree(job) {
        Ok(read) => read,
        Err(error) => return Seen { said: vec![error.to_string()], ..Seen::default() },
    };
    let mut seen = lint(&*read, &repo, &settings);
    seen.said.append(&mut said);
    seen.repo = Some(repo);
    seen
}

/// The repository with its kustomizations built. What wasn't edited isn't built again.
fn built(job: &Job, repo: Repo, said: &mut Vec<String>) -> Result<Repo, repo::Error> {
    if job.shallow {
        return Ok(repo);
    }
    let tree = tree(job)?;
    let asked = repo::BuildRequest {
        within: None,
        chosen: &repo::ClusterFilter::default(),
        is_off: repo.config().is_kustomize_off,
        fetches: false,
        most_bytes: max_bytes(),
        stop: &hcoplan_analysis::interrupted,
    };
    match repo::build(&*tree, Utf8Path::new("."), &asked) {
        Ok(built) if built.is_empty() => Ok(repo),
        Ok(built) => Repo::from_tree(tree, &Options { built: Some(built.into()), ..Options::default() }),
        Err(error) => {
            said.push(error.to_string());
            Ok(repo)
        }
    }
}

fn tree(job: &Job) -> Result<Arc<dyn Tree>, source::Error> {
    Ok(Arc::new(Overlay {
        tree: Directory::open(&job.root, max_bytes())?,
        texts: job.texts.clone(),
        shallow: job.shallow,
    }))
}

/// What `hcoplan lint` would find.
fn lint(tree: &dyn Tree, repo: &Repo, settings: &Settings) -> Seen {
    let mut seen = Seen::default();
    let work = ClusterTask { lint: Some(lint::Selection::of(settings)), ..ClusterTask::default() };
    let problems = repo.problems().iter().map(|p| &p.finding);
    let mut run = lint::Run { findings: problems.chain(repo.findings()).cloned().collect(), ..lint::Run::default() };
    let mut documents = Vec::new();
    let clusters = hcoplan_analysis::entries(repo, |_| true);
    let quiet = Progress::of(clusters.len(), true);
    hcoplan_analysis::run(repo, &clusters, &work, None, &quiet, |mut outcome| {
        if let Verdict::NotPlanned(why) = &outcome.verdict
            && why.kind == NotPlannedKind::Bug
        {
            seen.said.push(format!("{}: hcoplan has a bug: {}", outcome.cluster, why.text));
        }
        run.add(std::mem::take(&mut outcome.found));
        documents.append(&mut outcome.documents);
        ControlFlow::Continue(())
    });
    let users = repo.users_of_files();
    let with = Finishing { settings, users: &users, today: hcoplan_analysis::today() };
    let mut said = None;
    let baseline = |_: &[Finding]| {
        let path = repo.config().lint.baseline.as_ref().map(|path| Utf8Path::new(&path.value).to_owned());
        let read = path.and_then(|path| tree.read(&path).ok());
        let known = read.map(|bytes| Baseline::parse(&String::from_utf8_lossy(&bytes)));
        Ok::<_, Infallible>(known.and_then(|known| known.map_err(|error| said = Some(error.to_string())).ok()))
    };
    seen.findings = match lint::finish(run, documents.iter().map(|d| &**d), with, baseline) {
        Ok(finished) => finished.findings,
        Err(never) => match never {},
    };
    seen.said.extend(said.map(|error| format!("the baseline can't be read: {error}")));
    for finding in &mut seen.findings {
        if finding.location.is_none() {
            finding.location = of_cluster(repo, finding.cluster.as_deref());
        }
    }
    seen
}

/// The file that represents a cluster: an editor shows no diagnostic without a file.
fn of_cluster(repo: &Repo, name: Option<&str>) -> Option<Location> {
    let cluster = repo.clusters().iter().find(|c| Some(c.name()) == name)?;
    let file = SourceFile::new(cluster.path(), "");
    Some(Location::new(&file, Span::default()))
}
