//! What SSP finds in the golden images' namespace, and how that decides its DataSources.

use super::CRON_LABEL;
use crate::prelude::*;
use hcoplan_kubernetes::tree::get;

/// The claims and DataSources of the golden images' namespace before SSP's reconcile.
///
/// Source: SSP `internal/operands/data-sources/reconcile.go`, the same in all modelled releases. It looks at
/// PersistentVolumeClaims only, not at VolumeSnapshots. CDI names the claims that it imports by the image's digest, so
/// none of them has a DataSource's name.
#[derive(Debug, Clone, Default)]
pub struct Existing {
    claims: BTreeSet<String>,
    sources: BTreeMap<String, ExistingSource>,
}

/// A DataSource that exists.
#[derive(Debug, Clone)]
struct ExistingSource {
    /// Whether a DataImportCron keeps it up to date.
    is_updated: bool,
    /// The claim that it refers to.
    claim: Option<String>,
}

impl Existing {
    /// Those of `namespace`, from claims by namespace and name, and from the objects of the cluster.
    pub fn new<'o>(
        claims: &BTreeSet<(String, String)>,
        objects: impl Iterator<Item = &'o Object>,
        namespace: &str,
    ) -> Self {
        let is_here =
            |object: &&Object| object.id.kind == "DataSource" && object.id.namespace.as_deref() == Some(namespace);
        let claims = claims.iter().filter(|(of, _)| of == namespace).map(|(_, name)| name.clone());
        let sources = objects.filter(is_here).map(|source| {
            let label = get(&source.body, "metadata.labels").and_then(|labels| labels.get(CRON_LABEL));
            let claim = get(&source.body, "spec.source.pvc.name").and_then(Value::as_str);
            let found = ExistingSource { is_updated: label.is_some(), claim: claim.map(str::to_owned) };
            (source.id.name.clone(), found)
        });
        Self { claims: claims.collect(), sources: sources.collect() }
    }

    /// Whether a claim exists.
    pub fn has_claim(&self, name: &str) -> bool {
        self.claims.contains(name)
    }

    /// Whether a DataImportCron for a DataSource of the template bundle keeps it up to date: `dataSourceAutoUpdateEnabled`.
    pub(super) fn is_updated(&self, source: &str) -> bool {
        self.sources.get(source).is_some_and(|found| found.is_updated) || !self.has_claim(source)
    }

    /// Whether the default architecture's DataSource refers to the claim with the plain name: `handleDefaultDataSource`.
    pub(super) fn keeps_plain_claim(&self, source: &str, plain: &str) -> bool {
        let keeps = |found: &ExistingSource| !found.is_updated && found.claim.as_deref() == Some(plain);
        self.has_claim(plain) && self.sources.get(source).is_none_or(keeps)
    }
}
