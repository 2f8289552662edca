//! Manifests in texts: heredocs of scripts, strings of Ansible's tasks and of policies, templates of Jinja and Go.
//!
//! They are parsed without the rest of the file, with their locations in it. Template expressions are [masked](mask)
//! first.

use hcoplan_diagnostics::source::lines;
use hcoplan_yaml::{Comment, Problem, ScalarPlaces};

use super::super::listed;
use super::super::mentions::{HCO, hints};
use super::super::unrecognized::is_unrecognized;
use super::files::{self, Form};
use super::inline;
use super::mask::{Language, Masked, Parts, mask};
use super::not_planned::{contains_kind, contains_manifest, is_hyperconverged};
use super::unknown::{self, Unknown, UnknownKind};
use super::{ansible, group, policy};
use crate::prelude::*;
use crate::repo::candidate::is_candidate;
use crate::repo::fields;
use crate::repo::nodes::{all_nodes, alone, entry, fields_at, value_mut};
use crate::repo::paths::{files_of, parent};

/// A manifest in a text.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) document: Arc<Document>,
    /// Its unknown values.
    pub(crate) unknown: Vec<Unknown>,
    /// The same with one of the branches that the template chooses from, each with where that is.
    pub(crate) branches: Vec<Branch>,
}

/// A HyperConverged with one branch of a condition.
pub(crate) type Branch = (Arc<Document>, Span);

impl Embedded {
    /// Fills in the variables that are known, of values that are one expression.
    pub(crate) fn fill_in_variables(&mut self, known: &ansible::Variables) {
        let document = &mut self.document;
        self.unknown.retain(|unknown| {
            let Some((path, span)) = unknown.whole_value() else { return true };
            let place = document.location(span);
            let Some(value) = ansible::value_of(place.text().trim_matches(['"', '\'']), known) else { return true };
            let value = Node { span, value: value.value, style: value.style };
            !put(&mut Arc::make_mut(document).root, path, value)
        });
    }
}

/// Puts a value at a dotted path where its map is there; returns whether it is.
pub(crate) fn put(root: &mut Node, path: &str, value: Node) -> bool {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    if let Some(rest) = rest {
        return value_mut(root, key).is_some_and(|inner| put(inner, rest, value));
    }
    let Value::Map(entries) = &mut root.value else { return false };
    entries.push(entry(key, value));
    true
}

/// The manifests in texts.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) found: Vec<Embedded>,
    /// Unreadable texts with a HyperConverged.
    pub(crate) missed: Vec<Span>,
    /// The parser's warnings.
    pub(crate) warnings: Vec<Problem>,
}

/// Where a text is.
#[derive(Clone, Copy)]
struct Place<'p> {
    file: &'p Arc<SourceFile>,
    /// The index of its document.
    index: usize,
    at: &'p dyn Fn(Range<usize>) -> Span,
}

fn at(range: Range<usize>) -> Span {
    Span::new(range.start, range.end)
}

/// The manifests in a file that isn't YAML.
pub(crate) fn of_text(file: &Arc<SourceFile>) -> Texts {
    let text = file.text();
    let (mut out, place) = (Texts::default(), Place { file, index: 0, at: &at });
    if !text.contains(HCO) && !contains_kind(text) && !text.contains("HyperConverged") {
        return out;
    }
    match files::form(file.path(), text) {
        Some(Form::Template(language)) => of_manifest(text, language, place, &mut out),
        Some(Form::Script(language)) => {
            of_script(text, language, place, &mut out);
            let read: Vec<_> = heredocs(text).into_iter().map(|h| h.body).collect();
            out.missed.extend(inline::manifests(text, &read));
        }
        Some(Form::Unread) => out.missed.extend(inline::first_mention(text)),
        None => {}
    }
    out
}

/// The manifests in a file that is a template of YAML.
pub(crate) fn of_template(file: &Arc<SourceFile>) -> Texts {
    let mut out = Texts::default();
    of_manifest(file.text(), Language::Jinja, Place { file, index: 0, at: &at }, &mut out);
    out
}

/// The manifests in the strings of a document that apply them.
pub(crate) fn of_document(document: &Document, out: &mut Texts) {
    let root = &document.root;
    let mut string = |node: &Node, language: Language| {
        let Some(text) = node.as_str().filter(|text| contains_kind(text)) else {
            return;
        };
        let places = ScalarPlaces::of(document, node);
        let at = |range: Range<usize>| places.locate(range);
        let place = Place { file: &document.file, index: document.index, at: &at };
        match language {
            Language::Shell => of_script(text, language, place, out),
            _ => of_manifest(text, language, place, out),
        }
    };
    if let Some(tasks) = ansible::objects(root) {
        for (node, _) in tasks {
            string(node, Language::Jinja);
        }
    }
    policies(root, &mut |raw| string(raw, Language::Go));
    if (group(root), root.text("kind")) == ("", "ConfigMap") {
        let data = fields_at(root, "data");
        data.iter().for_each(|entry| string(&entry.value, Language::Any));
    }
    // Scripts with heredocs: steps of pipelines, tasks, Jobs.
    let is_script = |text: &str| text.contains("<<") && text.contains('\n');
    let scripts = all_nodes(root).filter(|node| node.as_str().is_some_and(is_script));
    scripts.for_each(|script| string(script, Language::Shell));
}

/// The whole HyperConvergeds among the variables of a play or a role, which some task applies.
pub(crate) fn of_variables(document: &Document) -> Vec<Embedded> {
    let mut found: Vec<&Node> = Vec::new();
    let is_list = matches!(document.root.value, Value::Seq(_));
    if is_list {
        plays(&document.root, &mut |variables| found.extend(all_nodes(variables)));
    } else if files::has_variables(document.file.path()) {
        found.extend(all_nodes(&document.root));
    }
    found.retain(|node| is_hyperconverged(node));
    let embed = |node: &Node| {
        let mut root = node.clone();
        let unknown = unknown::fill_in_known_values(&mut root, None);
        Embedded { document: Arc::new(alone(root, document)), unknown, branches: Vec::new() }
    };
    found.into_iter().map(embed).collect()
}

/// Takes in what plays, and files of variables outside of roles, set of known variables; where these differ, it depends on
/// the host.
pub(crate) fn override_variables(known: &mut ansible::Variables, tree: &dyn Tree) {
    let mut found: BTreeMap<String, Vec<Node>> = BTreeMap::new();
    let is_meant = |path: &Utf8Path| {
        let is_of_play = parent(path) == "" || parent(path) == "playbooks";
        is_candidate(path)
            && (is_of_play || files::has_variables(path))
            && path.components().all(|p| p.as_str() != "roles")
    };
    for path in files_of(tree).iter().filter(|path| is_meant(path)) {
        let Some(file) = tree.source(path).ok().filter(|f| known.keys().any(|name| f.text().contains(name))) else {
            continue;
        };
        let mut add = |variables: &Node| {
            for entry in variables.entries().iter().filter(|entry| known.contains_key(&entry.key.text)) {
                found.entry(entry.key.text.clone()).or_default().push(entry.value.clone());
            }
        };
        for document in yaml::parse_yaml(&file).documents {
            plays(&document.root, &mut add);
            if files::has_variables(path) {
                add(&document.root);
            }
        }
    }
    for (name, values) in found {
        let value = values[0].clone();
        if values.iter().all(|other| other.to_json() == value.to_json()) {
            known.insert(name, value);
        } else {
            known.remove(&name);
        }
    }
}

/// Visits the variables of plays, blocks and tasks.
fn plays<'n>(list: &'n Node, found: &mut dyn FnMut(&'n Node)) {
    for item in list.items() {
        fields::of("ansible.variables").iter().filter_map(|key| item.get(key)).for_each(&mut *found);
        for entry in item.entries().iter().filter(|entry| !entry.value.items().is_empty()) {
            plays(&entry.value, found);
        }
    }
}

/// The raw templates of policies.
fn policies(node: &Node, found: &mut dyn FnMut(&Node)) {
    if group(node) != "policy.open-cluster-management.io" {
        return;
    }
    if let Some(raw) = node.below("spec.object-templates-raw") {
        found(raw);
    }
    let templates = node.list_at("spec.policy-templates");
    for definition in templates.iter().filter_map(|t| t.get("objectDefinition")) {
        policies(definition, found);
    }
}

/// The manifests that a script passes to a command.
fn of_script(text: &str, language: Language, place: Place<'_>, out: &mut Texts) {
    for heredoc in heredocs(text) {
        let body = &text[heredoc.body.clone()];
        let start = heredoc.body.start;
        let at = |range: Range<usize>| (place.at)(range.start + start..range.end + start);
        let language = if heredoc.is_literal { Language::Literal } else { language };
        if !heredoc.deletes {
            of_manifest(body, language, Place { at: &at, ..place }, out);
        }
    }
}

/// An inline text of a script.
struct Heredoc {
    body: Range<usize>,
    /// Whether the shell doesn't expand it.
    is_literal: bool,
    /// Whether it is passed to a deleting command.
    deletes: bool,
}

fn heredocs(text: &str) -> Vec<Heredoc> {
    let mut out = Vec::new();
    let mut lines = lines(text).peekable();
    while let Some((_, line)) = lines.next() {
        let Some((word, is_literal)) = opening(line) else {
            continue;
        };
        let Some((start, _)) = lines.peek().copied() else {
            break;
        };
        let end = lines.find(|(_, line)| line.trim() == word);
        let end = end.map_or(text.len(), |(at, _)| at);
        out.push(Heredoc { body: start..end, is_literal, deletes: line.split_whitespace().any(|w| w == "delete") });
    }
    out
}

/// The word that ends the heredoc that a line begins, and whether it is quoted.
fn opening(line: &str) -> Option<(&str, bool)> {
    let (_, behind) = line.split_once("<<")?;
    let behind = behind.strip_prefix('-').unwrap_or(behind).trim_start_matches([' ', '\t']);
    let is_literal = behind.starts_with(['\'', '"', '\\']);
    let word = behind.trim_start_matches(['\'', '"', '\\']);
    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let word = &word[..end.unwrap_or(word.len())];
    (!word.is_empty() && !behind.starts_with('<')).then_some((word, is_literal))
}

/// The HyperConvergeds of a text that is a template of a manifest.
fn of_manifest(text: &str, language: Language, place: Place<'_>, out: &mut Texts) {
    if !text.contains(HCO) && !contains_kind(text) {
        return;
    }
    let read = |kept: &Parts, out: &mut Texts| {
        let masked = mask(text, language, kept);
        for piece in pieces(&masked.text) {
            of_piece(text, &masked, piece, place, out);
        }
        masked.branches
    };
    // Conditional parts are unknown, except for the whole object.
    let before = out.found.len();
    let branches = read(&Parts::None, out);
    let most = MAX_READ_FOR_BRANCHES / text.len().max(1);
    let is_found = out.found.len() > before;
    for branch in branches.iter().filter(|_| is_found).take(most) {
        let mut with_it = Texts::default();
        read(&Parts::Branch(branch.clone()), &mut with_it);
        let span = (place.at)(branch.clone());
        if with_it.found.len() == out.found.len() - before {
            for (own, other) in out.found[before..].iter_mut().zip(with_it.found) {
                let is_in = other.document.span.start <= span.start && span.start <= other.document.span.end;
                own.branches.extend(is_in.then_some((other.document, span)));
            }
        }
    }
    if !is_found && !branches.is_empty() {
        read(&Parts::All, out);
    }
    if out.found.len() == before && contains_manifest(text) {
        out.missed.push((place.at)(first_kind(text).range()));
    }
}

/// Maximum number of bytes that are read again for branches, each of which takes the whole text.
const MAX_READ_FOR_BRANCHES: usize = 1 << 20;

/// The line of a manifest with a HyperConverged's kind.
pub(crate) fn first_kind(text: &str) -> Span {
    let mut lines = lines(text);
    lines.find(|(_, line)| line.contains("kind") && hints(line)).map(inline::without_blanks).unwrap_or_default()
}

/// The documents of a manifest, whose separators may be indented with it.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    for (at, line) in lines(text) {
        if line.trim() == "---" {
            out.push(start..at);
            start = at + line.len();
        }
    }
    out.push(start..text.len());
    out
}

fn of_piece(text: &str, masked: &Masked, piece: Range<usize>, place: Place<'_>, out: &mut Texts) {
    let masked_text = &masked.text[piece.clone()];
    let start = piece.start;
    let Place { file, index, at } = place;
    let parsed = yaml::parse_yaml(&SourceFile::new(file.path(), masked_text));
    let warnings = parsed.problems.into_iter().filter(|p| !p.kind.is_fatal() && p.kind != ProblemKind::NotAMapping);
    let mut warnings: Vec<Problem> = warnings.collect();
    let place = |span: Span| {
        let range = span.range();
        at(range.start + start..range.end + start)
    };
    for problem in &mut warnings {
        problem.span = place(problem.span);
        if let Some((span, _)) = &mut problem.context {
            *span = place(*span);
        }
    }
    let before = out.found.len();
    for document in parsed.documents {
        let all = document.root.span;
        for mut root in roots(document.root) {
            let mut unknown = unknown::masked(&mut root, &masked.language.to_string());
            unknown.iter_mut().for_each(|one| one.span = place(one.span));
            let within = start + root.span.start as usize..start + root.span.end as usize;
            for line in &masked.lines {
                let span = at(line.tag.clone());
                let template = text[line.tag.clone()].trim().to_owned();
                let (what, name) = if masked.is_whole && line.is_block() && line.covered.contains(&within.start) {
                    (UnknownKind::Whole, template)
                } else if masked.is_in(line, text, &within) {
                    let is_its = |key: Span| {
                        let key = key.range();
                        masked.is_value_of(line, text, key.start + start..key.end + start)
                    };
                    match unknown::take_field(&mut root, &is_its) {
                        Some(path) => (UnknownKind::Value, path),
                        None => (UnknownKind::Lines, template),
                    }
                } else {
                    continue;
                };
                unknown.push(Unknown { span, what, name, by: masked.language.to_string() });
            }
            let is_alone = root.span == all;
            relocate(&mut root, &place);
            let comment = |c: &Comment| Comment { span: place(c.span), ..*c };
            let span = root.span;
            let comments = document.comments.iter().map(comment);
            // A single document may also have one above its first line.
            let comments = comments.filter(|c| is_alone || span.holds(c.span));
            let document = Document { file: Arc::clone(file), index, span, comments: comments.collect(), root };
            unknown.sort_by_key(|one| one.span.start);
            out.found.push(Embedded { document: Arc::new(document), unknown, branches: Vec::new() });
        }
    }
    if out.found.len() > before {
        out.warnings.append(&mut warnings);
    }
}

/// The HyperConvergeds of a document: itself, those of a list or a wrapper, or the definitions of a policy's raw
/// template.
fn roots(root: Node) -> Vec<Node> {
    if is_hyperconverged(&root) || is_unrecognized(&root) {
        return vec![root];
    }
    let definitions = root.items().iter().filter(|item| !policy::is_unwanted(item));
    let definitions = definitions.filter_map(|item| item.get("objectDefinition")).filter(|d| !policy::is_check(d));
    let objects = listed::objects(&root).into_iter().map(|object| object.node);
    definitions.chain(objects).filter(|node| is_hyperconverged(node)).cloned().collect()
}

/// Moves the spans of all parts of a value.
pub(crate) fn relocate(node: &mut Node, place: &dyn Fn(Span) -> Span) {
    node.span = place(node.span);
    match &mut node.value {
        Value::Map(entries) => {
            for entry in entries {
                entry.key.span = place(entry.key.span);
                relocate(&mut entry.value, place);
            }
        }
        Value::Seq(items) => items.iter_mut().for_each(|item| relocate(item, place)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile::new(path, text);
        let shown = of_text(&file).found.into_iter().map(|e| {
            let root = &e.document.root;
            let line = |span: Span| file.position(span.start).line;
            let unknown: Vec<&str> = e.unknown.iter().map(|one| one.name.as_str()).collect();
            let kind = root.get("kind").map_or(0, |k| line(k.span));
            format!("{kind}: {} {}", root.to_json(), unknown.join(", "))
        });
        shown.collect()
    }

    const OBJECT: &str = "apiVersion: hco.kubevirt.io/v1\nkind: HyperConverged\nmetadata: {name: a}\n";
    const JSON: &str = r#"{"apiVersion":"hco.kubevirt.io/v1","kind":"HyperConverged","metadata":{"name":"a"}"#;

    #[test]
    fn heredocs_are_read_in_their_places() {
        let script = format!("set -e\ncat <<'EOF' | oc apply -f -\n{OBJECT}spec: {{a: $B}}\nEOF\n");
        let literal = format!("4: {JSON},\"spec\":{{\"a\":\"$B\"}}}} ");
        assert_eq!(found("a.sh", &script), [literal]);
        let script = script.replace("'EOF'", "EOF");
        let expected = format!("4: {JSON},\"spec\":{{}}}} spec.a");
        assert_eq!(found("a.sh", &script), [expected]);
        let script = script.replace("oc apply", "oc delete");
        assert!(found("a.sh", &script).is_empty());
        assert!(found("a.txt", &script).is_empty());
    }

    #[test]
    fn a_comment_above_a_manifest_is_its_own() {
        let text = format!("# one\n{OBJECT}---\n# two\n{OBJECT}spec: {{a: {{{{ b }}}}}} # three\n");
        let file = SourceFile::new("hc.yaml.j2", text.as_str());
        let texts = of_text(&file).found.into_iter().map(|e| {
            let own = e.document.comments.iter().map(|c| &text[c.span.range()]);
            assert!(text[e.document.span.range()].starts_with(OBJECT.trim_end()));
            joined(own, " ")
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["# one", "# two # three"]);
    }

    #[test]
    fn templates_of_jinja_have_unknown_values() {
        let text = format!(
            "{{# c #}}\n---\n{OBJECT}spec:\n  a: {{{{ a }}}}\n  b: \"x-{{{{ b }}}}\"\n{{% if c %}}\n  c: 1\n{{% \
             endif %}}\n  d: 2\n"
        );
        let expected = format!("4: {JSON},\"spec\":{{\"d\":2}}}} spec.a, spec.b, {{% if c %}}");
        assert_eq!(found("hc.yaml.j2", &text), [expected]);
        let after = format!("{{% if c %}}\n{OBJECT}{{% endif %}}\n{{% if d %}}\n---\nkind: A\n{{% endif %}}\n");
        assert_eq!(found("hc.yaml.j2", &after), [format!("3: {JSON}}} {{% if c %}}")]);
        let all = format!("{{% if c %}}\n{OBJECT}{{% endif %}}\n");
        assert_eq!(found("hc.yaml.j2", &all), [format!("3: {JSON}}} {{% if c %}}")]);
    }

    #[test]
    fn additions_at_the_end_of_a_template_are_unknown() {
        for (end, object, unknown) in [
            ("  a: 1\n{% if c %}\n  b: 2\n{% endif %}\n", r#"{"a":1}"#, "{% if c %}"),
            ("  a: 1\n{% for c in d %}\n  b: 2\n{% endfor %}", r#"{"a":1}"#, "{% for c in d %}"),
            ("  a: 1\n{% include 'b' %}\n", r#"{"a":1}"#, "{% include 'b' %}"),
            ("  a: 1\n\n# c\n{{ b }}\n", r#"{"a":1}"#, "{{ b }}"),
            ("  a: {% if b %}c{% else %}d{% endif %}\n", "{}", "spec.a"),
            ("  a:\n    {{ b | indent(4) }}\n  c: 1\n", r#"{"c":1}"#, "spec.a"),
            ("  a: # c\n{% if b %}\n  - c\n{% endif %}\n", "{}", "spec.a"),
            ("  a: 1\n  b:\n{% if b %}\n  c: 1\n{% endif %}\n", r#"{"a":1,"b":null}"#, "{% if b %}"),
            ("  a: 1\n{% if c %}\n---\nkind: B\n{% endif %}\n", r#"{"a":1}"#, ""),
        ] {
            let text = format!("{OBJECT}spec:\n{end}");
            let expected = format!("2: {JSON},\"spec\":{object}}} {unknown}");
            assert_eq!(found("hc.yaml.j2", &text), [expected], "{end}");
        }
    }

    #[test]
    fn scripts_without_a_suffix_terraform_and_templates_of_a_build_are_read() {
        let heredoc = format!("cat <<A\n{OBJECT}spec: {{a: ${{b}}}}\nA\n");
        let expected = format!("4: {JSON},\"spec\":{{}}}} spec.a");
        let script = format!("#!/bin/sh\n{heredoc}");
        assert_eq!(found("install", &script), [expected.as_str()]);
        assert!(found("install", &heredoc).is_empty());
        assert!(found("OWNERS", &script).is_empty());
        let text = format!("# a\n{heredoc}");
        assert_eq!(found("main.tf", &text), [expected.as_str()]);
        let text = format!("# a\n\n{OBJECT}spec: {{a: @B@, c: ${{D}}, e: '{{{{ f }}}}'}}\n");
        let expected = format!("4: {JSON},\"spec\":{{}}}} spec.a, spec.c, spec.e");
        assert_eq!(found("hc.yaml.in", &text), [expected]);
        let text = format!("FROM scratch\nCOPY <<A b\n{OBJECT}A\n");
        let file = SourceFile::new("Dockerfile", &*text);
        let texts = of_text(&file);
        assert_eq!((texts.found.len(), texts.missed.len()), (0, 1));
    }
}
