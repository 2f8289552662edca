//! HyperConvergeds of a file in wrappers, or that aren't planned.

use super::super::listed;
use super::super::wrappers::commands;
use super::super::wrappers::embedded::{Branch, Embedded};
use super::super::wrappers::not_planned::{self, NotPlannedReason};
use super::super::wrappers::{NotPlannedObject, Unknown};
use super::{Content, ObjectPlace};
use crate::prelude::*;
use crate::repo::kustomization::is_kustomization;

impl Content {
    /// Where an overlay of ytt begins that may change a HyperConverged of another file.
    fn overlay(&self) -> Option<Span> {
        const OVERLAY: &str = "#@overlay/";
        let text = self.file.text();
        let is_meant = self.embedded.is_empty() && (text.contains("HyperConverged") || text.contains("overlay.all"));
        let start = text.find(OVERLAY).filter(|_| is_meant)?;
        Some(Span::new(start, start + OVERLAY.len()))
    }

    /// The HyperConvergeds of a document that aren't planned; after the last document those of the file's texts.
    pub(crate) fn not_planned_in(&self, index: u32) -> Vec<NotPlannedObject> {
        let Some(document) = self.documents.get(index as usize) else {
            let missed = self.missed.iter().map(|span| (*span, NotPlannedReason::Unreadable));
            let commands = self.commands().map(|span| (span, NotPlannedReason::Commanded));
            let object = |(span, reason)| NotPlannedObject { span, reason, kind: String::new() };
            return missed.chain(commands).map(object).collect();
        };
        let objects = listed::objects(&document.root);
        let planned: Vec<&Node> = objects.iter().map(|o| o.node).collect();
        let mut found = not_planned::find(&document.root, &planned);
        found.retain(|object| {
            let is_text = object.reason == NotPlannedReason::InText;
            let is_read = |embedded: &Embedded| {
                let (own, inner) = (object.span, embedded.document.span);
                // Otherwise it is in a variable.
                if is_text { own.holds(inner) } else { inner.holds(own) }
            };
            !(self.embedded.iter().any(is_read) || is_text && is_kustomization(self.file.path()))
        });
        let overlay = self.overlay().filter(|_| index == 0);
        let reason = NotPlannedReason::Mutated;
        found.extend(overlay.map(|span| NotPlannedObject { span, reason, kind: "overlay of ytt".to_owned() }));
        found
    }

    /// The commands of a script that change or delete HyperConvergeds.
    fn commands(&self) -> impl Iterator<Item = Span> {
        let script = if self.documents.is_empty() { self.file.text() } else { "" };
        commands::in_script(script).into_iter()
    }

    /// The findings about them.
    pub(crate) fn not_planned(&self, document: u32) -> Vec<Finding> {
        self.not_planned_in(document).iter().map(|one| not_planned::finding(one, &self.file)).collect()
    }

    /// The unknown values of the object at a location.
    pub(crate) fn unknown(&self, place: ObjectPlace) -> Vec<Unknown> {
        let Some(document) = self.documents.get(place.document as usize) else {
            let embedded = self.embedded_at(place);
            return embedded.map(|e| e.unknown.clone()).unwrap_or_default();
        };
        let object = match place.item {
            Some(item) => listed::objects(&document.root).into_iter().nth(item as usize),
            None => Some(listed::single(&document.root)),
        };
        object.map(|o| o.resolved(document).1).unwrap_or_default()
    }

    /// The object at a location with each branch of a template.
    pub(crate) fn branches(&self, place: ObjectPlace) -> &[Branch] {
        self.embedded_at(place).map_or(&[], |embedded| &embedded.branches)
    }

    pub(super) fn embedded_at(&self, place: ObjectPlace) -> Option<&Embedded> {
        let at = (place.document as usize).checked_sub(self.documents.len())?;
        self.embedded.get(at)
    }

    /// The name and namespace of the wrapper of the HyperConverged at a location, empty for a text; `None` without a
    /// wrapper.
    pub(crate) fn wrapper_of(&self, place: ObjectPlace) -> Option<[String; 2]> {
        let Some(document) = self.documents.get(place.document as usize) else {
            return Some(Default::default());
        };
        let objects = listed::objects(&document.root);
        let wrapper = objects.get(place.item? as usize)?.wrapper?;
        let named = |path: &str| {
            let found = [wrapper.node, &document.root].into_iter().find_map(|node| node.text_at(path));
            found.unwrap_or_default().to_owned()
        };
        Some(["metadata.name", "metadata.namespace"].map(named))
    }
}
