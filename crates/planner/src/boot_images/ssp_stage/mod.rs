//! SSP's stage: what the SSP operator makes of the golden images in its SSP object.
//!
//! Source of the rules: SSP's `internal/operands/data-sources` and `webhooks`, the same in all
//! modelled releases; what differs is in the release's [`SspBundle`]. The cluster is taken as
//! fresh: no PVC with a golden image's name, nothing left over from an earlier SSP.

mod admission;
mod architectures;
mod crons;
mod data_sources;
mod owner;
mod template;
#[cfg(test)]
mod tests;

use serde_json::Value;

use hcoplan_kubernetes::Object;

use crate::release::SspBundle;

/// On every object that is for one architecture.
pub const ARCHITECTURE_LABEL: &str = "template.kubevirt.io/architecture";

/// On a DataImportCron for one architecture: its data source without the architecture.
pub const DATA_SOURCE_NAME_LABEL: &str = "cdi.kubevirt.io/storage.import.datasource-name";

/// On a DataSource that a DataImportCron keeps up to date: that cron's name.
pub const CRON_LABEL: &str = "cdi.kubevirt.io/dataImportCron";

/// What SSP would do with an SSP object.
#[derive(Debug, Clone, PartialEq)]
pub struct SspStage {
    /// The verdict of SSP's own webhook.
    pub admission: SspAdmission,
    /// Empty when rejected; else the constant objects, DataSources, DataImportCrons, each kind
    /// sorted by namespace and name.
    pub objects: Vec<Rendered>,
    /// The crons that would have been there if others had not taken their place, in no object.
    pub displaced: Vec<Displaced>,
}

/// The verdict of SSP's webhook on the SSP that HCO wants to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SspAdmission {
    /// Whether the SSP gets into the cluster.
    pub accepted: bool,
    /// Why not, in the webhook's words; empty when accepted.
    pub message: String,
    /// What was examined when it was rejected.
    pub reason: Option<SspReason>,
}

/// What SSP's webhook examined when it rejected an SSP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SspReason {
    /// Golden images for several architectures, and HCO found no node.
    NoCluster,
    /// The architectures of the cluster.
    Architectures,
    /// A golden image without a name.
    NamelessTemplate,
}

/// An object and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The whole object, as it would be read back.
    pub object: Object,
    /// Where it comes from.
    pub origin: ObjectOrigin,
}

/// What an object of the stage is made for; all `None` for the constant ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectOrigin {
    /// The template it was made from. For a DataSource: the one whose cron keeps it up to date or
    /// that made SSP create it; a bundle's DataSource without a cron has none.
    pub template: Option<TemplateId>,
    /// The template bundle's data source that it belongs to.
    pub bundle: Option<String>,
    /// The architecture that it is for; for a reference the default one that it leads to. `None`
    /// where SSP tells none apart.
    pub architecture: Option<String>,
}

impl ObjectOrigin {
    /// The name of the template that it was made from; empty where there is none.
    pub fn name(&self) -> &str {
        self.template.as_ref().map_or("", |template| template.name.as_str())
    }
}

/// A template of the SSP's list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TemplateId {
    /// Its index in `spec.commonTemplates.dataImportCronTemplates`.
    pub index: usize,
    /// `metadata.name`, by which HCO's stage knows it, too.
    pub name: String,
}

/// A DataImportCron that SSP silently doesn't create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Displaced {
    /// The template and architecture whose image is never imported.
    pub origin: ObjectOrigin,
    /// What has its place.
    pub by: Displacer,
}

/// What takes a DataImportCron's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Displacer {
    /// A later template's cron for the same DataSource in the same namespace.
    SameDataSource(ObjectOrigin),
    /// Another cron of the same name for another DataSource. SSP has no rule for it: one of the two wins by chance, or
    /// SSP recreates both in every reconcile.
    SameName(ObjectOrigin),
    /// A DataSource of this name that SSP makes itself and that no cron may touch.
    DataSource(String),
}

/// What SSP does with `ssp`, the object as HCO creates it (jsonpatch applied).
pub fn render(ssp: &Value, bundle: &SspBundle) -> SspStage {
    let spec = &ssp["spec"];
    let templates = template::read(spec, bundle);
    let rejection = admission::rejection(spec, &templates, bundle);
    let (reason, message) = rejection.unzip();
    let admission = SspAdmission { accepted: reason.is_none(), message: message.unwrap_or_default(), reason };
    let mut stage = SspStage { admission, objects: Vec::new(), displaced: Vec::new() };
    if !stage.admission.accepted {
        return stage;
    }
    let multi_arch = is_multi_arch(spec);
    let cluster = architectures::of_cluster(spec, bundle);
    let mut crons = crons::plan(&templates, multi_arch, &cluster, bundle);
    let sources = data_sources::plan(&templates, multi_arch, &cluster, &mut crons, bundle);

    let owner = owner::of(ssp);
    let constant = bundle.objects(&owner).map(|object| Rendered { object, origin: ObjectOrigin::default() });
    stage.objects.extend(constant);
    let namespace = &bundle.golden_images_namespace;
    let sources = sources.into_iter().map(|s| s.into_object(namespace, &owner));
    stage.objects.extend(sources);
    stage.displaced = crons.displaced;
    let crons = crons::unique_names(crons.planned, &mut stage.displaced);
    let crons = crons.into_iter().map(|c| c.into_object(&owner));
    stage.objects.extend(crons);
    stage
}

fn is_multi_arch(spec: &Value) -> bool {
    spec["enableMultipleArchitectures"].as_bool().unwrap_or_default()
}
