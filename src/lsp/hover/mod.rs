//! Hovers: describes the position under the pointer.

pub(super) mod cluster;
mod field;
mod patch;
mod rule;
pub(super) mod schema;
mod words;

use crate::prelude::*;
use lsp_types::Position;

use self::cluster::Cluster;
use super::documents::Open;
use super::places::{Encoding, Lines};
use crate::docs::{Term, TermKind};
use crate::inventory::INVENTORY_SCHEMA;
use crate::jsonpatch::ANNOTATIONS;
use crate::repo::{CONFIG_FILE, CONFIG_SCHEMA, Repo};
use crate::secret;
use crate::source::{SourceFile, Span};
use crate::yaml::{Document, Node, Path, Segment, Style, parse};

/// The result of a hover.
pub(super) struct Hover {
    /// Markdown.
    pub(super) text: String,
    /// The described range.
    pub(super) range: Range,
}

/// A hover's text with its range in bytes.
type Answer = (String, Span);

/// The hover at a position of an open document. `path` is relative to the root of `repo`, which has the last analysed
/// state.
pub(super) fn hover(
    repo: Option<&Repo>,
    path: &Utf8Path,
    open: &Open,
    position: Position,
    encoding: Encoding,
) -> Option<Hover> {
    let file = SourceFile::from_bytes(path, open.text.as_bytes().to_vec());
    let lines = Lines::new(file.text(), encoding).behind_mark(open.is_marked());
    let offset = lines.offset(position);
    let (text, span) = answer_at(repo, &file, u32::try_from(offset).ok()?)?;
    Some(Hover { text: secret::masked_message(&file, span, &text), range: lines.range(span) })
}

fn answer_at(repo: Option<&Repo>, file: &Arc<SourceFile>, at: u32) -> Option<Answer> {
    let parsed = parse(file);
    let documents = parsed.documents.iter();
    let mut comments = documents.flat_map(|d| &d.comments).chain(&parsed.comments);
    if let Some(comment) = comments.find(|c| c.span.has(at)) {
        let text = file.text().get(comment.span.range())?;
        return rule::in_comment(text, comment.span.start, at);
    }
    let mut documents = parsed.documents.iter();
    let document = documents.find(|d| d.span.has(at))?;
    if file.path() == CONFIG_FILE {
        return configuration(document, at);
    }
    let object = object(document, at);
    let (steps, spot) = spot(&object.root, at)?;
    match (object.root.text("apiVersion"), object.root.text_at("kind")) {
        ("hcoplan.dev/v1alpha1", Some("ClusterInventory")) => {
            let text = schema::described(INVENTORY_SCHEMA, &steps)?;
            Some((text, spot))
        }
        (version, _) if version.starts_with("hco.kubevirt.io/") => {
            let (clusters, more) = Cluster::all(repo, file.path(), &object, MAX_CLUSTERS);
            hyperconverged(&clusters, more, &object, &steps, spot, at)
        }
        _ => None,
    }
}

/// Maximum number of a layer's clusters planned for a hover.
const MAX_CLUSTERS: usize = 8;

/// `clusters` has at least one cluster of the layer; `more` is the number of others.
fn hyperconverged(
    clusters: &[Cluster],
    more: usize,
    object: &Document,
    steps: &Path,
    spot: Span,
    at: u32,
) -> Option<Answer> {
    let cluster = clusters.first()?;
    let annotations = Path::dotted("metadata.annotations");
    if steps.parent() == annotations {
        let Some(Segment::Key(name)) = steps.0.last() else {
            return None;
        };
        if let Some(target) = ANNOTATIONS.iter().find(|a| a.name == name) {
            return patch::described(cluster, object, target, spot, at);
        }
        let rule = rule::in_text(object.file.text(), at).filter(|_| name == "hcoplan.dev/ignore");
        return rule.or_else(|| Some((annotation(name)?, spot)));
    }
    if let Some(Segment::Key(name)) = steps.0.last()
        && let Some(text) = annotation(name).filter(|_| steps.parent().0.last() == annotations.0.last())
    {
        return Some((text, spot));
    }
    let text = field::described(clusters, more, object, steps)?;
    Some((text, spot))
}

/// The meaning of an annotation; `None` if unknown.
fn annotation(name: &str) -> Option<String> {
    let term = Term::named(name).filter(|term| term.kind == TermKind::Annotation)?;
    Some(format!("**{}**\n\n{}\n", words::markdown(name), words::markdown(&term.text)))
}

/// A position in `hcoplan.yaml`: a rule's name, else the schema's description.
fn configuration(document: &Document, at: u32) -> Option<Answer> {
    if let Some(said) = rule::in_text(document.file.text(), at) {
        return Some(said);
    }
    let (steps, spot) = spot(&document.root, at)?;
    Some((schema::described(CONFIG_SCHEMA, &steps)?, spot))
}

/// The object at an offset: the document, or an item of a list as a document.
pub(super) fn object(document: &Document, at: u32) -> Document {
    let inside = |node: &Node| node.list_at("items").iter().find(|item| item.span.has(at)).cloned();
    // Lists may be nested.
    let mut item = inside(&document.root);
    while let Some(inner) = item.as_ref().and_then(inside) {
        item = Some(inner);
    }
    match item {
        Some(item) => Document { span: item.span, root: item, comments: Vec::new(), ..document.clone() },
        None => document.clone(),
    }
}

/// The range of the key or scalar at an offset, with its path.
fn spot(root: &Node, at: u32) -> Option<(Path, Span)> {
    let path = root.path_around(Span { start: at, end: at + 1 })?;
    // An alias has no text of its own.
    let is_alias = |node: &Node| node.style == Style::Alias;
    root.at(&path.parent()).filter(|around| !is_alias(around))?;
    let key = root.key_at(&path).map(|key| key.span).filter(|key| key.has(at));
    let scalar = || root.at(&path).filter(|node| node.is_leaf() && !is_alias(node)).map(|node| node.span);
    let span = key.or_else(scalar)?;
    Some((path, span))
}
