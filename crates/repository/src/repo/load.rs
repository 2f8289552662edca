//! Loads one cluster: its HyperConverged, inventory and identity.

use crate::inventory::{self, LoadedInventory, Source, SourceKind};
use hcoplan_planner::admission::{Admission, Operation, admit};
use hcoplan_planner::inventory::{Inventory, Node};
use hcoplan_planner::topology;
use hcoplan_yaml::edit::EditableFile;
use serde_json::Value;

use super::Repo;
use super::choose_release::{known_release, nearest_release, not_modelled};
use super::gitops::Applied;
use super::identity::{Candidates, FactOrigin, Identity, WithSource, is_older};
use super::nodes::names_of;
use super::objects::{ClusterRef, ObjectRef, SourceRef};
use super::paths::{first_document, parent};
use super::problem::{Problem, changed_while_read, text_problems, unreadable};
use super::scan::{Content, FoundKind};
use super::statements::{Statement, StatementKind};
use super::wrappers::embedded::put;
use super::wrappers::{Unknown, unknown};
use crate::prelude::*;

/// A cluster, ready to be planned.
#[derive(Debug)]
pub struct Loaded {
    /// Its name.
    pub name: ClusterName,
    /// The HyperConverged as written; an item of a list as its own document.
    pub document: Arc<Document>,
    /// The same as JSON.
    pub json: Value,
    /// The facts about the cluster. If no source declares nodes, `states_nodes` is false, and the nodes are the assumed
    /// ones.
    pub inventory: Arc<LoadedInventory>,
    /// Its release; if no source has one, the newest of `possible` that accepts the HyperConverged. An error if the
    /// name is unknown.
    pub release: Result<Arc<Release>, Box<Finding>>,
    /// The published releases that it may run if no source has one, oldest first; else empty.
    pub possible: Vec<Arc<Release>>,
    /// Its namespace, platform and release with their sources.
    pub identity: Identity,
    /// The HyperConverged with each branch of a template, or misspelt field without a known value, or as a patch, and where.
    pub branches: Vec<(Arc<Document>, Span)>,
    /// Problems of its files: warnings of the parser, duplicates in the inventory.
    pub findings: Vec<Finding>,
    /// The source documents of its build, if it has one, which may suppress findings.
    pub layers: Vec<Arc<Document>>,
    /// The files that were read for it, except for an inventory that others share.
    pub(super) read: Vec<Arc<Content>>,
}

/// What the planned release of a cluster rests on; as text what follows the release, nothing if it is stated.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum ReleaseBasis {
    /// A source has it.
    #[default]
    #[error("")]
    Stated,
    /// No source has one.
    #[error(" (assumed)")]
    Assumed,
    /// The source has another one, which isn't modelled; this is the nearest.
    #[error(" (in place of {0}, which isn't modelled)")]
    NearestTo(String),
}

impl Loaded {
    /// Assumes the same nodes as of another side of a comparison, if both assume them: a change of a manifest changes no
    /// node.
    pub fn share_assumed_nodes(&mut self, other: &Self) {
        if ![&*self, other].iter().any(|side| side.inventory.states_nodes) {
            let mut both = [&self.json, &other.json];
            both.sort_by_key(ToString::to_string);
            self.inventory = self.inventory.with_nodes(topology::assumed_nodes_of(&both)).into();
        }
    }

    /// What its release rests on.
    pub fn release_basis(&self) -> ReleaseBasis {
        match &self.identity.release {
            None => ReleaseBasis::Assumed,
            Some(name) if known_release(&name.value).is_err() => ReleaseBasis::NearestTo(name.value.clone()),
            Some(_) => ReleaseBasis::Stated,
        }
    }

    /// The HyperConverged's file as read, for trial edits.
    pub fn editable_file(&self) -> EditableFile {
        let file = &self.document.file;
        match self.read.iter().find(|c| Arc::ptr_eq(&c.file, file)) {
            Some(content) => content.editable_file(),
            None => EditableFile::of(file),
        }
    }

    /// The files that it was read from: the HyperConverged's, then the inventory's.
    pub fn files(&self) -> Vec<Arc<SourceFile>> {
        let documents = &self.inventory.documents;
        let mut out: Vec<Arc<SourceFile>> = Vec::new();
        for document in std::iter::once(&self.document).chain(documents) {
            if !out.iter().any(|f| f.path() == document.file.path()) {
                out.push(Arc::clone(&document.file));
            }
        }
        out
    }
}

/// An inventory, and findings about it.
pub(super) type InventoryRead = Result<(Arc<LoadedInventory>, Vec<Finding>), Box<Problem>>;

impl Repo {
    /// Reads a cluster. Can be called from several threads, and repeatedly.
    ///
    /// # Errors
    /// A file that can't be read or parsed any more. ([`Repo::problems`] has those that couldn't be at first.)
    pub fn load(&self, cluster: &ClusterRef) -> Result<Loaded, Box<Problem>> {
        let mut files = Vec::new();
        let (content, document) = self.document(cluster)?;
        let mut findings = text_problems(&content, &document);
        let place = cluster.object.place;
        let is_as_written =
            content.documents.get(place.document as usize).is_some_and(|written| Arc::ptr_eq(written, &document));
        let unknown = if is_as_written { Vec::new() } else { content.unknown(place) };
        let mut branches = content.branches(place).to_vec();
        files.push(content);
        let mut inventory = Arc::new(LoadedInventory::default());
        if let Some(read) = self.inventory(cluster, &mut files) {
            let (loaded, own) = read?;
            if cluster.reports {
                findings.extend(own);
            }
            inventory = loaded;
        }
        if !inventory.states_nodes && self.lists_no_nodes(cluster) {
            inventory = Arc::new(LoadedInventory { states_nodes: true, ..(*inventory).clone() });
        }
        let mut json = document.root.to_json();
        let lacks_namespace = document.text("metadata.namespace").is_empty();
        let given = lacks_namespace.then(|| self.namespace_given_to(cluster)).flatten();
        if let Some((given, metadata)) = given.as_ref().zip(json["metadata"].as_object_mut()) {
            metadata.insert("namespace".to_owned(), given.value.as_str().into());
        }
        if !inventory.states_nodes {
            inventory = Arc::new(inventory.with_nodes(topology::assumed_nodes_of(&[&json])));
            findings.extend(inventory.valid.then(|| nodes_assumed(&document, &inventory.inventory.nodes)));
        }
        let mut candidates = self.candidates(cluster, &document, &inventory, given, &mut files);
        findings.extend(candidates.contradictions());
        let possible = if self.release.is_none() && candidates.releases.is_empty() {
            possible_releases(&candidates, &json)
        } else {
            Vec::new()
        };
        let named = possible.is_empty().then(|| self.release_of(&candidates, &document, &mut findings));
        if let Some(given) = &self.release {
            candidates.releases.insert(0, WithSource::given(given.label().to_owned()));
        }
        if let Some(value) = self.update {
            candidates.updates.insert(0, WithSource::given(value));
        }
        let source = candidates.releases.first().cloned();
        let bound = candidates.at_least.first().cloned();
        let known = match &named {
            Some(named) => named.as_ref().ok(),
            None => possible.last(),
        };
        let is_vendors = !candidates.distribution().is_upstream();
        let mut identity = identity(candidates, known.map(|r| &**r));
        if identity.platform.is_assumed() {
            // Vendors build HCO for OpenShift.
            if is_vendors {
                identity.platform.by = identity.namespace.by;
                identity.platform.place.clone_from(&identity.namespace.place);
            } else if let Some(shown) = self.shown_platform(cluster) {
                identity.platform = shown;
            } else if inventory.valid {
                findings.push(platform_assumed(&document, identity.platform.value));
            }
        }
        apply_identity(&mut inventory, &identity);
        let claims = self.claims(cluster, |_| true);
        if !claims.is_empty() {
            Arc::make_mut(&mut inventory).inventory.claims = claims;
        }
        let mut release = named.unwrap_or_else(|| {
            let admitted = |r: &Arc<Release>| admit(r, &inventory.inventory, &json, Operation::Create);
            let mut judged = possible.iter().rev().map(|r| (r, admitted(r)));
            let accepting = judged.find(|(_, admission)| admission.accepted);
            let newest = accepting.as_ref().map(|(r, _)| *r).or(possible.last()).expect("one is published");
            // A manifest may be ahead of what is published.
            let fits = |admission: &Admission| admission.accepted && admission.pruned.is_empty();
            let all = newest.releases_of_distribution();
            let mut newer = all.iter().skip_while(|r| r.label() != newest.label()).skip(1);
            let newest = match accepting {
                Some((newest, admission)) if fits(&admission) => newest,
                _ => newer.find(|r| fits(&admitted(r))).unwrap_or(newest),
            };
            findings.push(match bound {
                Some(WithSource { value, by, place: Some(place) }) if is_older(newest, &value) => {
                    not_modelled_release(&value, newest, by, place)
                }
                bound => release_assumed(&document, newest, bound.as_ref()),
            });
            Ok(Arc::clone(newest))
        });
        if let (Ok(release), Some(source)) = (&release, &source)
            && let Some(message) = not_modelled(&source.value, release)
        {
            let place = source.place.clone().unwrap_or_else(|| whole(&document));
            findings.push(Finding::new(&RELEASE_ASSUMED, message).at(place));
        }
        let known = release.as_deref().ok();
        // A task's own arguments may name the object.
        let is_of_it = |patch: &&Arc<Document>| [names_of(&document), [""; 2]].contains(&names_of(patch));
        branches.extend(self.patches.iter().filter(is_of_it).map(|patch| (Arc::clone(patch), patch.span)));
        let schema = known.and_then(|release| release.schema_of(document.text("apiVersion"), document.text("kind")));
        for (path, span) in unknown.iter().filter_map(Unknown::whole_value) {
            // The API server drops a misspelt field with any value.
            let is_misspelt = schema.is_some_and(|schema| schema.field(&Path::dotted(path)).is_none());
            let value = yaml::Node { span, value: yaml::Value::Null, style: document.root.style };
            let mut with_it = (*document).clone();
            if is_misspelt && put(&mut with_it.root, path, value) {
                branches.push((with_it.into(), span));
            }
        }
        let missing = || document.file.text().contains("${").then(|| self.missing_substitutes(cluster)).flatten();
        findings.extend(unknown::finding(&unknown, &document, known).map(|finding| match missing() {
            None => finding,
            Some((from, place)) => {
                let message = format!("{}; Flux takes it from {from}, which is not in the repository", finding.message);
                Finding { message, ..finding }.warning().at(place).label("not in the repository")
            }
        }));
        let error = release.as_mut().err().map(|finding| &mut **finding);
        findings.iter_mut().chain(error).for_each(|finding| finding.cluster = Some(cluster.name.clone()));
        Ok(Loaded {
            name: cluster.name.clone(),
            json,
            document,
            inventory,
            possible,
            release,
            branches,
            findings,
            identity,
            layers: self.parts_of_build(&cluster.path),
            read: files,
        })
    }

    /// Only a cluster's HyperConverged.
    ///
    /// # Errors
    /// As [`Repo::load`].
    pub fn hyperconverged(&self, cluster: &ClusterRef) -> Result<Value, Box<Problem>> {
        Ok(self.document(cluster)?.1.root.to_json())
    }

    /// A cluster's HyperConverged and its file.
    fn document(&self, cluster: &ClusterRef) -> Result<(Arc<Content>, Arc<Document>), Box<Problem>> {
        let content = self.content(cluster.object.file)?;
        let place = cluster.object.place;
        let mut document = content.object(place);
        let written = content.documents.get(place.document as usize).filter(|_| place.item.is_none());
        if let (Some(read), Some(written)) = (&document, written)
            && !Arc::ptr_eq(read, written)
            && self.is_applied_as_written(cluster)
        {
            document = Some(Arc::clone(written));
        }
        document.map(|d| (content, d)).ok_or_else(|| Box::new(changed_while_read(&cluster.path)))
    }

    /// A file's content, parsed or cached.
    pub(super) fn content(&self, file: u32) -> Result<Arc<Content>, Box<Problem>> {
        let known = self.given.get(&file).map(Arc::clone);
        if let Some(content) = known.or_else(|| self.recent.get(file)) {
            return Ok(content);
        }
        let path = self.paths.get(file as usize).expect("indexes come from the list of paths");
        let source = self.tree.source(path).map_err(|why| Box::new(unreadable(path, &why).fatal()))?;
        // The first read reported the broken part; earlier documents are used.
        let content = Arc::new(Content::read(&*self.tree, source));
        self.recent.add(file, &content);
        Ok(content)
    }

    /// An object with what is known of it alone.
    pub(super) fn object(&self, object: ObjectRef) -> Option<Arc<Document>> {
        self.content(object.file).ok()?.object(object.place)
    }

    /// The document that has an object, as its file has it; `None` where a text of the file has it.
    pub(super) fn written(&self, object: ObjectRef) -> Option<Arc<Document>> {
        self.content(object.file).ok()?.documents.get(object.place.document as usize).cloned()
    }

    /// The documents of which a file was built; none if it wasn't.
    pub(super) fn parts_of_build(&self, path: &Utf8Path) -> Vec<Arc<Document>> {
        let mut all: Vec<_> =
            self.build_layers(path).unwrap_or_default().iter().map(super::BuildLayer::source).collect();
        let mut known = HashSet::new();
        all.retain(|document| known.insert((document.file.path().to_owned(), document.index)));
        all
    }

    /// The location of an object's name.
    pub(super) fn named_at(&self, object: ObjectRef) -> Option<Location> {
        let place = whole(&*self.object(object)?);
        Some(place.origin().unwrap_or(place))
    }

    fn inventory(&self, cluster: &ClusterRef, files: &mut Vec<Arc<Content>>) -> Option<InventoryRead> {
        if cluster.sources.is_empty() {
            return None;
        }
        let shared = cluster.shared.and_then(|index| self.shared.get(index));
        Some(match shared {
            Some(cell) => {
                let read = || self.read_inventory(&cluster.sources, &mut Vec::new());
                cell.get_or_init(read).clone()
            }
            None => self.read_inventory(&cluster.sources, files),
        })
    }

    /// Whether the cluster has an empty dump of nodes: then `kubectl get nodes -o yaml` prints a List without a kind,
    /// which only its file's name identifies.
    fn lists_no_nodes(&self, cluster: &ClusterRef) -> bool {
        ["nodes.yaml", "nodes.yml", "nodes.json"].iter().any(|name| {
            let list = first_document(&*self.tree, &parent(cluster.path()).join(name));
            list.is_some_and(|list| {
                list.text("kind") == "List" && list.root.get("items").is_some_and(yaml::Node::is_empty)
            })
        })
    }

    fn read_inventory(&self, sources: &[SourceRef], files: &mut Vec<Arc<Content>>) -> InventoryRead {
        let machines = |s: &&SourceRef| s.kind == SourceKind::Machines;
        let (mut read, mut warnings) = (Vec::new(), Vec::new());
        for source in sources.iter().filter(|s| !machines(s)) {
            read.push(self.source(source, &mut warnings, files)?);
        }
        let (mut loaded, mut findings) = inventory::load(&read);
        // Machine sets are only read if no other source declares nodes.
        if loaded.inventory.nodes.is_empty() && sources.iter().any(|s| machines(&s)) {
            for source in sources.iter().filter(machines) {
                read.push(self.source(source, &mut warnings, files)?);
            }
            (loaded, findings) = inventory::load(&read);
        }
        warnings.extend(findings);
        Ok((Arc::new(loaded), warnings))
    }

    fn source(
        &self,
        source: &SourceRef,
        warnings: &mut Vec<Finding>,
        files: &mut Vec<Arc<Content>>,
    ) -> Result<Source, Box<Problem>> {
        let content = self.content(source.object.file)?;
        let document = content.object(source.object.place);
        let document = document.ok_or_else(|| Box::new(changed_while_read(content.file.path())))?;
        warnings.extend(text_problems(&content, &document));
        files.push(content);
        Ok(Source { kind: source.kind, document })
    }

    /// All sources of a cluster's namespace, platform and release; adds the files that were read for it.
    fn candidates(
        &self,
        cluster: &ClusterRef,
        document: &Document,
        inventory: &LoadedInventory,
        given: Option<WithSource<String>>,
        files: &mut Vec<Arc<Content>>,
    ) -> Candidates {
        let mut out = Candidates::default();
        let by = FactOrigin::Configuration;
        out.releases.extend(cluster.release.as_ref().map(|own| WithSource::configured(own, by)));
        out.platforms.extend(cluster.platform.as_ref().map(|own| WithSource::configured(own, by)));
        out.inventory(inventory);
        out.hyperconverged(document);
        out.namespaces.extend(given);
        for statement in self.statements(cluster, files) {
            out.statement(&statement);
        }
        out.operators_namespace_first();
        let mut methods: Vec<_> = self.appliers_of(cluster).into_iter().filter_map(Applied::method).collect();
        // Of several, the one that rejects more.
        methods.sort_by_key(|method| method.value != UpdateMethod::ServerSide);
        out.updates.extend(methods);
        let by = FactOrigin::Configured;
        out.releases.extend(self.config.release.as_ref().map(|all| WithSource::configured(all, by)));
        out.platforms.extend(self.config.platform.as_ref().map(|all| WithSource::configured(all, by)));
        out
    }

    /// Other manifests' facts about a cluster, by their kind and then the nearer first. Of CSVs only the newest is
    /// used: an upgrade leaves older ones. A cluster has one ClusterVersion: of several that differ, in their own
    /// directories, those next to the cluster's belong to other clusters.
    fn statements(&self, cluster: &ClusterRef, files: &mut Vec<Arc<Content>>) -> Vec<Statement> {
        let mut out = Vec::new();
        for statement in &cluster.statements {
            // An unreadable file was reported before.
            let Ok(content) = self.content(statement.object.file) else { continue };
            if let Some(document) = content.object(statement.object.place) {
                out.push(Statement::read(statement.kind, document));
                files.push(content);
            }
        }
        out.sort_by_key(|statement| statement.kind);
        let package = out.iter().find_map(|statement| statement.distribution);
        for statement in &mut out {
            statement.distribution = statement.distribution.or(package);
        }
        let is_csv = |statement: &Statement| statement.kind == StatementKind::ClusterServiceVersion;
        let csvs = out.iter().filter(|statement| is_csv(statement));
        let newest = csvs.filter_map(Statement::version).max();
        out.retain(|statement| !is_csv(statement) || statement.version() == newest);
        let is_version = |statement: &Statement| statement.kind == StatementKind::ClusterVersion;
        let all = || out.iter().filter(|statement| is_version(statement));
        let versions: BTreeSet<_> = all().map(Statement::version).collect();
        let directories: BTreeSet<_> = all().map(|s| parent(s.document.file.path())).collect();
        if versions.len() > 1 && directories.len() > 1 {
            let own = parent(cluster.path());
            let is_own = |statement: &Statement| own.starts_with(parent(statement.document.file.path()));
            out.retain(|statement| !is_version(statement) || is_own(statement));
        }
        out
    }

    /// The release of the first source that has one.
    fn release_of(
        &self,
        candidates: &Candidates,
        document: &Document,
        findings: &mut Vec<Finding>,
    ) -> Result<Arc<Release>, Box<Finding>> {
        if let Some(release) = &self.release {
            return Ok(Arc::clone(release));
        }
        let first = candidates.releases.first().cloned();
        let WithSource { value: name, place, by } = first.expect("without one the release is assumed");
        let place = place.unwrap_or_else(|| whole(document));
        known_release(&name).or_else(|unknown| {
            // What the repository shows of a cluster isn't a mistake in it.
            let nearest = nearest_release(&name).filter(|_| matches!(by, FactOrigin::Statement(_)));
            if let Some(release) = nearest {
                findings.push(not_modelled_release(&name, &release, by, place));
                return Ok(release);
            }
            let finding = Finding::new(&RELEASE_UNKNOWN, unknown.to_string()).at(place).help(unknown.help);
            Err(Box::new(Finding { stops: true, ..finding }))
        })
    }
}

/// The identity in files themselves: manifests next to nodes, as `oc get nodes,clusterversion` prints them. Of
/// inventories only their own facts are used.
pub fn identity_in(
    inventories: impl IntoIterator<Item = Arc<SourceFile>>,
    files: impl IntoIterator<Item = Arc<SourceFile>>,
) -> Identity {
    let mut candidates = Candidates::default();
    let mut declared = Vec::new();
    for content in inventories.into_iter().map(Content::parse) {
        let found = content.found().into_iter();
        let found = found.filter(|f| f.what == FoundKind::Inventory(SourceKind::Declared));
        declared.extend(found.filter_map(|f| {
            let document = content.object(f.place)?;
            Some(Source { kind: SourceKind::Declared, document })
        }));
    }
    if !declared.is_empty() {
        candidates.inventory(&inventory::load(&declared).0);
    }
    let mut statements = Vec::new();
    for content in files.into_iter().map(Content::parse) {
        for found in content.found() {
            let Some(document) = content.object(found.place) else { continue };
            match found.what {
                FoundKind::HyperConverged => candidates.hyperconverged(&document),
                FoundKind::Statement(kind) => statements.push(Statement::read(kind, document)),
                _ => {}
            }
        }
    }
    statements.sort_by_key(|statement| statement.kind);
    statements.iter().for_each(|statement| candidates.statement(statement));
    identity(candidates, None)
}

/// The first source of each fact, or the distribution's default.
fn identity(candidates: Candidates, release: Option<&Release>) -> Identity {
    let default = release
        .map_or_else(|| Inventory::default().namespace, |release| release.distribution().namespace.value.clone());
    Identity {
        namespace: first(candidates.namespaces, default),
        platform: first(candidates.platforms, Inventory::default().platform),
        release: candidates.releases.into_iter().next(),
        update: first(candidates.updates, UpdateMethod::default()),
    }
}

fn first<T>(facts: Vec<WithSource<T>>, default: T) -> WithSource<T> {
    facts.into_iter().next().unwrap_or(WithSource::assumed(default))
}

/// Sets the inventory's namespace, platform and update method from other manifests if it has none, and where they say
/// its release and platform.
fn apply_identity(loaded: &mut Arc<LoadedInventory>, identity: &Identity) {
    let release = identity.release.as_ref().and_then(|release| release.place.clone());
    for (name, place) in [("release", release), ("platform", identity.platform.place.clone())] {
        if let Some(place) = place.filter(|_| loaded.locations.field(name).is_none()) {
            Arc::make_mut(loaded).locations.fields.insert(name.to_owned(), place);
        }
    }
    let namespace = &identity.namespace.value;
    let (platform, update) = (identity.platform.value, identity.update.value);
    let is_same = |own: &Inventory| own.namespace == *namespace && own.platform == platform && own.update == update;
    // Several clusters may share it: a cluster gets a copy only if something changes.
    if !is_same(&loaded.inventory) {
        let own = Arc::make_mut(loaded);
        own.inventory.update = update;
        own.inventory.namespace.clone_from(namespace);
        own.inventory.platform = platform;
    }
}

/// The published releases that a cluster may run: those that serve the HyperConverged's version, if any does.
fn possible_releases(candidates: &Candidates, object: &Value) -> Vec<Arc<Release>> {
    let published = candidates.published();
    let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let serves = |release: &&Arc<Release>| release.schema_of(version, "HyperConverged").is_some();
    let serving: Vec<_> = published.iter().filter(serves).cloned().collect();
    if serving.is_empty() { published } else { serving }
}

/// The finding that the release is assumed; `bound` is the version that OLM installs first.
fn release_assumed(document: &Document, release: &Release, bound: Option<&WithSource<String>>) -> Finding {
    let line = release.label();
    let known = bound.map_or_else(
        || "the cluster's release is unknown".to_owned(),
        |bound| format!("{} installs {} first, and OLM updates it", bound.by, bound.value),
    );
    let is_published = Release::published(release.distribution()).iter().any(|r| r.label() == line);
    let which = match bound {
        _ if is_published => "the newest published one",
        Some(_) => "the first modelled one that isn't older",
        None => "the first modelled one with all fields of the manifest",
    };
    let message = format!("{known}: assuming {}, {which}", release.title());
    Finding::new(&RELEASE_ASSUMED, message)
        .at(whole(document))
        .help(format!("write `release: \"{line}\"` into hcoplan.yaml or the inventory, or give --release"))
}

/// The finding that a cluster's release isn't modelled.
fn not_modelled_release(name: &str, release: &Release, by: FactOrigin, place: Location) -> Finding {
    let message =
        format!("{by} installs {name}, which isn't modelled: planned as {}, the nearest release", release.title());
    Finding::new(&RELEASE_NOT_MODELLED, message)
        .at(place)
        .label("not modelled")
        .help("compare the release notes of both releases; `hcoplan release list` has the modelled releases")
}

/// The finding that the platform is assumed.
fn platform_assumed(document: &Document, platform: Platform) -> Finding {
    let message = format!("the cluster's platform is unknown: assuming {}", platform.as_str());
    Finding::new(&PLATFORM_ASSUMED, message)
        .at(whole(document))
        .help("write `platform: OpenShift` or `platform: Kubernetes` into hcoplan.yaml or the inventory")
}

/// The finding that the nodes are assumed.
fn nodes_assumed(document: &Document, nodes: &[Node]) -> Finding {
    let message = format!("the cluster's nodes are unknown: assuming {}", topology::described_assumed_nodes(nodes));
    Finding::new(&NODES_ASSUMED, message)
        .at(whole(document))
        .help("write the nodes to an inventory, cluster by cluster: `hcoplan init DIR --nodes DUMP`")
}

/// The location of an object as a whole: its name, else its kind.
fn whole(document: &Document) -> Location {
    let root = &document.root;
    let node = root.below("metadata.name").or_else(|| root.get("kind")).unwrap_or(root);
    document.location(node.span)
}
