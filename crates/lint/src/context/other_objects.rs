//! The other objects of the cluster's directory.

use super::Context;
use super::prelude::*;
use hcoplan_repository::repo::{HCO_PACKAGES, Layer};

use crate::suppression;

/// A KubeDescheduler of the cluster.
#[derive(Debug)]
pub struct Descheduler<'n> {
    /// The declaring document: its own, or the inventory.
    pub document: &'n Document,
    /// The path of its `spec` in the document.
    pub spec: Path,
    /// Whether HCO reads it.
    pub is_watched: bool,
}

impl Context<'_> {
    /// Whether the HyperConverged is the output of a build.
    pub fn is_built(&self) -> bool {
        self.document().file.is_generated()
    }

    /// The annotations that kustomizations set on the HyperConverged, inner ones first.
    pub fn layers(&self) -> &[Layer] {
        self.known.layers.get_or_init(|| self.site.layers())
    }

    /// All objects below the cluster's directory, including the HyperConverged.
    pub fn other_objects(&self) -> &OtherObjects {
        self.known.other_objects.get_or_init(|| self.site.other_objects())
    }

    /// The objects of a kind below the cluster's directory.
    pub fn of_kind(&self, kind: &str) -> &[Arc<Document>] {
        let found = self.other_objects().of_kind(kind);
        // `plan` reports the changes of each kind that a rule reads.
        #[cfg(test)]
        for api_version in found.iter().map(|d| d.text("apiVersion")).filter(|group| !group.starts_with("example.com/"))
        {
            assert!(hcoplan_explain::diff::is_compared(api_version, kind), "{kind} is not in read_kinds.json");
        }
        found
    }

    /// An object below the cluster's directory, see [`OtherObjects::named`].
    pub fn named(&self, kind: &str, namespace: Option<&str>, name: &str) -> Option<&Document> {
        self.other_objects().named(kind, namespace, name).map(|document| &**document)
    }

    /// The other objects and the overlays' patches that may contain suppressions.
    pub(crate) fn documents_with_suppressions(&self) -> Vec<Arc<Document>> {
        let layers = self.layers().iter().filter_map(|l| l.document.as_ref());
        let objects = self.other_objects();
        let all = objects.all().chain(&objects.parts).chain(layers);
        all.filter(|d| suppression::may_hold_suppression(d)).cloned().collect()
    }

    /// The repository's OLM Subscriptions for HCO.
    pub fn subscriptions(&self) -> impl Iterator<Item = &Document> {
        let all = self.all_subscriptions().map(|d| &**d);
        all.filter(|d| HCO_PACKAGES.contains(&d.text("spec.name")))
    }

    /// The KubeDeschedulers declared as objects or in the inventory.
    pub fn deschedulers(&self) -> Vec<Descheduler<'_>> {
        let other_objects = self.other_objects().of_kind("KubeDescheduler").iter();
        let own = other_objects.map(|document| Descheduler {
            document,
            spec: Path::dotted("spec"),
            is_watched: name_of(document) == "cluster"
                && namespace_of(document) == "openshift-kube-descheduler-operator",
        });
        const DECLARED: &str = "spec.kubeDescheduler";
        let inventory = self.input.inventory.documents.iter();
        let declared = inventory.filter(|d| {
            let node = d.root.below(DECLARED);
            node.is_some_and(|n| !n.entries().is_empty())
        });
        let declared =
            declared.map(|document| Descheduler { document, spec: Path::dotted(DECLARED), is_watched: true });
        own.chain(declared).collect()
    }
}

impl<'n> Descheduler<'n> {
    /// The value at a dotted path below its `spec`.
    pub fn get(&self, path: &str) -> Option<&'n Node> {
        self.document.root.at(&self.spec.below(path))
    }

    /// Its profiles.
    pub fn profiles(&self) -> Vec<&'n str> {
        let profiles = items(self.get("profiles"));
        strings(profiles).collect()
    }
}
