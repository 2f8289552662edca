//! A disabled golden image that doesn't exist.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Option<Finding> {
    let name = template.name();
    if !cx.is_openshift() || cx.common_image(name).is_some() {
        return None;
    }
    if template.get("spec").is_some_and(|spec| !matches!(spec.value, Value::Null)) {
        return beside(cx, template);
    }
    let off = template.annotation(ENABLE_ANNOTATION)?.text()?;
    if !off.eq_ignore_ascii_case("false") || name.is_empty() {
        return None;
    }
    let common: Vec<&str> = cx.common_images().collect();
    // The one whose DataSource has this name, else the one with the most similar name.
    let of_source = common.iter().copied().find(|common| source_of(cx, common) == Some(name));
    let meant = of_source.or_else(|| nearest(name, cx.common_images()));
    let message =
        format!("{name} is switched off, but release {} has no common golden image of this name", cx.release().label());
    let finding = cx.finding(message).at(template.name_place()).label("has no effect");
    let otherwise = format!("remove it, or use the name of a common image: {}", or(&common));
    Some(did_you_mean(finding, "write", meant, otherwise))
}

/// The DataSource of a common image.
fn source_of<'a>(cx: &Context<'a>, image: &str) -> Option<&'a str> {
    cx.common_image(image)?["spec"]["managedDataSource"].as_str()
}

/// An image whose name is similar to a common one's.
fn beside(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Option<Finding> {
    let name = template.name();
    // An image with its own DataSource is not meant as a common one.
    let own = template.node.text_at("spec.managedDataSource");
    let near = nearest(name, cx.common_images()).filter(|near| !name.is_empty() && source_of(cx, near) == own);
    let Some(meant) = near else {
        return another_version(cx, template);
    };
    let message =
        format!("{name} is not the name of a common golden image: HCO adds a new image instead of changing {meant}");
    let finding = cx.finding(message).at(template.name_place()).label("a new image");
    Some(did_you_mean(finding, "write", Some(meant), ""))
}

/// An image with the name of another release's common image, or named like the HyperConverged as in the vendor's
/// example. It may be intended as a new image.
fn another_version(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Option<Finding> {
    let (name, own) = (template.name(), template.node.text("spec.managedDataSource"));
    let is_version_of = |common: &&str| {
        let theirs = source_of(cx, common);
        let (ours, common) = (system(name), system(common));
        let same = ours.starts_with(common) || common.starts_with(ours);
        same && !ours.is_empty() && theirs.is_some_and(|d| system(d) == system(own))
    };
    let common: Vec<&str> = cx.common_images().collect();
    let is_copied = name_of(cx.document()) == name;
    let is_version = name.ends_with(SUFFIX) && common.iter().any(is_version_of);
    if !is_copied && !is_version {
        return None;
    }
    let release = cx.release().label();
    let message = format!("{name} is not the name of a common golden image of {release}: HCO adds a new image");
    Some(
        cx.finding(message).info().at(template.name_place()).label("a new image").help(format!(
            "ignore this for an image of your own; to change a common image, use its name: {}",
            or(&common)
        )),
    )
}

/// Suffix of common images' names.
const SUFFIX: &str = "-image-cron";

/// The operating system in the name of an image or DataSource: `centos-stream` of `centos-stream9-image-cron`.
fn system(name: &str) -> &str {
    let name = name.strip_suffix(SUFFIX).unwrap_or(name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.')
}
