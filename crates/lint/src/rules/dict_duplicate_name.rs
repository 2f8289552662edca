//! Two golden images with the same name.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut seen: Vec<WrittenTemplate<'_>> = Vec::new();
    for template in cx.written_templates() {
        let name = template.name();
        let Some(first) = seen.iter().find(|t| t.name() == name) else {
            seen.push(template);
            continue;
        };
        // dict-metadata-misindented reports names outside of the metadata.
        if name.is_empty() && template.misplaced_metadata().next().is_some() {
            continue;
        }
        let message = match name {
            "" => "two golden images have no name: HCO rejects the second".to_owned(),
            _ => format!("two golden images are named {name}: HCO rejects the second"),
        };
        let finding = cx
            .finding(message)
            .at(template.name_place())
            .label("is defined already")
            .related(first.name_place(), "first defined here")
            .help("give each golden image its own name, even in different namespaces");
        let words = format!("{name} DataImportCronTable is already defined");
        out.report_as(cx.rendering_fails_with(&words), finding);
    }
}
