//! A key without a value whose type is object or list, or that is a label.

use super::prelude::*;

/// What an empty selector does where the default has no effect. Source: HCO's cluster configuration.
static EFFECTS: Rows<(&str, &str)> = Rows::of("emptySections");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let (Some(schema), Some(spec)) = (cx.schema(), cx.root().get("spec")) else {
        return;
    };
    let mut found = Vec::new();
    let start = Path::dotted("spec");
    spec.walk(&Trail::Start(&start), &mut |at, node| {
        if let (Trail::Key(..), Value::Null) = (at, &node.value) {
            let path = at.path();
            let kind = schema.field(&path).map_or("", |f| f.kind);
            // A label's value.
            let is_label = || kind == "string" && schema.takes_any_key(&path.parent());
            if matches!(kind, "object" | "array") || is_label() {
                found.push((path, node, kind));
            }
        }
        true
    });
    for (path, node, kind) in found {
        let empty = match kind {
            "array" => "[]",
            "string" => "\"\"",
            _ => "{}",
        };
        let place = cx.document().locate_key(&path);
        let message = format!("{path} has no value: the API server treats it as absent, not as {empty}");
        let finding = cx.finding(message).at(place).label("null");
        let place = cx.location(node.span);
        let text = match place.text() {
            "" => format!(" {empty}"),
            _ => empty.to_owned(),
        };
        let effect = EFFECTS.iter().find(|(field, _)| path.to_string().ends_with(field));
        let effect = effect.map_or_else(String::new, |(_, effect)| format!(", which {effect}"));
        let title = format!("write {empty}{effect}");
        let change = Change::Remove(path.clone());
        let removal = cx.suggest(format!("remove {path}"), &[change]);
        let written = suggested_text(title, place, text);
        out.report(finding.fixes(removal.into_iter().chain([written])));
    }
}
