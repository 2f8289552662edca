//! Completions in a HyperConverged: fields, gates, values. hcoplan's own documents have published
//! schemas, which YAML servers complete.

mod candidate;
mod hyperconverged;
mod place;

use crate::prelude::*;
use lsp_types::Position;

use self::candidate::Candidate;
use self::place::Place;
use super::documents::Open;
use super::hover::cluster::Cluster;
use super::places::{Encoding, Lines, MARK};
use crate::repo::Repo;
use crate::source::Span;

/// The completion items at a position of an open document. `path` is relative to the root of `repo`, which has the last
/// analysed state.
pub(super) fn items(
    repo: Option<&Repo>,
    path: &Utf8Path,
    open: &Open,
    position: Position,
    encoding: Encoding,
) -> Vec<Value> {
    let text = open.text.strip_prefix(MARK).unwrap_or(&open.text);
    let lines = Lines::new(text, encoding).behind_mark(open.is_marked());
    let Some(place) = Place::find(path, text, lines.offset(position)) else {
        return Vec::new();
    };
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let range = lines.range(Span { start: byte(place.word.start), end: byte(place.word.end) });
    let found = candidates(repo, path, &place);
    let item = |candidate: Candidate| {
        let new_text = candidate.text(&place);
        json!({
            "label": candidate.name,
            "kind": candidate.kind(),
            "detail": candidate.detail,
            "documentation": candidate.description,
            "filterText": new_text.trim_end_matches([' ', ':']),
            "textEdit": {"range": range, "newText": new_text},
        })
    };
    found.into_iter().map(item).collect()
}

fn candidates(repo: Option<&Repo>, path: &Utf8Path, place: &Place) -> Vec<Candidate> {
    let root = &place.object.root;
    if root.text("kind") == "HyperConverged" && root.text("apiVersion").starts_with("hco.kubevirt.io/") {
        let cluster = Cluster::of(repo, path, &place.object);
        return hyperconverged::candidates(&cluster, place);
    }
    Vec::new()
}
