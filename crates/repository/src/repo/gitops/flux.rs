//! Flux's Kustomizations and HelmReleases.

use std::sync::Arc;

use hcoplan_yaml::{Document, Node};

use super::{Applied, Kind, Source};

/// What a Kustomization applies; an artifact's path isn't one of the repository.
pub(super) fn kustomization(document: &Arc<Document>) -> Option<Applied> {
    let spec = document.root.get("spec")?;
    let kind = spec.text("sourceRef.kind");
    let source = Source {
        // Without a path it applies all of the repository.
        path: Some(spec.text("path").to_owned()),
        reference: None,
        is_here: matches!(kind, "" | "GitRepository"),
        is_built: false,
        node: spec.clone(),
    };
    Some(applied(document, Kind::FluxKustomization, spec, source))
}

/// What a HelmRelease renders.
pub(super) fn helm_release(document: &Arc<Document>) -> Option<Applied> {
    let spec = document.root.get("spec")?;
    let source = Source {
        path: spec.text_at("chart.spec.chart").map(ToOwned::to_owned),
        reference: None,
        is_here: !matches!(spec.text("chart.spec.sourceRef.kind"), "HelmRepository" | "OCIRepository" | "Bucket"),
        is_built: false,
        node: spec.clone(),
    };
    Some(applied(document, Kind::HelmRelease, spec, source))
}

fn applied(document: &Arc<Document>, kind: Kind, spec: &Node, source: Source) -> Applied {
    let namespaces = [spec.text("targetNamespace"), document.text("metadata.namespace")];
    let namespace = namespaces.into_iter().find(|n| !n.is_empty()).filter(|_| kind == Kind::HelmRelease);
    Applied {
        kind,
        document: Arc::clone(document),
        name: document.text("metadata.name").to_owned(),
        namespace: namespace.map(ToOwned::to_owned),
        sources: vec![source],
    }
}
