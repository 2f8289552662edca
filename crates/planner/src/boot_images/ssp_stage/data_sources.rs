//! DataSources: the bundle's, and the references that give an image its plain name.

use super::architectures::{default_of, of_annotation};
use super::crons::Crons;
use super::template::CronTemplate;
use super::{ARCHITECTURE_LABEL, CRON_LABEL, Displaced, Displacer, Existing, ObjectOrigin, Rendered, owner};
use crate::prelude::*;
use crate::release::{SspBundle, SspOwner};
use hcoplan_kubernetes::tree::object;

/// A DataSource before it is written out. All are in the golden images' namespace.
#[derive(Debug)]
pub(super) struct DataSource {
    name: String,
    content: Content,
    origin: ObjectOrigin,
    /// Whether its architecture is also a label; references have no such label.
    labelled: bool,
}

/// The source of a DataSource.
#[derive(Debug)]
enum Content {
    /// The claim with this name, which SSP doesn't create.
    Claim(String),
    /// CDI sets it to the image that this cron imports.
    Cron(String),
    /// Another DataSource.
    Reference(String),
}

impl DataSource {
    /// One of the bundle's, filled by the cron for this name and namespace if there is one and no claim prevents it.
    fn of_bundle(
        name: String,
        bundle_name: &str,
        architecture: Option<&str>,
        (crons, existing, bundle): (&Crons, &Existing, &SspBundle),
    ) -> Self {
        let target = (bundle.golden_images_namespace.clone(), name);
        let cron = crons.planned.get(&target).filter(|_| existing.is_updated(&target.1));
        Self {
            content: cron.map_or_else(|| Content::Claim(target.1.clone()), |c| Content::Cron(c.name.clone())),
            origin: ObjectOrigin {
                template: cron.and_then(|c| c.origin.template.clone()),
                bundle: Some(bundle_name.to_owned()),
                architecture: architecture.map(str::to_owned),
            },
            name: target.1,
            labelled: architecture.is_some(),
        }
    }

    fn reference(name: &str, architecture: &str, origin: ObjectOrigin) -> Self {
        Self {
            name: name.to_owned(),
            content: Content::Reference(format!("{name}-{architecture}")),
            origin,
            labelled: false,
        }
    }

    pub(super) fn into_object(self, namespace: &str, owner: &SspOwner) -> Rendered {
        let mut labels = match &self.content {
            // CDI manages it, so it has no app labels.
            Content::Cron(cron) => Map::from_iter([(CRON_LABEL.to_owned(), cron.as_str().into())]),
            Content::Claim(_) | Content::Reference(_) => owner.labels.clone(),
        };
        if let Some(architecture) = self.origin.architecture.as_deref().filter(|_| self.labelled) {
            labels.insert(ARCHITECTURE_LABEL.to_owned(), architecture.into());
        }
        let by_name = |name: &str| object([("name", name.into()), ("namespace", namespace.into())]);
        let source = match &self.content {
            Content::Claim(name) => object([("pvc", by_name(name))]),
            Content::Cron(_) => object([]),
            Content::Reference(to) => object([("dataSource", by_name(to))]),
        };
        let metadata = object([
            ("annotations", owner.annotations.clone().into()),
            ("labels", labels.into()),
            ("name", self.name.into()),
            ("namespace", namespace.into()),
        ]);
        let data_source = object([
            ("apiVersion", owner::CDI_API_VERSION.into()),
            ("kind", "DataSource".into()),
            ("metadata", metadata),
            ("spec", object([("source", source)])),
        ]);
        Rendered { object: Object::new(data_source), origin: self.origin }
    }
}

/// All DataSources that SSP creates, sorted by name. Removes from `crons` each cron for a DataSource that SSP doesn't
/// leave to CDI.
pub(super) fn plan(
    templates: &[CronTemplate],
    multi_arch: bool,
    cluster: &[&str],
    crons: &mut Crons,
    (existing, bundle): (&Existing, &SspBundle),
) -> Vec<DataSource> {
    let mut sources = if multi_arch {
        let mut sources = per_architecture(cluster, crons, existing, bundle);
        add_references(&mut sources, templates, cluster, bundle);
        sources
    } else {
        per_name(cluster, crons, existing, bundle)
    };
    for source in &sources {
        if !matches!(source.content, Content::Cron(_)) {
            let target = (bundle.golden_images_namespace.clone(), source.name.clone());
            if let Some(cron) = crons.planned.remove(&target) {
                let by = match &source.content {
                    Content::Claim(claim) => Displacer::Claim(claim.clone()),
                    _ => Displacer::DataSource(target.1),
                };
                crons.displaced.push(Displaced { origin: cron.origin, by });
            }
        }
    }
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources
}

/// With multi-arch off: the bundle's data sources for the cluster's first architecture, under their plain names.
fn per_name(cluster: &[&str], crons: &Crons, existing: &Existing, bundle: &SspBundle) -> Vec<DataSource> {
    let of_cluster = bundle.data_sources.iter().filter(|(_, available)| default_of(cluster, available).is_some());
    of_cluster.map(|(name, _)| DataSource::of_bundle(name.clone(), name, None, (crons, existing, bundle))).collect()
}

/// With multi-arch on: each of the bundle's data sources per architecture of the cluster, whether an image is imported
/// or not, and a reference with its plain name to the default one.
fn per_architecture(cluster: &[&str], crons: &Crons, existing: &Existing, bundle: &SspBundle) -> Vec<DataSource> {
    let mut sources = Vec::new();
    for (name, available) in &bundle.data_sources {
        let Some(default) = default_of(cluster, available) else {
            continue;
        };
        let origin =
            ObjectOrigin { template: None, bundle: Some(name.clone()), architecture: Some(default.to_owned()) };
        sources.push(DataSource::reference(name, default, origin));
        for architecture in available.iter().filter(|a| cluster.contains(&a.as_str())) {
            let full = format!("{name}-{architecture}");
            let mut source = DataSource::of_bundle(full, name, Some(architecture), (crons, existing, bundle));
            if architecture == default && existing.keeps_plain_claim(&source.name, name) {
                source.content = Content::Claim(name.clone());
            }
            sources.push(source);
        }
    }
    sources
}

/// Adds references for images that the bundle lacks. The first template of a name decides the target. A name already
/// used by a DataSource gets no reference.
fn add_references(sources: &mut Vec<DataSource>, templates: &[CronTemplate], cluster: &[&str], bundle: &SspBundle) {
    let mut names: BTreeSet<String> = sources.iter().map(|s| s.name.clone()).collect();
    for template in templates {
        let name = &template.data_source;
        if names.contains(name) {
            continue;
        }
        let existing = of_annotation(&template.architectures, bundle);
        if let Some(default) = default_of(cluster, &existing) {
            let origin = template.origin(Some(default));
            sources.push(DataSource::reference(name, default, origin));
            names.insert(name.clone());
        }
    }
}
