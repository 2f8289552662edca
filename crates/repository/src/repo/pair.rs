//! Pairs HyperConvergeds with inventories, and names the clusters.
//!
//! The inventory is in the HyperConverged's directory, else in the nearest parent directory that has one, else the
//! default of `hcoplan.yaml`; a cluster's own entry there takes precedence. A ClusterInventory and a dump in one
//! directory belong together.
//!
//! Machine sets are usually deeper: those below a cluster's directory belong to it (unless another cluster is nearer),
//! else those of the nearest parent directory that has any; those of a directory next to it, if there is one cluster.

use super::Repo;
use super::build_failed::name_of;
use super::candidate::is_of_tests;
use super::companions;
use super::config::{ClusterEntry, Config, invalid};
use super::error::Located;
use super::fields;
use super::gitops::is_expression;
use super::mentions::HCO_NAME;
use super::nodes::names_of;
use super::objects::{ClusterRef, ObjectRef, Objects, Pairing, SourceRef, StatementRef};
use super::paths::{in_root, parent};
use super::problem::related;
use super::statements::StatementKind;
use crate::inventory::SourceKind;
use crate::prelude::*;

/// The result of pairing.
#[derive(Debug, Default)]
pub(super) struct Paired {
    /// Sorted by name.
    pub(super) clusters: Vec<ClusterRef>,
    pub(super) findings: Vec<Finding>,
    /// Findings about entries of the configuration, each with the path that should have a HyperConverged.
    pub(super) wrong_entries: Vec<(Option<Utf8PathBuf>, Finding)>,
    /// Findings about inventories of all clusters that are missing: each cluster would be planned with other nodes.
    pub(super) missing_inventories: Vec<Finding>,
    /// The number of inventories that several clusters share.
    pub(super) shared: usize,
    /// The directories of HyperConvergeds.
    pub(super) directories: HashSet<Utf8PathBuf>,
}

/// Pairs the found objects.
///
/// `within`: the selected directory, outside of which wrong entries of the configuration don't count; `own`: the tree's
/// own configuration, if another one is trusted.
pub(super) fn pair(
    repo: &Repo,
    objects: &Objects,
    (config, own, within): (&Config, Option<&Config>, &Utf8Path),
) -> Paired {
    let names = |object: ObjectRef| {
        repo.object(object).map_or_else(Default::default, |document| names_of(&document).map(ToOwned::to_owned))
    };
    let mut by_directory = DirectoryIndex::new(&*repo.tree, objects, config);
    let mut out = Paired::default();
    let mut clusters: Vec<ClusterRef> = Vec::with_capacity(objects.hyperconvergeds.len());
    let (mut claimed, mut named) = (BTreeSet::new(), BTreeSet::new());
    let is_unbuilt = |entry: &ClusterEntry| {
        let path = in_root(&entry.path.value);
        path.is_some_and(|p| objects.unbuilt.contains(&p) || objects.unrendered.iter().any(|d| p.starts_with(d)))
    };
    // An entry of the trusted revision may name what the change removes, together with its own entry.
    let used = config.clusters.iter().map(|entry| (entry, false));
    let entries = used.chain(own.into_iter().flat_map(|own| &own.clusters).map(|entry| (entry, true)));
    for (entry, is_own) in entries.filter(|(entry, _)| !is_unbuilt(entry)) {
        let mut wrong = Vec::new();
        let found = by_directory.entry(entry, &mut wrong);
        match found.filter(|_| !is_own) {
            Some(cluster) if entry.name.is_none() && claimed.contains(&cluster.object) => {
                let message = "another entry is about this HyperConverged, too".to_owned();
                wrong.push(invalid(message, &entry.path.place).help("give one of them a `name`, or delete it"));
            }
            Some(cluster) => {
                claimed.insert(cluster.object);
                named.extend(entry.name.is_some().then_some(cluster.object));
                clusters.push(cluster);
            }
            None => {}
        }
        let path = in_root(&entry.path.value);
        let is_meant = path.as_ref().is_none_or(|path| path.starts_with(within) || within.starts_with(path));
        let wrong = wrong.into_iter().filter(|_| is_meant && (is_own || own.is_none()));
        out.wrong_entries.extend(wrong.map(|finding| (path.clone(), finding)));
    }
    if objects.given.is_empty() {
        out.missing_inventories = by_directory.missing(&own.unwrap_or(config).inventory);
    }
    let others = objects.hyperconvergeds.iter().filter(|o| !claimed.contains(o));
    clusters.extend(others.map(|o| by_directory.cluster(*o)));
    name_by_file(repo, &mut clusters, &named);
    tell_root_apart(&mut clusters);
    // By name; of a duplicate name HCO reconciles one.
    clusters.sort_by(|a, b| a.name.cmp(&b.name));
    if clusters.windows(2).any(|two| two[0].name == two[1].name) {
        clusters.sort_by_cached_key(|cluster| {
            let [namespace, name] = names(cluster.object);
            let is_elsewhere = Distribution::all().iter().all(|d| d.namespace.value != namespace);
            (cluster.name.clone(), name != HCO_NAME, is_elsewhere)
        });
    }
    clusters.dedup_by(|cluster, first| {
        if cluster.name != first.name {
            return false;
        }
        let name = &first.name;
        let message = match (names(cluster.object), names(first.object)) {
            ([_, own], [_, other]) if own != HCO_NAME && other == HCO_NAME => {
                format!("HCO reconciles the HyperConverged `{HCO_NAME}` only, so the other one is not planned")
            }
            (own, other) if own != other => {
                let [own, other] = [&own[0], &other[0]];
                format!("cluster `{name}` has two HyperConvergeds: that in {other} is planned, that in {own} isn't")
            }
            _ => {
                let message = format!(
                    "two HyperConvergeds have the cluster name `{name}`: the last one overwrites the other, and is planned"
                );
                // What is applied last stays.
                std::mem::swap(cluster, first);
                message
            }
        };
        let finding = Finding::new(&CLUSTER_NAME_TAKEN, message)
            .label("not planned")
            .help("name both in hcoplan.yaml, or move one to its own directory");
        out.findings.push(related(finding, repo.named_at(cluster.object), repo.named_at(first.object), "planned"));
        true
    });
    out.shared = share(&mut clusters);
    let is_level = |directory: &Utf8Path| by_directory.levels.contains_key(directory);
    out.findings.extend(companions::second_hyperconvergeds(repo, &clusters, &claimed));
    out.findings.extend(companions::subscriptions_without_hyperconverged(repo, objects, is_level));
    out.clusters = clusters;
    out.directories = std::mem::take(&mut by_directory.directories);
    out
}

/// Shows the root's own cluster by another name where one of its directories has the root's name, too.
fn tell_root_apart(clusters: &mut [ClusterRef]) {
    let is_like_it = |root: &ClusterName| clusters.iter().any(|c| c.name != *root && *c.name == **root);
    let root = clusters.iter().position(|c| c.name.is_root() && is_like_it(&c.name));
    if let Some(cluster) = root.and_then(|at| clusters.get_mut(at)) {
        cluster.name = ClusterName::of_root(&format!("{}/.", cluster.name));
    }
}

/// The files of HyperConvergeds that controllers apply, and none of them another one of the same directory.
fn applied_alone(repo: &Repo, clusters: &[ClusterRef]) -> BTreeSet<Arc<Utf8Path>> {
    let mut by_name: BTreeMap<&ClusterName, BTreeSet<&Arc<Utf8Path>>> = BTreeMap::new();
    for cluster in clusters {
        by_name.entry(&cluster.name).or_default().insert(&cluster.path);
    }
    let mut out = BTreeSet::new();
    for paths in by_name.into_values().filter(|paths| paths.len() > 1) {
        let appliers = paths.into_iter().flat_map(|path| repo.appliers_of_file(path).map(move |by| (path, by)));
        let mut files: BTreeMap<_, BTreeSet<&Arc<Utf8Path>>> = BTreeMap::new();
        for (path, by) in appliers {
            // Which file a template includes isn't known: another one for each cluster.
            let is_any = by.here().any(|source| is_expression(source.node.text("directory.include")));
            files.entry((std::ptr::from_ref(by), is_any.then_some(path))).or_default().insert(path);
        }
        let (shared, own): (Vec<_>, Vec<_>) = files.into_values().partition(|files| files.len() > 1);
        let shared: BTreeSet<_> = shared.into_iter().flatten().collect();
        out.extend(own.into_iter().flatten().filter(|path| !shared.contains(path)).map(Arc::clone));
    }
    out
}

/// Names clusters in wrappers, and those that are applied file by file, after their file; if there are several in a
/// file, also after the wrapper.
fn name_by_file(repo: &Repo, clusters: &mut [ClusterRef], named: &BTreeSet<ObjectRef>) {
    let alone = applied_alone(repo, clusters);
    let wrapper = |cluster: &ClusterRef| {
        let own = repo.content(cluster.object.file).ok()?.wrapper_of(cluster.object.place);
        own.or_else(|| alone.contains(&cluster.path).then(Default::default))
    };
    let wrappers: Vec<_> = clusters.iter().map(wrapper).collect();
    let mut by_file: BTreeMap<Arc<Utf8Path>, Vec<(&mut ClusterRef, [String; 2])>> = BTreeMap::new();
    for (cluster, names) in clusters.iter_mut().zip(wrappers).filter(|(c, _)| !named.contains(&c.object)) {
        if let Some(names) = names {
            by_file.entry(Arc::clone(&cluster.path)).or_default().push((cluster, names));
        }
    }
    let stem = |path: &Utf8Path| {
        let stem = first_part(path.file_name().unwrap_or_default(), '.');
        parent(path).join(stem)
    };
    let mut stems: HashMap<Utf8PathBuf, usize> = HashMap::new();
    by_file.keys().for_each(|path| *stems.entry(stem(path)).or_default() += 1);
    for (path, mut inside) in by_file {
        let stem = stem(&path);
        let file = if stems.get(&stem) == Some(&1) { stem } else { path.to_path_buf() };
        if let [(only, ..)] = inside.as_mut_slice() {
            only.name = file.as_str().into();
            continue;
        }
        let tells_apart = |at: &usize| {
            let names = inside.iter().map(|(_, names)| &names[*at]).filter(|name| !name.is_empty());
            names.collect::<BTreeSet<_>>().len() == inside.len()
        };
        let by = (0..2).find(tells_apart);
        for ((cluster, names), number) in inside.iter_mut().zip(1..) {
            let last = by.map_or_else(|| number.to_string(), |at| names[at].clone());
            cluster.name = file.join(last).as_str().into();
        }
    }
}

/// Assigns an index to every inventory of several clusters; returns their number.
fn share(clusters: &mut [ClusterRef]) -> usize {
    let mut users: BTreeMap<Vec<SourceRef>, usize> = BTreeMap::new();
    for cluster in clusters.iter() {
        *users.entry(cluster.sources.clone()).or_default() += 1;
    }
    let shared = users.into_iter().filter(|(sources, n)| *n > 1 && !sources.is_empty());
    let indexes: BTreeMap<Vec<SourceRef>, usize> = shared.map(|(s, _)| s).zip(0..).collect();
    let mut seen = BTreeSet::new();
    for cluster in clusters {
        cluster.shared = indexes.get(&cluster.sources).copied();
        cluster.reports = cluster.shared.is_none_or(|index| seen.insert(index));
    }
    indexes.len()
}

/// Finds sources by directory. Paths are hashed, as comparing them takes longer, and no order is needed.
struct DirectoryIndex<'o> {
    tree: &'o dyn Tree,
    objects: &'o Objects,
    config: &'o Config,
    directories: HashSet<Utf8PathBuf>,
    /// The documents with a HyperConverged.
    documents: BTreeSet<(u32, u32)>,
    /// ClusterInventories and nodes by directory.
    levels: HashMap<&'o Utf8Path, Vec<SourceRef>>,
    /// Machine sets by the cluster's directory above them, or by their own.
    machines: HashMap<Utf8PathBuf, Vec<SourceRef>>,
    /// Other manifests by the nearest directory above them with clusters in or below it.
    statements: HashMap<&'o Utf8Path, Vec<StatementRef>>,
    /// The directories with clusters in several subdirectories.
    fleets: HashSet<Utf8PathBuf>,
    /// These and the directories above them.
    with_several: HashSet<Utf8PathBuf>,
}

impl<'o> DirectoryIndex<'o> {
    fn new(tree: &'o dyn Tree, objects: &'o Objects, config: &'o Config) -> Self {
        let directories: HashSet<Utf8PathBuf> =
            objects.hyperconvergeds.iter().map(|o| parent(objects.path(*o)).to_owned()).collect();
        let mut levels: HashMap<&Utf8Path, Vec<SourceRef>> = HashMap::new();
        let above: HashSet<&Utf8Path> = directories.iter().flat_map(|directory| directory.ancestors()).collect();
        let mut machines: HashMap<Utf8PathBuf, Vec<SourceRef>> = HashMap::new();
        for source in &objects.sources {
            let directory = parent(objects.path(source.object));
            if source.kind == SourceKind::Machines {
                let owner = directory.ancestors().find(|d| directories.contains(*d));
                let near = || directory.ancestors().find(|d| above.contains(d));
                let owner = owner.or_else(near).unwrap_or(directory).to_owned();
                machines.entry(owner).or_default().push(*source);
            } else {
                levels.entry(directory).or_default().push(*source);
            }
        }
        let fleets = fleets(&directories);
        let with_several = fleets.iter().flat_map(|fleet| fleet.ancestors()).map(Utf8Path::to_owned).collect();
        let documents = objects.hyperconvergeds.iter().copied().map(document_of).collect();
        Self {
            tree,
            statements: statements(objects, &above),
            documents,
            objects,
            config,
            directories,
            levels,
            machines,
            fleets,
            with_several,
        }
    }

    fn cluster(&self, object: ObjectRef) -> ClusterRef {
        let path = self.objects.path(object);
        let directory = parent(path);
        let name = name_of(self.tree, directory);
        let (mut sources, mut pairing) = self.inventory(directory);
        let machines = directory.ancestors().find_map(|level| {
            let all = self.machines.get(level)?.iter();
            let own: Vec<SourceRef> = all.filter(|s| self.is_about(directory, level, s.object, 2)).copied().collect();
            Some(own).filter(|own| !own.is_empty())
        });
        if let Some(machines) = machines.filter(|_| pairing != Pairing::Given) {
            if pairing == Pairing::None {
                pairing = Pairing::Machines;
            }
            sources.extend(machines);
        }
        self.with(name, object, sources, pairing)
    }

    fn with(&self, name: ClusterName, object: ObjectRef, sources: Vec<SourceRef>, pairing: Pairing) -> ClusterRef {
        let path = |object: ObjectRef| self.objects.paths.get(object.file as usize);
        let files: BTreeSet<_> = sources.iter().filter_map(|s| path(s.object)).collect();
        ClusterRef {
            name,
            path: path(object).map_or_else(|| Utf8Path::new("").into(), Arc::clone),
            object,
            inventory_files: files.into_iter().map(Arc::clone).collect(),
            sources,
            pairing,
            statements: self.statements_of(object),
            release: None,
            platform: None,
            shared: None,
            also: Vec::new(),
            reports: true,
        }
    }

    /// Whether a manifest below a directory is about the cluster of the same or a deeper one. Manifests below a
    /// cluster's directory are its own. Those next to it belong to another cluster, unless that is the operator's
    /// directory.
    fn is_about(&self, cluster: &Utf8Path, level: &Utf8Path, object: ObjectRef, max_depth: usize) -> bool {
        let below = parent(self.objects.path(object)).strip_prefix(level).unwrap_or(level);
        let depth = below.components().count();
        let max_depth = if level == "" { 1 } else { max_depth };
        !is_of_tests(below)
            // Examples aren't applied.
            && !below.iter().any(|part| fields::has("samples", part.strip_suffix('s').unwrap_or(part)))
            && (depth == 0 || level == cluster || (depth <= max_depth && !self.fleets.contains(level)))
    }

    /// The manifests with facts about a cluster, by their directories.
    fn statements_of(&self, object: ObjectRef) -> Box<[StatementRef]> {
        let own = parent(self.objects.path(object));
        let levels = own.ancestors().filter_map(|directory| Some((directory, self.statements.get(directory)?)));
        let applies = |level: &Utf8Path, statement: &&StatementRef| {
            // A cluster's version is at most next to it.
            let max_depth = if statement.kind == StatementKind::ClusterVersion { 1 } else { 2 };
            self.is_about(own, level, statement.object, max_depth)
        };
        let all = levels.flat_map(|(directory, all)| all.iter().filter(move |s| applies(directory, s)));
        let all: Vec<StatementRef> = all.copied().collect();
        // Several clusters may stand in one directory, or several policies in one file: each has its own Subscription.
        let is_own = |s: &StatementRef| {
            document_of(s.object) == document_of(object)
                || s.object.file == object.file && !self.documents.contains(&document_of(s.object))
        };
        let is_anothers = |s: &StatementRef| {
            self.documents.range((s.object.file, 0)..).next().is_some_and(|(file, _)| *file == s.object.file)
                && !is_own(s)
        };
        let has_own = all.iter().any(is_own);
        // A file with a HyperConverged is about that one, such as a policy.
        let is_elsewhere = |s: &StatementRef| s.object.file != object.file;
        all.into_iter().filter(|s| !((has_own || is_elsewhere(s)) && is_anothers(s))).collect()
    }

    fn inventory(&self, directory: &Utf8Path) -> (Vec<SourceRef>, Pairing) {
        if !self.objects.given.is_empty() {
            return (self.objects.given.clone(), Pairing::Given);
        }
        let configured = self.configured(&self.config.inventory);
        let is_named = !configured.is_empty() && self.objects.hyperconvergeds.len() == 1;
        // One cluster's nodes aren't those of a fleet. What an inventory that is named was made of may be there still.
        let is_of_one = |sources: &[SourceRef]| sources.iter().all(|source| source.kind == SourceKind::Nodes);
        for level in directory.ancestors() {
            if let Some(sources) = self.levels.get(level)
                && (!is_named && (level == directory || !self.with_several.contains(level)) || !is_of_one(sources))
            {
                let pairing = if level == directory { Pairing::Adjacent } else { Pairing::Above(level.to_owned()) };
                return (sources.clone(), pairing);
            }
        }
        if configured.is_empty() { (Vec::new(), Pairing::None) } else { (configured, Pairing::Configured) }
    }

    /// The findings about paths of the configuration without an inventory.
    fn missing(&self, paths: &[Located<String>]) -> Vec<Finding> {
        let missing = paths.iter().filter(|path| self.configured(std::slice::from_ref(*path)).is_empty());
        missing.map(|path| invalid(format!("there is no inventory in `{}`", path.value), &path.place)).collect()
    }

    fn configured(&self, paths: &[Located<String>]) -> Vec<SourceRef> {
        let paths = paths.iter().filter_map(|p| in_root(&p.value));
        paths.flat_map(|p| self.objects.named(&p)).collect()
    }

    /// The cluster of an entry of `hcoplan.yaml`; adds findings about what can't be applied.
    fn entry(&self, entry: &ClusterEntry, wrong: &mut Vec<Finding>) -> Option<ClusterRef> {
        let path = &entry.path.value;
        let mut reject = |message: String, help: &'static str| {
            wrong.push(invalid(message, &entry.path.place).help(help));
            None
        };
        let Some(own) = in_root(path) else {
            return reject(format!("`{path}` is outside the root"), "name a path inside it");
        };
        let here = |o: &&ObjectRef| {
            let found = self.objects.path(**o);
            found == own || parent(found) == own
        };
        let found: Vec<ObjectRef> = self.objects.hyperconvergeds.iter().filter(here).copied().collect();
        let object = match found.as_slice() {
            [one] => *one,
            [] => {
                let help = "remove the entry if the cluster was removed; if it was renamed, name its new path";
                return reject(format!("there is no HyperConverged in `{path}`"), help);
            }
            _ => {
                let message = format!("there are {} HyperConvergeds in `{path}`", found.len());
                return reject(message, "name the file of one");
            }
        };
        let mut cluster = self.cluster(object);
        if cluster.pairing != Pairing::Given {
            wrong.extend(self.missing(&entry.inventory));
            let sources = self.configured(&entry.inventory);
            if !sources.is_empty() {
                cluster = self.with(cluster.name, object, sources, Pairing::Configured);
            }
        }
        if let Some(name) = &entry.name {
            cluster.name = name.value.as_str().into();
        }
        cluster.release = entry.release.clone();
        cluster.platform = entry.platform.clone();
        for also in &entry.also {
            let path = in_root(&also.value);
            let is_there = |path: &Utf8PathBuf| {
                let mut files = self.objects.paths.iter();
                files.any(|file| file.starts_with(path))
            };
            match path.filter(is_there) {
                Some(path) => cluster.also.push(path),
                None => wrong.push(invalid(format!("there is no manifest in `{}`", also.value), &also.place)),
            }
        }
        Some(cluster)
    }
}

fn fleets(directories: &HashSet<Utf8PathBuf>) -> HashSet<Utf8PathBuf> {
    let mut children: HashMap<&Utf8Path, &Utf8Path> = HashMap::new();
    let mut out = HashSet::new();
    for directory in directories {
        let above = directory.ancestors().zip(directory.ancestors().skip(1));
        for (child, above) in above {
            if *children.entry(above).or_insert(child) != child {
                out.insert(above.to_owned());
            }
        }
    }
    out
}

/// The file and document of an object.
fn document_of(object: ObjectRef) -> (u32, u32) {
    (object.file, object.place.document)
}

/// The manifests by the nearest directory above them with clusters in or below it.
fn statements<'o>(objects: &'o Objects, above: &HashSet<&Utf8Path>) -> HashMap<&'o Utf8Path, Vec<StatementRef>> {
    let mut out: HashMap<&Utf8Path, Vec<StatementRef>> = HashMap::new();
    for statement in &objects.statements {
        let mut directories = parent(objects.path(statement.object)).ancestors();
        if let Some(directory) = directories.find(|d| above.contains(d)) {
            out.entry(directory).or_default().push(*statement);
        }
    }
    out
}
