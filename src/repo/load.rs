//! One cluster, read and put together.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use super::choose_release::{is_directory, known_names, known_release};
use super::objects::{ClusterRef, ObjectRef, SourceRef};
use super::problem::{Problem, broken, changed, oddities, unreadable};
use super::rules::RELEASE_UNKNOWN;
use super::scan::Content;
use super::{Repo, release_dir};
use crate::finding::Finding;
use crate::inventory::{self, LoadedInventory, Source, SourceKind};
use crate::release::Release;
use crate::source::{Location, SourceFile};
use crate::yaml::edit::Before;
use crate::yaml::{Document, Path};

/// A cluster, ready to be planned.
#[derive(Debug)]
pub struct Loaded {
    /// Its name.
    pub name: String,
    /// The HyperConverged as it was written; an item of a v1 List as if it stood alone.
    pub document: Arc<Document>,
    /// The same as JSON.
    pub json: Value,
    /// What is known about the cluster; `None` when there is no inventory.
    pub inventory: Option<Arc<LoadedInventory>>,
    /// The release that it runs; else why that isn't known.
    pub release: Result<Arc<Release>, Box<Finding>>,
    /// What is wrong with its files: oddities of their text, what the inventory says twice.
    pub findings: Vec<Finding>,
    /// The files that were read for it, but for an inventory that others have, too.
    pub(super) read: Vec<Arc<Content>>,
}

impl Loaded {
    /// The HyperConverged's file as it was read, for trying edits out on it.
    pub fn before_edits(&self) -> Before {
        let file = &self.document.file;
        match self.read.iter().find(|c| Arc::ptr_eq(&c.file, file)) {
            Some(content) => content.before_edits(),
            None => Before::of(file),
        }
    }

    /// The files that it was read from: the HyperConverged's, then the inventory's.
    pub fn files(&self) -> Vec<Arc<SourceFile>> {
        let documents = self.inventory.iter().flat_map(|i| &i.documents);
        let mut out: Vec<Arc<SourceFile>> = Vec::new();
        for document in std::iter::once(&self.document).chain(documents) {
            if !out.iter().any(|f| f.path() == document.file.path()) {
                out.push(Arc::clone(&document.file));
            }
        }
        out
    }
}

/// An inventory, and what is wrong with it.
pub(super) type InventoryRead = Result<(Arc<LoadedInventory>, Vec<Finding>), Box<Problem>>;

impl Repo {
    /// Reads a cluster. May be called from several threads, and for one cluster again and again.
    ///
    /// # Errors
    /// When a file can't be read or parsed any more. (What could not be at first is in
    /// [`Repo::problems`].)
    pub fn load(&self, cluster: &ClusterRef) -> Result<Loaded, Box<Problem>> {
        let content = self.content(cluster.object.file)?;
        let document = content
            .object(cluster.object.place)
            .ok_or_else(|| Box::new(changed(&cluster.path)))?;
        let mut findings = oddities(&content, &document);
        let mut files = vec![content];
        let mut inventory = None;
        if let Some(read) = self.inventory(cluster, &mut files) {
            let (loaded, said) = read?;
            findings.extend(said.into_iter().filter(|_| cluster.reports));
            inventory = Some(loaded);
        }
        let release = self.release_of(cluster, &document, inventory.as_deref());
        for finding in &mut findings {
            finding.cluster = Some(cluster.name.clone());
        }
        Ok(Loaded {
            name: cluster.name.clone(),
            json: document.root.to_json(),
            document,
            inventory,
            release: release.map_err(|mut finding| {
                finding.cluster = Some(cluster.name.clone());
                finding
            }),
            findings,
            read: files,
        })
    }

    /// A cluster's HyperConverged alone.
    ///
    /// # Errors
    /// As [`Repo::load`].
    pub fn hyperconverged(&self, cluster: &ClusterRef) -> Result<Value, Box<Problem>> {
        let content = self.content(cluster.object.file)?;
        let document = content.object(cluster.object.place);
        let document = document.ok_or_else(|| Box::new(changed(&cluster.path)))?;
        Ok(document.root.to_json())
    }

    /// A file's content, parsed now or before.
    pub(super) fn content(&self, file: u32) -> Result<Arc<Content>, Box<Problem>> {
        let known = self.given.get(&file).map(Arc::clone);
        if let Some(content) = known.or_else(|| self.recent.get(file)) {
            return Ok(content);
        }
        let path = self.paths.get(file as usize);
        let path = path.expect("indexes come from the list of paths");
        let bytes = self.tree.read(path).map_err(|why| {
            let problem = unreadable(path, &why);
            Box::new(Problem {
                fatal: true,
                ..problem
            })
        })?;
        let content = Content::parse(SourceFile::from_bytes(&**path, bytes));
        match broken(&content, true).into_iter().next() {
            Some(problem) if problem.fatal => Err(Box::new(problem)),
            _ => {
                let content = Arc::new(content);
                self.recent.add(file, &content);
                Ok(content)
            }
        }
    }

    /// Where an object is named.
    pub(super) fn named_at(&self, object: ObjectRef) -> Option<Location> {
        let document = self.content(object.file).ok()?.object(object.place)?;
        Some(whole(&document))
    }

    fn inventory(
        &self,
        cluster: &ClusterRef,
        files: &mut Vec<Arc<Content>>,
    ) -> Option<InventoryRead> {
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

    fn read_inventory(
        &self,
        sources: &[SourceRef],
        files: &mut Vec<Arc<Content>>,
    ) -> InventoryRead {
        let machines = |s: &&SourceRef| s.kind == SourceKind::Machines;
        let (mut read, mut odd) = (Vec::new(), Vec::new());
        for source in sources.iter().filter(|s| !machines(s)) {
            read.push(self.source(source, &mut odd, files)?);
        }
        let (mut loaded, mut findings) = inventory::load(&read);
        // Machine sets are only read where nothing else says which nodes there are.
        if loaded.inventory.nodes.is_empty() && sources.iter().any(|s| machines(&s)) {
            for source in sources.iter().filter(machines) {
                read.push(self.source(source, &mut odd, files)?);
            }
            (loaded, findings) = inventory::load(&read);
        }
        odd.append(&mut findings);
        Ok((Arc::new(loaded), odd))
    }

    fn source(
        &self,
        source: &SourceRef,
        odd: &mut Vec<Finding>,
        files: &mut Vec<Arc<Content>>,
    ) -> Result<Source, Box<Problem>> {
        let content = self.content(source.object.file)?;
        let document = content.object(source.object.place);
        let document = document.ok_or_else(|| Box::new(changed(content.file.path())))?;
        odd.extend(oddities(&content, &document));
        files.push(content);
        let kind = source.kind;
        Ok(Source { kind, document })
    }

    fn release_of(
        &self,
        cluster: &ClusterRef,
        document: &Document,
        inventory: Option<&LoadedInventory>,
    ) -> Result<Arc<Release>, Box<Finding>> {
        if let Some(release) = &self.release {
            return Ok(Arc::clone(release));
        }
        let configured = |p: &super::Placed<String>| (p.value.clone(), p.place.clone());
        let declared = || {
            let inventory = inventory?;
            let name = inventory.inventory.release.clone()?;
            Some((name, inventory.places.field("release")?.clone()))
        };
        let said = cluster.release.as_ref().map(configured);
        let said = said.or_else(declared);
        let said = said.or_else(|| self.config.release.as_ref().map(configured));
        let Some((name, place)) = said else {
            return Err(Box::new(unsaid(document, inventory)));
        };
        let wrong = |message: String, help: Option<String>| {
            let mut finding = Finding::new(&RELEASE_UNKNOWN, message).at(place.clone());
            finding.help = help;
            Box::new(finding)
        };
        if !is_directory(&name) {
            return known_release(&name).map_err(|e| wrong(e.to_string(), Some(e.help)));
        }
        let parent = super::objects::parent(place.file.path());
        let Some(directory) = crate::source::normal(&parent.join(&name)) else {
            let message = format!("`{name}` leads out of the root");
            return Err(wrong(message, None));
        };
        let mut releases = self.releases.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || release_dir::read(&*self.tree, &directory).map_err(|e| e.to_string());
        let release = releases.entry(directory.clone()).or_insert_with(read);
        release.clone().map_err(|why| wrong(why, None))
    }
}

/// Nothing says the release.
fn unsaid(document: &Document, inventory: Option<&LoadedInventory>) -> Finding {
    let declared = inventory.and_then(|i| {
        let mut documents = i.documents.iter();
        documents.find(|d| d.root.get("spec").is_some())
    });
    let place = match declared {
        Some(inventory) => inventory.locate_key(&Path::dotted("spec")),
        None => whole(document),
    };
    let newest = Release::known_names().last().unwrap_or_default();
    Finding::new(
        &RELEASE_UNKNOWN,
        "nothing says which HCO release the cluster runs",
    )
    .at(place)
    .help(format!(
        "write `release: \"{newest}\"` into the inventory's spec, or give --release; known \
             are {}",
        known_names()
    ))
}

/// The place that stands for an object: its name, else its kind.
fn whole(document: &Document) -> Location {
    let root = &document.root;
    let name = root.get("metadata").and_then(|m| m.get("name"));
    let node = name.or_else(|| root.get("kind")).unwrap_or(root);
    document.location(node.span)
}
