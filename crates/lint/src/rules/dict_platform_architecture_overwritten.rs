//! A golden image with two architectures.

use super::prelude::*;

const PLATFORM: &str = "spec.template.spec.source.registry.platform";

pub(super) fn find(cx: &Context<'_>, image: &GoldenImage<'_>) -> Option<Finding> {
    let template = image.template;
    if !template.has_architectures_annotation() || !template.is_deployed() {
        return None;
    }
    let written = image.written?;
    let platform = written.get(PLATFORM);
    let pinned = platform?.get("architecture")?;
    let architecture = pinned.as_str().filter(|a| !a.is_empty())?;
    let imported = template.architectures().unwrap_or_default();
    let imported: Vec<&str> = imported.split(',').collect();
    let name = template.name();
    let is_so = imported[..] == [architecture];
    let message = if is_so {
        format!("golden image {name} pins {architecture}, as its annotation does already")
    } else {
        format!("golden image {name} pins {architecture}, but SSP imports it for {}", and(&imported))
    };
    let finding = cx
        .finding(message)
        .at(written.place(pinned))
        .label("overwritten by each architecture of the annotation")
        .help("remove it, or name only this architecture in the annotation");
    let annotation = written.annotation(ARCHITECTURES_ANNOTATION);
    let finding = with_related(finding, annotation.map(|a| a.value_place()), "these apply");
    let mut path = written.path(cx).below(PLATFORM);
    if entries(platform).len() > 1 {
        path = path.key("architecture");
    }
    let remove = [Change::Remove(path)];
    let title = "remove `platform.architecture`";
    // A deliberately pinned architecture differs.
    let applicability = if is_so { Applicability::Safe } else { Applicability::Unsafe };
    Some(finding.fixes(cx.fix(title, applicability, &remove)))
}
