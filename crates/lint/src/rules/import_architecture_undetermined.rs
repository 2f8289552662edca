//! An image whose imported architecture depends on the importer's node.

use hcoplan_planner::boot::Architectures;

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, disk: &DiskSpec<'_>) -> Option<Finding> {
    let DiskSpec { who, spec, document, .. } = disk;
    let source = document.root.path_to(spec.span).filter(|_| !std::ptr::eq(*document, cx.document()))?.key("source");
    let node = spec.get("source")?;
    let registry = source.key("registry");
    let stream = || Some(format!("the ImageStream {}", node.text_at("registry.imageStream")?));
    let image = node.text_at("registry.url").map(str::to_owned).or_else(stream)?;
    let finding = |message: String| cx.finding_about(document, message).at(document.locate_key(&registry));
    match &cx.import_of(&node.to_json(), namespace_of(document), &Architectures::Unknown) {
        Architectures::Undetermined(names) => {
            let names: Vec<&String> = names.iter().collect();
            let fix = |name: &&String| {
                let set = [Change::Set(registry.below("platform.architecture"), name.as_str().into())];
                suggested(document, format!("import it for {name}"), &set)
            };
            let message = format!(
                "{who} imports {image} without platform.architecture: the disk is {}, depending on the node that imports it",
                or(&names)
            );
            let finding = finding(message)
                .label("the importer's node decides")
                .help("set `platform.architecture`")
                .fixes(names.iter().filter_map(fix));
            Some(with_nodes(finding, cx, &names))
        }
        made @ (Architectures::Known(none) | Architectures::Built(none)) if none.is_empty() => {
            let pin = registry.below("platform.architecture");
            let written = document.root.str_at(&pin);
            // `architecture-alias` reports the correct name.
            if written.is_some_and(|w| Architecture::alias(w).is_some()) {
                return None;
            }
            let wanted = written.map_or_else(|| "the nodes that may import it".to_owned(), str::to_owned);
            let message = format!("{who} imports {image}, which lacks {wanted}");
            let finding = finding(message).severity(error_if(made.is_none())).label("never imported");
            Some(finding.help("import an image that is there, or publish it for the architecture"))
        }
        _ => None,
    }
}
