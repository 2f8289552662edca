//! Clusters that kustomize builds, where nothing is built.
//!
//! A kustomization that no other one builds on and that reaches a HyperConverged is a cluster. The
//! HyperConverged is only what is applied where every kustomization on the way leaves it as it is
//! written, and the outermost one lies beside or above it. Else it is a base, or a base's resource, and
//! to plan it would be to plan what no cluster gets.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::{Finding, Group, Needs, Prediction, Rule, Severity};
use hcoplan_diagnostics::source::{Location, SourceFile, Span, Tree};

use super::Repo;
use super::build_failed::name_of;
use super::files::{FileRole, FileUse};
use super::identity::{FactOrigin, Identity, WithSource};
use super::kustomization::{Kustomizations, Named};
use super::kustomize::kustomization_location;
use super::load::identity_in;
use super::problem::Problem;

/// What is asked about files.
pub(super) struct Files<'f> {
    /// Whether there is a HyperConverged in one.
    pub(super) holds: &'f dyn Fn(&Utf8Path) -> bool,
    /// Whether one is there.
    pub(super) is_there: &'f dyn Fn(&Utf8Path) -> bool,
    /// Whether its HyperConvergeds are all in a namespace.
    pub(super) is_in_namespace: &'f dyn Fn(&Utf8Path, &str) -> bool,
}

/// A cluster that kustomize builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// Its kustomization, relative to the root.
    pub kustomization: Utf8PathBuf,
    /// The files with the HyperConvergeds that it builds on; none where those are remote.
    pub bases: BTreeSet<Utf8PathBuf>,
    /// Every kustomization, resource and patch that goes into it.
    inputs: BTreeSet<Utf8PathBuf>,
    /// The namespace that its objects get, and the kustomization that says so.
    namespace: Option<(String, Utf8PathBuf)>,
}

impl Overlay {
    /// What the cluster is called: the kustomization's directory.
    pub fn name(&self) -> &str {
        name_of(self.directory())
    }

    /// Whether the configuration names all files that it builds on, so that they are clusters.
    pub(super) fn is_named_by(&self, named: &HashSet<Utf8PathBuf>) -> bool {
        !self.bases.is_empty() && self.bases.iter().all(|b| named.contains(b))
    }

    /// Whether it lies in a directory, or anything from there goes into it.
    pub(super) fn is_of(&self, directory: &Utf8Path) -> bool {
        self.inputs.iter().any(|input| input.starts_with(directory))
    }

    /// Whether it builds on a file that is meant to hold a HyperConverged.
    pub fn is_on(&self, file: &Utf8Path) -> bool {
        self.bases.contains(file)
    }

    /// The directory that it lies in.
    pub fn directory(&self) -> &Utf8Path {
        self.kustomization.parent().unwrap_or(Utf8Path::new(""))
    }
}

impl Repo {
    /// What the files that go into an overlay, and those in its directory, say of its cluster.
    pub fn identity_of(&self, overlay: &Overlay) -> Identity {
        let directory = overlay.directory();
        let own = self.files_in(directory).map(|f| &*f.path);
        let paths: BTreeSet<&Utf8Path> = own.chain(overlay.inputs.iter().map(|p| &**p)).collect();
        let read = |path: &Utf8Path| {
            let bytes = self.tree.read(path).ok()?;
            Some(SourceFile::from_bytes(path, bytes))
        };
        let inventories = self.inventories(directory).into_iter().filter_map(read);
        let mut identity = identity_in(inventories, paths.into_iter().filter_map(read));
        if let Some((namespace, by)) = &overlay.namespace
            && identity.namespace.by != FactOrigin::Inventory
        {
            identity.namespace = WithSource {
                value: namespace.clone(),
                by: FactOrigin::Kustomization,
                place: read(by).map(|file| Location::new(&file, Span::default())),
            };
        }
        identity
    }

    /// The files with ClusterInventories in a directory, else in the nearest one above it.
    pub fn inventories(&self, directory: &Utf8Path) -> Vec<&Utf8Path> {
        let declares = |f: &&FileUse| matches!(&f.what, FileRole::Read(h) if h.inventories > 0);
        let in_one = |d: &Utf8Path| self.files_in(d).filter(declares).map(|f| &*f.path).collect();
        let mut each = directory.ancestors().map(in_one);
        each.find(|found: &Vec<_>| !found.is_empty()).unwrap_or_default()
    }

    /// The files right in a directory that hold something of ours.
    pub fn files_in(&self, directory: &Utf8Path) -> impl Iterator<Item = &FileUse> {
        let by_directory = self.by_directory.get_or_init(|| {
            let mut all: HashMap<Utf8PathBuf, Vec<usize>> = HashMap::new();
            for (index, file) in self.files.iter().enumerate() {
                let directory = file.path.parent().unwrap_or(Utf8Path::new(""));
                match all.get_mut(directory) {
                    Some(known) => known.push(index),
                    None => drop(all.insert(directory.to_path_buf(), vec![index])),
                }
            }
            all
        });
        let indexes = by_directory.get(directory).into_iter().flatten();
        indexes.filter_map(|index| self.files.get(*index))
    }
}

/// The clusters among kustomizations whose HyperConvergeds are not what is written in a file.
pub(super) fn overlays(all: &Kustomizations<'_>, files: &Files<'_>) -> Vec<Overlay> {
    let mut named: BTreeSet<&Utf8Path> = BTreeSet::new();
    for (_, kustomization) in all.all.values() {
        let resources = kustomization.resources.iter();
        named.extend(resources.flat_map(|r| all.at(r)));
    }
    let tops =
        all.all.iter().filter(|(path, (_, kustomization))| !named.contains(*path) && !kustomization.changes.component);
    let overlays = tops.filter_map(|(path, _)| {
        let mut followed = Followed {
            all,
            files,
            reached: BTreeMap::new(),
            inputs: BTreeSet::new(),
            needs_build: BTreeSet::new(),
            patches_remote: false,
            namespace: None,
        };
        followed.follow(path);
        let found = !followed.needs_build.is_empty() || followed.patches_remote;
        found.then(|| Overlay {
            kustomization: path.to_path_buf(),
            bases: followed.needs_build,
            inputs: followed.inputs,
            namespace: followed.namespace,
        })
    });
    overlays.collect()
}

/// What one kustomization builds on.
struct Followed<'f, 'r> {
    all: &'f Kustomizations<'r>,
    files: &'f Files<'f>,
    /// The files with a HyperConverged that each kustomization reaches; so circles end, too.
    reached: BTreeMap<&'r Utf8Path, BTreeSet<Utf8PathBuf>>,
    /// Every file that was met on the way.
    inputs: BTreeSet<Utf8PathBuf>,
    /// Those that aren't what is applied.
    needs_build: BTreeSet<Utf8PathBuf>,
    /// Whether something that isn't here is patched as a HyperConverged.
    patches_remote: bool,
    /// The namespace that the outermost kustomization sets, and that one.
    namespace: Option<(String, Utf8PathBuf)>,
}

impl<'r> Followed<'_, 'r> {
    fn follow(&mut self, path: &'r Utf8Path) -> BTreeSet<Utf8PathBuf> {
        if let Some(known) = self.reached.get(path) {
            return known.clone();
        }
        self.reached.insert(path, BTreeSet::new());
        let Some((_, named)) = self.all.all.get(path) else {
            return BTreeSet::new();
        };
        let named: &'r Named = named;
        self.inputs.insert(path.to_owned());
        let files = named.resources.iter().chain(&named.patches);
        self.inputs.extend(files.filter(|f| (self.files.is_there)(f)).cloned());
        let directory = path.parent().unwrap_or(Utf8Path::new(""));
        let mut reached = BTreeSet::new();
        let mut is_remote = named.remote;
        for resource in &named.resources {
            if (self.files.holds)(resource) {
                reached.insert(resource.clone());
            }
            let inner: Vec<_> = self.all.at(resource).collect();
            is_remote |= inner.is_empty() && !(self.files.is_there)(resource);
            for inner in inner {
                reached.extend(self.follow(inner));
            }
        }
        for file in &reached {
            if !file.starts_with(directory) || self.changes(named, file) {
                self.needs_build.insert(file.clone());
            }
        }
        let changes = &named.changes;
        // Components, which reach none, are applied to what their parents have.
        if let Some(namespace) = &changes.namespace
            && (changes.component || is_remote || !reached.is_empty())
        {
            self.namespace = Some((namespace.clone(), path.to_owned()));
        }
        let patches = changes.patches.iter().any(|p| (self.files.holds)(p));
        self.patches_remote |= is_remote && reached.is_empty() && (changes.has_patch || patches);
        self.reached.insert(path, reached.clone());
        reached
    }

    /// Whether the HyperConverged of a file may be another one after a kustomization.
    fn changes(&self, named: &Named, file: &Utf8Path) -> bool {
        let changes = &named.changes;
        let namespace = changes.namespace.as_deref();
        changes.by_field
            || changes.patches.iter().any(|p| (self.files.holds)(p))
            || namespace.is_some_and(|n| !(self.files.is_in_namespace)(file, n))
    }
}

/// The most names in one message.
const SHOWN: usize = 10;

/// Why clusters are not built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhyNot {
    /// Nobody asks for it.
    NotAsked,
    /// The configuration does, which must not decide that a program is run.
    NotAllowed,
    /// There is nothing to build: what goes into them is no HyperConverged.
    NoHyperConverged,
}

/// What is said of clusters that are not built: at the first one's kustomization.
pub(super) fn not_built(tree: &dyn Tree, overlays: &[&Overlay], why: WhyNot) -> Problem {
    let names = overlays.iter().take(SHOWN).map(|o| o.name());
    let mut names = names.collect::<Vec<_>>().join(", ");
    if let Some(more) = overlays.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        names.push_str(&format!(" and {more} more"));
    }
    let has_none = why == WhyNot::NoHyperConverged;
    let message = match (overlays.len(), has_none) {
        (1, true) => {
            format!("the cluster {names} is not planned: no HyperConverged is built for it")
        }
        (n, true) => {
            format!("{n} clusters are not planned: no HyperConverged is built for them: {names}")
        }
        (1, false) => {
            format!("the cluster {names} is not planned: kustomize would have to build it")
        }
        (n, false) => {
            format!("{n} clusters are not planned: kustomize would have to build them: {names}")
        }
    };
    let mut finding = Finding::new(&KUSTOMIZE_NOT_BUILT, message)
        .label(if has_none { "builds no HyperConverged" } else { "not built" })
        .help(match why {
            WhyNot::NoHyperConverged => "what it builds on is meant to be a HyperConverged and is none: mend that",
            WhyNot::NotAllowed => {
                "hcoplan.yaml says `kustomize: true`, and what is looked at can't have programs run: \
                 allow it with --kustomize or HCOPLAN_ALLOW_KUSTOMIZE=1, or take the configuration \
                 from a revision that you trust, as in --trust-base origin/main"
            }
            WhyNot::NotAsked => {
                "--kustomize builds them first, with the kustomize or kubectl on the PATH and without \
                 network; `kustomize: true` in hcoplan.yaml does where a platform or a trusted \
                 revision allows it"
            }
        });
    let first = overlays.first().map(|o| kustomization_location(tree, o.directory()));
    finding.location = first;
    let bases: BTreeSet<&Utf8PathBuf> = overlays.iter().flat_map(|o| &o.bases).collect();
    for base in bases.into_iter().take(SHOWN) {
        let file = SourceFile::from_bytes(base, tree.read(base).unwrap_or_default());
        let first = file.line(0).map_or(0, |(_, line)| line.len());
        let place = Location::new(&file, Span::new(0, first));
        finding = finding.related(
            place,
            if has_none { "no HyperConverged is in this" } else { "no cluster has this as it is written" },
        );
    }
    Problem { finding, fatal: true }
}

/// Clusters that kustomize would have to build.
pub static KUSTOMIZE_NOT_BUILT: Rule = Rule {
    name: "kustomize-not-built",
    group: Group::Gitops,
    severity: Severity::Error,
    predicts: Prediction::Silent("the clusters that these kustomizations build are not planned"),
    needs: Needs::Document,
    summary: "clusters that kustomize builds are there, and building isn't allowed",
    ..Rule::BASE
};
