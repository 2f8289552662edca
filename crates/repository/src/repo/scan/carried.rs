//! What a file has in it that is carried by something, or that isn't planned.

use hcoplan_diagnostics::finding::Finding;
use hcoplan_yaml::Node;

use super::super::carriers::embedded::Embedded;
use super::super::carriers::named::{self, NotPlannedReason};
use super::super::carriers::{self, NamedCarrier, Unknown};
use super::super::kustomization::is_kustomization;
use super::super::listed;
use super::super::patches::{may_patch, patches_of};
use super::{Content, ObjectPlace};

impl Content {
    /// The HyperConvergeds of a document that aren't planned.
    pub(super) fn named_in(&self, document: u32) -> Vec<NamedCarrier> {
        let Some(document) = self.documents.get(document as usize) else {
            return Vec::new();
        };
        let objects = listed::objects(&document.root);
        let planned: Vec<&Node> = objects.iter().map(|o| o.node).collect();
        let mut named = named::named(&document.root, &planned);
        if may_patch(&document.root) {
            let patches = patches_of(document, &[]);
            named.retain(|named| !patches.iter().any(|patch| patch.is_at(named.span)));
        }
        named.retain(|named| {
            let around = |e: &Embedded| {
                let inner = e.document.span;
                named.span.start <= inner.start && inner.end <= named.span.end
            };
            let is_text = matches!(named.why, NotPlannedReason::InText(_));
            !is_text || !(is_kustomization(self.file.path()) || self.embedded.iter().any(around))
        });
        named
    }

    /// What is said about them.
    pub(in super::super) fn named(&self, document: u32) -> Vec<Finding> {
        let Some(of) = self.documents.get(document as usize) else {
            let missed = self.missed.iter();
            return missed.map(|span| named::missed(&self.file, *span)).collect();
        };
        let named = self.named_in(document);
        named.iter().map(|one| named::finding(one, of)).collect()
    }

    /// What of the object at a place isn't known before it is applied.
    pub(in super::super) fn unknown(&self, place: ObjectPlace) -> Vec<Unknown> {
        let Some(document) = self.documents.get(place.document as usize) else {
            let embedded = self.embedded_at(place);
            return embedded.map(|e| e.unknown.clone()).unwrap_or_default();
        };
        let item = place.item.map(|item| item as usize);
        let objects = item.map(|_| listed::objects(&document.root));
        let object = objects.and_then(|o| o.into_iter().nth(item.unwrap_or_default()));
        object.map(|o| o.resolved(document).1).unwrap_or_default()
    }

    pub(super) fn embedded_at(&self, place: ObjectPlace) -> Option<&Embedded> {
        let at = (place.document as usize).checked_sub(self.documents.len())?;
        self.embedded.get(at)
    }

    /// What a cluster is called after that shares its directory with others: its carrier. `None` for a
    /// HyperConverged that stands for itself.
    pub(in super::super) fn carrier_name(&self, place: ObjectPlace) -> Option<String> {
        let stem = || self.file.path().file_stem().map(|s| s.split('.').next().unwrap_or(s).to_owned());
        let Some(document) = self.documents.get(place.document as usize) else {
            return stem();
        };
        let objects = listed::objects(&document.root);
        let carrier = objects.get(place.item? as usize)?.carrier?;
        let named = [carrier.node, &document.root].into_iter();
        let mut names = named.filter_map(carriers::name);
        names.next().map(ToOwned::to_owned).or_else(stem)
    }
}
