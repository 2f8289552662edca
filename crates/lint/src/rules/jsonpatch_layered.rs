//! A jsonpatch annotation that an overlay replaces.

use hcoplan_repository::repo::Layer;

use super::prelude::*;
use crate::Annotation;

/// An earlier text of the annotation.
struct EarlierText {
    operations: Vec<Json>,
    place: Location,
}

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let patches = cx.patch_annotations();
    if patches.is_empty() {
        return;
    }
    let layers = cx.layers();
    for patch in patches {
        let name = patch.target.name;
        let mut below = Vec::new();
        // A build has the last layer's text; its layers start with the HyperConverged's own.
        if !cx.is_built() {
            below.push(EarlierText { operations: operations(patch.text), place: patch.annotation.key_place() });
        }
        for layer in layers.iter().filter(|l| l.name == name && (cx.is_built() || !l.is_own)) {
            let own = operations(&layer.text);
            if let Some(under) = below.last() {
                let missing: Vec<&Json> = under.operations.iter().filter(|o| !own.contains(o)).collect();
                if !missing.is_empty() {
                    out.report(finding(cx, layer, under, &missing));
                }
            }
            below.push(EarlierText { operations: own, place: layer.place.clone() });
        }
    }
}

fn finding(cx: &Context<'_>, layer: &Layer, under: &EarlierText, missing: &[&Json]) -> Finding {
    let count = match missing.len() {
        1 => "an operation".to_owned(),
        n => format!("{n} operations"),
    };
    let message = format!("{} replaces {}, and so removes {count} from it", layer.file, layer.name);
    cx.finding(message)
        .at(under.place.clone())
        .label("replaced as a whole")
        .related(layer.place.clone(), "replaced by this")
        .remedy(
            "write all operations into the upper annotation, or use the HyperConverged's fields",
            added(layer, missing),
        )
}

/// Prepends the missing operations to those of the layer.
fn added(layer: &Layer, missing: &[&Json]) -> Option<Fix> {
    let annotation = Annotation::of(layer.document.as_ref()?, &layer.name)?;
    let start = layer.text.find('[')? + 1;
    let rest = layer.text.get(start..)?.trim_start();
    let texts = joined(missing.iter().map(ToString::to_string), ", ");
    let comma = if rest.starts_with(']') { "" } else { ", " };
    let text = format!("{texts}{comma}");
    let operations = if missing.len() == 1 { "operation" } else { "operations" };
    Some(suggestion(
        format!("add the removed {operations} to the annotation that {} sets", layer.file),
        vec![annotation.edit_part(start..start, &text)?],
    ))
}

/// The operations of a patch as JSON; empty unless it is a list.
fn operations(text: &str) -> Vec<Json> {
    let list: Option<Vec<Json>> = serde_json::from_str(text).ok();
    list.unwrap_or_default()
}
