//! A disk smaller than its source.
//!
//! Source: CDI `pkg/controller/clone` and `pkg/controller/common/util.go` (`ValidateRequestedCloneSize`).

use hcoplan_kubernetes::quantity::Quantity;

use super::prelude::*;
use crate::source_ref_of;

/// Maximum file system overhead that a `storage` request needs beyond its size, in percent; for a claim the size may be
/// enough.
const OVERHEAD: i64 = 6;

/// A size as written.
struct Size {
    text: String,
    /// Whether CDI adds the file system's overhead.
    is_inflated: bool,
    /// Its location.
    place: Option<Location>,
}

impl Size {
    fn bytes(&self) -> Option<i64> {
        Some(Quantity::parse(&self.text).ok()?.scaled(0)).filter(|bytes| *bytes > 0)
    }
}

pub(super) fn find(cx: &Context<'_>, disk: &DiskSpec<'_>) -> Option<Finding> {
    let DiskSpec { who, spec, document, namespace } = disk;
    let (own, path) = requested(document, spec)?;
    let (name, source) = source(cx, namespace, spec)?;
    let (bytes, wanted) = (own.bytes()?, source.bytes()?);
    let slack = if own.is_inflated && !source.is_inflated { wanted / 100 * OVERHEAD } else { 0 };
    if bytes >= wanted - slack {
        return None;
    }
    let message =
        format!("{who} requests {}, but its source, {name}, has {}: CDI doesn't clone it", own.text, source.text);
    let finding = cx
        .finding_about(document, message)
        .at(document.locate(&path))
        .label("smaller than its source")
        .help(format!("request at least {}", source.text))
        .fixes(suggested(
            document,
            format!("request {}", source.text),
            &[Change::Set(path, source.text.as_str().into())],
        ));
    Some(with_related(finding, source.place, "the size of its source"))
}

const REQUEST: &str = "resources.requests.storage";

/// The size requested by a DataVolume's spec, and its path.
fn requested(document: &Document, spec: &Node) -> Option<(Size, Path)> {
    let mut kinds = ["storage", "pvc"].into_iter();
    kinds.find_map(|kind| size_of(document, spec.get(kind)?, kind == "storage"))
}

/// The size that a claim requests, and its path.
fn size_of(document: &Document, claim: &Node, is_inflated: bool) -> Option<(Size, Path)> {
    let node = claim.below(REQUEST)?;
    let place = Some(document.location(node.span));
    Some((Size { text: document.written_text(node)?, is_inflated, place }, document.root.path_to(node.span)?))
}

/// The source of a disk, and its size.
fn source(cx: &Context<'_>, own: &str, spec: &Node) -> Option<(String, Size)> {
    let sized =
        |claim: &Node, own: &str| of_claim(cx, claim.text_at("namespace").unwrap_or(own), claim.text_at("name")?);
    if let Some(claim) = spec.below("source.pvc") {
        return sized(claim, own);
    }
    let mut reference = source_ref_of(spec, Path::default(), own)?;
    let followed = cx.known_source(reference.namespace, reference.name).and_then(|known| known.leads_to);
    if let Some((namespace, name)) = &followed {
        (reference.namespace, reference.name) = (namespace, name);
    }
    let named = format!("the DataSource {}", reference.name);
    if let Some(declared) = cx.named("DataSource", Some(reference.namespace), reference.name) {
        return sized(declared.root.below("spec.source.pvc")?, reference.namespace);
    }
    if let Some(cron) = cx.cron_of(reference.namespace, reference.name) {
        let (size, _) = requested(cron, cron.root.below("spec.template.spec")?)?;
        return Some((named, size));
    }
    let cron = cx.plan().ssp.as_deref()?.cron_of(reference.namespace, reference.name)?;
    let spec = &cron.object.body["spec"]["template"]["spec"];
    let kind = ["storage", "pvc"].into_iter().find(|kind| !spec[*kind].is_null())?;
    let size = spec[kind]["resources"]["requests"]["storage"].as_str()?.to_owned();
    Some((named, Size { text: size, is_inflated: kind == "storage", place: None }))
}

/// A declared claim or DataVolume.
fn of_claim(cx: &Context<'_>, namespace: &str, name: &str) -> Option<(String, Size)> {
    let find = |kind| cx.named(kind, Some(namespace), name);
    if let Some(claim) = find("PersistentVolumeClaim") {
        let (size, _) = size_of(claim, claim.root.get("spec")?, false)?;
        return Some((format!("the claim {name}"), size));
    }
    let disk = find("DataVolume")?;
    let (size, _) = requested(disk, disk.root.get("spec")?)?;
    Some((format!("the DataVolume {name}"), size))
}
