//! A disabled golden image that doesn't exist.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.inventory().platform == Platform::Kubernetes {
        return;
    }
    for template in cx.written_templates() {
        let spec = template.get("spec");
        let bare = spec.is_none_or(|s| matches!(s.value, Value::Null));
        let off = template.annotation(cx, ENABLE_ANNOTATION);
        let off = off.and_then(|a| a.text());
        let name = template.name();
        if !bare && cx.common_image(name).is_none() {
            beside(cx, &template, out);
            continue;
        }
        if !bare
            || !off.is_some_and(|o| o.eq_ignore_ascii_case("false"))
            || name.is_empty()
            || cx.common_image(name).is_some()
        {
            continue;
        }
        let common: Vec<&str> = cx.common_images().collect();
        let meant = meant(name, cx);
        let message = format!(
            "{name} is switched off, but release {} has no common golden image of this name",
            cx.release().label()
        );
        let finding = cx.finding(message).at(template.name_place()).label("has no effect");
        let otherwise = format!("remove it, or use the name of a common image: {}", or(&common));
        out.report(did_you_mean(finding, "write", meant, otherwise));
    }
}

/// An image whose name is similar to a common one's.
fn beside(cx: &Context<'_>, template: &WrittenTemplate<'_>, out: &mut Sink) {
    let name = template.name();
    let Some(meant) = nearest(name, cx.common_images()).filter(|_| !name.is_empty()) else {
        return another_version(name, cx, template, out);
    };
    // An image with its own DataSource is not meant as a common one.
    let own = template.get("spec.managedDataSource").and_then(|n| n.as_str());
    let theirs = cx.common_image(meant).and_then(|i| i["spec"]["managedDataSource"].as_str());
    if own != theirs {
        return another_version(name, cx, template, out);
    }
    let message =
        format!("{name} is not the name of a common golden image: HCO adds a new image instead of changing {meant}");
    let finding = cx.finding(message).at(template.name_place()).label("a new image");
    out.report(did_you_mean(finding, "write", Some(meant), ""));
}

/// An image with the name of another release's common image, or named like the HyperConverged as in the vendor's
/// example. It may be intended as a new image.
fn another_version(name: &str, cx: &Context<'_>, template: &WrittenTemplate<'_>, out: &mut Sink) {
    let own = template.get("spec.managedDataSource").and_then(|n| n.as_str()).unwrap_or_default();
    let is_version_of = |common: &&str| {
        let image = cx.common_image(common);
        let theirs = image.and_then(|i| i["spec"]["managedDataSource"].as_str());
        let (ours, common) = (system(name), system(common));
        let same = ours.starts_with(common) || common.starts_with(ours);
        same && !ours.is_empty() && theirs.is_some_and(|d| system(d) == system(own))
    };
    let common: Vec<&str> = cx.common_images().collect();
    let is_copied = name_of(cx.document()) == name;
    let is_version = name.ends_with(SUFFIX) && common.iter().any(is_version_of);
    if !is_copied && !is_version {
        return;
    }
    let release = cx.release().label();
    let message = format!("{name} is not the name of a common golden image of {release}: HCO adds a new image");
    out.report(cx.finding(message).info().at(template.name_place()).label("a new image").help(format!(
        "ignore this for an image of your own; to change a common image, use its name: {}",
        or(&common)
    )));
}

/// Suffix of common images' names.
const SUFFIX: &str = "-image-cron";

/// The operating system in the name of an image or DataSource: `centos-stream` of `centos-stream9-image-cron`.
fn system(name: &str) -> &str {
    let name = name.strip_suffix(SUFFIX).unwrap_or(name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.')
}

/// The intended common image: the one whose DataSource has this name, else the one with the most similar name.
fn meant<'a>(name: &str, cx: &Context<'a>) -> Option<&'a str> {
    let by_data_source = cx.common_images().find(|n| {
        let image = cx.common_image(n);
        image.is_some_and(|i| i["spec"]["managedDataSource"] == name)
    });
    by_data_source.or_else(|| nearest(name, cx.common_images()))
}
