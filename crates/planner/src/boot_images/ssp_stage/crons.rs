//! The DataImportCrons that SSP creates.

use super::architectures::{default_of, of_annotation};
use super::template::CronTemplate;
use super::{ARCHITECTURE_LABEL, DATA_SOURCE_NAME_LABEL, Displaced, Displacer, ObjectOrigin, Rendered, owner};
use crate::prelude::*;
use crate::release::{SspBundle, SspOwner};
use hcoplan_kubernetes::tree::{object, set};

/// The namespace and DataSource that a cron fills. SSP keeps one cron for each.
pub(super) type Target = (String, String);

/// Crons to create, and those that others displaced.
#[derive(Debug, Default)]
pub(super) struct Crons {
    pub(super) planned: BTreeMap<Target, Cron>,
    pub(super) displaced: Vec<Displaced>,
}

impl Crons {
    /// A later cron for the same target wins.
    fn add(&mut self, cron: Cron) {
        let target = (cron.of.namespace.clone(), cron.of.data_source.clone());
        let origin = cron.origin.clone();
        if let Some(earlier) = self.planned.insert(target, cron)
            && earlier.origin != origin
        {
            self.displaced.push(Displaced { origin: earlier.origin, by: Displacer::SameDataSource(origin) });
        }
    }
}

/// A DataImportCron before it is written out.
#[derive(Debug)]
pub(super) struct Cron {
    pub(super) name: String,
    pub(super) origin: ObjectOrigin,
    /// Its template; the DataSource includes the architecture if there is one.
    of: CronTemplate,
}

impl Cron {
    fn new(template: &CronTemplate) -> Self {
        Self { name: template.id.name.clone(), origin: template.origin(None), of: template.clone() }
    }

    fn for_architecture(template: &CronTemplate, architecture: &str) -> Self {
        let mut cron = Self::new(template);
        cron.origin = template.origin(Some(architecture));
        cron.name = format!("{}-{architecture}", cron.name);
        cron.of.labels.insert(ARCHITECTURE_LABEL.to_owned(), architecture.into());
        let plain = cron.of.data_source.as_str().into();
        cron.of.labels.insert(DATA_SOURCE_NAME_LABEL.to_owned(), plain);
        cron.of.data_source = format!("{}-{architecture}", cron.of.data_source);
        set_platform(&mut cron.of.spec, architecture);
        cron
    }

    pub(super) fn into_object(self, owner: &SspOwner) -> Rendered {
        let mut of = self.of;
        of.spec.insert("managedDataSource".to_owned(), of.data_source.into());
        // The owner's overwrite the template's.
        of.labels.extend(owner.labels.clone());
        of.annotations.extend(owner.annotations.clone());
        let metadata = object([
            ("annotations", of.annotations.into()),
            ("labels", of.labels.into()),
            ("name", self.name.into()),
            ("namespace", of.namespace.into()),
        ]);
        let cron = object([
            ("apiVersion", owner::CDI_API_VERSION.into()),
            ("kind", "DataImportCron".into()),
            ("metadata", metadata),
            ("spec", of.spec.into()),
        ]);
        Rendered { object: Object::new(cron), origin: self.origin }
    }
}

/// Only a registry source can select an architecture; other sources import the same image for each.
fn set_platform(spec: &mut Map<String, Value>, architecture: &str) {
    let registry = spec.get_mut("template").and_then(|t| t.pointer_mut("/spec/source/registry"));
    if let Some(registry) = registry.filter(|registry| registry.is_object()) {
        set(registry, "platform.architecture", architecture.into());
    }
}

/// All crons that the templates ask for.
pub(super) fn plan(templates: &[CronTemplate], multi_arch: bool, cluster: &[&str], bundle: &SspBundle) -> Crons {
    let mut crons = Crons::default();
    for template in templates {
        if !multi_arch {
            crons.add(Cron::new(template));
        } else if template.architectures.is_empty() {
            crons.add(without_architectures(template, cluster, bundle));
        } else {
            for architecture in of_annotation(&template.architectures, bundle) {
                if cluster.contains(&architecture) {
                    crons.add(Cron::for_architecture(template, architecture));
                }
            }
        }
    }
    crons
}

/// An image without architectures fills the bundle's default DataSource. A name that the bundle lacks, or has for no
/// architecture of this cluster, stays as it is.
fn without_architectures(template: &CronTemplate, cluster: &[&str], bundle: &SspBundle) -> Cron {
    let mut cron = Cron::new(template);
    let existing = bundle.data_sources.get(&template.data_source);
    if let Some(default) = existing.and_then(|e| default_of(cluster, e)) {
        cron.of.data_source = format!("{}-{default}", template.data_source);
    }
    cron
}

/// The crons sorted by namespace and name, without duplicates. Where SSP would have two, this keeps the later
/// template's.
pub(super) fn unique_names(planned: BTreeMap<Target, Cron>, displaced: &mut Vec<Displaced>) -> Vec<Cron> {
    let mut crons: Vec<Cron> = planned.into_values().collect();
    crons.sort_by(|a, b| {
        let key = |c: &Cron| c.origin.template.as_ref().map(|t| t.index);
        (&a.of.namespace, &a.name, key(b)).cmp(&(&b.of.namespace, &b.name, key(a)))
    });
    let mut unique: Vec<Cron> = Vec::with_capacity(crons.len());
    for cron in crons {
        match unique.last() {
            Some(kept) if kept.of.namespace == cron.of.namespace && kept.name == cron.name => {
                displaced.push(Displaced { origin: cron.origin, by: Displacer::SameName(kept.origin.clone()) });
            }
            _ => unique.push(cron),
        }
    }
    unique
}
