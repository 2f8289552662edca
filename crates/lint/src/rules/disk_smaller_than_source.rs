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

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for DiskSpec { who, spec, document, namespace } in cx.disk_specs() {
        let Some((own, path)) = requested(document, spec) else {
            continue;
        };
        let Some((name, source)) = source(cx, namespace, spec) else {
            continue;
        };
        let (Some(bytes), Some(wanted)) = (own.bytes(), source.bytes()) else {
            continue;
        };
        let slack = if own.is_inflated && !source.is_inflated { wanted / 100 * OVERHEAD } else { 0 };
        if bytes >= wanted - slack {
            continue;
        }
        let message =
            format!("{who} requests {}, but its source, {name}, has {}: CDI doesn't clone it", own.text, source.text);
        let mut finding = cx
            .finding_about(document, message)
            .label("smaller than its source")
            .help(format!("request at least {}", source.text))
            .fixes(suggested(
                document,
                format!("request {}", source.text),
                &[Change::Set(path, source.text.as_str().into())],
            ));
        if let Some(place) = own.place {
            finding = finding.at(place);
        }
        finding = with_related(finding, source.place, "the size of its source");
        out.report(finding);
    }
}

const REQUEST: &str = "resources.requests.storage";

/// The size requested by a DataVolume's spec, and its path.
fn requested(document: &Document, spec: &Node) -> Option<(Size, Path)> {
    let (kind, node) = ["storage", "pvc"].iter().find_map(|kind| Some((*kind, spec.get(kind)?.below(REQUEST)?)))?;
    let place = document.location(node.span);
    let path = document.root.path_to(node.span)?;
    Some((Size { text: document.written_text(node)?, is_inflated: kind == "storage", place: Some(place) }, path))
}

/// The source of a disk, and its size.
fn source(cx: &Context<'_>, own: &str, spec: &Node) -> Option<(String, Size)> {
    let text = |node: &Node, key: &str| node.text_at(key).map(str::to_owned);
    if let Some(claim) = spec.below("source.pvc") {
        let namespace = text(claim, "namespace").unwrap_or_else(|| own.to_owned());
        return of_claim(cx, &namespace, &text(claim, "name")?);
    }
    let mut reference = source_ref_of(spec, Path::default(), own)?;
    let followed = cx.known_source(reference.namespace, reference.name).and_then(|known| known.leads_to);
    if let Some((namespace, name)) = &followed {
        (reference.namespace, reference.name) = (namespace, name);
    }
    let named = format!("the DataSource {}", reference.name);
    if let Some(declared) = cx.named("DataSource", Some(reference.namespace), reference.name) {
        let claim = declared.root.below("spec.source.pvc")?;
        let namespace = text(claim, "namespace").unwrap_or_else(|| reference.namespace.to_owned());
        return of_claim(cx, &namespace, &text(claim, "name")?);
    }
    if let Some(cron) = cx.cron_of(reference.namespace, reference.name) {
        let (size, _) = requested(cron, cron.root.below("spec.template.spec")?)?;
        return Some((named, size));
    }
    let is_it = |body: &Json| body["spec"]["managedDataSource"] == reference.name;
    let cron = cx.import_crons().map(|c| &c.object);
    let mut cron = cron.filter(|c| c.id.namespace.as_deref() == Some(reference.namespace) && is_it(&c.body));
    let spec = &cron.next()?.body["spec"]["template"]["spec"];
    let kind = ["storage", "pvc"].into_iter().find(|kind| !spec[*kind].is_null())?;
    let size = spec[kind]["resources"]["requests"]["storage"].as_str()?.to_owned();
    Some((named, Size { text: size, is_inflated: kind == "storage", place: None }))
}

/// A declared claim or DataVolume.
fn of_claim(cx: &Context<'_>, namespace: &str, name: &str) -> Option<(String, Size)> {
    let find = |kind| cx.named(kind, Some(namespace), name);
    if let Some(claim) = find("PersistentVolumeClaim") {
        let node = claim.root.below("spec.resources.requests.storage")?;
        let place = Some(claim.location(node.span));
        return Some((
            format!("the claim {name}"),
            Size { text: claim.written_text(node)?, is_inflated: false, place },
        ));
    }
    let disk = find("DataVolume")?;
    let (size, _) = requested(disk, disk.root.get("spec")?)?;
    Some((format!("the DataVolume {name}"), size))
}
