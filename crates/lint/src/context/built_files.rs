//! Which files of a directory are applied together.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_repository::repo::Neighbours;
use hcoplan_yaml::Node;

use super::Context;

/// The files that kustomizations name as resources, by directory.
#[derive(Debug)]
pub struct BuiltFiles<'d>(BTreeMap<&'d Utf8Path, Named<'d>>);

/// What a kustomization names.
#[derive(Debug, Default)]
struct Named<'d> {
    files: BTreeSet<&'d str>,
    /// Whether it does more than list resources.
    changes: bool,
}

/// The keys of a kustomization that does nothing but list.
const LISTS: [&str; 4] = ["apiVersion", "kind", "metadata", "resources"];

impl<'d> BuiltFiles<'d> {
    fn of(neighbours: &'d Neighbours) -> Self {
        let mut out: BTreeMap<&Utf8Path, Named<'_>> = BTreeMap::new();
        // Neither apiVersion nor kind has to be there.
        for kind in ["Kustomization", ""] {
            for document in neighbours.of_kind(kind) {
                let path = document.file.path();
                let is_one = path.file_stem().is_some_and(|s| s.eq_ignore_ascii_case("kustomization"));
                let resources = document.root.get("resources").map(Node::items);
                if let (true, Some(directory)) = (is_one, path.parent()) {
                    let names = resources.unwrap_or_default().iter().filter_map(Node::as_str);
                    let names = names.map(|n| n.trim_start_matches("./"));
                    let named = out.entry(directory).or_default();
                    named.files.extend(names);
                    let mut keys = document.root.entries().iter().map(|e| e.key.text.as_str());
                    named.changes |= keys.any(|key| !LISTS.contains(&key));
                }
            }
        }
        Self(out)
    }

    /// Whether a file is built with its directory, or is the build itself.
    pub fn has(&self, file: &SourceFile) -> bool {
        if file.is_made() {
            return true;
        }
        let file = file.path();
        let named = file.parent().and_then(|d| self.0.get(d));
        named.is_none_or(|named| file.file_name().is_some_and(|f| named.files.contains(f)))
    }

    /// Whether a file's objects are applied as they are written.
    pub fn is_as_written(&self, file: &Utf8Path) -> bool {
        let named = file.parent().and_then(|d| self.0.get(d));
        named.is_none_or(|named| !named.changes)
    }

    /// Whether its directory has a kustomization.
    pub fn is_kustomized(&self, file: &Utf8Path) -> bool {
        file.parent().is_some_and(|d| self.0.contains_key(d))
    }
}

impl Context<'_> {
    /// Which files kustomizations in the cluster's directory name.
    pub fn built_files(&self) -> BuiltFiles<'_> {
        BuiltFiles::of(self.neighbours())
    }
}
