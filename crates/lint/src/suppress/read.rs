//! Parses suppressions.

use super::{bytes_about, scalars};
use crate::configured::did_you_mean;
use crate::date::Date;
use crate::prelude::*;
use crate::registry;
use crate::suppression::{Scope, Suppression};
use crate::suppression_rules::SUPPRESSION_INVALID;

/// The annotation that suppresses findings in its object.
const ANNOTATION: &str = "hcoplan.dev/ignore";

fn entry(document: &Document) -> Option<&Entry> {
    document.root.below("metadata.annotations")?.entry(ANNOTATION)
}

/// The suppressions in a document's comments: `# hcoplan: ignore[rule] reason`, at the end of the line or on the line
/// above.
pub(super) fn comments(document: &Document, found: &mut Vec<Suppression>, about: &mut Vec<Finding>) {
    let mut ends = None;
    let lines = lines_meant(document);
    for (comment, line) in document.comments.iter().zip(lines) {
        let place = document.location(comment.span);
        let text = place.text().trim_start_matches('#').trim();
        let Some(directive) = text.strip_prefix("hcoplan:").map(str::trim) else {
            continue;
        };
        let parts = directive
            .strip_prefix("ignore")
            .and_then(|rest| rest.trim_start().strip_prefix('['))
            .and_then(|rest| rest.split_once(']'));
        let Some((names, rest)) = parts else {
            about.push(
                Finding::new(&SUPPRESSION_INVALID, "this comment isn't a suppression")
                    .at(place)
                    .label("not understood")
                    .help("write `# hcoplan: ignore[rule-name] reason`"),
            );
            continue;
        };
        let ends = ends.get_or_insert_with(|| {
            let mut ends = BTreeMap::new();
            scalars(&document.root, &mut ends);
            ends
        });
        let scope = Scope::Bytes(bytes_about(ends, line));
        found.extend(suppression(names, rest, &place, scope, about));
    }
}

/// The suppressions in an object's annotation: `rule, rule: reason` in lines or separated by semicolons.
pub(super) fn annotation(document: &Document, found: &mut Vec<Suppression>, about: &mut Vec<Finding>) {
    let Some(entry) = entry(document) else {
        return;
    };
    let place = document.location(entry.key.span);
    let text = entry.value.as_str().unwrap_or_default();
    let parts = text.split(['\n', ';']).map(str::trim);
    for part in parts.filter(|p| !p.is_empty()) {
        let (names, rest) = part.split_once(':').unwrap_or((part, ""));
        let scope = Scope::Bytes(document.span);
        found.extend(suppression(names, rest, &place, scope, about));
    }
}

/// The source file of the annotation in a build's document.
pub(super) fn annotated_by(document: &Document) -> Option<Utf8PathBuf> {
    let place = document.location(entry(document)?.key.span).origin()?;
    Some(place.file.path().to_owned())
}

/// Parses names and `until=2027-01-31 reason`; reports unknown names and invalid dates.
fn suppression(
    names: &str,
    rest: &str,
    place: &Location,
    scope: Scope,
    about: &mut Vec<Finding>,
) -> Option<Suppression> {
    let mut invalid = |message: String, help: Option<String>| {
        let mut finding = Finding::new(&SUPPRESSION_INVALID, message).at(place.clone());
        finding.help = help.map(Into::into);
        about.push(finding.label("has no effect"));
    };
    let mut rules = Vec::new();
    for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match registry::selector(name) {
            Some(selector) => rules.push(selector),
            None => invalid(format!("there is no rule {name}"), did_you_mean(name, registry::names())),
        }
    }
    let mut until = None;
    let mut reason = Vec::new();
    for word in rest.split_whitespace() {
        match word.strip_prefix("until=") {
            None => reason.push(word),
            Some(day) => match Date::parse(day) {
                Some(date) => until = Some(date),
                None => {
                    invalid(format!("{day} isn't a day"), Some("write the day as in until=2027-01-31".to_owned()));
                    return None;
                }
            },
        }
    }
    (!rules.is_empty()).then(|| Suppression { rules, reason: reason.join(" "), until, place: place.clone(), scope })
}

/// The line that each comment applies to: its own, or the next that is neither blank nor a comment.
fn lines_meant(document: &Document) -> Vec<Span> {
    let text = document.file.text();
    let line_at = |start: usize| {
        let rest = text.get(start..).unwrap_or_default();
        Span::new(start, start + rest.find('\n').unwrap_or(rest.len()))
    };
    // From the end: consecutive comment lines apply to the same line.
    let mut out: Vec<Span> = Vec::new();
    let mut below: Option<(u32, Span)> = None;
    for comment in document.comments.iter().rev() {
        let before = text.get(..comment.span.start as usize).and_then(|before| before.rfind('\n'));
        let own = line_at(before.map_or(0, |at| at + 1));
        let meant = if comment.own_line { line_below(text, own, below, line_at) } else { own };
        below = Some((own.start, meant)).filter(|_| comment.own_line);
        out.push(meant);
    }
    out.reverse();
    out
}

/// The line that a comment on the line `own` applies to; `below` is the offset of the next comment and its line.
fn line_below(text: &str, own: Span, below: Option<(u32, Span)>, line_at: impl Fn(usize) -> Span) -> Span {
    let mut line = own;
    while (line.end as usize) < text.len() {
        line = line_at(line.end as usize + 1);
        match below {
            Some((start, meant)) if start == line.start => return meant,
            _ => {}
        }
        let is = text.get(line.range()).unwrap_or_default().trim_start();
        if !is.is_empty() && !is.starts_with('#') {
            break;
        }
    }
    line
}

/// An edit that removes a comment, with its line if that has nothing else; `None` if it isn't a comment.
pub(super) fn removal(place: &Location) -> Option<Edit> {
    if !place.text().starts_with('#') {
        return None;
    }
    let text = place.file.text();
    let mut span = place.span.range();
    let before = text.get(..span.start)?;
    span.start = before.trim_end_matches([' ', '\t']).len();
    let own_line = span.start == 0 || text.get(..span.start)?.ends_with('\n');
    if own_line && text.get(span.end..)?.starts_with('\n') {
        span.end += 1;
    }
    Some(Edit { file: Arc::clone(&place.file), span: Span::new(span.start, span.end), text: String::new() })
}
