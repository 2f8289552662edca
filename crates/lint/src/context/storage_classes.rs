//! Storage classes: the declared ones, and whether others may exist.

use super::prelude::*;
use super::{Context, WrittenTemplate};
use crate::lists::labels_of;

const KIND: &str = "StorageClass";

/// Kinds from which operators create storage classes.
static MAKERS: Rows<&str> = Rows::of("classMakers");

/// Kinds with manifests that are completed before they are applied.
static TEMPLATES: Rows<&str> = Rows::of("classTemplates");

/// Provisioners that attach a volume to only one node, unless a parameter starts like this, with the modes that a claim
/// may ask for: the first one is the default.
///
/// Source: CDI `pkg/storagecapabilities/storagecapabilities.go`, the same at v1.63.1, v1.64.0, v1.65.0 and v1.66.0.
static OF_ONE_NODE: Rows<(&str, Vec<&str>, Vec<String>)> = Rows::of("provisionersOfOneNode");

/// A disk created by CDI.
#[derive(Debug)]
pub struct DiskSpec<'c> {
    /// What requests it: `golden image fedora`.
    pub who: String,
    /// The `spec` of its DataVolume.
    pub spec: &'c Node,
    /// The document of the `spec`.
    pub document: &'c Document,
    /// The namespace of the DataVolume; empty if it isn't known.
    pub namespace: &'c str,
}

/// The access modes offered by a class.
#[derive(Debug)]
pub struct OfferedModes {
    /// The modes, sorted.
    pub modes: Vec<String>,
    /// Those of a claim that names none. Source: CDI `pkg/controller/datavolume/util.go` (`getDefaultAccessModes`).
    pub default: Vec<String>,
    /// The location of the source; `None` for a known provisioner.
    pub place: Option<Location>,
}

impl<'a> Context<'a> {
    /// The disks requested by golden images, DataImportCrons, DataVolumes and virtual machines.
    pub fn disk_specs(&self) -> Vec<DiskSpec<'_>> {
        let mut out = Vec::new();
        for template in self.written_templates().filter(WrittenTemplate::is_enabled) {
            if let Some(spec) = template.get("spec.template.spec") {
                let is_own =
                    |cron: &&Rendered| cron.origin.template.as_ref().is_some_and(|t| t.name == template.name());
                let cron = self.import_crons().find(is_own);
                let namespace = cron.and_then(|cron| cron.object.id.namespace.as_deref()).unwrap_or_default();
                out.push(DiskSpec { who: template.to_string(), spec, document: self.document(), namespace });
            }
        }
        for (kind, path) in [("DataImportCron", "spec.template.spec"), ("DataVolume", "spec")] {
            for document in self.other_objects().of_kind(kind) {
                let who = format!("the {kind} {}", name_of(document));
                let namespace = namespace_of(document);
                out.extend(document.root.below(path).map(|spec| DiskSpec { who, spec, document, namespace }));
            }
        }
        for vm in self.virtual_machines() {
            for (_, spec) in vm.templates() {
                let namespace = namespace_of(vm.document);
                out.push(DiskSpec { who: vm.to_string(), spec, document: vm.document, namespace });
            }
        }
        out
    }

    /// What CDI imports: the names and sources of golden images and of disks of the repository.
    pub fn import_sources(&self) -> impl Iterator<Item = (String, Value)> {
        let crons = self.import_crons().map(|c| &c.object);
        let crons = crons.map(|c| (c.id.name.clone(), c.body["spec"]["template"]["spec"]["source"].clone()));
        let disks = self.disk_specs().into_iter().filter(|disk| !std::ptr::eq(disk.document, self.document()));
        crons.chain(disks.map(|disk| (name_of(disk.document).to_owned(), json_of(disk.spec.get("source")))))
    }

    /// The access modes offered by a storage class for a volume mode, or for any if that is empty: those of its
    /// StorageProfile, else those known of its provisioner. `None` if unknown.
    pub fn offered_modes(&self, class: &str, volume_mode: &str) -> Option<OfferedModes> {
        let named = |kind| self.named(kind, None, class);
        let path = Path::dotted("spec.claimPropertySets");
        let profile = named("StorageProfile").and_then(|d| Some((d, d.root.at(&path)?)));
        if let Some((document, node)) = profile.filter(|(_, node)| !node.items().is_empty()) {
            let fits = |set: &&Node| volume_mode.is_empty() || set.text_at("volumeMode") == Some(volume_mode);
            let sets = node.items().iter().filter(fits).filter_map(|set| set.get("accessModes"));
            let sets: Vec<Vec<String>> =
                sets.map(|modes| strings(modes.items()).map(str::to_owned).collect()).collect();
            let modes: BTreeSet<String> = sets.iter().flatten().cloned().collect();
            let modes = modes.into_iter().collect();
            let default = sets.into_iter().find(|set| volume_mode.is_empty() || !set.is_empty()).unwrap_or_default();
            return Some(OfferedModes { modes, default, place: Some(document.locate_key(&path)) });
        }
        let class = named("StorageClass")?;
        let (_, others, modes) = OF_ONE_NODE.iter().find(|(name, ..)| *name == class.text("provisioner"))?;
        let mut parameters = labels_of(class.root.get("parameters")).map(|(key, value)| format!("{key}={value}"));
        let is_other = parameters.any(|parameter| others.iter().any(|other| parameter.starts_with(other)));
        let default = modes.iter().take(1).cloned().collect();
        (!is_other).then(|| OfferedModes { default, modes: modes.clone(), place: None })
    }

    /// The declared storage classes for disks.
    pub fn storage_classes(&self) -> impl Iterator<Item = &Arc<Document>> {
        let classes = self.of_kind(KIND).iter();
        // Others are for object buckets: of NooBaa, or of Ceph's object gateway.
        classes.filter(|class| !["/bucket", "/obc"].iter().any(|end| class.text("provisioner").ends_with(end)))
    }

    /// Whether the repository has objects that create storage classes, so that the list of classes is incomplete.
    pub fn has_classes_from_elsewhere(&self) -> bool {
        let other_objects = self.other_objects();
        let made = MAKERS.iter().any(|k| !other_objects.of_kind(k).is_empty());
        let of_kind = TEMPLATES.iter().flat_map(|k| other_objects.of_kind(k));
        let mut templates = of_kind.map(|d| d.location(d.span));
        let mut texts = self.texts().iter();
        let mut files = other_objects.templates.iter();
        // A path is a chart of a repository, a name that of another place.
        let is_remote = |chart: &str| !chart.is_empty() && !chart.contains('/');
        let has_chart = |d: &Arc<Document>| {
            let sources = d.root.list_at("spec.sources").iter().filter_map(|source| source.text_at("chart"));
            let own = ["spec.source.chart", "spec.chart.spec.chart", "spec.chart"].map(|path| d.root.text_at(path));
            own.into_iter().flatten().chain(sources).any(is_remote)
        };
        let mut charts = ["Application", "HelmChart", "HelmRelease"].iter().flat_map(|k| other_objects.of_kind(k));
        made || charts.any(has_chart)
            || templates.any(|template| template.text().contains(KIND))
            || texts.any(|file| file.mentions("kind: StorageClass") && file.mentions("{{"))
            || files.any(|file| file.mentions(KIND))
    }
}

/// Annotation of the default class for virtual machines.
pub(crate) const VIRT_DEFAULT: &str = "storageclass.kubevirt.io/is-default-virt-class";

/// The location of the annotation that makes a class the default; `None` if it isn't.
pub(crate) fn default_place(class: &Document, annotation: &str) -> Option<Location> {
    let path = Path::annotation(annotation);
    let value = class.root.at(&path)?.as_str();
    (value == Some("true")).then(|| class.locate(&path))
}
