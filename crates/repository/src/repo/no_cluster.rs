//! What was found in a repository and gives no cluster, although somebody meant one.

use std::collections::{BTreeSet, HashSet};

use hcoplan_diagnostics::finding::Finding;
use hcoplan_planner::inventory::SourceKind;

use super::Repo;
use super::almost::{self, unused_inventory};
use super::carriers::named;
use super::objects::{ObjectRef, Objects, SourceRef, parent};
use super::patches::generated;

impl Repo {
    /// Takes out the HyperConvergeds of which PolicyGenerators want nothing but that they are gone, and says so.
    pub(super) fn take_unwanted(&self, objects: &mut Objects) -> Vec<Finding> {
        let object = |o: &ObjectRef| self.content(o.file).ok()?.object(o.place);
        let generators = objects.patching.iter().filter_map(object);
        let generated: Vec<_> = generators.flat_map(|d| generated(&d)).collect();
        let mut findings = Vec::new();
        objects.hyperconvergeds.retain(|one| {
            let path = &self.paths[one.file as usize];
            let mut own = generated.iter().filter(|(of, _)| path.starts_with(of));
            let is_kept = own.clone().next().is_none() || own.any(|(_, unwanted)| !unwanted);
            let removed = if is_kept { None } else { object(one) };
            findings.extend(removed.map(|document| named::removed(&document)));
            is_kept
        });
        findings
    }

    /// Says what was meant to be a cluster and is none: objects that are nearly HyperConvergeds, and
    /// inventories that no cluster has.
    pub(super) fn say_what_is_no_cluster(&mut self, objects: &Objects) {
        let mut findings = Vec::new();
        for object in &objects.almost {
            let content = self.content(object.file).ok();
            let document = content.and_then(|c| c.object(object.place));
            findings.extend(document.map(|d| almost::finding(&d)));
        }
        // Of a build it is the file that it is made of.
        findings.iter_mut().for_each(Finding::point_at_origins);
        let mut said = HashSet::new();
        findings.retain(|f| {
            let place = f.location.as_ref();
            let place = place.map(|l| (l.file.path().to_owned(), l.span.start));
            said.insert((place, f.message.clone()))
        });
        for object in &objects.named {
            if let Ok(content) = self.content(object.file) {
                findings.extend(content.named(object.place.document));
            }
        }
        if objects.given.is_empty() && !objects.is_one_file {
            let used: BTreeSet<SourceRef> = self.clusters.iter().flat_map(|c| c.sources.iter().copied()).collect();
            let unused = objects.sources.iter().filter(|s| !used.contains(s));
            let declared = unused.filter(|s| s.kind == SourceKind::Declared);
            // Its HyperConverged may be in a file that can't be read, which is said.
            let problems = self.problems.iter().filter_map(|p| p.finding.location.as_ref());
            let broken: Vec<_> = problems.map(|place| place.file.path()).collect();
            let declared = declared.filter(|s| {
                let directory = parent(objects.path(s.object));
                // That those aren't planned is said.
                let mut unbuilt = objects.unbuilt.iter().chain(&objects.unrendered);
                let is_unbuilt = unbuilt.any(|d| d.starts_with(directory));
                !is_unbuilt && !broken.iter().any(|path| path.starts_with(directory))
            });
            let places = declared.filter_map(|s| self.named_at(s.object));
            findings.extend(places.map(unused_inventory));
        }
        self.findings.append(&mut findings);
    }
}
