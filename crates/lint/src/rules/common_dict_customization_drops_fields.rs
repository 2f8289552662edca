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
            namespace(cx, &written, out);
            fields(cx, image, &written, out);
            labels(cx, &written, out);
        }
    }
}

fn namespace(cx: &Context<'_>, written: &WrittenTemplate<'_>, out: &mut Sink) {
    let hc = cx.hyperconverged();
    let common = hc.and_then(|hc| hc.common_images_namespace());
    let own = written.get("metadata.namespace").and_then(|n| n.as_str());
    let Some(common) = common.filter(|_| own.unwrap_or_default().is_empty()) else {
        return;
    };
    let goes_to = cx.images_namespace();
    if common == goes_to {
        return;
    }
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
    out.report(finding.fixes(cx.suggest(title, &[set])));
}

fn fields(cx: &Context<'_>, image: &GoldenImage<'_>, written: &WrittenTemplate<'_>, out: &mut Sink) {
    let common = cx.common_image(written.name()).map(|c| &c["spec"]);
    let common = common.and_then(Json::as_object);
    let (Some(common), Some(own)) = (common, image.template.spec.as_ref()) else {
        return;
    };
    let mut lost = missing(common, own);
    let data_volume = |spec: &'_ Map<String, Json>| {
        let inner = spec.get("template").and_then(|t| t.get("spec"));
        inner.and_then(Json::as_object).cloned().unwrap_or_default()
    };
    lost.extend(missing(&data_volume(common), &data_volume(own)));
    if lost.is_empty() {
        return;
    }
    let name = written.name();
    let message = format!("golden image {name} is customised and so loses {} of the common image", and(&lost));
    out.report(
        cx.finding(message)
            .at(written.locate_key("spec"))
            .label("replaces the whole common spec")
            .help(format!("repeat {}", and(&lost))),
    );
}

/// The missing fields of the common image, with their values.
fn missing(common: &Map<String, Json>, own: &Map<String, Json>) -> Vec<String> {
    let lost = common.iter().filter(|(key, value)| {
        let default = DEFAULTS.iter().any(|(k, v)| k == key && *value == v);
        !own.contains_key(*key) && !default && !ELSEWHERE.contains(&key.as_str())
    });
    lost.map(|(key, value)| format!("{key}: {value}")).collect()
}

fn labels(cx: &Context<'_>, written: &WrittenTemplate<'_>, out: &mut Sink) {
    let labels = written.get("metadata.labels");
    let labels = entries(labels);
    if labels.is_empty() {
        return;
    }
    let keys = and(labels.iter().map(|label| &label.key.text));
    let message = format!("golden image {} is customised, and HCO ignores its own labels: {keys}", written.name());
    out.report(
        cx.finding(message)
            .at(written.locate_key("metadata.labels"))
            .label("only the common image's labels apply")
            .help("switch the common image off, and write one by another name with these labels"),
    );
}
