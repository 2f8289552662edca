//! The objects that SSP would create, by name.

use crate::matrix::MatrixInput;
use crate::prelude::*;
use hcoplan_lint::Context;
use hcoplan_planner::boot_images::ssp_stage::{DATA_SOURCE_NAME_LABEL, Displaced, Rendered, SourceTarget, SspStage};

/// Namespace and name of a DataSource.
pub(super) type Key = (String, String);

/// The DataSources and DataImportCrons of a plan.
pub(super) struct Objects<'c, 'a> {
    pub(super) context: &'c Context<'a>,
    stage: Option<&'a SspStage>,
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
    pub(super) rendered: &'a Rendered,
}

impl<'c, 'a> Objects<'c, 'a> {
    pub(super) fn new(given: &MatrixInput<'c, 'a>) -> Self {
        let plan = given.context.plan();
        let stage = plan.ssp.as_deref();
        let ssp = plan.operand("SSP").map_or(&Value::Null, |o| &o["spec"]);
        Self {
            context: given.context,
            stage,
            displaced: stage.map_or(&[], |s| &s.displaced),
            multi_arch: ssp["enableMultipleArchitectures"] == true,
            namespace: &given.context.release().ssp().golden_images_namespace,
        }
    }

    /// The target of a DataSource's name.
    pub(super) fn target(&self, namespace: &str, name: &str) -> SourceTarget<'a> {
        self.stage.map_or(SourceTarget::NoSource, |stage| stage.target(namespace, name))
    }

    /// The DataSource that another refers to.
    pub(super) fn reference(&self, namespace: &str, name: &str) -> Option<&'a str> {
        self.stage?.reference(namespace, name)
    }

    /// All crons, each with the plain name of its DataSource.
    pub(super) fn crons(&self) -> impl Iterator<Item = (Key, Cron<'a>)> {
        let of = |stage: &'a SspStage| stage.of_kind("DataImportCron").map(move |cron| (stage, cron));
        let crons = self.stage.into_iter().flat_map(of);
        crons.map(|(stage, rendered)| {
            let cron = Cron { rendered };
            let namespace = rendered.object.id.namespace.clone().unwrap_or_default();
            let target = text(&rendered.object.body, "/spec/managedDataSource").unwrap_or_default();
            let bundle = || stage.source(&namespace, target)?.origin.bundle.as_deref();
            let plain = rendered.object.body["metadata"]["labels"][DATA_SOURCE_NAME_LABEL].as_str();
            let name = plain.or_else(bundle).unwrap_or(target).to_owned();
            ((namespace, name), cron)
        })
    }

    /// The plain names of the rendered DataSources of the template bundle.
    pub(super) fn bundle(&self) -> impl Iterator<Item = Key> {
        self.stage.into_iter().flat_map(|stage| stage.of_kind("DataSource")).filter_map(|source| {
            let namespace = source.object.id.namespace.clone().unwrap_or_default();
            Some((namespace, source.origin.bundle.clone()?))
        })
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
        text(&self.rendered.object.body, "/spec/template/spec/source/registry/platform/architecture")
    }

    /// Its architecture, if SSP creates a cron per architecture.
    pub(super) fn label(self) -> Option<&'a str> {
        self.rendered.origin.architecture.as_deref()
    }
}

/// A text that isn't empty.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str().filter(|t| !t.is_empty())
}
