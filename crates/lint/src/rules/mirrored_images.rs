//! Images that a cluster gets only from a mirror: those that oc-mirror doesn't copy, and those that CDI imports.
//!
//! Source: oc-mirror copies releases, operators with their related images, and `additionalImages`. The images of disks are
//! no related images of an operator. CDI `pkg/importer/transport.go`: the importer asks the registry of the URL itself;
//! mirrors are the nodes' (`registries.conf`), which pull with `pullMethod: node`.

use super::prelude::*;
use crate::context::without_transport;

pub(super) static RULES: &[RegisteredRule] =
    &[always(&IMAGE_NOT_MIRRORED, not_mirrored), always(&IMPORT_IGNORES_MIRROR, ignores_mirror)];

/// One finding for each location, which is of several names.
fn each_place(
    found: impl Iterator<Item = (Location, String)>,
    out: &mut Sink,
    finding: impl Fn(Location, &[String]) -> Finding,
) {
    let mut by_place: BTreeMap<(String, u32), (Location, Vec<String>)> = BTreeMap::new();
    for (place, name) in found {
        let key = (place.file.path().to_string(), place.span.start);
        let names = &mut by_place.entry(key).or_insert_with(|| (place, Vec::new())).1;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    by_place.into_values().for_each(|(place, names)| out.report(finding(place, &names)));
}

fn not_mirrored(cx: &Context<'_>, out: &mut Sink) {
    let imported = cx.import_sources().filter_map(|(_, source)| Some(source["registry"]["url"].as_str()?.to_owned()));
    let boots = cx.boots();
    let pulled = boots.iter().flat_map(|boot| {
        let at = |path: &Path| boot.vm.document.root.str_at(path).map(str::to_owned);
        boot.images.iter().filter_map(move |image| at(&image.path))
    });
    let all = imported.chain(pulled);
    let found = all.filter_map(|image| Some((cx.not_mirrored(&image)?, without_transport(&image).to_owned())));
    each_place(found, out, |place, images| {
        let (come, them) = if images.len() == 1 { ("comes", "it") } else { ("come", "them") };
        let message =
            format!("{} {come} from a mirror, but oc-mirror's configuration doesn't list {them}", and(images));
        let finding = cx.finding(message).at(place).label("not in `mirror.additionalImages`");
        finding.help("add the image to `mirror.additionalImages`")
    });
}

fn ignores_mirror(cx: &Context<'_>, out: &mut Sink) {
    let found = cx.import_sources().filter_map(|(name, source)| {
        let registry = source.get("registry").filter(|registry| registry["pullMethod"] != "node")?;
        Some((cx.sealed_source(registry["url"].as_str()?)?, name))
    });
    each_place(found, out, |place, names| {
        let message = format!(
            "CDI imports {} from the source registry, not from the mirror: mirrors apply only to images that nodes pull",
            and(names)
        );
        let finding = cx.finding(message).at(place).label("mirrors apply only to images that nodes pull");
        finding.help("set `pullMethod: node` in the images' sources, or write the mirror's address as their URL")
    });
}
