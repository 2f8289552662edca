//! The kinds of objects that files of a build have or may make.

use hcoplan_kubernetes::text::last_part;

use crate::inventory::SourceKind;
use crate::prelude::*;
use crate::repo::nodes::all_nodes;
use crate::repo::scan::{FoundKind, scan};
use crate::repo::statements::StatementKind;

/// Whether a file has only PolicyGenerators.
pub(super) fn is_policy_generator(path: &Utf8Path, bytes: &[u8]) -> bool {
    let parsed = yaml::parse_yaml(&SourceFile::from_bytes(path, bytes.to_vec()));
    let kind = |document: &Document| document.text("kind") == "PolicyGenerator";
    parsed.problems.is_empty() && !parsed.documents.is_empty() && parsed.documents.iter().all(kind)
}

/// Whether a file can change an object's kind without naming it: a patch that may, or a replacement or value that
/// writes `kind` or `apiVersion`.
pub(super) fn changes_kinds(path: &Utf8Path, bytes: Vec<u8>) -> bool {
    let lower = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    let has = |word: &str| lower.contains(word);
    if has("allowkindchange") || has("valueaddtransformer") || has("varreference") {
        return true;
    }
    if !has("fieldpaths") || !has("kind") && !has("apiversion") {
        return false;
    }
    let parsed = yaml::parse_yaml(&SourceFile::from_bytes(path, bytes));
    parsed.documents.iter().any(|document| writes_kinds(&document.root))
}

fn writes_kinds(node: &Node) -> bool {
    let is_kind = |path: &Node| {
        let path = path.as_str().unwrap_or_default();
        ["kind", "apiVersion"].contains(&last_part(path, '.'))
    };
    let writes =
        |entry: &Entry| entry.key.text.eq_ignore_ascii_case("fieldPaths") && entry.value.items().iter().any(is_kind);
    all_nodes(node).any(|inner| inner.entries().iter().any(writes))
}

/// Whether a file has what makes OLM install HCO.
pub(super) fn installs(tree: &dyn Tree, file: &Utf8Path) -> bool {
    let scanned = scan(tree, file);
    [StatementKind::Subscription, StatementKind::OperatorPolicy]
        .into_iter()
        .any(|kind| scanned.has(FoundKind::Statement(kind)))
}

/// Whether one of a directory's files has a ClusterInventory.
pub(super) fn has_inventory<'f>(tree: &dyn Tree, mut own: impl Iterator<Item = &'f Utf8PathBuf>) -> bool {
    own.any(|file| scan(tree, file).has(FoundKind::Inventory(SourceKind::Declared)))
}
