//! Commands that change or delete HyperConvergeds, in scripts and in the objects and tasks that run them.
//!
//! Sources: the names of HCO's CRD; kubectl's reference.

use crate::prelude::*;
use crate::repo::fields;
use crate::repo::mentions::has_any;
use crate::repo::nodes::all_nodes;
use hcoplan_diagnostics::source::lines;

/// Whether a text may have such a command.
pub(crate) fn may_be_in(text: &str) -> bool {
    has_any(text, &["hco", "hyperconverged"]) && has_any(text, fields::of("commands.verbs"))
}

/// The lines of a script that have one.
pub(crate) fn in_script(text: &str) -> Vec<Span> {
    // One that goes on has its length in one line, too.
    let text = text.replace("\\\n", "  ");
    lines(&text).filter(|(_, line)| is_one(line)).map(super::without_blanks).collect()
}

/// Whether a line of a text has one.
pub(super) fn is_in(text: &str) -> bool {
    may_be_in(text) && !in_script(text).is_empty()
}

/// Whether the fields of a value are one.
pub(super) fn is_of(node: &Node) -> bool {
    let words = fields::of("commands.fields")
        .iter()
        .filter_map(|key| node.get(key))
        .flat_map(all_nodes)
        .filter_map(Node::as_str);
    // An image may start kubectl itself.
    let is_whole = node.get("command").is_some() || node.get("argv").is_some();
    let program = node.get("action").or(node.get("args").filter(|_| !is_whole)).map(|_| "kubectl");
    is_one(&joined(program.into_iter().chain(words), " "))
}

fn is_one(line: &str) -> bool {
    let is_command = |command: &str| {
        let mut words =
            command.split(|c: char| c.is_whitespace() || "\"'`()".contains(c)).filter(|word| !word.is_empty());
        let is_program = |word: &str| matches!(word.rsplit(['/', '@']).next(), Some("kubectl" | "oc"));
        let is_meant =
            |word: &str| word.split(['/', '.', ',']).next().is_some_and(|name| fields::has("commands.names", name));
        let mut before = "";
        words.any(is_program)
            && words.any(|word| fields::has("commands.verbs", word))
            // A namespace may have such a name, too.
            && words.any(|word| !std::mem::replace(&mut before, word).starts_with("-n") && is_meant(word))
    };
    !line.trim_start().starts_with('#') && line.split([';', '&', '|']).any(is_command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_commands() {
        for (line, expected) in [
            ("kubectl delete hcos --all -A", true),
            ("set -e; /usr/bin/oc -n a patch hyperconvergeds.v1beta1.hco.kubevirt.io x", true),
            ("@oc annotate hyperconverged/x a=b", true),
            ("X=$(oc label hco x a=b)", true),
            ("oc delete pods -n hco", false),
            ("oc get hco && oc delete pods --all", false),
            ("# oc delete hco", false),
            ("delete the hco", false),
        ] {
            assert_eq!(is_one(line), expected, "{line}");
        }
    }
}
