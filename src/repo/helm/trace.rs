//! From what a chart renders to its templates, as far as lines can tell.
//!
//! Helm says above each document which template it is from. A key of the document is from the first line that
//! begins with it behind its parent's line; where there is none, from its parent's.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::source::{Location, Origins, SourceFile, Span, Tree};
use crate::yaml::{Document, Node, Value};

/// Where the values of what a chart rendered are from; `whole` is where that isn't known.
pub(super) fn origins(
    tree: &dyn Tree,
    chart: &Utf8Path,
    rendered: &SourceFile,
    documents: &[Document],
    whole: &Location,
) -> Origins {
    let mut places = Vec::new();
    let mut templates: BTreeMap<Utf8PathBuf, Option<Arc<SourceFile>>> = BTreeMap::new();
    for document in documents {
        let path = source(rendered.text(), document).and_then(|s| template(s, chart));
        let file = path.and_then(|path| {
            let read = || Some(SourceFile::from_bytes(&path, tree.read(&path).ok()?));
            templates.entry(path.clone()).or_insert_with(read).clone()
        });
        let Some(file) = file else {
            places.push((document.span, whole.clone()));
            continue;
        };
        let first = line_of(&file, "kind", 0).unwrap_or(0);
        places.push((document.span, line(&file, first)));
        below(&document.root, &file, 0, &mut places);
    }
    Origins::new(places)
}

/// What stands behind `# Source:` above a document.
fn source<'t>(text: &'t str, document: &Document) -> Option<&'t str> {
    let before = text.get(..document.root.span.start as usize)?;
    let (_, behind) = before.rsplit_once("# Source: ")?;
    behind.lines().next().map(str::trim)
}

/// The file of a template that Helm calls by the chart's name.
fn template(source: &str, chart: &Utf8Path) -> Option<Utf8PathBuf> {
    let (_, path) = source.split_once('/')?;
    Some(chart.join(path))
}

fn below(node: &Node, file: &Arc<SourceFile>, from: usize, places: &mut Vec<(Span, Location)>) {
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                let found = line_of(file, &entry.key.text, from);
                if let Some(found) = found {
                    places.push((entry.key.span, line(file, found)));
                    places.push((entry.value.span, line(file, found)));
                }
                below(&entry.value, file, found.unwrap_or(from), places);
            }
        }
        Value::Seq(items) => items
            .iter()
            .for_each(|item| below(item, file, from, places)),
        _ => {}
    }
}

/// The first line that begins with a key, from a line on.
fn line_of(file: &SourceFile, key: &str, from: usize) -> Option<usize> {
    let is_it = |text: &str| {
        let text = text.trim_start().trim_start_matches("- ");
        let text = text.trim_start_matches(['"', '\'']);
        let rest = text
            .strip_prefix(key)
            .map(|r| r.trim_start_matches(['"', '\'']));
        rest.is_some_and(|rest| rest.starts_with(':'))
    };
    let mut lines = (from..).map_while(|number| Some((number, file.line(number)?.1)));
    lines
        .find(|(_, text)| is_it(text))
        .map(|(number, _)| number)
}

/// A line without its indentation.
fn line(file: &Arc<SourceFile>, number: usize) -> Location {
    let (start, text) = file.line(number).unwrap_or((0, ""));
    let indent = text.len() - text.trim_start().len();
    Location::new(
        file,
        Span::new(start + indent, start + text.trim_end().len()),
    )
}
