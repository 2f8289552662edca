//! Maps a chart's output to its templates and values, as far as their texts allow.
//!
//! Helm prints the template of each document above it. A key's origin is the first line that begins with it after its
//! parent's line; its value's is in a values file where this line names the value. A key that isn't in the template comes
//! from a value that the template names, such as `.Values.spec`, if a values file has the key below it; else its origin
//! is its parent's line.

use crate::prelude::*;
use crate::repo::wrappers::{value_behind, without_blanks};

/// The origins of a chart's output; `whole` is the fallback. `files` are the chart's, by the path where Helm looks for
/// them; `values` the values files, the one with the highest precedence first.
pub(super) fn origins(
    tree: &dyn Tree,
    chart: &Utf8Path,
    files: &BTreeMap<Utf8PathBuf, Utf8PathBuf>,
    rendered: &SourceFile,
    documents: &[Document],
    values: &[Document],
    whole: &Location,
) -> Origins {
    // The template that Helm names above a document, after the chart's name.
    let source = |document: &Document| {
        let (_, after) = rendered.text().get(..document.root.span.start as usize)?.rsplit_once("# Source: ")?;
        let (_, path) = after.lines().next()?.trim().split_once('/')?;
        Some(chart.join(path))
    };
    let mut places = Vec::new();
    let mut templates: BTreeMap<Utf8PathBuf, Option<Template>> = BTreeMap::new();
    for document in documents {
        let found = source(document).and_then(|path| {
            let from = files.get(&path).unwrap_or(&path);
            let entry = templates.entry(path.clone());
            entry.or_insert_with(|| Template::read(tree, chart, &path, from, values)).as_ref()
        });
        let Some(template) = found else {
            places.push((document.span, whole.clone()));
            continue;
        };
        let first = line_of(&template.file, "kind", 0).unwrap_or(0);
        places.push((document.span, line(&template.file, first)));
        template.below(&document.root, 0, None, &mut places);
    }
    Origins::new(places)
}

/// A template, and the values that it may insert.
struct Template<'v> {
    file: Arc<SourceFile>,
    /// The paths of the values that it names, relative to the root of the values files, and where it does.
    named: Vec<(Path, usize)>,
    /// The values files, the one with the highest precedence first.
    values: &'v [Document],
}

impl<'v> Template<'v> {
    /// `from`: the file that Helm finds at the path.
    fn read(
        tree: &dyn Tree,
        chart: &Utf8Path,
        path: &Utf8Path,
        from: &Utf8Path,
        values: &'v [Document],
    ) -> Option<Self> {
        let file = tree.source(from).ok()?;
        let own = path.strip_prefix(chart).unwrap_or(path);
        let parts: Vec<&str> = own.components().map(|c| c.as_str()).collect();
        // A subchart's values are below its name here.
        let inner = parts.windows(2).filter(|two| two[0] == "charts");
        let inner = inner.fold(Path::root(), |path, two| path.key(two[1]));
        let reference = Regex::new(r"\.Values((?:\.[A-Za-z_][A-Za-z0-9_]*)+)").ok()?;
        let found = reference.captures_iter(file.text());
        let paths = found.filter_map(|found| {
            let name = found.get(1)?;
            Some((inner.below(name.as_str()), name.start()))
        });
        let named: Vec<(Path, usize)> = paths.collect();
        Some(Self { file, named, values })
    }

    /// `written`: the path of the value that renders the node.
    fn below(&self, node: &Node, from: usize, written: Option<&Path>, places: &mut Vec<(Span, Location)>) {
        match &node.value {
            Value::Map(entries) => {
                for entry in entries {
                    let key = &entry.key.text;
                    let value_of = |above: &Path| self.value(&above.key(key), &entry.value);
                    let line_in_template = || line_of(&self.file, key, from);
                    let mut found = written.and_then(value_of);
                    let at = if found.is_none() { line_in_template() } else { None };
                    if found.is_none() && at.is_none() {
                        found = self.named.iter().find_map(|(path, _)| value_of(path));
                    }
                    let (key_place, place, from, path) = match (found, at) {
                        (Some((path, key_place, place)), _) => (key_place, place, from, Some(path)),
                        (None, Some(at)) => {
                            let own = line(&self.file, at);
                            let mut here = self.named.iter().filter(|(_, start)| own.span.range().contains(start));
                            let inserted = here.find_map(|(path, _)| self.value(path, &entry.value));
                            let (path, place) =
                                inserted.map_or((None, own.clone()), |(path, _, place)| (Some(path), place));
                            (own, place, at, path)
                        }
                        (None, None) => {
                            self.below(&entry.value, from, None, places);
                            continue;
                        }
                    };
                    places.push((entry.key.span, key_place));
                    places.push((entry.value.span, place));
                    self.below(&entry.value, from, path.as_ref(), places);
                }
            }
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = written.map(|list| list.index(index));
                    let found = path.and_then(|path| self.value(&path, item));
                    places.extend(found.iter().map(|(.., place)| (item.span, place.clone())));
                    self.below(item, from, found.as_ref().map(|(path, ..)| path), places);
                }
            }
            _ => {}
        }
    }

    /// The path with the locations of its key and value, if a values file has the rendered value: the same scalar or
    /// list, or each key of a map, which may be in several files.
    fn value(&self, path: &Path, rendered: &Node) -> Option<(Path, Location, Location)> {
        let in_files = |path: &Path| {
            let mut all = self.values.iter();
            all.find_map(|d| Some((d, d.root.at(path)?)))
        };
        let (document, node) = in_files(path)?;
        let is_it = match &rendered.value {
            Value::Map(entries) => {
                let mut keys = entries.iter().map(|e| path.key(&e.key.text));
                !entries.is_empty() && keys.all(|path| in_files(&path).is_some())
            }
            _ => node.to_json() == rendered.to_json(),
        };
        let place = document.location(node.span);
        is_it.then(|| (path.clone(), document.locate_key(path), place))
    }
}

/// The first line that begins with a key, from a line on.
fn line_of(file: &SourceFile, key: &str, from: usize) -> Option<usize> {
    let mut lines = (from..).map_while(|number| Some((number, file.line(number)?.1)));
    lines.find(|(_, text)| value_behind(text, key).is_some()).map(|(number, _)| number)
}

/// A line without its indentation.
fn line(file: &Arc<SourceFile>, number: usize) -> Location {
    Location::new(file, without_blanks(file.line(number).unwrap_or((0, ""))))
}
