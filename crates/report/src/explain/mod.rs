//! The pages of `hcoplan explain`: rules, alerts, gates, annotations, terms and fields, from the releases' data.

mod field;
mod rendered;
mod topic;

use crate::prelude::*;
use crate::words::word;
use hcoplan_analysis::Failure;
use hcoplan_diagnostics::finding;
use hcoplan_explain::docs::steps;
use hcoplan_repository::repo::known_release;

pub use field::kinds;
pub use rendered::document as rendered;
pub use topic::{names, topics};

/// The page of a subject; `release` restricts it to one release.
///
/// # Errors
/// No page has this name; the help suggests similar names.
pub fn page(subject: &str, release: Option<&Arc<Release>>) -> Result<String, Failure> {
    if let Some(found) = lint::find(subject) {
        return Ok(lint::page(found.rule));
    }
    if let Some(page) = topic::page(subject, release) {
        return Ok(page);
    }
    if let Ok(found) = known_release(subject) {
        let title = found.title();
        return Ok(format!("# {title}\n\nA release.\n\nRead on: `hcoplan release show {subject}`\n"));
    }
    // The last segment of a path may be an annotation or a gate.
    let last = steps(subject).and_then(|mut all| all.pop());
    let last = last.map(|step| step.trim_matches(['[', ']']).trim_start_matches("name=").to_owned());
    let is_named = subject.contains(".annotations") || subject.contains("featureGates[");
    if let Some(page) = last.filter(|_| is_named).and_then(|last| topic::page(&last, release)) {
        return Ok(page);
    }
    // An exact field name takes precedence over a similar term.
    let name = subject.to_lowercase();
    let by_name = field::qualified(subject).first().is_some_and(|field| field.to_lowercase().ends_with(&name));
    if let Some(page) = topic::page_like(subject, release).filter(|_| !by_name) {
        return Ok(page);
    }
    if let Some(page) = field::page_of_named(subject, release) {
        return page;
    }
    if field::is_field(subject) {
        return field::page(subject, release);
    }
    let help = match nearest(subject) {
        Some(name) => format!("did you mean {name}?"),
        None if let Some(field) = field::meant_in_hyperconverged(&format!("spec.{subject}")) => {
            format!("did you mean {field}?")
        }
        None if let Some(names) = with_part(subject) => format!("did you mean {names}?"),
        None => word("explain", "unknown").to_owned(),
    };
    Err(Failure::usage(format!("no page is called {subject:?}"), help))
}

/// The subjects with a page: rules, alerts, annotations, gates and top-level fields.
pub fn subjects() -> Vec<String> {
    let mut out: Vec<String> = names().into_iter().flat_map(|(_, n)| n).collect();
    let newest = Release::known_names().last().and_then(Release::known);
    let gates = newest.iter().flat_map(|r| &r.tables().feature_gates);
    let gates = gates.map(|gate| format!("HyperConverged.spec.featureGates.{}", gate.name));
    // Not every gate has a field.
    out.extend(gates.filter(|gate| page(gate, None).is_ok()));
    out
}

/// The most similar name, if any is similar; rules first.
fn nearest(text: &str) -> Option<String> {
    let rule = text.to_lowercase().replace('_', "-");
    let found = finding::nearest(&rule, lint::rules().iter().map(|r| r.rule.name)).map(str::to_owned);
    found.or_else(|| {
        let names: Vec<String> = names().into_iter().flat_map(|(_, names)| names).collect();
        finding::nearest(text, names.iter().map(String::as_str)).map(str::to_owned)
    })
}

/// The first rules whose names contain a text.
fn with_part(text: &str) -> Option<String> {
    let text = text.to_lowercase().replace('_', "-");
    let names = lint::rules().iter().map(|r| r.rule.name);
    let names: Vec<_> = names.filter(|n| n.contains(&text)).take(5).collect();
    (!names.is_empty() && text.len() > 2).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_misspelt_name() {
        for rule in lint::rules() {
            let name = rule.rule.name;
            assert_eq!(nearest(name).as_deref(), Some(name));
            assert_eq!(nearest(&name.replace('-', "_")).as_deref(), Some(name));
        }
        assert_eq!(nearest("zzz"), None);
    }
}
