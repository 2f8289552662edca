//! The files of a plan in its cluster's directory.

use hcoplan_kubernetes::{Object, ObjectId};
use hcoplan_planner::plan::Plan;

use super::kustomization::{self, KUSTOMIZATION};
use super::manifest::{CLUSTER_MANIFEST, Manifest};
use super::names::file_names;
use super::text::text;
use crate::prelude::*;

/// One object's file.
#[derive(Debug)]
pub struct File {
    /// Its name in the cluster's directory.
    pub name: String,
    /// The object.
    pub id: Arc<ObjectId>,
    /// The name of the object's operand in the release's order of work.
    pub operand: &'static str,
    /// The whole file.
    pub text: String,
}

/// The files of a cluster's directory.
#[derive(Debug)]
pub struct ClusterFiles {
    /// The cluster's id.
    pub cluster: String,
    /// Grouped by operand in the operator's order of work, then SSP's stage.
    pub files: Vec<File>,
    /// The text of the cluster's manifest.
    pub manifest: String,
    /// The text of its kustomization, if it has one.
    pub kustomization: Option<String>,
}

/// The group of the objects that SSP renders.
const SSP_STAGE: &str = "ssp-data-sources";

impl ClusterFiles {
    /// The names and the texts of all files.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let kustomization = self.kustomization.iter().map(|text| (KUSTOMIZATION, text.as_str()));
        let files = self.files.iter().map(|file| (file.name.as_str(), file.text.as_str()));
        [(CLUSTER_MANIFEST, self.manifest.as_str())].into_iter().chain(kustomization).chain(files)
    }

    /// The files of a plan's objects that `only` accepts.
    pub fn new(cluster: &str, plan: &Plan, only: impl Fn(&ObjectId) -> bool) -> Self {
        let objects: Vec<_> = grouped(plan).filter(|(_, o)| only(&o.id)).collect();
        let ids: Vec<_> = objects.iter().map(|(_, o)| &*o.id).collect();
        let names = file_names(&ids);
        let files: Vec<_> = objects
            .into_iter()
            .zip(names)
            .map(|((operand, object), name)| File { name, id: object.id.clone(), operand, text: text(&object.body) })
            .collect();
        let manifest = Manifest::new(cluster);
        Self { cluster: cluster.to_owned(), files, manifest: manifest.to_text(), kustomization: None }
    }

    /// The same directory with a kustomization.
    #[must_use]
    pub fn with_kustomization(self) -> Self {
        let names = self.files.iter().map(|f| f.name.as_str());
        let kustomization = Some(kustomization::text(names));
        let manifest = Manifest { kustomization: true, ..Manifest::new(&self.cluster) };
        Self { kustomization, manifest: manifest.to_text(), ..self }
    }
}

/// The plan's objects with their group, in the order of the tree.
pub(super) fn grouped(plan: &Plan) -> impl Iterator<Item = (&'static str, &Object)> {
    let operands = plan.operands.iter().map(|(name, object)| (*name, object));
    let stage = plan.ssp.iter().flat_map(|s| &s.objects);
    operands.chain(stage.map(|r| (SSP_STAGE, &r.object)))
}
