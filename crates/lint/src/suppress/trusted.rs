//! Which of the suppressions that stand in documents count.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{SourceFile, Tree as _};
use hcoplan_kubernetes::ObjectId;
use hcoplan_repository::repo::{CHANGE_NOT_TRUSTED, Trust, TrustBase};
use hcoplan_yaml::{self as yaml, Document};

use super::super::suppression::{Scope, Suppression};
use super::read;

/// A suppression as it is recognised in another revision: the object, the rules, until when, why,
/// and the key of the line that it is about.
type Key = (String, String, String, String, String);

/// What a run trusts, and how often each suppression of it was met.
pub(super) struct Trusted<'t> {
    trust: &'t Trust,
    known: BTreeMap<Utf8PathBuf, BTreeMap<Key, usize>>,
}

impl<'t> Trusted<'t> {
    pub(super) fn new(trust: &'t Trust) -> Self {
        let known = BTreeMap::new();
        Self { trust, known }
    }

    /// Those of a document's suppressions that count. The others are told.
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
        for suppression in all {
            if base.is_some_and(|base| self.has(base, document, &suppression)) {
                counting.push(suppression);
                continue;
            }
            let message = match base {
                Some(base) => {
                    let name = base.name();
                    format!("{name}, which is trusted, doesn't have this suppression here")
                }
                None => "suppressions of the repository don't count here".to_owned(),
            };
            let finding = Finding::new(&CHANGE_NOT_TRUSTED, message);
            about.push(finding.at(suppression.place).label("has no effect"));
        }
        counting
    }

    /// Whether the base has a suppression, once more than it was asked for.
    fn has(&mut self, base: &TrustBase, document: &Document, suppression: &Suppression) -> bool {
        let path = document.file.path();
        let known = self.known.entry(path.to_owned());
        let known = known.or_insert_with(|| in_base(base, path));
        match known.get_mut(&key(document, suppression)) {
            Some(left @ 1..) => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

/// The suppressions of a file in the base, with how many there are of each.
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
            for suppression in found {
                *out.entry(key(&object, &suppression)).or_default() += 1;
            }
        }
    }
    out
}

/// A document, and each item of it that is one for itself.
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

fn key(document: &Document, suppression: &Suppression) -> Key {
    let names: Vec<&str> = suppression.rules.iter().map(|r| r.name()).collect();
    let line = match &suppression.scope {
        Scope::Bytes(span) => {
            let text = document.file.text().get(span.range()).unwrap_or_default();
            let line = text.lines().next().unwrap_or_default();
            line.split(':').next().unwrap_or_default().trim().to_owned()
        }
        Scope::Matching { .. } => String::new(),
    };
    (
        ObjectId::of(&document.root.to_json()).to_string(),
        names.join(","),
        suppression.until.map(|d| d.to_string()).unwrap_or_default(),
        suppression.reason.clone(),
        line,
    )
}
