//! Determines which suppressions in documents are trusted.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{SourceFile, Tree as _};
use hcoplan_kubernetes::ObjectId;
use hcoplan_repository::repo::{CHANGE_NOT_TRUSTED, Trust, TrustBase};
use hcoplan_yaml::{self as yaml, Document};

use super::super::suppression::{Scope, Suppression};
use super::read;

/// The identity of a suppression in different revisions: object, rules, expiry, reason, and the paths it applies to;
/// none for the whole object.
type Key = (String, String, String, String, Vec<String>);

/// The trust source, and the number of uses of each suppression.
pub(super) struct Trusted<'t> {
    trust: &'t Trust,
    known: BTreeMap<Utf8PathBuf, BTreeMap<Key, usize>>,
}

impl<'t> Trusted<'t> {
    pub(super) fn new(trust: &'t Trust) -> Self {
        let known = BTreeMap::new();
        Self { trust, known }
    }

    /// A document's trusted suppressions. Reports the others.
    pub(super) fn of(
        &mut self,
        document: &Document,
        all: Vec<Suppression>,
        about: &mut Vec<Finding>,
    ) -> Vec<Suppression> {
        let base = match self.trust {
            Trust::Files => return all,
            Trust::Base(base) => Some(base),
            Trust::Nobody => None,
        };
        let mut counting = Vec::new();
        let about_what = Places::of(document, all.len());
        for suppression in all {
            if base.is_some_and(|base| self.has(base, &about_what, document, &suppression)) {
                counting.push(suppression);
                continue;
            }
            let message = match base {
                Some(base) => {
                    let name = base.name();
                    format!("{name}, which is trusted, doesn't have this suppression here")
                }
                None => "suppressions of the repository are ignored here".to_owned(),
            };
            let finding = Finding::new(&CHANGE_NOT_TRUSTED, message);
            about.push(finding.at(suppression.place).label("has no effect"));
        }
        counting
    }

    /// Whether the base has a suppression more often than it was used.
    fn has(&mut self, base: &TrustBase, places: &Places, document: &Document, suppression: &Suppression) -> bool {
        let path = document.file.path();
        let known = self.known.entry(path.to_owned());
        let known = known.or_insert_with(|| in_base(base, path));
        match known.get_mut(&places.key(document, suppression)) {
            Some(left @ 1..) => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

/// The suppressions of a file in the base with their counts.
fn in_base(base: &TrustBase, path: &Utf8Path) -> BTreeMap<Key, usize> {
    let mut out = BTreeMap::new();
    let Ok(bytes) = base.tree().read(path) else {
        return out;
    };
    for document in yaml::parse(&SourceFile::from_bytes(path, bytes)).documents {
        for object in objects(document) {
            let mut found = Vec::new();
            let mut about = Vec::new();
            read::comments(&object, &mut found, &mut about);
            read::annotation(&object, &mut found, &mut about);
            let places = Places::of(&object, found.len());
            for suppression in found {
                *out.entry(places.key(&object, &suppression)).or_default() += 1;
            }
        }
    }
    out
}

/// A document, and each item of it that is an object itself.
fn objects(document: Document) -> Vec<Document> {
    let items = document.root.get("items").map_or(&[][..], |i| i.items());
    let item = |root: &yaml::Node| {
        let inside = |at: u32| root.span.start <= at && at < root.span.end;
        let comments = document.comments.iter().copied();
        Document {
            file: document.file.clone(),
            index: document.index,
            span: root.span,
            root: root.clone(),
            comments: comments.filter(|c| inside(c.span.start)).collect(),
        }
    };
    let mut out: Vec<Document> = items.iter().map(item).collect();
    out.push(document);
    out
}

/// Identifies suppressions of an object by the path of the node at an offset.
struct Places {
    object: String,
    paths: BTreeMap<u32, String>,
}

impl Places {
    /// For a document with this many suppressions.
    fn of(document: &Document, suppressions: usize) -> Self {
        let mut places = Self { object: String::new(), paths: BTreeMap::new() };
        if suppressions > 0 {
            places.object = ObjectId::of(&document.root.to_json()).to_string();
            places.add(&document.root, "");
        }
        places
    }

    /// A named element of a list is identified by its name, so that it may move.
    fn add(&mut self, node: &yaml::Node, path: &str) {
        for entry in node.entries() {
            let path = format!("{path}/{}", entry.key.text);
            self.add(&entry.value, &path);
            self.paths.insert(entry.key.span.start, path);
        }
        for (index, item) in node.items().iter().enumerate() {
            let name = item.get("name").or_else(|| item.get("metadata")?.get("name"));
            let path = match name.and_then(yaml::Node::as_str) {
                Some(name) => format!("{path}[{name}]"),
                None => format!("{path}[{index}]"),
            };
            self.add(item, &path);
            self.paths.entry(item.span.start).or_insert(path);
        }
    }

    fn key(&self, document: &Document, suppression: &Suppression) -> Key {
        let names: Vec<&str> = suppression.rules.iter().map(|r| r.name()).collect();
        let about = match suppression.scope {
            // An annotation applies to its object.
            Scope::Bytes(span) if span != document.span => {
                self.paths.range(span.start..span.end).map(|(_, path)| path.clone()).collect()
            }
            _ => Vec::new(),
        };
        (
            self.object.clone(),
            names.join(","),
            suppression.until.map(|d| d.to_string()).unwrap_or_default(),
            suppression.reason.clone(),
            about,
        )
    }
}
