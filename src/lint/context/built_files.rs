//! Which files of a directory are applied together.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::Context;
use crate::repo::Neighbours;
use crate::yaml::Node;

/// The files that kustomizations name as resources, by directory.
#[derive(Debug)]
pub struct Built<'d>(BTreeMap<&'d Utf8Path, BTreeSet<&'d str>>);

impl<'d> Built<'d> {
    fn of(neighbours: &'d Neighbours) -> Self {
        let mut out: BTreeMap<&Utf8Path, BTreeSet<&str>> = BTreeMap::new();
        // Neither apiVersion nor kind has to be there.
        for kind in ["Kustomization", ""] {
            for document in neighbours.of_kind(kind) {
                let path = document.file.path();
                let is_one = path
                    .file_stem()
                    .is_some_and(|s| s.eq_ignore_ascii_case("kustomization"));
                let resources = document.root.get("resources").map(Node::items);
                if let (true, Some(directory)) = (is_one, path.parent()) {
                    let names = resources
                        .unwrap_or_default()
                        .iter()
                        .filter_map(Node::as_str);
                    let names = names.map(|n| n.trim_start_matches("./"));
                    out.entry(directory).or_default().extend(names);
                }
            }
        }
        Self(out)
    }

    /// Whether a file is built with its directory.
    pub fn has(&self, file: &Utf8Path) -> bool {
        let named = file.parent().and_then(|d| self.0.get(d));
        named.is_none_or(|names| file.file_name().is_some_and(|f| names.contains(f)))
    }

    /// Whether its directory has a kustomization.
    pub fn is_kustomized(&self, file: &Utf8Path) -> bool {
        file.parent().is_some_and(|d| self.0.contains_key(d))
    }
}

impl Context<'_> {
    /// Which files kustomizations in the cluster's directory name.
    pub fn built_files(&self) -> Built<'_> {
        Built::of(self.neighbours())
    }
}
