//! The file of a ClusterInventory: reading one, and what it says when it is written.

use camino::Utf8Path;

use super::output::Output;
use crate::inventory::{self, Source, SourceKind};
use crate::repo::{self, FactOrigin, Identity, Trust};
use crate::secret::InputText;
use crate::source::SourceFile;
use crate::yaml::{self, Document, Node as Tree};
use hcoplan_analysis::Failure;

/// Where an editor finds the schema.
pub(super) const SCHEMA: &str = "https://raw.githubusercontent.com/hcoplan/hcoplan/main/schemas/inventory.schema.json";

/// The ClusterInventory of a file.
pub(super) fn inventory_in(path: &Utf8Path, output: &Output) -> Result<Document, Failure> {
    let bytes = repo::read_named(Utf8Path::new("."), path, &Trust::Files)?;
    let file = SourceFile::from_bytes(path, bytes);
    let place = |span: crate::source::Span| {
        let at = file.position(span.start);
        format!("{path}:{}:{}", at.line, at.column)
    };
    let parsed = yaml::parse(&file);
    if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
        let message = format!("{}: {}", place(problem.span), problem.message);
        return Err(Failure::Unreadable(message));
    }
    let text = |d: &Document, key: &str| d.root.get(key).and_then(Tree::as_str).map(str::to_owned);
    let is_inventory = |d: &Document| {
        let version = text(d, "apiVersion").unwrap_or_default();
        let kind = text(d, "kind").unwrap_or_default();
        SourceKind::of(&version, &kind) == Some(SourceKind::Declared)
    };
    let Some(document) = parsed.documents.into_iter().find(is_inventory) else {
        return Err(Failure::usage(format!("{path}: there is no ClusterInventory in it"), "hcoplan import makes one"));
    };
    let source = Source { kind: SourceKind::Declared, document: document.clone().into() };
    let (loaded, findings) = inventory::load(&[source]);
    for finding in &findings {
        let at = finding.location.as_ref().map(|l| place(l.span));
        let at = at.unwrap_or_else(|| path.to_string());
        output.warning(format_args!("{at}: {}", finding.message));
    }
    if loaded.valid {
        Ok(document)
    } else {
        Err(Failure::usage(format!("{path} can't be understood"), "fix what the warnings name"))
    }
}

/// The fields of an inventory's `spec` that other manifests say, each with what said it.
pub(super) fn facts(identity: &Identity) -> String {
    let mut out = String::new();
    if let Some(release) = &identity.release {
        out.push_str(&format!("  release: {:?}  # {}\n", release.value, comment(&release.source())));
    }
    let platform = &identity.platform;
    if platform.by != FactOrigin::Nothing {
        out.push_str(&format!("  platform: {}  # {}\n", platform.value.as_str(), comment(&platform.source())));
    }
    let namespace = &identity.namespace;
    if namespace.by != FactOrigin::Nothing {
        let value = yaml::edit::inline(&namespace.value.as_str().into());
        out.push_str(&format!("  namespace: {value}  # {}\n", comment(&namespace.source())));
    }
    out
}

/// What is in a comment, on its line.
pub(super) fn comment(text: &str) -> String {
    InputText::new(text).line().into_owned()
}
