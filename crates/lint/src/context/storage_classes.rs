//! Storage classes: those that are declared, and whether there are others.

use std::sync::Arc;

use hcoplan_diagnostics::source::Location;
use hcoplan_yaml::{Document, Path};

use super::Context;

const KIND: &str = "StorageClass";

/// What an operator makes storage classes of.
const MAKERS: [&str; 7] = [
    "HostPathProvisioner",
    "LVMCluster",
    "LocalVolume",
    "LocalVolumeSet",
    "StorageClient",
    "StorageCluster",
    "StorageSystem",
];

/// What holds manifests that are completed before they are applied.
const TEMPLATES: [&str; 5] = ["ConfigurationPolicy", "HelmChart", "HelmRelease", "Policy", "Template"];

impl Context<'_> {
    /// The storage classes that are declared beside the HyperConverged and hold disks.
    pub fn storage_classes(&self) -> impl Iterator<Item = &Arc<Document>> {
        let classes = self.other_objects().of_kind(KIND).iter();
        classes.filter(|class| !is_for_buckets(class))
    }

    /// Whether storage classes come from what the repository declares, without being declared themselves: then
    /// nobody knows which there are.
    pub fn has_classes_from_elsewhere(&self) -> bool {
        let other_objects = self.other_objects();
        let made = MAKERS.iter().any(|k| !other_objects.of_kind(k).is_empty());
        let of_kind = TEMPLATES.iter().flat_map(|k| other_objects.of_kind(k));
        let mut templates = of_kind.map(|d| {
            let (start, end) = (d.span.start as usize, d.span.end as usize);
            d.file.text().get(start..end).unwrap_or_default()
        });
        let mut texts = self.texts().iter().map(|file| file.text());
        let mut files = other_objects.templates().iter();
        made || templates.any(|t| t.contains(KIND))
            || texts.any(|t| t.contains("kind: StorageClass") && t.contains("{{"))
            || files.any(|file| file.text().contains(KIND))
    }
}

/// Marks the default class of virtual machines.
pub(crate) const VIRT_DEFAULT: &str = "storageclass.kubevirt.io/is-default-virt-class";

/// Marks the cluster's default class.
pub(crate) const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

/// Where an annotation makes a class a default one; `None` where it doesn't.
pub(crate) fn default_place(class: &Document, annotation: &str) -> Option<Location> {
    let path = Path::dotted("metadata.annotations").key(annotation);
    let value = class.root.at(&path)?.as_str();
    (value == Some("true")).then(|| class.locate(&path))
}

/// Whether a class is for object buckets, which hold no disks: of NooBaa, or of Ceph's object gateway.
fn is_for_buckets(class: &Document) -> bool {
    let provisioner = class.root.at(&Path::dotted("provisioner"));
    let provisioner = provisioner.and_then(|n| n.as_str()).unwrap_or_default();
    ["/bucket", "/obc"].iter().any(|end| provisioner.ends_with(end))
}
