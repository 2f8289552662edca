//! Values of the plan that only the vendor's bundle has and that are assumed.

use std::collections::HashSet;

use hcoplan_diagnostics::words::plural;
use hcoplan_planner::release::AssumedValue;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let assumed = cx.release().assumed();
    if assumed.is_empty() {
        return;
    }
    let mut search = Search {
        assumed,
        values: assumed.iter().map(|assumed| assumed.value.as_str()).collect(),
        seen: vec![false; assumed.len()],
    };
    for object in cx.plan().objects() {
        search.look(&object.id.name, "", &object.body);
    }
    let seen = search.seen;
    let there = assumed.iter().zip(&seen).filter(|(_, seen)| **seen);
    let (images, variables): (Vec<_>, Vec<_>) = there.map(|(value, _)| value).partition(|v| !v.within.is_empty());
    let mut of_images: Vec<&str> = images.iter().map(|v| v.within.as_str()).collect();
    of_images.dedup();
    let mut names = Vec::new();
    if !variables.is_empty() {
        names.push(plural(variables.len(), "operator variable"));
    }
    if !of_images.is_empty() {
        names.push(format!("values of {}", plural(of_images.len(), "golden image")));
    }
    if names.is_empty() {
        return;
    }
    let title = cx.release().display_name();
    let message = format!("{title}: hcoplan assumes {}", and(&names));
    out.report(
        cx.finding(message)
            .at(cx.whole_location())
            .label("only the vendor's bundle has them")
            .help(format!("`hcoplan release show {}` lists them", cx.release().label())),
    );
}

/// A search for assumed values.
struct Search<'a> {
    assumed: &'a [AssumedValue],
    /// The values alone: comparing each text with all of them took a tenth of a lint of 40 overlays.
    values: HashSet<&'a str>,
    /// Whether each was found.
    seen: Vec<bool>,
}

impl Search<'_> {
    /// Marks the assumed values inside a value; `within` is the name of the enclosing object or list entry, `key` the
    /// enclosing key.
    fn look(&mut self, within: &str, key: &str, value: &Json) {
        match value {
            Json::String(text) => self.mark(within, key, text),
            Json::Bool(on) => self.mark(within, key, &on.to_string()),
            Json::Array(items) => items.iter().for_each(|item| self.look(within, key, item)),
            Json::Object(map) => {
                let within = value.pointer("/metadata/name").and_then(Json::as_str).unwrap_or(within);
                map.iter().for_each(|(key, value)| self.look(within, key, value));
            }
            _ => {}
        }
    }

    fn mark(&mut self, within: &str, key: &str, text: &str) {
        if self.values.contains(text) {
            for (value, seen) in self.assumed.iter().zip(&mut self.seen) {
                *seen |= value.is_at(within, key, text);
            }
        }
    }
}
