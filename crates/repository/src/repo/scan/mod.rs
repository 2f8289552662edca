//! Scans a file: searches its bytes first, and parses only relevant files.
//!
//! The search may only skip a file that cannot contain a HyperConverged. A value of YAML or JSON with `hco.kubevirt.io`
//! has these bytes in sequence in the file, as folding puts blanks or breaks between lines, except in two cases: a
//! double-quoted scalar may have escapes, so the text is also searched with its escapes resolved; and `!!binary` may
//! have base64, so a file with such a tag is parsed. Aliases and merge keys only repeat text.

use crate::inventory::SourceKind;
use hcoplan_yaml::edit::EditableFile;
use hcoplan_yaml::{Comment, Problem};

use self::classify::classify;
use super::candidate::is_candidate;
use super::charts;
use super::escapes::{contains, unescaped};
use super::fields;
use super::kustomization::{Kustomization, Named, is_kustomization};
use super::listed;
use super::mentions::{HCO, HINTS, contains_encoded_group, has, has_any, hints};
use super::statements::StatementKind;
use super::wrapper_changes::{FLEET_FILE, changes_others};
use super::wrappers::embedded::{self, Embedded, Texts};
use super::wrappers::files;
use super::wrappers::unknown::is_filled_in;
use super::wrappers::{ansible, commands};
use crate::prelude::*;

/// hcoplan's API group; a file that mentions it must be readable.
const OURS: &str = "hcoplan.dev";

/// The groups as bytes; the latter in UTF-16 and UTF-32 of either byte order.
const MARKS: [&str; 5] = [
    HCO,
    OURS,
    "h\0c\0o\0.\0k\0u\0b\0e\0v\0i\0r\0t\0.\0i\0o",
    "h\0c\0o\0p\0l\0a\0n\0.\0d\0e\0v",
    "h\0\0\0c\0\0\0o\0\0\0.\0\0\0k",
];

/// What may hide the groups in a file that is too large to be read: an escape of a letter, and base64.
static HIDING: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("hiding.txt").lines().collect());

/// Why files aren't read that begin with one of some texts, whose characters are bytes; and whether that is encryption.
static FORMS: Table<Vec<(&str, Vec<String>, bool)>> = Table::of(include_str!("forms.json"));

/// Why the bytes of a manifest can't be searched as text; `None` if they can.
fn unreadable_form(bytes: &[u8]) -> Option<&'static str> {
    let start: String = bytes.iter().take(48).map(|b| char::from(*b)).collect();
    let is_kind_encrypted = || any_kind(&String::from_utf8_lossy(bytes), |kind| kind.starts_with("ENC["));
    let is_encrypted = || is_encrypted_data(bytes) || is_of_sops(bytes) && is_kind_encrypted();
    let is_it = |(_, marks, encrypts): &&(&str, Vec<String>, bool)| {
        marks.iter().any(|mark| start.starts_with(mark)) || *encrypts && is_encrypted()
    };
    if let Some((why, ..)) = FORMS.iter().find(is_it) {
        return Some(why);
    }
    matches!(bytes, [0, a, 0, ..] | [a, 0, _, 0, ..] if *a != 0).then_some(())?;
    let text: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
    let hidden = unescaped(&String::from_utf8_lossy(&text)).is_some_and(|text| mentions_hco(&text));
    hidden.then_some("it is UTF-16 without a byte order mark, which Kubernetes' tools don't read")
}

/// Whether a file is encrypted that usually is no manifest: variables of Ansible, or data of sops without a kind.
fn is_encrypted_data(bytes: &[u8]) -> bool {
    bytes.starts_with(b"$ANSIBLE_VAULT") || is_of_sops(bytes) && !has(bytes, "kind")
}

/// Whether sops encrypted values of a file.
fn is_of_sops(bytes: &[u8]) -> bool {
    has(bytes, "ENC[AES256_GCM,") && has(bytes, "sops")
}

/// The common part of the names of HCO's packages.
const PACKAGE: &str = "kubevirt-hyperconverged";

/// A file's documents, shared by all that examine them.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) documents: Vec<Arc<Document>>,
    pub(super) problems: Vec<Problem>,
    pub(super) comments: Vec<Comment>,
    pub(super) file: Arc<SourceFile>,
    /// Manifests in texts of the file.
    pub(super) embedded: Vec<Embedded>,
    /// Unreadable texts of a script with a HyperConverged.
    missed: Vec<Span>,
}

impl Content {
    pub(super) fn parse(file: Arc<SourceFile>) -> Self {
        let bytes = file.text().as_bytes();
        if files::is_text(file.path())
            || files::is_script(file.path(), bytes)
            || files::is_program(file.path(), |_| true)
            || files::is_ytt(file.text()) && mentions_hco(file.text())
        {
            let texts = embedded::of_text(&file);
            return Self::of(yaml::Parsed::default(), file).with(texts);
        }
        let content = Self::of(parsed(&file), file);
        let mut texts = Texts::default();
        if mentions_hco(content.file.text()) || has_kind_like(content.file.text()) {
            let documents = &content.documents;
            documents.iter().for_each(|d| embedded::of_document(d, &mut texts));
            // They are reported as texts of their objects.
            texts.missed.clear();
            texts.found.extend(documents.iter().flat_map(|d| embedded::of_variables(d)));
        }
        content.with(texts)
    }

    fn of(parsed: yaml::Parsed, file: Arc<SourceFile>) -> Self {
        let documents = parsed.documents.into_iter().map(Arc::new).collect();
        let (embedded, missed) = (Vec::new(), Vec::new());
        Self { documents, problems: parsed.problems, comments: parsed.comments, file, embedded, missed }
    }

    fn with(mut self, texts: Texts) -> Self {
        self.problems.extend(texts.warnings);
        self.embedded.extend(texts.found);
        self.missed.extend(texts.missed);
        self
    }

    /// Parses a file of a tree: of a YAML template outside charts the known parts.
    pub(super) fn read(tree: &dyn Tree, file: Arc<SourceFile>) -> Self {
        let mut content = Self::parse(file);
        content.fill_in_variables(tree);
        let begins = content.file.text().trim_start();
        let begins_as_template = ["{%", "{{", "{#"].iter().any(|mark| begins.starts_with(mark));
        let is_template =
            |p: &Problem| p.kind == ProblemKind::Template || begins_as_template && p.kind == ProblemKind::JsonSyntax;
        let unread = content.embedded.is_empty() && content.problems.iter().any(is_template);
        if unread && mentions_hco(content.file.text()) && !charts::is_in_chart(tree, content.file.path()) {
            let texts = embedded::of_template(&content.file);
            if !texts.found.is_empty() {
                content.problems.retain(|p| !is_template(p));
                content = content.with(texts);
            }
        }
        content
    }

    /// Fills in the variables that Ansible's plays, tasks and their role set in the repository.
    fn fill_in_variables(&mut self, tree: &dyn Tree) {
        let text = self.file.text();
        let is_list = |d: &Arc<Document>| matches!(d.root.value, Value::Seq(_));
        let is_known_form = !self.embedded.is_empty() || self.documents.iter().any(is_list);
        if !text.contains("{{") || !mentions_hco(text) || !is_known_form {
            return;
        }
        let mut known = ansible::Variables::new();
        let mut above = self.file.path().ancestors().skip(1);
        let role = above
            .find(|d| matches!(d.file_name(), Some("tasks" | "templates" | "vars" | "defaults")))
            .and_then(Utf8Path::parent);
        // A role's `vars` win over what plays and groups set, and these over its `defaults`.
        for directory in ["defaults", "vars"] {
            if directory == "vars" && !known.is_empty() {
                embedded::override_variables(&mut known, tree);
            }
            for name in ["main.yml", "main.yaml"] {
                let Some(path) = role.map(|role| role.join(directory).join(name)) else { continue };
                let Ok(file) = tree.source(&path) else { continue };
                let parsed = yaml::parse_yaml(&file);
                let entries = parsed.documents.iter().flat_map(|document| document.root.entries());
                known.extend(entries.map(|entry| (entry.key.text.clone(), entry.value.clone())));
            }
        }
        for document in self.documents.iter_mut().filter(|d| is_list(d)) {
            let filled = Arc::make_mut(document);
            ansible::fill_in_variables(&mut filled.root, &known);
        }
        self.embedded.iter_mut().for_each(|embedded| embedded.fill_in_variables(&known));
        // A task may have a variable's value now.
        let of_tasks: Vec<Span> = (self.documents.iter())
            .flat_map(|d| {
                [listed::objects(&d.root).iter().map(|o| o.node).collect(), ansible::removed_manifests(&d.root)]
            })
            .flat_map(|nodes: Vec<&Node>| nodes.into_iter().map(|node| node.span))
            .collect();
        self.embedded.retain(|embedded| !of_tasks.contains(&embedded.document.span));
    }

    /// Whether it is a template that isn't YAML yet.
    pub(super) fn is_template(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.any(|p| p.kind == ProblemKind::Template)
    }

    /// Its relevant objects.
    pub(super) fn found(&self) -> Vec<FoundObject> {
        let mut found = Vec::new();
        // A ResourceSet's inputs fill in the group, too.
        let is_policy = contains(self.file.text(), |text| fields::are_in(text, "mutators.groups"));
        let mentions = is_policy
            || mentions_hco(self.file.text())
            || self.file.text().contains("ResourceSet")
            || self.file.text().contains("#@overlay/")
            || commands::may_be_in(self.file.text());
        for (document, index) in self.documents.iter().zip(0..) {
            classify(index, &document.root, &mut found);
            if changes_others(document) {
                found.push(FoundObject::at(index, None, FoundKind::Changing));
            }
            if mentions && !self.not_planned_in(index).is_empty() {
                found.push(FoundObject::at(index, None, FoundKind::NotPlanned));
            }
        }
        if !self.not_planned_in(u32::MAX).is_empty() {
            found.push(FoundObject::at(u32::MAX, None, FoundKind::NotPlanned));
        }
        for (embedded, index) in self.embedded.iter().zip(self.documents.len()..) {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            classify(index, &embedded.document.root, &mut found);
        }
        found
    }

    /// Whether it has fatal problems.
    pub(super) fn is_broken(&self) -> bool {
        self.problems.iter().any(|p| p.kind.is_fatal())
    }

    /// The file as read, for trial edits.
    pub(super) fn editable_file(&self) -> EditableFile {
        let documents = self.documents.clone();
        EditableFile::read(&self.file, documents, &self.comments, &self.problems)
    }

    /// The object at a location: a document, or an object of a list as its own document.
    pub(super) fn object(&self, place: ObjectPlace) -> Option<Arc<Document>> {
        let Some(document) = self.documents.get(place.document as usize) else {
            return Some(Arc::clone(&self.embedded_at(place)?.document));
        };
        let Some(item) = place.item else {
            let single = listed::single(&document.root);
            let resolved =
                single.is_ours().then(|| single.resolved(document)).filter(|(_, unknown)| !unknown.is_empty());
            return Some(resolved.map_or_else(|| Arc::clone(document), |(alone, _)| Arc::new(alone)));
        };
        let mut objects = listed::objects(&document.root).into_iter();
        Some(Arc::new(objects.nth(item as usize)?.as_document(document)))
    }
}

/// Reads a manifest as kubectl does, which tries JSON first; a file for other tools is YAML.
fn parsed(file: &Arc<SourceFile>) -> yaml::Parsed {
    if !file.text().trim_start().starts_with('{') {
        return yaml::parse(file);
    }
    let plain = yaml::parse_yaml(file);
    let is_manifest = plain.is_broken() || plain.documents.iter().any(|d| d.root.get("kind").is_some());
    if is_manifest && !is_kustomization(file.path()) { yaml::parse(file) } else { plain }
}

/// The location of an object in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectPlace {
    /// The document's index in the file.
    pub document: u32,
    /// The object's index in a list, counting those of nested lists; `None` for the document itself.
    pub item: Option<u32>,
}

/// A relevant object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundObject {
    pub(super) place: ObjectPlace,
    pub(super) what: FoundKind,
}

impl FoundObject {
    fn at(document: u32, item: Option<u32>, what: FoundKind) -> Self {
        Self { place: ObjectPlace { document, item }, what }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub(super) enum FoundKind {
    /// A document of the operator's API group.
    HyperConverged,
    /// A source of an inventory.
    Inventory(SourceKind),
    /// Another manifest with facts about a cluster.
    #[serde(skip)]
    Statement(StatementKind),
    /// An unrecognised HyperConverged.
    Unrecognized,
    /// A document with a HyperConverged that isn't planned.
    NotPlanned,
    /// A controller's object that changes what it applies.
    Changing,
}

/// The result of examining a file.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// Its relevant objects.
    pub(super) found: Vec<FoundObject>,
    /// Its names, if it is a kustomization.
    pub(super) kustomization: Option<Box<Named>>,
    /// Its content, if it was parsed.
    pub(super) content: Option<Content>,
    /// Why it is unreadable.
    pub(super) unreadable: Option<Unreadable>,
    /// Whether it mentions HCO's or hcoplan's API group.
    pub(super) marked: bool,
}

impl Scanned {
    /// Whether it has such an object.
    pub(super) fn has(&self, what: FoundKind) -> bool {
        self.found.iter().any(|found| found.what == what)
    }
}

/// Examines a file.
pub(super) fn scan(tree: &dyn Tree, path: &Utf8Path) -> Scanned {
    let bytes = match tree.read(path) {
        Ok(bytes) => bytes,
        Err(unreadable) => {
            let large = matches!(unreadable, Unreadable::TooBig(_));
            return Scanned {
                marked: matches!(unreadable, Unreadable::Reencoded) && is_candidate(path)
                    || large && (tree.mentions(path, &MARKS) || tree.mentions(path, &HIDING)),
                unreadable: Some(unreadable),
                ..Scanned::default()
            };
        }
    };
    if let Some(why) = is_candidate(path).then(|| unreadable_form(&bytes)).flatten() {
        let marked = !is_encrypted_data(&bytes);
        return Scanned { marked, unreadable: Some(Unreadable::Io(why.to_owned())), ..Scanned::default() };
    }
    // A template of Helm: its chart is rendered or reported as a whole.
    if has(&bytes, "{{") && charts::is_in_chart(tree, path) {
        return Scanned::default();
    }
    let is_program = files::is_program(path, |p| tree.check(p).is_ok());
    if is_program || files::is_text(path) || files::is_script(path, &bytes) {
        return scan_text(tree, path, bytes);
    }
    let kustomization = is_kustomization(path);
    match interest(&bytes, kustomization || path.file_name() == Some(FLEET_FILE)) {
        Interest::None => Scanned::default(),
        interest => {
            let mut content = Content::read(tree, SourceFile::from_bytes(path, bytes));
            if interest == Interest::Garbled && !content.is_broken() {
                content.problems.push(garbled(&content.file));
            }
            let found = content.found();
            if interest == Interest::Tagged && found.is_empty() {
                return Scanned::default();
            }
            let first = content.documents.first().filter(|_| kustomization);
            Scanned {
                found,
                kustomization: first.map(|d| Box::new(Named::of(&Kustomization::of_document(d)))),
                content: Some(content),
                unreadable: None,
                marked: interest != Interest::Some,
            }
        }
    }
}

/// Examines a script or a template.
fn scan_text(tree: &dyn Tree, path: &Utf8Path, bytes: Vec<u8>) -> Scanned {
    // A chart's files are rendered with it.
    let is_meant = || has_any(&bytes, &HINTS) && std::str::from_utf8(&bytes).is_ok_and(has_kind_like);
    let commands = || std::str::from_utf8(&bytes).is_ok_and(commands::may_be_in);
    let may_matter = has(&bytes, "HyperConverged") || has(&bytes, HCO) || is_meant() || commands();
    if !may_matter || charts::is_in_chart(tree, path) {
        return Scanned::default();
    }
    let content = Content::parse(SourceFile::from_bytes(path, bytes));
    Scanned { found: content.found(), content: Some(content), ..Scanned::default() }
}

/// Whether a text contains HCO's API group, in any spelling of YAML.
pub(super) fn mentions_hco(text: &str) -> bool {
    contains(text, |text| text.contains(HCO)) || contains_encoded_group(text) || has_binary_tag(text)
}

/// Why a file is parsed.
#[derive(Debug, PartialEq, Eq)]
enum Interest {
    None,
    /// It mentions one of the API groups.
    Marked,
    /// Its bytes mention one, but its text doesn't.
    Garbled,
    /// It may contain nodes or machine sets, or is a kustomization.
    Some,
    /// It has a tag for base64, or text that may be base64.
    Tagged,
}

fn interest(bytes: &[u8], kustomization: bool) -> Interest {
    // Rare: UTF-16, or bytes that aren't text.
    let Ok(text) = std::str::from_utf8(bytes) else {
        let decoded = hcoplan_diagnostics::source::decode(bytes.to_vec()).text;
        return match of_text(&decoded, kustomization) {
            Interest::Marked => Interest::Marked,
            _ if marked(&String::from_utf8_lossy(bytes)) => Interest::Garbled,
            other => other,
        };
    };
    if memchr::memchr(0, bytes).is_some() && marked(text) { Interest::Garbled } else { of_text(text, kustomization) }
}

/// Whether a file mentions a HyperConverged, in any spelling of YAML.
pub(super) fn may_name_hyperconverged(bytes: &[u8]) -> bool {
    let text = hcoplan_diagnostics::source::decode(bytes.to_vec()).text;
    contains(&text, |text| has_any(text, &[HCO, "HyperConverged"])) || has_binary_tag(&text)
}

/// Whether a tag may be `!!binary`: by its name, with an escape in it (`!!%62inary`), or by a handle (`%TAG`).
fn has_binary_tag(text: &str) -> bool {
    memchr::memchr_iter(b'!', text.as_bytes()).any(|at| {
        let is_first = text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || "[{,:-".contains(c));
        let tag = text[at..].split(char::is_whitespace).next().unwrap_or_default();
        is_first && (tag.contains("binary") || tag.contains('%'))
    }) || text.starts_with("%TAG")
        || text.contains("\n%TAG")
}

fn marked(text: &str) -> bool {
    MARKS.iter().any(|mark| text.contains(mark))
}

fn of_text(text: &str, kustomization: bool) -> Interest {
    let unescaped = unescaped(text);
    let interest = |text: &str| {
        let any = |words: &[&str]| has_any(text, words);
        let are_in = |list| fields::are_in(text, list);
        if any(&[HCO, OURS, "ClusterInventory"]) || hints(text) && has_kind_like(text) {
            return Interest::Marked;
        }
        let is_of_interest = any_kind(text, |kind| kind.lines().next().is_some_and(is_filled_in))
            || has(text, "Node") && any_kind(text, is_node)
            || has(text, "Machine") && any_kind(text, |kind| kind.starts_with("Machine"))
            || has(text, PACKAGE) && any(&["Subscription", "metadata"])
            || are_in("statements")
            || commands::may_be_in(text)
            || are_in("controllers")
            || are_in("mutators.groups");
        if is_of_interest { Interest::Some } else { Interest::None }
    };
    let found: Vec<Interest> = std::iter::once(text).chain(unescaped.as_deref()).map(interest).collect();
    match () {
        () if found.contains(&Interest::Marked) => Interest::Marked,
        () if kustomization || found.contains(&Interest::Some) => Interest::Some,
        () if has_binary_tag(text) || contains_encoded_group(text) => Interest::Tagged,
        () => Interest::None,
    }
}

/// The problems of a file whose text differs from its bytes.
fn garbled(file: &SourceFile) -> Problem {
    let first = file.text().chars().next().map_or(0, char::len_utf8);
    let message = "the file begins with the mark of UTF-16, but the rest isn't UTF-16";
    Problem::new(ProblemKind::Syntax, Span::new(0, first), message)
}

fn is_node(value: &str) -> bool {
    matches!(value.split(|c: char| !c.is_ascii_alphanumeric()).next(), Some("Node" | "NodeList"))
}

/// Whether a kind contains one of the [hints](mentions::HINTS).
fn has_kind_like(text: &str) -> bool {
    let is_like_it = |value: &str| {
        let word =
            value.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '}')).next().unwrap_or_default();
        hints(word)
    };
    any_kind(text, is_like_it)
}

/// Whether a text has `kind:` with such a value, or one that a tag, an alias or the like may hide.
fn any_kind(text: &str, is_it: impl Fn(&str) -> bool) -> bool {
    text.match_indices("kind").any(|(at, key)| {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']);
        let value = rest.trim_start().strip_prefix(':').map(str::trim_start);
        value.is_some_and(|v| v.starts_with(['!', '&', '*', '|', '>', '#']) || is_it(v.trim_start_matches(['"', '\''])))
    })
}

mod classify;
#[cfg(test)]
mod tests;
mod wrapped;
