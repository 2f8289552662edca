//! `hcoplan explain`: gates and terms (alerts, annotations, metrics and others), from `schemas/words.json` and the
//! releases' data.

use super::field;
use crate::prelude::*;
use hcoplan_diagnostics::finding::Prediction;
use hcoplan_explain::docs::{Term, TermKind, fields_with_value, gate_effect, gate_in, gates, terms_of};
use hcoplan_planner::hyperconverged::MOVES;
use hcoplan_planner::jsonpatch::{ANNOTATIONS, Annotation};
use hcoplan_planner::plan::PREDICTED_ALERTS;
use hcoplan_planner::release::Distribution;
use std::fmt::Write;

/// The page with exactly this name; `None` if none has it.
pub(super) fn page(subject: &str, release: Option<&Arc<Release>>) -> Option<String> {
    let exact = gate(subject, release).filter(|(name, _)| name == subject).map(|(_, page)| page);
    let with_term = |page| match Term::named(subject) {
        Some(named) => format!("{page}\n{}", term(named, release)),
        None => page,
    };
    let exact = exact.map(with_term);
    let patch = || Some(jsonpatch(ANNOTATIONS.iter().find(|a| a.name == subject)?));
    exact.or_else(patch).or_else(|| Some(term(Term::named(subject)?, release))).or_else(|| value(subject))
}

/// The page of a value of fields.
fn value(name: &str) -> Option<String> {
    let fields = fields_with_value(name);
    let lines = fields.iter().map(|(field, effect)| format!("- {field}: {effect}\n"));
    let read_on = fields.first().map(|(field, _)| format!("\nRead on: `hcoplan explain {field}`\n"))?;
    Some(format!("# {name}\n\nA value of these fields:\n\n{}{read_on}", lines.collect::<String>()))
}

/// The page with the most similar name.
pub(super) fn page_like(subject: &str, release: Option<&Arc<Release>>) -> Option<String> {
    let gate = gate(subject, release).map(|(_, page)| page);
    gate.or_else(|| Some(term(Term::like(subject)?, release)))
}

/// All topics by kind.
pub fn names() -> Vec<(&'static str, Vec<String>)> {
    let of = |kind| terms_of(kind).map(|t| t.name.clone()).collect::<Vec<_>>();
    let mut annotations = of(TermKind::Annotation);
    annotations.extend(ANNOTATIONS.iter().map(|a| a.name.to_owned()));
    let rules = lint::rules().iter();
    let kinds = field::kinds();
    let mut out = vec![
        ("Rules", rules.map(|r| r.rule.name.to_owned()).collect()),
        ("Alerts", of(TermKind::Alert)),
        ("Annotations", annotations),
        ("Labels and finalizers", [of(TermKind::Label), of(TermKind::Finalizer)].concat()),
        ("Conditions", of(TermKind::Condition)),
        ("Metrics", of(TermKind::Metric)),
        ("Feature gates of HCO", gates()),
        ("Kinds", of(TermKind::Kind)),
        ("Terms", of(TermKind::Term)),
        ("Fields of", kinds.into_iter().map(|k| format!("{k}.spec")).collect()),
    ];
    out.iter_mut().for_each(|(_, names)| names.sort());
    out
}

/// All topics as text.
pub fn topics() -> String {
    let mut out = String::from("hcoplan explain TOPIC\n");
    for (title, names) in names() {
        let _ = writeln!(out, "\n{title}");
        for name in names {
            let _ = writeln!(out, "  {name}");
        }
    }
    out
}

fn term(term: &Term, release: Option<&Arc<Release>>) -> String {
    let name = &term.name;
    let mut out = format!("# {name}\n\n");
    if let Some((release, since)) = release.and_then(|r| Some((r, term.introduced_after(r)?))) {
        let _ = writeln!(out, "{} doesn't have it; HCO {since} brings it.\n", release.title());
    }
    if term.kind == TermKind::Alert {
        let by = term.by.as_deref().unwrap_or("HCO");
        let who = if PREDICTED_ALERTS.contains(&name.as_str()) {
            format!("An alert: {by} computes it from its metrics, and `hcoplan plan` says when it would fire.")
        } else {
            format!("An alert of {by}.")
        };
        let _ = writeln!(out, "{who}\n");
    }
    let _ = writeln!(out, "{}", term.text);
    if term.kind == TermKind::Alert {
        out.push_str(&runbooks(name));
    }
    let is_address = |see: &&String| see.starts_with("https://");
    let subject = |see: &String| {
        let quote = if see.contains(' ') { "\"" } else { "" };
        format!("`hcoplan explain {quote}{see}{quote}`")
    };
    let addresses = term.see.iter().filter(is_address).map(|see| format!("<{see}>"));
    let on: Vec<String> = term.see.iter().filter(|s| !is_address(s)).map(subject).chain(addresses).collect();
    if !on.is_empty() {
        let _ = writeln!(out, "\nRead on: {}", on.join(", "));
    }
    if term.kind == TermKind::Kind && field::kinds().contains(name) {
        let page = field::page(name, release);
        out.push_str(&page.map_or_else(|_| String::new(), |page| format!("\n{page}")));
    }
    out
}

/// The alert's runbooks, and the rules that predict it.
fn runbooks(alert: &str) -> String {
    let predicts = |rule: &&Rule| matches!(rule.predicts, Prediction::Alert { name, .. } if name == alert);
    let rules: Vec<&Rule> = lint::rules().iter().map(|r| r.rule).filter(predicts).collect();
    let mut out = format!("\nRunbook: <https://kubevirt.io/monitoring/runbooks/{alert}.html>\n");
    for (title, address) in Distribution::vendors_runbooks(alert) {
        let _ = writeln!(out, "Runbook of {title}: <{address}>");
    }
    if !rules.is_empty() {
        out.push_str("\nRules about it (`hcoplan explain RULE`):\n\n");
    }
    for rule in rules {
        let _ = writeln!(out, "- {}: {}", rule.name, rule.summary);
    }
    out
}

fn jsonpatch(patch: &Annotation) -> String {
    let page = include_str!("jsonpatch.md").replace("{name}", patch.name);
    page.replace("{kind}", patch.kind).replace("{version}", patch.api_version)
}

/// A gate's name and page.
fn gate(subject: &str, of: Option<&Arc<Release>>) -> Option<(String, String)> {
    let all = field::releases(of);
    let states: Vec<_> = all.iter().map(|r| (r, gate_in(r, subject))).collect();
    let own = |release: &Release| release.tables().feature_gates.iter().any(|g| g.name.eq_ignore_ascii_case(subject));
    let with_own = states.iter().find(|(r, _)| own(r));
    let first = with_own.or_else(|| states.iter().find(|(_, state)| state.is_some()))?;
    let name = first.1.as_ref()?.0.clone();
    let mut out = format!("# {name}\n\n");
    if let Some(what) = gate_effect(&name) {
        let _ = writeln!(out, "{what}\n");
    }
    let asked = of.map(|r| r.label());
    let is_asked = |release: &Release| asked.is_none_or(|asked| release.label() == asked);
    let state_of = |label: &str| states.iter().find(|(r, _)| r.label() == label).and_then(|(_, state)| state.as_ref());
    let lost = of.filter(|of| if with_own.is_some() { !own(of) } else { state_of(of.label()).is_none() });
    if let Some(asked) = lost {
        let place = |label: &str| states.iter().position(|(r, _)| r.label() == label);
        let what = if place(first.0.label()) > place(asked.label()) { "brings it" } else { "has it" };
        let only = if state_of(asked.label()).is_some() { " of HCO, only KubeVirt has one" } else { "" };
        let (asked, first) = (asked.label(), first.0.label());
        let _ = writeln!(out, "{asked} has no such feature gate{only}; {first} {what}.\n");
    }
    let _ = writeln!(out, "A feature gate, by release:\n");
    for (release, state) in states.iter().filter(|(r, _)| lost.is_some() || is_asked(r)) {
        let state = state.as_ref().map_or("not there", |(_, state)| state);
        let _ = writeln!(out, "- {}: {state}", release.label());
    }
    for distribution in Distribution::all() {
        let mut previews = distribution.technology_previews.iter();
        let source = previews.find(|p| p.value == name).map(|p| &p.source);
        if let Some(source) = source.and_then(|s| distribution.sources.get(s)) {
            let title = &distribution.title;
            let _ = writeln!(out, "\nWhile it isn't a field, it is a Technology Preview of {title}: <{}>", source.url);
        }
    }
    let fields = all.iter().filter_map(|release| release.admission().version("v1"));
    let mut fields = fields.flat_map(|version| &version.gates_to_fields);
    if let Some(field) = fields.find(|field| field.gate == name) {
        let _ = writeln!(out, "\nReplaced by `{}` in v1.", field.field);
    } else if let Some((old, new)) = MOVES.iter().find(|(old, _)| *old == name) {
        let _ = writeln!(out, "\nReplaced by `spec.{old}` in v1beta1, `spec.{new}` in v1.");
    } else if let Some(field) = field::qualified(&name).iter().find(|f| !f.contains(".featureGates.")) {
        let _ = writeln!(out, "\nA field has this name, too: `hcoplan explain {field}`");
    }
    out.push_str(&field::read_on(&name));
    Some((name, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(subject: &str) -> bool {
        lint::find(subject).is_some() || super::super::page(subject, None).is_ok()
    }

    #[test]
    fn every_listed_or_linked_topic_has_a_page() {
        for (title, names) in names() {
            for name in names {
                assert!(pages(&name), "{title}: {name} has no page");
                assert!(topics().contains(&name), "{name} is not listed");
            }
        }
        for term in hcoplan_explain::docs::terms() {
            for see in term.see.iter().filter(|see| !see.starts_with("https://")) {
                assert!(pages(see), "{}: {see} has no page", term.name);
            }
            for name in term.names() {
                assert!(pages(name), "{}: {name} has no page", term.name);
            }
        }
    }

    #[test]
    fn every_alert_that_a_rule_predicts_or_a_page_names_has_a_page() {
        let predicted = lint::rules().iter().filter_map(|r| match r.rule.predicts {
            Prediction::Alert { name, .. } => Some(name),
            _ => None,
        });
        for name in predicted.chain(PREDICTED_ALERTS) {
            let page = page(name, None).unwrap_or_else(|| panic!("{name} has no page"));
            assert!(page.contains("It fires with the severity ") && page.contains("Runbook: "), "{page}");
        }
        for rule in lint::rules() {
            let text = lint::sections(rule.rule);
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            for pair in words.windows(2) {
                let name = match pair {
                    ["alert" | "alerts", name] | [name, "fires"] => *name,
                    _ => continue,
                };
                let is_name = name.len() > 8 && name.chars().filter(char::is_ascii_uppercase).count() > 1;
                assert!(!is_name || page(name, None).is_some(), "{}: {name} has no page", rule.rule.name);
            }
        }
    }

    #[test]
    fn gates_are_listed_by_release() {
        let page = page("enableMultiArchBootImageImport", None).expect("a page");
        for release in Release::known_names() {
            assert!(page.contains(release), "{release}: {page}");
        }
        let of_one = super::page("HotplugVolumes", Release::known("1.19").as_ref()).expect("a page");
        assert!(of_one.contains("KubeVirt") && !of_one.contains("1.16"), "{of_one}");
        let before = super::page("template", Release::known("1.16").as_ref()).expect("a page");
        let of_kubevirt = super::page("template", Release::known("1.18").as_ref()).expect("a page");
        assert!(of_kubevirt.contains("only KubeVirt has one; 1.19 brings it"), "{of_kubevirt}");
        assert!(before.contains("1.16 has no such feature gate; 1.19 brings it"), "{before}");
        assert!(before.contains("A field has this name, too"), "{before}");
    }
}
