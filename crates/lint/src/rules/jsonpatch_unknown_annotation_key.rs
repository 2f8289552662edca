//! A misspelt jsonpatch annotation.

use hcoplan_planner::jsonpatch::ANNOTATIONS;

use super::prelude::*;

/// The suffix of all keys.
const LAST_PART: &str = "jsonpatch";

/// Common names of the operands, and the key for each.
static CALLED: Rows<(&str, &str)> = Rows::of("operandNames");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(annotations) = cx.root().below("metadata.annotations") else {
        return;
    };
    for entry in annotations.entries() {
        let key = entry.key.text.as_str();
        if ANNOTATIONS.iter().any(|a| a.name == key) {
            continue;
        }
        let meant = meant(key);
        if !plain(key).ends_with(LAST_PART) && meant.is_none() {
            continue;
        }
        let place = cx.location(entry.key.span);
        let finding = cx.finding(format!("HCO reads no annotation {key}")).at(place.clone()).label("ignored");
        let Some(name) = meant else {
            out.report(finding.help(format!("the keys that HCO reads are {}", and(ANNOTATIONS.map(|a| a.name)))));
            continue;
        };
        out.report(if let Some(counts) = annotations.entry(name) {
            let finding = finding.related(cx.location(counts.key.span), "HCO reads this one");
            finding.fixes(cx.suggest(format!("remove {key}"), &cx.annotation_removals(&[key])))
        } else {
            // Of two keys with the same meaning, the intended one is unclear.
            let is_only = annotations.entries().iter().filter(|e| self::meant(&e.key.text) == Some(name)).count() == 1;
            let applicability = if is_only { Applicability::Unsafe } else { Applicability::Suggestion };
            finding.fix(Fix::edit(format!("rename it to {name}"), applicability, place, name))
        });
    }
}

/// The intended key: by the operand's common name, else the most similar one.
fn meant(key: &str) -> Option<&'static str> {
    let plain = plain(key);
    let (domain, last) = plain.split_once('/')?;
    nearest(last, [LAST_PART])?;
    let called = first_part(domain, '.');
    if let Some((_, name)) = CALLED.iter().find(|(word, _)| *word == called) {
        return Some(name);
    }
    let operand = |name: &'static str| first_part(name, '.');
    let names = ANNOTATIONS.map(|a| a.name);
    let near = nearest(called, names.map(operand))?;
    names.into_iter().find(|name| operand(name) == near)
}

fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}
