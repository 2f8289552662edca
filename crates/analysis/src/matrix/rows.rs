//! The golden images of a cluster, one row each.

use super::cell::{ObjectOrigin, Reason, Row};
use super::objects::{Key, Objects, text};
use crate::matrix::MatrixInput;
use crate::prelude::*;
use hcoplan_planner::boot_images::is_enabled;

/// All images that are imported, are prevented from it, or are disabled, and the DataSources of the template bundle.
pub(super) fn of(given: &MatrixInput<'_, '_>, objects: &Objects<'_, '_>, obstructed: bool) -> Vec<Row> {
    let mut rows: BTreeMap<Key, Vec<ObjectOrigin>> = BTreeMap::new();
    let stage = given.context.plan().golden_images.as_ref();
    for template in stage.iter().flat_map(|s| &s.templates) {
        let declared = template.declared_architectures().filter(|all| !all.is_empty()).map(str::to_owned);
        let origin = ObjectOrigin { name: template.name().to_owned(), declared, off: None };
        let namespace = template.metadata.get("namespace").and_then(Value::as_str);
        let key = key(objects, namespace, template.managed_data_source());
        rows.entry(key).or_default().push(origin);
    }
    for (key, origin) in switched_off(given, objects) {
        rows.entry(key).or_default().push(origin);
    }
    if !obstructed {
        for (key, cron) in objects.crons() {
            let origins = rows.entry(key).or_default();
            let name = cron.template().unwrap_or(cron.name());
            // A template added to the SSP by a jsonpatch.
            if !origins.iter().any(|o| o.name == name) {
                origins.push(ObjectOrigin { name: name.to_owned(), declared: None, off: None });
            }
        }
        for key in objects.bundle() {
            rows.entry(key).or_default();
        }
    } else if stage.is_none() {
        // A rejected HyperConverged has no templates: show the release's own.
        for common in given.context.release().golden_images() {
            let (key, origin) = common_image(objects, common, None);
            rows.entry(key).or_default().push(origin);
        }
    }
    let named = rows.into_iter().filter(|((_, name), _)| !name.is_empty());
    named.map(|((namespace, name), templates)| Row { namespace, name, templates }).collect()
}

fn key(objects: &Objects<'_, '_>, namespace: Option<&str>, name: &str) -> Key {
    let namespace = namespace.filter(|n| !n.is_empty());
    let namespace = namespace.unwrap_or(objects.namespace);
    (namespace.to_owned(), name.to_owned())
}

fn common_image(objects: &Objects<'_, '_>, common: &Value, off: Option<Reason>) -> (Key, ObjectOrigin) {
    let name = text(common, "/metadata/name").unwrap_or_default();
    let source = text(common, "/spec/managedDataSource").unwrap_or_default();
    let origin = ObjectOrigin { name: name.to_owned(), declared: None, off };
    (key(objects, None, source), origin)
}

/// The disabled images: single ones, or all common ones.
fn switched_off(given: &MatrixInput<'_, '_>, objects: &Objects<'_, '_>) -> Vec<(Key, ObjectOrigin)> {
    let Some(hc) = &given.context.plan().hyperconverged else {
        return Vec::new();
    };
    let mut out = Vec::new();
    if !hc.imports_common_images() {
        let all = given.context.release().golden_images().iter();
        out.extend(all.map(|c| common_image(objects, c, Some(Reason::CommonImagesOff))));
    }
    for template in hc.list("workloadSources.dataImportCronTemplates") {
        let name = text(template, "/metadata/name").unwrap_or_default();
        if is_enabled(template) || out.iter().any(|(_, o)| o.name == name) {
            continue;
        }
        let own = text(template, "/spec/managedDataSource");
        let source =
            own.or_else(|| text(given.context.common_image(name)?, "/spec/managedDataSource")).unwrap_or_default();
        let namespace = text(template, "/metadata/namespace");
        let origin = ObjectOrigin { name: name.to_owned(), declared: None, off: Some(Reason::SwitchedOff) };
        out.push((key(objects, namespace, source), origin));
    }
    out
}
