//! A Secret or ConfigMap without the key that a virtual machine or a disk reads.

use hcoplan_planner::machines::{each, is_base64};

use super::prelude::*;

/// A Secret or ConfigMap that must have keys.
#[derive(Deserialize)]
struct Reference {
    /// The field with the object's name.
    field: &'static str,
    kind: &'static str,
    /// One of these, or each.
    keys: Vec<&'static str>,
    #[serde(default)]
    needs_each: bool,
    #[serde(default)]
    in_any_case: bool,
}

/// What a launcher reads, below an instance's spec. Source: `pkg/cloud-init/cloud-init.go`, `pkg/config/sysprep.go`.
static OF_LAUNCHER: Rows<Reference> = Rows::of("keysOfLauncher");
/// What CDI's importer reads, below the `spec` of a DataVolume. Source: CDI `pkg/controller/import-controller.go`,
/// `makeImportEnv`.
static OF_IMPORTER: Rows<Reference> = Rows::of("keysOfImporter");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (vm, verdict) in cx.judged_machines() {
        let (who, namespace) = (vm.to_string(), namespace_of(vm.document));
        report(cx, vm.document, (&vm.path(""), &verdict.spec), &OF_LAUNCHER, (namespace, &who), out);
    }
    for DiskSpec { who, spec, document, namespace } in cx.disk_specs() {
        let path = document.root.path_to(spec.span).unwrap_or_default();
        report(cx, document, (&path, &spec.to_json()), &OF_IMPORTER, (namespace, &who), out);
    }
}

fn report(
    cx: &Context<'_>,
    document: &Document,
    (path, spec): (&Path, &Json),
    rows: &[Reference],
    reader: (&str, &str),
    out: &mut Sink,
) {
    let found = rows.iter().flat_map(|row| {
        let named = each(spec, row.field).into_iter();
        named.filter_map(move |(field, name)| {
            let row = (row, name.as_str().unwrap_or_default());
            let finding = finding(cx, document, &path.below(&field), row, reader)?;
            Some((Path::dotted(&field).parent().parent(), finding))
        })
    });
    let found: Vec<(Path, Finding)> = found.collect();
    for (source, finding) in &found {
        // A launcher needs some of a source's data. A Secret that is rejected, which has nothing related, stays an error.
        let data = source.get(spec).map_or(0, |source| members(source).count());
        let lacking = found.iter().filter(|(other, _)| other == source).count();
        let finding = finding.clone();
        out.report(if data > lacking && !finding.related.is_empty() { finding.warning().silent() } else { finding });
    }
}

/// Whether a Secret's value is no base64, nor one that a tool replaces.
fn is_undecodable(entry: &Entry) -> bool {
    let text = entry.value.as_str().unwrap_or_default();
    !is_base64(text) && !is_placeholder(text) && !text.contains('<') && !text.starts_with("ENC[")
}

/// The keys of a Secret or ConfigMap, or of the Secret that a controller makes of another object; `None` if unknown.
fn keys_of_data(found: &Document) -> Option<BTreeSet<&str>> {
    let spec = |field: &str| found.root.below(&format!("spec.{field}"));
    let lists = match found.text("kind") {
        "ExternalSecret" => {
            let is_known = spec("dataFrom").is_none() && spec("target.template").is_none();
            let target = text_at(found, "spec.target.name").unwrap_or_else(|| name_of(found));
            let data = spec("data").filter(|_| is_known && target == name_of(found))?;
            return Some(data.items().iter().filter_map(|item| item.text_at("secretKey")).collect());
        }
        "SealedSecret" => vec![spec("encryptedData"), spec("template.data")],
        _ => ["data", "stringData", "binaryData"].map(|list| found.root.get(list)).to_vec(),
    };
    let entries = lists.into_iter().flatten().flat_map(Node::entries);
    Some(entries.map(|entry| entry.key.text.as_str()).collect())
}

fn finding(
    cx: &Context<'_>,
    document: &Document,
    path: &Path,
    (row, name): (&Reference, &str),
    (namespace, who): (&str, &str),
) -> Option<Finding> {
    let Reference { kind, keys, .. } = row;
    let namespace = Some(namespace).filter(|n| !n.is_empty() && !is_placeholder(name));
    let sealed = ["SealedSecret", "ExternalSecret"].into_iter().filter(|_| *kind == "Secret");
    let mut all = std::iter::once(*kind).chain(sealed).filter_map(|kind| cx.named(kind, namespace, name));
    let found = all.next().filter(|found| namespace.is_some() && cx.is_whole(found))?;
    if let Some(entry) = entries(found.root.get("data")).iter().find(|entry| *kind == "Secret" && is_undecodable(entry))
        && found.root.get("sops").is_none()
    {
        let key = &entry.key.text;
        let message = format!("the API server rejects the Secret {name}: its data.{key} isn't base64");
        let finding = cx.finding_about(found, message).at(found.location(entry.value.span)).label("not base64");
        return Some(finding.help(format!("write {key} below stringData")));
    }
    let written = keys_of_data(found)?;
    let is_it = |key: &str, written: &str| key == written || row.in_any_case && key == written.to_lowercase();
    let has = |key: &&str| written.iter().any(|written| is_it(key, written));
    let missing: Vec<&str> = keys.iter().copied().filter(|key| !has(key)).collect();
    if missing.is_empty() || !row.needs_each && missing.len() < keys.len() {
        return None;
    }
    let wanted = if row.needs_each { and(&missing) } else { or(keys) };
    let message = format!("the {kind} {name} has no key {wanted}, which {who} reads");
    let has = if written.is_empty() { "it has none".to_owned() } else { format!("it has {}", and(&written)) };
    let place = name_place(found);
    let finding = cx.finding_about(document, message).at(document.locate(path));
    let finding = finding.label(format!("needs the key {wanted}")).related(place, has);
    Some(finding.help(format!("name the key {wanted}")))
}
