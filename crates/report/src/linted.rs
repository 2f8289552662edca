//! Lints a HyperConverged and its inventory without a repository, for tests.

use crate::prelude::*;
use hcoplan_diagnostics::finding::ClusterName;
use hcoplan_lint::{Context, Input, Selection, Settings, Site, run};
use hcoplan_planner::plan::plan;
use hcoplan_repository::inventory::{self, Source, SourceKind};
use hcoplan_repository::repo::{OtherObjects, known_release};
use hcoplan_yaml::Document;

fn documents(file: &str, text: &str) -> Vec<Document> {
    hcoplan_yaml::parse(&SourceFile::new(file, text)).documents
}

/// The findings for `hyperconverged.yaml`, `inventory.yaml` and the dump `nodes.yaml`.
pub(crate) fn linted(texts: [&str; 3], settings: &Settings) -> Vec<Finding> {
    let [hyperconverged, declared, dumped] = texts;
    let document = documents("hyperconverged.yaml", hyperconverged).remove(0);
    let source = |kind| move |document| Source { kind, document: Arc::new(document) };
    let declared = documents("inventory.yaml", declared).into_iter();
    let dumped = documents("nodes.yaml", dumped).into_iter();
    let sources: Vec<_> =
        declared.map(source(SourceKind::Declared)).chain(dumped.map(source(SourceKind::Nodes))).collect();
    let (inventory, findings) = inventory::load(&sources);
    assert!(inventory.valid, "{findings:?}");
    let name = inventory.inventory.release.as_deref();
    let release = known_release(name.expect("a release")).expect("a known release");
    let object = document.root.to_json();
    let plan = plan(&release, &inventory.inventory, &object);
    let input = Input {
        cluster: &ClusterName::of_root("fixture"),
        release: &release,
        document: &document,
        object: &object,
        inventory: &inventory,
        plan: &plan,
    };
    let context = Context::new(input, settings).with_site(LaterDocuments(hyperconverged));
    run(&context, &Selection::of(settings)).findings
}

/// The other objects are the later documents of the HyperConverged's file.
struct LaterDocuments<'t>(&'t str);

impl Site for LaterDocuments<'_> {
    fn other_objects(&self) -> Arc<OtherObjects> {
        Arc::new(documents("hyperconverged.yaml", self.0).into_iter().map(Arc::new).collect())
    }
}
