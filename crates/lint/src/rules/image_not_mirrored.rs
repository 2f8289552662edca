//! Images that a cluster pulls only from a mirror, and that oc-mirror doesn't copy.
//!
//! Source: oc-mirror copies releases, operators with their related images, and `additionalImages`. The images of disks are
//! no related images of an operator.

use super::prelude::*;
use crate::context::without_transport;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // One finding for each list.
    let mut found: BTreeMap<(String, u32), (Location, Vec<String>)> = BTreeMap::new();
    let mut add = |image: &str| {
        if let Some(place) = cx.not_mirrored(image) {
            let key = (place.file.path().to_string(), place.span.start);
            let images = &mut found.entry(key).or_insert_with(|| (place, Vec::new())).1;
            let image = without_transport(image).to_owned();
            if !images.contains(&image) {
                images.push(image);
            }
        }
    };
    for cron in cx.import_crons() {
        let source = &cron.object.body["spec"]["template"]["spec"]["source"];
        source["registry"]["url"].as_str().into_iter().for_each(&mut add);
    }
    for (_, document, path) in cx.declared_volumes() {
        document.root.str_at(&path.below("source.registry.url")).into_iter().for_each(&mut add);
    }
    for boot in cx.boots() {
        let at = |path: &Path| boot.vm.document.root.str_at(path);
        boot.images.iter().filter_map(|image| at(&image.path)).for_each(&mut add);
        boot.vm.disk_templates().filter_map(|(_, t)| t.text_at("spec.source.registry.url")).for_each(&mut add);
    }
    for (place, images) in found.into_values() {
        let (come, them) = if images.len() == 1 { ("comes", "it") } else { ("come", "them") };
        let message =
            format!("{} {come} from a mirror, but oc-mirror's configuration doesn't list {them}", and(&images));
        out.report(
            cx.finding(message)
                .at(place)
                .label("not in `mirror.additionalImages`")
                .help("add the image to `mirror.additionalImages`"),
        );
    }
}
