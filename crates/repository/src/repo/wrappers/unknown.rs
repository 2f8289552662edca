//! Removes unknown values of a wrapped object, which only the wrapper's tool can set.

use hcoplan_kubernetes::text::token;
use hcoplan_planner::release::FieldTarget;

use super::Wrapper;
use super::mask::MARK;
use super::template::{Filled, fill, parameters};
use crate::prelude::*;
use crate::repo::mentions::{HCO, HCO_NAME as NAME};
use crate::repo::nodes::has_map;

/// Fields of a HyperConverged with only one possible value, which is planned.
const FIXED: [(&str, &str); 3] =
    [("apiVersion", "hco.kubevirt.io/v1beta1"), ("kind", "HyperConverged"), ("metadata.name", NAME)];

/// The largest number of bytes that a template's parameters add to an object; with more, its values are unknown.
const MAX_FILLED_IN_BYTES: usize = 4 << 20;

/// An unknown part of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown {
    /// Where it is.
    pub(super) span: Span,
    pub(super) what: UnknownKind,
    /// A value's dotted path from the object's root, with `[]` after a list's name; or the part of a template.
    pub(super) name: String,
    /// The tool that sets it.
    pub(super) by: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub(super) enum UnknownKind {
    /// A removed value.
    Value,
    /// A field of [`FIXED`].
    Fixed,
    /// The text that a part of a template inserts.
    Lines,
    /// The object depends on a part of a template.
    Whole,
}

/// The message and the label for each kind: `{}` is the name, or the tool.
static SENTENCES: Table<BTreeMap<UnknownKind, [&str; 2]>> = Table::of(include_str!("unknown.json"));

impl Unknown {
    /// The path and place of a removed value that is in no list.
    pub(crate) fn whole_value(&self) -> Option<(&str, Span)> {
        let is_whole = self.what == UnknownKind::Value && !self.name.contains("[]");
        is_whole.then_some((&self.name, self.span))
    }
}

/// Removes the values that the applying tool sets, and inserts those that the wrapper has. An expression is an unknown
/// scalar: `{{ … }}`, `{% … %}` and `${ … }`.
pub(crate) fn fill_in_known_values(root: &mut Node, wrapper: Option<&Wrapper<'_>>) -> Vec<Unknown> {
    let template = wrapper.filter(|c| c.is_template).map(parameters);
    if let Value::Map(entries) = &mut root.value {
        // What sops writes about the values that it encrypts.
        entries.retain(|entry| entry.key.text != "sops" || entry.value.get("mac").is_none());
    }
    let mut out = Vec::new();
    let mut room = MAX_FILLED_IN_BYTES;
    walk(root, "", &mut out, &mut |text| {
        let filled = template.as_ref().map_or(Filled::Same, |parameters| fill(text, parameters, &mut room));
        match (filled, expression(text)) {
            (Filled::Same, Some(by)) => Filled::Unknown(by.to_owned()),
            (filled, _) => filled,
        }
    });
    out
}

/// Inserts the default values of a template's parameters. A text with a parameter that has none stays.
pub(crate) fn fill_in_defaults(root: &mut Node, template: &Wrapper<'_>) {
    let (parameters, mut room) = (parameters(template), MAX_FILLED_IN_BYTES);
    walk(root, "", &mut Vec::new(), &mut |text| match fill(text, &parameters, &mut room) {
        Filled::Unknown(_) => Filled::Same,
        filled => filled,
    });
}

/// The marks around expressions, and the tool that replaces them.
static EXPRESSIONS: Table<Vec<(&str, &str, &str)>> = Table::of(include_str!("expressions.json"));

/// The tool that replaces an expression of a text; `None` without an expression.
pub(crate) fn expression(text: &str) -> Option<&'static str> {
    let has = |open: &str, close: &str| text.split_once(open).is_some_and(|(_, behind)| behind.contains(close));
    let known = EXPRESSIONS.iter().find(|(open, close, _)| has(open, close)).map(|(_, _, by)| *by);
    // `<name>` is for a person, and no shell fills plain manifests in.
    let is_token = || !text.starts_with(['<', '$']) && token(text) == Some(text);
    known.or_else(|| is_token().then_some("the tool that applies it"))
}

/// Whether a text has an expression that [`may_be`] knows.
pub(crate) fn is_filled_in(text: &str) -> bool {
    text.contains(['$', '{']) || text.contains("<<")
}

/// Whether an object's kind or API version is templated, so that it may become a HyperConverged.
pub(crate) fn may_become_hyperconverged(root: &Node) -> bool {
    let (version, kind) = (root.text("apiVersion"), root.text("kind"));
    (is_filled_in(version) || is_filled_in(kind))
        && (has_map(root, "metadata") || has_map(root, "spec"))
        && may_be(kind, "HyperConverged")
        && ["v1beta1", "v1"].iter().any(|number| may_be(version, &format!("{HCO}/{number}")))
}

/// Whether a text with expressions, including those of shells (`$NAME`), kustomize (`$(NAME)`) and Flux's ResourceSets
/// (`<< … >>`), may become this one.
pub(super) fn may_be(text: &str, meant: &str) -> bool {
    static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_][A-Za-z0-9_]*|\{\{.*?\}\}|\{%.*?%\}|<<.*?>>")
            .expect("an expression")
    });
    if !is_filled_in(text) {
        return text == meant;
    }
    let mut pieces = EXPRESSION.split(text);
    let Some(mut rest) = meant.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        let Some((_, behind)) = rest.split_once(piece) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

/// Removes the [masked](super::mask::mask) values.
pub(super) fn masked(root: &mut Node, by: &str) -> Vec<Unknown> {
    let mut out = Vec::new();
    walk(root, "", &mut out, &mut |text| {
        if text.contains(MARK) { Filled::Unknown(by.to_owned()) } else { Filled::Same }
    });
    out
}

/// Removes the first field without a value whose key `is_it` accepts as one that a template sets; returns its path.
pub(super) fn take_field(root: &mut Node, is_it: &dyn Fn(Span) -> bool) -> Option<String> {
    match &mut root.value {
        Value::Map(entries) => {
            if let Some(at) = entries.iter().position(|e| matches!(e.value.value, Value::Null) && is_it(e.key.span)) {
                return Some(entries.remove(at).key.text);
            }
            entries.iter_mut().find_map(|entry| {
                let below = take_field(&mut entry.value, is_it)?;
                let dot = if below.starts_with('[') { "" } else { "." };
                Some(format!("{}{dot}{below}", entry.key.text))
            })
        }
        Value::Seq(items) => {
            let below = items.iter_mut().find_map(|item| take_field(item, is_it))?;
            Some(format!("[].{below}"))
        }
        _ => None,
    }
}

/// Examines every text of a value, and removes unknown ones; returns whether the value itself stays.
fn walk(node: &mut Node, path: &str, out: &mut Vec<Unknown>, look: &mut dyn FnMut(&str) -> Filled) -> bool {
    match &mut node.value {
        Value::String(text) => match look(text) {
            Filled::Same => {}
            Filled::Value(value) => node.value = value,
            Filled::Unknown(by) => {
                let fixed = FIXED.iter().find(|(field, _)| *field == path);
                let what = if fixed.is_some() { UnknownKind::Fixed } else { UnknownKind::Value };
                out.push(Unknown { span: node.span, what, name: path.to_owned(), by });
                let Some((_, value)) = fixed else { return false };
                node.value = Value::String((*value).to_owned());
            }
        },
        Value::Map(entries) => entries.retain_mut(|entry| {
            let key = &entry.key.text;
            if key.contains(MARK) {
                let (span, by) = (entry.key.span, "the tool that applies it".to_owned());
                out.push(Unknown { span, what: UnknownKind::Value, name: path.to_owned(), by });
                return false;
            }
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            walk(&mut entry.value, &below, out, look)
        }),
        Value::Seq(items) => {
            let below = format!("{path}[]");
            items.retain_mut(|item| walk(item, &below, out, look));
        }
        _ => {}
    }
    true
}

/// One finding about all removed values of an object.
pub(crate) fn finding(unknown: &[Unknown], document: &Document, release: Option<&Release>) -> Option<Finding> {
    let first = unknown.first()?;
    let place = document.location(first.span);
    let [one] = unknown else {
        const SHOWN: usize = 5;
        let mut names: Vec<String> = unknown.iter().map(|one| format!("`{}`", one.name)).collect();
        names.dedup();
        let names = list(&names, SHOWN);
        let message = format!("{} values are filled in later, and not in the plan: {names}", unknown.len());
        return Some(Finding::new(&VALUE_UNKNOWN, message).at(place).label("the first of them"));
    };
    let [message, label] = SENTENCES[&one.what];
    let fixed = FIXED.iter().find(|(path, _)| *path == one.name).map_or("", |(_, value)| value);
    let message = message.replace("{value}", fixed).replace("{}", &one.name);
    let finding = Finding::new(&VALUE_UNKNOWN, message).at(place).label(label.replace("{}", &one.by));
    let release = release.filter(|_| one.what == UnknownKind::Value);
    let follows = release.map(|release| follows(&one.name, document, release));
    Some(match follows.filter(|f| !f.is_empty()) {
        Some(follows) => finding.help(format!("not in the plan: {follows}")),
        None => finding,
    })
}

/// The operand fields that a field feeds, the first few.
fn follows(path: &str, document: &Document, release: &Release) -> String {
    const SHOWN: usize = 3;
    let version = document.root.text_at("apiVersion");
    let version = version.and_then(|v| v.rsplit('/').next()).unwrap_or_default();
    let fields = release.fields().iter();
    let fields = fields.filter(|f| f.api_version == version && yaml::overlap(&f.path, path));
    let mut places: Vec<String> = fields.flat_map(|f| &f.operands).map(FieldTarget::place).collect();
    places.sort_unstable();
    places.dedup();
    list(&places, SHOWN)
}
