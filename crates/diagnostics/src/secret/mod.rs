//! The parts of a manifest that must not be shown: the data of Secrets, annotations with names of
//! secrets, and credentials anywhere.

mod credentials;
mod forms;
mod input_text;

use crate::prelude::*;
use std::borrow::Cow;
use std::ops::Deref;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::Value as Json;

use self::credentials::{credentials, merged};
pub use self::input_text::{InputText, escape_invisible, is_invisible_or_control};
use hcoplan_yaml::{self as yaml, Node, Style, Value};

use crate::finding::{Finding, Fix};
use crate::source::{SecretParts, SourceFile, Span};

/// The keys of a Secret whose values are secret.
const DATA: [&str; 2] = ["data", "stringData"];

/// The annotation in which `kubectl apply` keeps a copy of the object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An annotation whose key contains one of them is secret.
const WORDS: [&str; 7] = ["password", "passwd", "token", "secret", "credential", "api-key", "private-key"];

/// Manifests in strings of manifests are followed this far.
const MAX_DEPTH: usize = 4;

/// A shorter word can't be distinguished from ordinary text.
const MIN_WORD_BYTES: usize = 8;

/// The replacement of a secret.
const MASK: &str = "***";

/// The parts of a file that must not be shown. A file that has Secrets and can't be parsed is secret as a
/// whole.
pub fn secret_parts(file: &SourceFile) -> &SecretParts {
    file.secret_parts(|| find(file))
}

fn find(file: &SourceFile) -> SecretParts {
    let text = file.text();
    let mut found = Found::default();
    let by_form = credentials(text);
    let suspicious = forms::is_suspicious(text);
    if suspicious {
        let parsed = yaml::parse(&SourceFile::new(file.path(), text));
        if parsed.is_broken() {
            let whole = std::iter::once(Span::new(0, text.len())).filter(|_| has_secrets(text));
            found.spans.extend(whole.chain(forms::below_names(text).into_iter().map(|r| Span::new(r.start, r.end))));
        }
        for document in &parsed.documents {
            found.node(&document.root, 0);
        }
    }
    let assigned = if suspicious { forms::assigned_secrets(text) } else { Vec::new() };
    // Merged before they are copied: every place of `ghp_ghp_…` begins a token that ends at the end.
    for range in merged([by_form, assigned].concat()) {
        found.words.push(text[range.clone()].to_owned());
        found.spans.push(Span::new(range.start, range.end));
    }
    found.words.retain(|word| !is_ordinary(word));
    // Copies of the same words, such as in a comment.
    let words = finder(&found.words);
    let again = words.iter().flat_map(|words| words.find_iter(text));
    found.spans.extend(again.map(|copy| Span::new(copy.start(), copy.end())));
    found.spans.sort_unstable();
    let mut spans: Vec<Span> = Vec::new();
    for span in found.spans {
        match spans.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => spans.push(span),
        }
    }
    SecretParts { spans, words }
}

/// Finds each of some words in one pass over a text, the longest one at a place; `None` without words.
fn finder(words: &[String]) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    // The faster kind takes a thousand times what its words take. This one ends at 2 GiB of them, no file's size.
    builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::ContiguousNFA));
    (!words.is_empty()).then(|| builder.build(words).expect("few words"))
}

/// A text without the words that `finder` finds; `None` where it has none of them.
fn without_words(text: &str, finder: Option<&AhoCorasick>) -> Option<String> {
    let finder = finder.filter(|finder| finder.is_match(text))?;
    let mut out = String::with_capacity(text.len());
    finder.replace_all_with(text, &mut out, |_, _, out| {
        out.push_str(MASK);
        true
    });
    Some(out)
}

/// Whether `kind: Secret` is somewhere, escaped or not.
fn has_secrets(text: &str) -> bool {
    text.match_indices("Secret").any(|(at, _)| {
        let before = text[..at].trim_end_matches(['"', '\'', '\\', ' ']);
        let before = before.strip_suffix(':').unwrap_or_default();
        before.trim_end_matches(['"', '\'', '\\', ' ']).ends_with("kind")
    })
}

/// Whether KubeVirt's `userPassword` says where a password comes from, which is no secret.
fn is_reference(key: &str, value: &Node) -> bool {
    let is_known = |name: &str| matches!(name, "source" | "propagationMethod");
    let entries = value.entries();
    key == "userPassword" && !entries.is_empty() && entries.iter().all(|entry| is_known(&entry.key.text))
}

/// Whether a word is too common to reveal a secret: short, or lower case throughout.
fn is_ordinary(word: &str) -> bool {
    word.len() < MIN_WORD_BYTES || word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

#[derive(Debug, Default)]
struct Found {
    spans: Vec<Span>,
    words: Vec<String>,
}

impl Found {
    fn hide(&mut self, node: &Node) {
        self.spans.push(node.span);
        self.leaves(node);
    }

    fn leaves(&mut self, node: &Node) {
        if let Some(text) = node.as_str() {
            self.words.push(text.trim().to_owned());
        }
        node.entries().iter().for_each(|e| self.leaves(&e.value));
        node.items().iter().for_each(|i| self.leaves(i));
    }

    /// Visits a node and everything below it.
    fn node(&mut self, node: &Node, depth: usize) {
        let text = |key: &str| node.get(key).and_then(Node::as_str);
        let secret = text("kind") == Some("Secret");
        if secret {
            let annotations = node.get("metadata").and_then(|m| m.get("annotations"));
            let applied = annotations.and_then(|a| a.get(LAST_APPLIED));
            applied.into_iter().for_each(|applied| self.hide(applied));
        }
        for entry in node.entries() {
            let (key, value) = (entry.key.text.as_str(), &entry.value);
            if !credentials(key).is_empty() {
                self.spans.push(entry.key.span);
                self.words.push(key.to_owned());
            }
            let shown = matches!(value.value, Value::Bool(_));
            // `env: [{name: PASSWORD, value: x}]`, `[{op: add, path: /spec/password, value: x}]`
            let of_name = key == "value" && PAIRED.iter().any(|k| text(k).is_some_and(forms::is_below_name));
            let is_named = forms::is_name(key) && !is_reference(key, value);
            if secret && DATA.contains(&key) || !shown && (is_named || of_name) {
                self.hide(value);
            } else if key == "annotations" {
                self.annotations(value, depth);
            } else {
                self.node(value, depth);
            }
        }
        node.items().iter().for_each(|item| self.node(item, depth));
        self.embedded(node, depth);
    }

    fn annotations(&mut self, node: &Node, depth: usize) {
        for entry in node.entries() {
            let key = entry.key.text.to_ascii_lowercase();
            let named = WORDS.iter().any(|word| key.contains(word));
            if named { self.hide(&entry.value) } else { self.node(&entry.value, depth) }
        }
    }

    /// A manifest in a string: hidden as a whole where any part of it is secret.
    fn embedded(&mut self, node: &Node, depth: usize) {
        let Some(text) = node.as_str() else { return };
        // Escapes and broken lines hide its form in the file.
        if node.style == Style::DoubleQuoted && !credentials(text).is_empty() {
            self.hide(node);
        }
        if depth == MAX_DEPTH || !text.contains(':') || !forms::is_suspicious(text) {
            return;
        }
        let parsed = yaml::parse(&SourceFile::new("", text));
        let mut inner = Self::default();
        for document in &parsed.documents {
            inner.node(&document.root, depth + 1);
        }
        let is_json = text.trim_start().starts_with(['[', '{']);
        let names_one = || has_secrets(text) || is_json && !forms::below_names(text).is_empty();
        let broken = parsed.is_broken() && names_one();
        if broken || !inner.spans.is_empty() {
            self.words.append(&mut inner.words);
            let alias = node.style == Style::Alias;
            self.spans.push(node.span);
            if alias || broken {
                self.leaves(node);
            }
        }
    }
}

/// A file's text with a star for each character that must not be shown.
pub fn masked_file_text(file: &SourceFile) -> Cow<'_, str> {
    let (text, hidden) = (file.text(), secret_parts(file));
    if hidden.spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in &hidden.spans {
        let Some(secret) = text.get(span.range()) else {
            continue;
        };
        out.push_str(&text[at..span.range().start]);
        out.extend(secret.chars().map(|c| if c.is_whitespace() { c } else { '*' }));
        at = span.range().end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// A text without the credentials that are recognised by their form.
pub fn mask_credentials(text: &str) -> Cow<'_, str> {
    let ranges = credentials(text);
    if ranges.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without(text, ranges)) }
}

/// Any text for people, without credentials and without what it assigns to a secret's name. It may be no
/// JSON any more.
pub fn mask_text(text: &str) -> Cow<'_, str> {
    let ranges = if forms::is_suspicious(text) {
        merged([forms::assigned_secrets(text), credentials(text)].concat())
    } else {
        credentials(text)
    };
    if ranges.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without(text, ranges)) }
}

/// A text with some ranges, which are in order, masked.
fn without(text: &str, ranges: Vec<Range<usize>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        out.push_str(&text[at..range.start]);
        at = range.end;
        let secret = &text[range];
        // The beginnings of an excerpt's lines stay.
        if secret.contains('\n') { out.extend(secret.chars().map(starred)) } else { out.push_str(MASK) }
    }
    out.push_str(&text[at..]);
    out
}

fn starred(c: char) -> char {
    if c.is_ascii_alphanumeric() { '*' } else { c }
}

/// Masks secrets in a finding's texts. Its edits stay: they are applied, not
/// printed.
pub fn mask_finding(finding: &mut Finding) {
    let places = finding.related.iter().map(|r| &r.location).chain(&finding.location);
    let mut files: Vec<_> = places.clone().map(|place| Arc::clone(&place.file)).collect();
    files.sort_by(|a, b| a.path().cmp(b.path()));
    files.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let quoted: Vec<String> = places.filter_map(|place| quoted(&place.file, place.span)).collect();
    let quoted = finder(&quoted);
    // The masked text, where it has secrets.
    let clean = |text: &str| {
        let mut cleaned = Cow::Borrowed(text);
        for words in quoted.iter().chain(files.iter().filter_map(|file| secret_parts(file).words.as_ref())) {
            if let Some(other) = without_words(&cleaned, Some(words)) {
                cleaned = other.into();
            }
        }
        if let Cow::Owned(other) = mask_credentials(&cleaned) {
            cleaned = other.into();
        }
        match cleaned {
            Cow::Owned(text) => Some(text),
            Cow::Borrowed(_) => None,
        }
    };
    replace(&mut finding.message, clean);
    finding.label.iter_mut().for_each(|t| replace(t, clean));
    finding.help.iter_mut().for_each(|t| replace(t, clean));
    finding.not_fixed.iter_mut().for_each(|t| replace(t, clean));
    finding.object.iter_mut().for_each(|t| replace(t, clean));
    finding.related.iter_mut().for_each(|r| replace(&mut r.message, clean));
    let fixes = finding.fixes.iter_mut().chain(finding.offers.as_deref_mut());
    fixes.for_each(|f| replace(&mut f.title, clean));
}

/// Replaces a text with its masked form, where it has one.
fn replace<T: Deref<Target = str> + From<String>>(text: &mut T, becomes: impl Fn(&str) -> Option<String>) {
    if let Some(other) = becomes(text) {
        *text = other.into();
    }
}

/// Whether a fix writes a secret: a report leaves its edits out then.
pub fn is_in_fix(fix: &Fix) -> bool {
    fix.edits.iter().any(|edit| {
        let words = &secret_parts(&edit.file).words;
        let quotes = words.as_ref().is_some_and(|words| words.is_match(&*edit.text));
        quotes || masked_value("", &edit.text.as_str().into()) != edit.text.as_str()
    })
}

/// A message about a location of a file, with secrets masked.
pub fn masked_message(file: &SourceFile, span: Span, message: &str) -> String {
    let own = quoted(file, span).map_or_else(|| message.to_owned(), |own| message.replace(&own, MASK));
    let text = without_words(&own, secret_parts(file).words.as_ref()).unwrap_or(own);
    mask_credentials(&text).into_owned()
}

/// The secret that a finding may quote: the text at its location, without quotes.
fn quoted(file: &SourceFile, span: Span) -> Option<String> {
    let hidden = &secret_parts(file).spans;
    let around = hidden.get(hidden.partition_point(|s| s.end < span.end))?;
    (around.start <= span.start).then_some(())?;
    let text = file.text().get(span.range())?.trim_matches(['"', '\'']).to_owned();
    Some(text).filter(|t| t.len() > 1)
}

/// A value of an object as it may be shown; `path` is where it is: dotted, or a JSON pointer.
pub fn masked_value(path: &str, value: &Json) -> Json {
    let path = path.to_ascii_lowercase();
    let annotated = || path.contains("annotations") && WORDS.iter().any(|word| path.contains(word));
    let mut value = value.clone();
    if forms::is_below_name(&path) || annotated() {
        mask_leaves(&mut value);
    } else {
        mask_object(&mut value);
    }
    value
}

/// [`masked_value`], also without what is secret elsewhere in the file that the value is from.
pub fn masked_value_of(file: &SourceFile, path: &str, value: &Json) -> Json {
    let mut value = masked_value(path, value);
    mask_words(secret_parts(file).words.as_ref(), &mut value);
    value
}

fn mask_words(words: Option<&AhoCorasick>, value: &mut Json) {
    match value {
        Json::Object(entries) => entries.values_mut().for_each(|value| mask_words(words, value)),
        Json::Array(items) => items.iter_mut().for_each(|item| mask_words(words, item)),
        Json::String(text) => *text = without_words(text, words).unwrap_or_else(|| std::mem::take(text)),
        _ => {}
    }
}

/// The keys of a mapping that name its `value`.
const PAIRED: [&str; 3] = ["name", "key", "path"];

/// Replaces the secrets in an object with [`MASK`].
pub fn mask_object(object: &mut Json) {
    let secret = object["kind"] == "Secret";
    let named = PAIRED.iter().any(|key| object[*key].as_str().is_some_and(forms::is_below_name));
    let annotations = object.pointer_mut("/metadata/annotations").filter(|_| secret);
    if let Some(applied) = annotations.and_then(|a| a.get_mut(LAST_APPLIED)) {
        mask_leaves(applied);
    }
    match object {
        Json::Object(entries) => {
            for (key, value) in entries {
                if secret && DATA.contains(&key.as_str()) || forms::is_name(key) || key == "value" && named {
                    mask_leaves(value);
                } else if key == "annotations" {
                    mask_annotations(value);
                } else {
                    mask_object(value);
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(mask_object),
        Json::String(text) => {
            let mut found = Found::default();
            let node = Node { span: Span::new(0, text.len()), style: Style::Plain, value: Value::String(text.clone()) };
            found.embedded(&node, 0);
            *text = if found.spans.is_empty() { mask_text(text).into_owned() } else { MASK.to_owned() };
        }
        _ => {}
    }
}

fn mask_annotations(annotations: &mut Json) {
    let Json::Object(entries) = annotations else {
        return mask_object(annotations);
    };
    for (key, value) in entries {
        let lower = key.to_ascii_lowercase();
        let named = WORDS.iter().any(|word| lower.contains(word));
        if named { mask_leaves(value) } else { mask_object(value) }
    }
}

fn mask_leaves(value: &mut Json) {
    match value {
        Json::Object(entries) => entries.values_mut().for_each(mask_leaves),
        Json::Array(items) => items.iter_mut().for_each(mask_leaves),
        Json::Null | Json::Bool(_) => {}
        leaf => *leaf = MASK.into(),
    }
}

#[cfg(test)]
mod tests;
