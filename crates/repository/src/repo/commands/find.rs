//! Finding commands in files.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use hcoplan_diagnostics::source::{Location, SourceFile, Span};
use hcoplan_yaml::{Document, Node, ScalarPlaces, Value, parse_yaml};
use memchr::memmem::Finder;
use serde_json::Value as Json;

use super::super::carriers::ansible;
use super::super::carriers::files::{code_blocks, is_prose};
use super::shell::{self, UNKNOWN, Word, arguments, option};
use super::{Action, Command};

/// What a text has to have so that a command on a HyperConverged can be in it.
struct CommandFinders {
    names: [Finder<'static>; 5],
    programs: [Finder<'static>; 3],
}

static FINDERS: LazyLock<CommandFinders> = LazyLock::new(|| CommandFinders {
    // kubectl takes resources in any case.
    names: ["onverged", "ONVERGED", "hco", "HCO", "Hco"].map(Finder::new),
    programs: ["oc ", "kubectl ", "k8s"].map(Finder::new),
});

/// Whether there can be any in a file, by its bytes. All such searches take a quarter of the 50 ms of CPU that 8,000
/// files of YAML cost which have nothing of HCO in them.
pub(in super::super) fn may_have(bytes: &[u8]) -> bool {
    let has_any = |of: &[Finder<'_>]| of.iter().any(|word| word.find(bytes).is_some());
    has_any(&FINDERS.programs) && has_any(&FINDERS.names)
}

/// The commands in a script, a Makefile, or prose.
pub(in super::super) fn of_text(file: &Arc<SourceFile>) -> Vec<Command> {
    if !may_have(file.text().as_bytes()) {
        return Vec::new();
    }
    let text = if is_prose(file.path()) { &code_blocks(file.path(), file.text()) } else { file.text() };
    let at = |range: Range<usize>| Location::new(file, Span::new(range.start, range.end));
    of_script(text, &at)
}

/// The commands in the strings and tasks of a file's documents.
pub(in super::super) fn of_documents(file: &SourceFile, documents: &[Arc<Document>]) -> Vec<Command> {
    let mut out = Vec::new();
    // Asked once: a file may have thousands of documents.
    if may_have(file.text().as_bytes()) {
        for document in documents {
            strings(&document.root, document, &mut out);
            out.extend(tasks(document));
        }
    }
    out
}

/// The tasks of Ansible that patch a HyperConverged which they name.
fn tasks(document: &Document) -> Vec<Command> {
    let all = ansible::patches(&document.root).into_iter();
    let command = |(kind, arguments, patch): (&Node, &Node, &Node)| {
        let text = |key: &str| arguments.get(key).and_then(Node::as_str);
        let value = patch.to_json();
        let (how, called) = if value.is_array() { ("json", "k8s_json_patch") } else { ("merge", "k8s") };
        let is_known = |text: &str| !text.contains("{{");
        let action = if is_known(&value.to_string()) {
            of_patch(Some(value), how)
        } else {
            Action::Unknown("its patch has variables in it")
        };
        let version = text("api_version").and_then(|v| v.rsplit('/').next());
        Command {
            place: document.location(kind.span),
            called: called.to_owned(),
            version: version.map(ToOwned::to_owned),
            name: text("name").filter(|n| is_known(n)).map(ToOwned::to_owned),
            action,
        }
    };
    all.map(command).collect()
}

fn strings(node: &Node, document: &Document, out: &mut Vec<Command>) {
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                strings(&entry.value, document, out);
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| strings(item, document, out)),
        Value::String(text) if may_have(text.as_bytes()) => {
            let places = ScalarPlaces::of(document, node);
            out.extend(of_script(text, &|range| document.location(places.locate(range))));
        }
        _ => {}
    }
}

/// The manifests that prose tells people to apply.
pub(in super::super) fn of_manifests(documents: impl Iterator<Item = Arc<Document>>) -> Vec<Command> {
    let command = |document: Arc<Document>| {
        let root = &document.root;
        let place = root.get("kind").unwrap_or(root).span;
        let value = root.to_json();
        let version = value["apiVersion"].as_str().and_then(|v| v.rsplit('/').next());
        Command {
            place: document.location(place),
            called: "apply".to_owned(),
            version: version.map(ToOwned::to_owned),
            name: value["metadata"]["name"].as_str().map(ToOwned::to_owned),
            action: Action::Apply(value),
        }
    };
    documents.map(command).collect()
}

fn of_script(text: &str, at: &dyn Fn(Range<usize>) -> Location) -> Vec<Command> {
    let all = shell::commands(text).into_iter();
    let commands = all.filter_map(|words| {
        let (first, last) = (words.first()?, words.last()?);
        let place = at(first.range.start..last.range.end);
        of_words(&words, place)
    });
    commands.collect()
}

/// The command, where it changes a HyperConverged.
fn of_words(words: &[Word], place: Location) -> Option<Command> {
    let program = words.first()?.text.as_str();
    let plain = arguments(words);
    let verb = plain.first()?.text.as_str();
    let resource = plain.get(1)?.text.as_str();
    let (resource, name) = match resource.split_once('/') {
        Some((resource, name)) => (resource, Some(name)),
        None => (resource, plain.get(2).map(|w| w.text.as_str())),
    };
    let version = version_of(resource)?;
    let behind = if resource.len() == plain.get(1)?.text.len() { 3 } else { 2 };
    let set: Vec<&str> = plain.iter().skip(behind).map(|w| w.text.as_str()).collect();
    let overwrite = words.iter().any(|w| ["--overwrite", "--overwrite=true"].contains(&w.text.as_str()));
    let action = match verb {
        "patch" => patch(words),
        "annotate" => metadata("annotations", &set, overwrite),
        "label" => metadata("labels", &set, overwrite),
        "delete" => Action::Delete,
        "edit" => Action::Unknown("what somebody writes in an editor is in no repository"),
        _ => return None,
    };
    let known = |text: &&str| !text.contains(UNKNOWN) && !text.contains('=');
    Some(Command {
        place,
        called: format!("{program} {verb}"),
        version,
        name: name.filter(known).map(ToOwned::to_owned),
        action,
    })
}

/// The API version that a resource's name has in it, where it is one of the HyperConverged's.
fn version_of(resource: &str) -> Option<Option<String>> {
    let lower = resource.to_ascii_lowercase();
    let (name, rest) = lower.split_once('.').unwrap_or((&lower, ""));
    if !["hco", "hcos", "hyperconverged", "hyperconvergeds"].contains(&name) {
        return None;
    }
    let version = match rest {
        "" => "",
        rest => rest.strip_suffix("hco.kubevirt.io")?.trim_end_matches('.'),
    };
    Some((!version.is_empty()).then(|| version.to_owned()))
}

fn metadata(field: &'static str, set: &[&str], overwrite: bool) -> Action {
    if set.is_empty() || set.iter().any(|word| word.contains(UNKNOWN)) {
        return Action::Unknown("it has variables in it");
    }
    let pair = |word: &&str| match word.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (word.trim_end_matches('-').to_owned(), None),
    };
    Action::Metadata { field, set: set.iter().map(pair).collect(), overwrite }
}

fn patch(words: &[Word]) -> Action {
    let Some(text) = option(words, &["-p", "--patch"]) else {
        return Action::Unknown("its patch is in a file of its own");
    };
    let how = option(words, &["--type"]).unwrap_or("strategic");
    if how == "strategic" {
        return Action::Strategic;
    }
    if text.contains(UNKNOWN) {
        return Action::Unknown("its patch has variables in it");
    }
    let parsed = parse_yaml(&SourceFile::new("patch", text));
    let value = match serde_json::from_str(text) {
        Ok(value) => Some(value),
        // kubectl takes YAML, too.
        Err(_) => parsed.documents.first().map(|d| d.root.to_json()),
    };
    of_patch(value, how)
}

/// A patch as its own text or a task has it.
fn of_patch(value: Option<Json>, how: &str) -> Action {
    const UNREADABLE: Action = Action::Unknown("its patch can't be read");
    match (value, how) {
        (Some(value @ Json::Object(_)), "merge") => Action::Merge(value),
        (Some(value @ Json::Array(_)), "json") => match serde_json::from_value(value) {
            Ok(patch) => Action::Json(patch),
            Err(_) => UNREADABLE,
        },
        _ => UNREADABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let all = of_text(&SourceFile::new(path, text));
        let shown = all.iter().map(|c| {
            let version = c.version.as_deref().unwrap_or("-");
            let name = c.name.as_deref().unwrap_or("-");
            format!("{} {version} {name} {:?} at {}", c.called, c.action, c.place.start().line)
        });
        shown.collect()
    }

    #[test]
    fn commands_are_told_by_what_they_do() {
        for (text, expected) in [
            (
                "oc patch hco a --type merge -p '{\"spec\": {}}'",
                "oc patch - a Merge(Object {\"spec\": Object {}}) at 1",
            ),
            (
                "kubectl patch hyperconvergeds.v1beta1.hco.kubevirt.io/a --type=json -p='[]'",
                "kubectl patch v1beta1 a Json(Patch([])) at 1",
            ),
            ("oc patch HyperConverged a -p '{\"spec\": {}}'", "oc patch - a Strategic at 1"),
            (
                "oc annotate hco a b=c d- --overwrite",
                "oc annotate - a Metadata { field: \"annotations\", set: [(\"b\", Some(\"c\")), (\"d\", None)], \
                 overwrite: true } at 1",
            ),
            (
                "oc patch HCO a --type merge -p '{\"spec\": {}}'",
                "oc patch - a Merge(Object {\"spec\": Object {}}) at 1",
            ),
            ("oc delete hyperconverged.hco.kubevirt.io a", "oc delete - a Delete at 1"),
            (
                "oc patch hco a --type merge -p \"{'spec': $A}\"",
                "oc patch - a Unknown(\"its patch has variables in it\") at 1",
            ),
        ] {
            assert_eq!(found("a.sh", text), [expected], "{text}");
        }
        for text in [
            "oc get hco a",
            "oc patch kubevirt a -p x",
            "oc patch hyperconverged.example.org a -p x",
            "# oc edit hco a",
        ] {
            assert!(found("a.sh", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn of_prose_only_blocks_of_code_count() {
        let text = "Run\noc edit hco a\n```sh\n$ oc edit hco b\n```\noc edit hco c\n\n    oc edit hco d\n";
        let names: Vec<String> =
            of_text(&SourceFile::new("README.md", text)).into_iter().filter_map(|c| c.name).collect();
        assert_eq!(names, ["b", "d"]);
        let text = "Run oc edit hco a\n[source,terminal]\n----\n$ oc edit hco b\n----\noc edit hco c\n\n.....\n$ oc edit hco d\n----\n\
                    $ oc edit hco e\n.....\noc edit hco f\n";
        let names: Vec<String> =
            of_text(&SourceFile::new("README.adoc", text)).into_iter().filter_map(|c| c.name).collect();
        assert_eq!(names, ["b", "d", "e"]);
    }
}
