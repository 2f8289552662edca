//! Images that CDI imports from a registry that the cluster reaches only through a mirror.
//!
//! Source: CDI `pkg/importer/transport.go`: the importer asks the registry of the URL itself; mirrors are the nodes'
//! (`registries.conf`), which pull with `pullMethod: node`.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // One finding for each mirror.
    let mut found: BTreeMap<(String, u32), (Location, Vec<String>)> = BTreeMap::new();
    let mut add = |name: String, source: &Json| {
        let registry = &source["registry"];
        let by_node = registry["pullMethod"] == "node";
        let url = registry["url"].as_str().filter(|_| !by_node);
        if let Some(place) = url.and_then(|url| cx.sealed_source(url)) {
            let key = (place.file.path().to_string(), place.span.start);
            found.entry(key).or_insert_with(|| (place, Vec::new())).1.push(name);
        }
    };
    for cron in cx.import_crons() {
        add(cron.object.id.name.clone(), &cron.object.body["spec"]["template"]["spec"]["source"]);
    }
    for (_, document, path) in cx.declared_volumes() {
        let source = document.root.at(&path.key("source")).map(Node::to_json);
        add(name_of(document).to_owned(), &source.unwrap_or_default());
    }
    for (place, names) in found.into_values() {
        let message = format!(
            "CDI imports {} from the source registry, not from the mirror: mirrors apply only to images that nodes pull",
            and(&names)
        );
        out.report(
            cx.finding(message)
                .at(place)
                .label("mirrors apply only to images that nodes pull")
                .help("set `pullMethod: node` in the images' sources, or write the mirror's address as their URL"),
        );
    }
}
