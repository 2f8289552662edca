//! A patch with an index into a rendered list.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    let (patch, operation) = (applied.patch, applied.operation);
    // Other rules report these indexes in more detail.
    if applied.inherits() || applied.gates().is_some_and(|gates| !gates.lost.is_empty()) || !applied.writes() {
        return None;
    }
    let rendered = patch.rendered()?;
    let segments = operation.segments();
    let found = indexed(rendered, &segments)?;
    if patch.operations()[..applied.index].iter().any(|o| o.op == Op::Test && o.path == operation.path) {
        return None;
    }
    let span = operation.segment_span(patch.text, found.depth);
    let place = patch.place(span.unwrap_or(operation.spans.path));
    let list = segments[..found.depth].join("/");
    let index = &segments[found.depth];
    let message = match &found.element {
        Some(element) => format!(
            "/{list}/{index} of {} is {element} with this release, and may be another one with \
         the next",
            applied.kind()
        ),
        None => format!("/{list}/{index} of {} counts a list's elements", applied.kind()),
    };
    let appends = operation.op == Op::Add && found.depth + 1 == segments.len();
    let finding = cx.finding(message).at(place).label("HCO may render this list in another order in each release");
    Some(if appends {
        finding.remedy("add at the end, with /-", append(cx, applied, found.depth))
    } else {
        finding.help("change the list by the HyperConverged's own field")
    })
}

/// An index into a rendered list.
struct Indexed {
    /// The number of the index's segment.
    depth: usize,
    /// The name of the present element, if it has one.
    element: Option<String>,
}

fn indexed(rendered: &Json, segments: &[String]) -> Option<Indexed> {
    let mut at = rendered;
    for (depth, segment) in segments.iter().enumerate() {
        let Json::Array(items) = at else {
            at = at.get(segment)?;
            continue;
        };
        if segment == "-" {
            return None;
        }
        let index: i64 = segment.parse().ok()?;
        let index = match usize::try_from(index) {
            Ok(index) => index,
            Err(_) => items.len().checked_sub(usize::try_from(-index).ok()?)?,
        };
        let element = items.get(index).and_then(name);
        return Some(Indexed { depth, element });
    }
    None
}

/// The name of an element.
fn name(element: &Json) -> Option<String> {
    let named = ["name", "resourceName", "key", "resourceType"];
    match element {
        Json::Object(fields) => {
            let name = named.iter().find_map(|n| fields.get(*n)?.as_str());
            name.or_else(|| fields.get("metadata")?.get("name")?.as_str()).map(str::to_owned)
        }
        Json::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Replaces the index by `-`.
fn append(cx: &Context<'_>, applied: &Applied<'_, '_>, depth: usize) -> Option<Fix> {
    let patch = applied.patch;
    if patch.shifts_others(applied.index) {
        return None;
    }
    let span = applied.operation.segment_span(patch.text, depth)?;
    cx.patched(patch, "write - for the index, which adds at the end", &[(span.range(), "-".to_owned())], |_| true)
}
