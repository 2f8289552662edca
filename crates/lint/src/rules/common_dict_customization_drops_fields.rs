//! Customising a common golden image drops fields of the original.

use super::prelude::*;

/// CDI's defaults for missing fields.
const DEFAULTS: [(&str, &str); 2] = [("garbageCollect", "Outdated"), ("retentionPolicy", "All")];

/// Fields that other rules or the API server check.
const ELSEWHERE: [&str; 5] = ["managedDataSource", "pvc", "schedule", "source", "storage"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for image in cx.golden_images() {
        let customised = matches!(image.template.source, TemplateSource::Customised { .. });
        if let Some(written) = image.written.filter(|_| customised) {
            let found = [namespace(cx, &written), fields(cx, image, &written), labels(cx, &written)];
            out.report_all(found.into_iter().flatten());
        }
    }
}

fn namespace(cx: &Context<'_>, written: &WrittenTemplate<'_>) -> Option<Finding> {
    let own = written.get("metadata.namespace").and_then(|n| n.as_str());
    let goes_to = cx.images_namespace();
    let common = cx.hyperconverged()?.common_images_namespace();
    let common = common.filter(|common| own.unwrap_or_default().is_empty() && *common != goes_to)?;
    let name = written.name();
    let message = format!(
        "golden image {name} is customised, so SSP creates it in the namespace {goes_to}; the other common images are in {common}"
    );
    let place = cx.field("commonBootImageNamespace").value_place();
    let path = written.path(cx).below("metadata.namespace");
    let finding = cx
        .finding(message)
        .at(written.name_place())
        .label("names no namespace")
        .related(place, "doesn't apply to customised images")
        .help(format!("add namespace: {common} to its metadata"));
    let set = Change::Set(path, common.into());
    let title = format!("keep {name} in {common}");
    Some(finding.fixes(cx.suggest(title, &[set])))
}

fn fields(cx: &Context<'_>, image: &GoldenImage<'_>, written: &WrittenTemplate<'_>) -> Option<Finding> {
    let (common, own) = (cx.common_image(written.name())?["spec"].as_object()?, image.template.spec.as_ref()?);
    let mut lost = missing(common, own);
    let data_volume = |spec: &'_ Map<String, Json>| {
        let inner = spec.get("template").and_then(|t| t.get("spec"));
        inner.and_then(Json::as_object).cloned().unwrap_or_default()
    };
    lost.extend(missing(&data_volume(common), &data_volume(own)));
    if lost.is_empty() {
        return None;
    }
    let name = written.name();
    let message = format!("golden image {name} is customised and so loses {} of the common image", and(&lost));
    let finding = cx.finding(message).at(written.locate_key("spec")).label("replaces the whole common spec");
    Some(finding.help(format!("repeat {}", and(&lost))))
}

/// The missing fields of the common image, with their values.
fn missing(common: &Map<String, Json>, own: &Map<String, Json>) -> Vec<String> {
    let lost = common.iter().filter(|(key, value)| {
        let default = DEFAULTS.iter().any(|(k, v)| k == key && *value == v);
        !own.contains_key(*key) && !default && !ELSEWHERE.contains(&key.as_str())
    });
    lost.map(|(key, value)| format!("{key}: {value}")).collect()
}

fn labels(cx: &Context<'_>, written: &WrittenTemplate<'_>) -> Option<Finding> {
    let labels = written.get("metadata.labels")?.entries();
    if labels.is_empty() {
        return None;
    }
    let keys = and(labels.iter().map(|label| &label.key.text));
    let message = format!("golden image {} is customised, and HCO ignores its own labels: {keys}", written.name());
    let finding = cx.finding(message).at(written.locate_key("metadata.labels"));
    Some(
        finding
            .label("only the common image's labels apply")
            .help("switch the common image off, and write one by another name with these labels"),
    )
}
