//! SSP's stage: the objects that the SSP operator creates from the golden images in its SSP object.
//!
//! Source: SSP `internal/operands/data-sources` and `webhooks`, the same in all modelled releases; the differences are
//! in the release's [`SspBundle`].

mod admission;
mod architectures;
mod crons;
mod data_sources;
mod existing;
mod owner;
mod template;
#[cfg(test)]
mod tests;

use crate::prelude::*;

pub use existing::Existing;

use crate::release::SspBundle;
use hcoplan_kubernetes::ObjectId;

/// On every object for one architecture.
pub const ARCHITECTURE_LABEL: &str = "template.kubevirt.io/architecture";

/// On a DataImportCron for one architecture: its data source without the architecture.
pub const DATA_SOURCE_NAME_LABEL: &str = "cdi.kubevirt.io/storage.import.datasource-name";

/// On a DataSource that a DataImportCron keeps up to date: that cron's name.
pub const CRON_LABEL: &str = "cdi.kubevirt.io/dataImportCron";

/// The result for an SSP object.
#[derive(Debug, Clone)]
pub struct SspStage {
    /// The verdict of SSP's own webhook.
    pub admission: SspAdmission,
    /// Empty when rejected; else the constant objects, DataSources and DataImportCrons, each kind sorted by namespace
    /// and name.
    pub objects: Vec<Rendered>,
    /// The crons that SSP doesn't create, because others displace them.
    pub displaced: Vec<Displaced>,
}

/// What a DataSource's name leads to.
#[derive(Debug, Clone, Copy)]
pub enum SourceTarget<'s> {
    /// The import of this DataImportCron.
    Import(&'s Rendered),
    /// A claim of this name, which SSP doesn't create.
    Claim(&'s str),
    /// A missing DataSource of this name.
    Missing(&'s str),
    /// No DataSource has the name.
    NoSource,
}

impl SspStage {
    /// The objects of a kind.
    pub fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &Rendered> {
        self.objects.iter().filter(move |r| r.object.id.kind == kind)
    }

    /// A DataSource.
    pub fn source(&self, namespace: &str, name: &str) -> Option<&Rendered> {
        let mut sources = self.of_kind("DataSource");
        sources.find(|r| r.object.id.name == name && r.object.id.namespace.as_deref() == Some(namespace))
    }

    /// The DataImportCron that fills a DataSource.
    pub fn cron_of(&self, namespace: &str, source: &str) -> Option<&Rendered> {
        let mut crons = self.of_kind("DataImportCron");
        crons.find(|r| {
            r.object.body["spec"]["managedDataSource"] == *source && r.object.id.namespace.as_deref() == Some(namespace)
        })
    }

    /// The DataSource of the template bundle with the name of a claim, or the one behind it, if it leads to an import or
    /// to a claim of its own name: SSP found it there before the claim, and keeps it as it is.
    pub fn passing_over(&self, claim: &ObjectId) -> Option<&str> {
        let namespace = claim.namespace.as_deref()?;
        let claim = Some(&*claim.name).filter(|_| ["PersistentVolumeClaim", "DataVolume"].contains(&&*claim.kind))?;
        let source = self.source(namespace, claim).filter(|source| source.origin.bundle.is_some())?;
        let last = self.reference(namespace, claim).unwrap_or(&source.object.id.name);
        match self.target(namespace, claim) {
            SourceTarget::Claim(other) if other == claim || other != last => None,
            _ => Some(last),
        }
    }

    /// The DataSource that another refers to.
    pub fn reference(&self, namespace: &str, name: &str) -> Option<&str> {
        self.source(namespace, name)?.object.body.pointer("/spec/source/dataSource/name")?.as_str()
    }

    /// What a DataSource's name leads to: CDI follows one reference.
    pub fn target(&self, namespace: &str, name: &str) -> SourceTarget<'_> {
        let reference = self.reference(namespace, name);
        let name = reference.unwrap_or(name);
        match (self.cron_of(namespace, name), self.source(namespace, name), reference) {
            (Some(cron), ..) => SourceTarget::Import(cron),
            (None, Some(source), _) => {
                let claim = source.object.body.pointer("/spec/source/pvc/name").and_then(Value::as_str);
                SourceTarget::Claim(claim.unwrap_or_default())
            }
            (None, None, Some(target)) => SourceTarget::Missing(target),
            (None, None, None) => SourceTarget::NoSource,
        }
    }
}

/// The verdict of SSP's webhook on the SSP that HCO wants to create.
#[derive(Debug, Clone)]
pub struct SspAdmission {
    /// Whether the SSP is stored.
    pub accepted: bool,
    /// The webhook's message; empty when accepted.
    pub message: String,
    /// Why it is rejected.
    pub reason: Option<SspReason>,
}

impl SspAdmission {
    /// The message with which the SSP is rejected; `None` if it isn't.
    pub fn rejection(&self) -> Option<&str> {
        (!self.accepted).then_some(&self.message)
    }
}

/// Why SSP's webhook rejects an SSP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SspReason {
    /// Golden images for several architectures, but HCO found no node.
    NoCluster,
    /// The cluster's architectures.
    Architectures,
    /// A golden image without a name.
    NamelessTemplate,
}

/// An object with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The whole object, as the cluster would return it.
    pub object: Object,
    /// Where it comes from.
    pub origin: ObjectOrigin,
}

/// The origin of an object; all `None` for the constant ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectOrigin {
    /// The template that it was created from. For a DataSource: the one whose cron fills it or that made SSP create it;
    /// a bundle's DataSource without a cron has none.
    pub template: Option<TemplateId>,
    /// The template bundle's data source that it belongs to.
    pub bundle: Option<String>,
    /// Its architecture; for a reference the default one that it points to. `None` where SSP doesn't distinguish
    /// architectures.
    pub architecture: Option<String>,
}

impl ObjectOrigin {
    /// The name of its template; empty where there is none.
    pub fn name(&self) -> &str {
        self.template.as_ref().map_or("", |template| template.name.as_str())
    }
}

/// A template of the SSP's list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TemplateId {
    /// Its index in `spec.commonTemplates.dataImportCronTemplates`.
    pub index: usize,
    /// `metadata.name`, which HCO's stage uses, too.
    pub name: String,
}

/// A DataImportCron that SSP silently doesn't create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Displaced {
    /// The template and architecture whose image is never imported.
    pub origin: ObjectOrigin,
    /// What displaces it.
    pub by: Displacer,
}

/// What displaces a DataImportCron.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Displacer {
    /// A later template's cron for the same DataSource in the same namespace.
    SameDataSource(ObjectOrigin),
    /// Another cron of the same name for another DataSource. SSP has no rule for this: either one wins by chance, or
    /// SSP recreates both in every reconcile.
    SameName(ObjectOrigin),
    /// A DataSource of this name that SSP creates and no cron may change.
    DataSource(String),
    /// A claim of this name, which SSP keeps as the DataSource's disk.
    Claim(String),
}

/// Renders `ssp`, the object as HCO creates it (jsonpatch applied), in a cluster with these claims and DataSources.
pub fn render(ssp: &Value, bundle: &SspBundle, existing: &Existing) -> SspStage {
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
    let sources = data_sources::plan(&templates, multi_arch, &cluster, &mut crons, (existing, bundle));

    let owner = owner::of(ssp);
    let constant = bundle.objects(&owner).map(|object| Rendered { object, origin: ObjectOrigin::default() });
    let namespace = &bundle.golden_images_namespace;
    let sources = sources.into_iter().map(|s| s.into_object(namespace, &owner));
    stage.displaced = crons.displaced;
    let crons = crons::unique_names(crons.planned, &mut stage.displaced);
    let crons = crons.into_iter().map(|c| c.into_object(&owner));
    stage.objects = constant.chain(sources).chain(crons).collect();
    stage
}

fn is_multi_arch(spec: &Value) -> bool {
    spec["enableMultipleArchitectures"] == true
}
