//! The generators of an ApplicationSet that depend on nothing but the repository: lists, directories and files of git,
//! and products of them.
//!
//! Source: `applicationset/generators` of Argo CD 3.2.

use globset::{GlobBuilder, GlobMatcher};

use super::argo_sources::{is_same_repository, sources};
use super::{Template, printed};
use crate::prelude::*;
use crate::repo::nodes::{all_nodes, fields_at, is_on};
use crate::repo::paths::{first_document, parent};

/// The most Applications of a set; a set that makes more is read as one that can't be bound.
const MAX_BINDINGS: usize = 10_000;

/// The values for each Application of a set; `None` if they depend on more than the repository.
pub(super) fn bindings(set: &Node, tree: &dyn Tree, files: &[Utf8PathBuf]) -> Option<Vec<Template>> {
    let mut sources = set.below("template.spec").into_iter().flat_map(sources);
    let own = sources.find(|source| source.get("path").is_some()).and_then(|source| source.text_at("repoURL"));
    let is_elsewhere =
        |node: &Node| node.text_at("git.repoURL").zip(own).is_some_and(|(one, own)| !is_same_repository(one, own));
    if set.get("generators").into_iter().flat_map(all_nodes).any(is_elsewhere) {
        return None;
    }
    let mut out = Vec::new();
    for generator in set.list_at("generators") {
        if let Some(clusters) = generator.get("clusters") {
            // Which clusters there are isn't known.
            out.push(clusters.get("values").map_or_else(Template::default, |values| flattened(values, "values")));
            continue;
        }
        out.extend(of_generator(generator, tree, files)?);
        if out.len() > MAX_BINDINGS {
            return None;
        }
    }
    Some(out)
}

fn of_generator(generator: &Node, tree: &dyn Tree, files: &[Utf8PathBuf]) -> Option<Vec<Template>> {
    let mut made = if let Some(own) = generator.get("list") {
        own.get("elementsYaml").is_none().then_some(())?;
        own.list_at("elements").iter().map(|element| flattened(element, "")).collect()
    } else if let Some(git) = generator.get("git") {
        of_git(git, tree, files)?
    } else if generator.get("matrix").is_some() {
        let mut product = vec![Template::default()];
        // One may use what those before it make.
        for inner in generator.list_at("matrix.generators") {
            let mut all = Vec::new();
            for left in &product {
                let right = of_generator(&left.fill_all(inner), tree, files)?;
                all.extend(right.iter().map(|right| left.with(right)));
                if all.len() > MAX_BINDINGS {
                    return None;
                }
            }
            product = all;
        }
        product
    } else if generator.get("merge").is_some() {
        let keys: Vec<&str> = strings(generator.list_at("merge.mergeKeys")).collect();
        let all = generator.list_at("merge.generators").iter().map(|inner| of_generator(inner, tree, files));
        let mut all = all.collect::<Option<Vec<_>>>()?.into_iter();
        let base = all.next()?;
        all.fold(base, |base, other| merged(base, &other, &keys))
    } else {
        return None;
    };
    if let Some(selector) = generator.get("selector") {
        for expression in selector.list_at("matchExpressions") {
            let values: Vec<String> = expression.list_at("values").iter().filter_map(printed).collect();
            let is_in = |own: Option<&String>| own.is_some_and(|own| values.contains(own));
            let is_wanted: &dyn Fn(Option<&String>) -> bool = match expression.text("operator") {
                "In" => &is_in,
                "NotIn" => &|own| !is_in(own),
                "Exists" => &|own| own.is_some(),
                "DoesNotExist" => &|own| own.is_none(),
                _ => return None,
            };
            made.retain(|template| is_wanted(template.values.get(expression.text("key"))));
        }
        let wanted: Vec<(&str, String)> = (fields_at(selector, "matchLabels").iter())
            .filter_map(|entry| Some((entry.key.text.as_str(), printed(&entry.value)?)))
            .collect();
        made.retain(|template| wanted.iter().all(|(key, value)| template.values.get(*key) == Some(value)));
    }
    Some(made)
}

/// The values of each base with those of the first other one that has the same keys.
fn merged(bases: Vec<Template>, others: &[Template], keys: &[&str]) -> Vec<Template> {
    let keyed = |one: &Template| keys.iter().map(|key| one.values.get(*key).cloned()).collect::<Vec<_>>();
    let by_keys: HashMap<Vec<Option<String>>, &Template> = others.iter().rev().map(|one| (keyed(one), one)).collect();
    let with = |base: Template| by_keys.get(&keyed(&base)).map(|other| base.with(other)).unwrap_or(base);
    bases.into_iter().map(with).collect()
}

/// The values of a map, those of inner ones by their path.
fn flattened(node: &Node, prefix: &str) -> Template {
    let mut out = Template::default();
    flatten(node, prefix, &mut out);
    out
}

fn flatten(node: &Node, path: &str, out: &mut Template) {
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                let dot = if path.is_empty() { "" } else { "." };
                flatten(&entry.value, &format!("{path}{dot}{}", entry.key.text), out);
            }
        }
        Value::Seq(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(item, &format!("{path}[{index}]"), out);
            }
        }
        _ => {
            if let Some(text) = printed(node) {
                out.values.insert(path.to_owned(), text);
            }
        }
    }
}

/// The values of a git generator: of each directory or file that matches.
fn of_git(git: &Node, tree: &dyn Tree, files: &[Utf8PathBuf]) -> Option<Vec<Template>> {
    let prefix = git.text("pathParamPrefix");
    let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
    let patterns = |key: &str, is_excluded: bool| -> Option<Vec<GlobMatcher>> {
        let is_it = |item: &&Node| is_excluded == excludes(item);
        git.list_at(key).iter().filter(is_it).map(|item| pattern(item.text("path"), key == "directories")).collect()
    };
    let values = flattened(git.get("values").unwrap_or(git), "values");
    let with_values = |mut made: Template| {
        if git.get("values").is_some() {
            let filled = values.values.iter().filter_map(|(key, value)| Some((key.clone(), made.fill(value)?)));
            let filled: Vec<_> = filled.collect();
            made.values.extend(filled);
        }
        made
    };
    let mut out = Vec::new();
    let key = ["directories", "files"].into_iter().find(|key| git.get(key).is_some())?;
    let (wanted, excluded) = (patterns(key, false)?, patterns(key, true)?);
    let any = |all: &[GlobMatcher], path: &Utf8Path| all.iter().any(|glob| glob.is_match(path));
    let is_wanted = |path: &Utf8Path| any(&wanted, path) && !any(&excluded, path);
    if key == "directories" {
        let directories: BTreeSet<&Utf8Path> = files.iter().flat_map(|file| file.ancestors().skip(1)).collect();
        let is_hidden = |d: &Utf8Path| d.components().any(|part| part.as_str().starts_with('.'));
        let matching = directories.into_iter().filter(|d| !d.as_str().is_empty() && !is_hidden(d) && is_wanted(d));
        out.extend(matching.map(|directory| with_values(of_path(directory, &prefix))));
    } else {
        for file in files.iter().filter(|file| is_wanted(file)) {
            let root = &first_document(tree, file)?.root;
            let objects = if root.items().is_empty() { std::slice::from_ref(root) } else { root.items() };
            for object in objects {
                let mut made = flattened(object, "");
                made.values.extend(of_path(parent(file), &prefix).values);
                made.values.insert(format!("{prefix}path.filename"), file.file_name().unwrap_or_default().to_owned());
                out.push(with_values(made));
            }
        }
    }
    Some(out)
}

/// The values of a path, for both kinds of templates.
fn of_path(path: &Utf8Path, prefix: &str) -> Template {
    let base = path.file_name().unwrap_or_default();
    let normal: String = base
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let mut out = Template::default();
    let mut set = |name: String, value: &str| out.values.insert(format!("{prefix}{name}"), value.to_owned());
    set("path".to_owned(), path.as_str());
    set("path.path".to_owned(), path.as_str());
    set("path.basename".to_owned(), base);
    set("path.basenameNormalized".to_owned(), &normal);
    for (index, part) in path.components().enumerate() {
        set(format!("path[{index}]"), part.as_str());
        set(format!("path.segments[{index}]"), part.as_str());
    }
    out
}

fn excludes(item: &Node) -> bool {
    is_on(item, "exclude")
}

/// Whether a git generator of a set, also a nested one, reads a file.
pub(crate) fn reads_file(node: &Node, file: &Utf8Path) -> bool {
    let matches = |item: &&Node| pattern(item.text("path"), false).is_some_and(|glob| glob.is_match(file));
    all_nodes(node).any(|node| {
        let mut matching = node.list_at("git.files").iter().filter(matches).peekable();
        matching.peek().is_some() && !matching.any(excludes)
    })
}

/// A pattern of paths. In one of directories a `*` ends at the next `/`; git's own, of files, goes on.
fn pattern(path: &str, is_directory: bool) -> Option<GlobMatcher> {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    (!path.contains("{{")).then_some(())?;
    glob(path, is_directory)
}

/// A pattern of paths as it is written.
pub(super) fn glob(text: &str, is_directory: bool) -> Option<GlobMatcher> {
    Some(GlobBuilder::new(text).literal_separator(is_directory).build().ok()?.compile_matcher())
}
