//! The objects that SSP would create, by name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::MatrixInput;
use hcoplan_lint::Context;
use hcoplan_planner::boot::Architectures;
use hcoplan_planner::boot_images::ssp_stage::{ARCHITECTURE_LABEL, DATA_SOURCE_NAME_LABEL, Displaced, Rendered};

/// Namespace and name of a DataSource.
pub(super) type Key = (String, String);

/// The DataSources and DataImportCrons of a plan.
pub(super) struct Objects<'c, 'a> {
    context: &'c Context<'a>,
    sources: BTreeMap<Key, &'a Rendered>,
    /// The DataImportCron of each DataSource.
    crons: BTreeMap<Key, Cron<'a>>,
    /// The crons that other objects displace.
    pub(super) displaced: &'a [Displaced],
    /// Whether SSP imports per architecture.
    pub(super) multi_arch: bool,
    /// The default namespace of DataSources and DataImportCrons.
    pub(super) namespace: &'a str,
}

/// A DataImportCron.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cron<'a> {
    rendered: &'a Rendered,
}

/// The target of a DataSource's name.
#[derive(Debug, Clone, Copy)]
pub(super) enum DataSourceTarget<'a> {
    /// The import of this cron.
    Import(Cron<'a>),
    /// A volume that has to be created in another way.
    Volume,
    /// A missing DataSource of this name.
    Nothing(&'a str),
    /// No DataSource has the name.
    NoSource,
}

impl<'c, 'a> Objects<'c, 'a> {
    pub(super) fn new(given: &MatrixInput<'c, 'a>) -> Self {
        let plan = given.plan();
        let stage = plan.ssp.as_ref();
        let all = stage.map_or(&[][..], |s| &s.objects);
        let of_kind = |kind: &'static str| all.iter().filter(move |r| r.object.id.kind == kind);
        let key = |rendered: &Rendered, name: &str| {
            let namespace = rendered.object.id.namespace.clone().unwrap_or_default();
            (namespace, name.to_owned())
        };
        let sources = of_kind("DataSource").map(|r| (key(r, &r.object.id.name), r));
        let crons = of_kind("DataImportCron").map(|r| {
            let target = text(r, "/spec/managedDataSource").unwrap_or_default();
            (key(r, target), Cron { rendered: r })
        });
        let ssp = plan.operand("SSP").map_or(&Value::Null, |o| &o["spec"]);
        Self {
            context: given.context,
            sources: sources.collect(),
            crons: crons.collect(),
            displaced: stage.map_or(&[], |s| &s.displaced),
            multi_arch: ssp["enableMultipleArchitectures"].as_bool().unwrap_or_default(),
            namespace: &given.release().ssp().golden_images_namespace,
        }
    }

    /// The target of a DataSource's name: CDI follows one reference.
    pub(super) fn data_source_target(&self, namespace: &str, name: &str) -> DataSourceTarget<'a> {
        match self.reference(namespace, name) {
            Some(target) => match self.direct_target(namespace, target) {
                DataSourceTarget::NoSource => DataSourceTarget::Nothing(target),
                found => found,
            },
            None => self.direct_target(namespace, name),
        }
    }

    /// The DataSource that another refers to.
    pub(super) fn reference(&self, namespace: &str, name: &str) -> Option<&'a str> {
        let source = self.source(namespace, name)?;
        text(source, "/spec/source/dataSource/name")
    }

    fn direct_target(&self, namespace: &str, name: &str) -> DataSourceTarget<'a> {
        let key = (namespace.to_owned(), name.to_owned());
        match (self.crons.get(&key), self.sources.get(&key)) {
            (Some(cron), _) => DataSourceTarget::Import(*cron),
            (None, Some(_)) => DataSourceTarget::Volume,
            (None, None) => DataSourceTarget::NoSource,
        }
    }

    fn source(&self, namespace: &str, name: &str) -> Option<&'a Rendered> {
        let key = (namespace.to_owned(), name.to_owned());
        self.sources.get(&key).copied()
    }

    /// All crons, each with the plain name of its DataSource.
    pub(super) fn crons(&self) -> impl Iterator<Item = (Key, Cron<'a>)> {
        self.crons.iter().map(|((namespace, target), cron)| {
            let bundle = || self.source(namespace, target)?.origin.bundle.clone();
            let plain = cron.plain_name().map(str::to_owned).or_else(bundle);
            let name = plain.unwrap_or_else(|| target.clone());
            ((namespace.clone(), name), *cron)
        })
    }

    /// The plain names of the rendered DataSources of the template bundle.
    pub(super) fn bundle(&self) -> impl Iterator<Item = Key> {
        self.sources.iter().filter_map(|((namespace, _), source)| {
            let name = source.origin.bundle.as_ref()?;
            Some((namespace.clone(), name.clone()))
        })
    }

    /// The architecture of a cron's import.
    pub(super) fn architecture(&self, cron: Cron<'a>) -> Architectures {
        self.context.cron_disk(cron.rendered)
    }
}

impl<'a> Cron<'a> {
    /// `metadata.name`
    pub(super) fn name(self) -> &'a str {
        &self.rendered.object.id.name
    }

    /// The name of its template.
    pub(super) fn template(self) -> Option<&'a str> {
        let template = self.rendered.origin.template.as_ref()?;
        Some(&template.name)
    }

    /// The platform requested from the registry.
    pub(super) fn pin(self) -> Option<&'a str> {
        const PIN: &str = "/spec/template/spec/source/registry/platform/architecture";
        text(self.rendered, PIN)
    }

    /// The architecture label, if SSP creates a cron per architecture.
    pub(super) fn label(self) -> Option<&'a str> {
        text(self.rendered, &label(ARCHITECTURE_LABEL))
    }

    fn plain_name(self) -> Option<&'a str> {
        text(self.rendered, &label(DATA_SOURCE_NAME_LABEL))
    }
}

fn label(name: &str) -> String {
    format!("/metadata/labels/{}", name.replace('/', "~1"))
}

fn text<'a>(rendered: &'a Rendered, pointer: &str) -> Option<&'a str> {
    let value = rendered.object.body.pointer(pointer)?;
    value.as_str().filter(|t| !t.is_empty())
}
