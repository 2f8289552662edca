//! A command that patches the HyperConverged in whatever version the cluster prefers.

use std::ops::Range;

use hcoplan_yaml::{Node, Value, locate_in_scalar};

use super::prelude::*;

pub(super) static RULE: Rule = Rule::info(
    "cli-default-version-changed",
    Group::Upgrade,
    "a command changes the HyperConverged without naming an API version",
)
.silent("the command meets another shape of the object than it was written for")
.confidence(Confidence::Medium)
.needs(Needs::Document)
.fix(FixKind::Suggested);

const NAMES: [&str; 5] =
    ["hco", "hyperconverged", "hyperconverged.hco.kubevirt.io", "hyperconvergeds", "hyperconvergeds.hco.kubevirt.io"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let served = &cx.release().tables().hyperconverged.served_versions;
    let (Some(oldest), Some(preferred)) = (served.first(), served.last()) else {
        return;
    };
    if oldest == preferred {
        return;
    }
    let neighbours = cx.neighbours();
    for document in neighbours.kinds().flat_map(|k| neighbours.of_kind(k)) {
        for (node, text) in strings(&document.root) {
            for word in unversioned(text) {
                let span = locate_in_scalar(document, node, word.clone());
                let place = document.location(span);
                let message =
                    format!("the command names no API version, and {} prefers {preferred}", cx.release().label());
                let versioned = format!("hyperconvergeds.{oldest}.hco.kubevirt.io");
                let finding = Finding::new(&RULE, message)
                    .at(place.clone())
                    .object(object_of(document))
                    .label(format!("means {preferred} here, {oldest} up to now"))
                    .help(format!("name the version that it was written for, such as {versioned}"))
                    .fix(Fix::edit(format!("name {oldest}"), Applicability::Suggestion, place, versioned));
                out.report(finding);
            }
        }
    }
}

fn strings(node: &Node) -> Vec<(&Node, &str)> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match &node.value {
            Value::String(text) => found.push((node, text.as_str())),
            Value::Seq(items) => open.extend(items.iter().rev()),
            Value::Map(entries) => open.extend(entries.iter().rev().map(|e| &e.value)),
            _ => {}
        }
    }
    found
}

/// The names of the resource in commands that depend on its version, in bytes of the text.
fn unversioned(text: &str) -> Vec<Range<usize>> {
    if !text.contains("hco") && !text.contains("hyperconverged") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let words: Vec<(usize, &str)> = words(line).collect();
        for (i, (_, word)) in words.iter().enumerate() {
            if !matches!(*word, "oc" | "kubectl") {
                continue;
            }
            let rest = words.get(i + 1..).unwrap_or_default();
            if let Some(range) = resource(rest) {
                found.push(offset + range.start..offset + range.end);
            }
        }
        offset += line.len();
    }
    found
}

/// The words of a line with their places, without the quotes around them.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let around: &[char] = &['"', '\'', '`', ')', ';', ','];
    let mut offset = 0;
    let pieces = line.split_inclusive(|c: char| c.is_whitespace() || c == '(');
    pieces.filter_map(move |piece| {
        let start = offset;
        offset += piece.len();
        let piece = piece.trim_end_matches(|c: char| c.is_whitespace() || c == '(');
        let word = piece.trim_start_matches(around);
        let start = start + piece.len() - word.len();
        let word = word.trim_end_matches(around);
        (!word.is_empty()).then_some((start, word))
    })
}

/// The resource of a command, where its version matters.
fn resource(words: &[(usize, &str)]) -> Option<Range<usize>> {
    const VERBS: [&str; 4] = ["patch", "edit", "replace", "get"];
    // Flags may stand between, with a value of their own.
    let at = words.iter().take(6).position(|(_, w)| VERBS.contains(w))?;
    let (_, verb) = words.get(at)?;
    let after = words.get(at + 1..)?;
    let (start, name) = after.iter().take(6).find_map(|(start, word)| {
        let name = word.split('/').next()?;
        NAMES.contains(&name).then_some((*start, name))
    })?;
    let reads_into = || {
        let mut words = after.iter().map(|(_, w)| w);
        words.any(|w| w.contains("jsonpath") || w.contains("go-template"))
    };
    let matters = *verb != "get" || reads_into();
    matters.then_some(start..start + name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_without_a_version() {
        for (text, expected) in [
            ("oc patch hyperconverged kubevirt-hyperconverged -p x", "hyperconverged"),
            ("kubectl -n openshift-cnv edit hco/kubevirt-hyperconverged", "hco"),
            ("x=$(oc get hco -n a -o jsonpath='{.spec}')", "hco"),
            ("a\nkubectl patch hyperconvergeds.hco.kubevirt.io x", "hyperconvergeds.hco.kubevirt.io"),
            ("oc get hco -n a", ""),
            ("oc patch hyperconvergeds.v1beta1.hco.kubevirt.io x", ""),
            ("oc annotate hco x a=b", ""),
            ("patch the hyperconverged", ""),
        ] {
            let found = unversioned(text);
            let found: Vec<&str> = found.into_iter().map(|r| &text[r]).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
