//! The other documents of a cluster's directory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use camino::Utf8Path;
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{SourceFile, in_order};
use hcoplan_yaml::{Document, Node};

use super::Loaded;
use super::Repo;
use super::files::{FileRole, FileUse};
use super::listed;
use super::objects::ClusterRef;
use super::problem::unparseable_other;
use super::scan::Content;

/// Documents by kind. Objects of lists are separate documents.
#[derive(Debug, Default)]
pub struct OtherObjects {
    by_kind: BTreeMap<String, Vec<Arc<Document>>>,
    templates: Vec<Arc<SourceFile>>,
    problems: Vec<Finding>,
    skips_dry_run: Option<bool>,
    /// By kind, the first of each namespace and name; computed at the first look-up by name.
    by_name: OnceLock<HashMap<String, ByName>>,
}

/// The indexes of documents by namespace (possibly empty) and name; `None`: the first in any namespace.
type ByName = HashMap<(Option<String>, String), usize>;

/// The kinds that the operands' operators read.
const OPERATORS: [&str; 5] = ["KubeVirt", "CDI", "SSP", "NetworkAddonsConfig", "AAQ"];

impl OtherObjects {
    /// Files of KubeVirt's objects that can't be parsed.
    pub fn problems(&self) -> &[Finding] {
        &self.problems
    }

    /// The documents of a kind (`VirtualMachine`), in the order of their paths.
    pub fn of_kind(&self, kind: &str) -> &[Arc<Document>] {
        self.by_kind.get(kind).map_or(&[], Vec::as_slice)
    }

    /// The first document of a kind with this namespace, empty if it has none, and name; `None`: any namespace.
    pub fn named(&self, kind: &str, namespace: Option<&str>, name: &str) -> Option<&Arc<Document>> {
        let by_name = self.by_name.get_or_init(|| {
            let kinds = self.by_kind.iter();
            kinds.map(|(kind, documents)| (kind.clone(), names(documents))).collect()
        });
        let index = by_name.get(kind)?.get(&(namespace.map(str::to_owned), name.to_owned()))?;
        self.of_kind(kind).get(*index)
    }

    /// All kinds, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.by_kind.keys().map(String::as_str)
    }

    /// Files that are templates, not YAML yet, so their objects are unknown.
    pub fn templates(&self) -> &[Arc<SourceFile>] {
        &self.templates
    }

    /// Whether the Application that applies the cluster's HyperConverged skips the dry run of missing kinds; `None` if
    /// no Application of the repository applies it.
    pub fn skips_dry_run(&self) -> Option<bool> {
        self.skips_dry_run
    }

    fn add(&mut self, document: Arc<Document>) {
        let kind = document.root.get("kind").and_then(Node::as_str);
        let kind = kind.unwrap_or_default().to_owned();
        self.by_kind.entry(kind).or_default().push(document);
    }
}

fn names(documents: &[Arc<Document>]) -> ByName {
    let mut out = ByName::new();
    for (index, document) in documents.iter().enumerate() {
        let metadata = document.root.get("metadata");
        let text = |key: &str| metadata.and_then(|m| m.get(key)?.as_str()).unwrap_or_default().to_owned();
        out.entry((None, text("name"))).or_insert(index);
        out.entry((Some(text("namespace")), text("name"))).or_insert(index);
    }
    out
}

impl FromIterator<Arc<Document>> for OtherObjects {
    fn from_iter<I: IntoIterator<Item = Arc<Document>>>(documents: I) -> Self {
        let mut out = Self::default();
        for document in documents {
            out.add(document);
        }
        out
    }
}

impl Repo {
    /// The files that are read in and below a HyperConverged's directory, without those of clusters further down; in
    /// order.
    pub(super) fn own_files(&self, directory: &Utf8Path) -> impl Iterator<Item = &FileUse> {
        let known = self.directories.contains(directory);
        let files = self.files.get(self.files.partition_point(|f| in_order(&f.path, directory).is_lt())..);
        let files = files.filter(|_| known).unwrap_or_default().iter();
        let below = files.take_while(move |f| f.path.starts_with(directory));
        let read = below.filter(|f| matches!(f.what, FileRole::Read(_) | FileRole::Nothing));
        let is_own = move |d: &Utf8Path| d.as_str() == directory.as_str();
        read.filter(move |file| {
            let mut above = file.path.ancestors().skip(1);
            let owner = above.find(|d| is_own(d) || self.directories.contains(*d));
            owner.is_some_and(is_own)
        })
    }

    /// The operands in a repository without a HyperConverged, each with its kind and file; and the number of read
    /// files.
    pub fn nearest_misses(&self) -> (Vec<(String, Arc<Utf8Path>)>, usize) {
        let read = self.files.iter().filter(|f| matches!(f.what, FileRole::Read(_) | FileRole::Nothing));
        let mut found = Vec::new();
        let mut count = 0;
        for file in read {
            count += 1;
            let Ok(bytes) = self.tree.read(&file.path) else {
                continue;
            };
            let content = Content::parse(SourceFile::from_bytes(&*file.path, bytes));
            for document in &content.documents {
                let kind = document.root.get("kind").and_then(Node::as_str).unwrap_or_default();
                if OPERATORS.contains(&kind) {
                    found.push((kind.to_owned(), Arc::clone(&file.path)));
                }
            }
        }
        (found, count)
    }

    /// The other objects of a cluster: in and below its directory, except for other clusters' directories, and those
    /// that `hcoplan.yaml` assigns to it. Of an unparseable file the rest is skipped, and reported. The result isn't
    /// cached. Files that were read to load the cluster aren't read again.
    pub fn other_objects(&self, cluster: &ClusterRef, loaded: &Loaded) -> OtherObjects {
        let directory = cluster.directory();
        let own = self.applied().of(cluster.path());
        let skips_dry_run = own.filter_map(|applied| applied.skips_dry_run).reduce(|a, b| a || b);
        let mut out = OtherObjects { skips_dry_run, ..OtherObjects::default() };
        let mut files: Vec<&FileUse> = self.own_files(directory).collect();
        if !cluster.also.is_empty() {
            let own: HashSet<&Utf8Path> = files.iter().map(|f| &*f.path).collect();
            let read = |f: &&FileUse| matches!(f.what, FileRole::Read(_) | FileRole::Nothing);
            let given = |f: &&FileUse| cluster.also.iter().any(|also| f.path.starts_with(also));
            let elsewhere = self.files.iter().filter(read).filter(given);
            let elsewhere: Vec<_> = elsewhere.filter(|f| !own.contains(&*f.path)).collect();
            files.extend(elsewhere);
        }
        let known: HashMap<&Utf8Path, &Arc<Content>> = loaded.read.iter().rev().map(|c| (c.file.path(), c)).collect();
        for file in files {
            let content = match known.get(&*file.path) {
                Some(content) => Arc::clone(content),
                None => {
                    let Ok(bytes) = self.tree.read(&file.path) else {
                        continue;
                    };
                    let file = SourceFile::from_bytes(&*file.path, bytes);
                    Arc::new(Content::parse(file))
                }
            };
            if content.is_template() {
                out.templates.push(Arc::clone(&content.file));
            } else if matches!(file.path.extension(), Some("yaml" | "yml" | "json")) {
                out.problems.extend(unparseable_other(&content));
            }
            for document in &content.documents {
                add_objects(document, &mut out);
            }
        }
        out
    }
}

fn add_objects(document: &Arc<Document>, out: &mut OtherObjects) {
    if !listed::is_list(&document.root) {
        return out.add(Arc::clone(document));
    }
    // Objects in a wrapper aren't the cluster's.
    for object in listed::objects(&document.root).into_iter().filter(|object| object.wrapper.is_none()) {
        out.add(Arc::new(object.as_document(document)));
    }
}
