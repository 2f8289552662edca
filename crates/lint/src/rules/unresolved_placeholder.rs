//! A placeholder without a value.

use hcoplan_kubernetes::text::blank;
use hcoplan_yaml::locate_in_scalar;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let root = cx.root();
    let mut found = Vec::new();
    for section in ["metadata", "spec"] {
        if let Some(node) = root.get(section) {
            let start = Path::root().key(section);
            node.walk(&Trail::Start(&start), &mut |at, node| {
                // Patches, and kubectl's last applied configuration, may quote whole documents.
                let is_quote = |key: &str| key.ends_with("/jsonpatch") || key.ends_with("/last-applied-configuration");
                if matches!(at, Trail::Key(_, key) if is_quote(key)) {
                    return false;
                }
                let placeholder = node.as_str().and_then(placeholder);
                found.extend(placeholder.map(|placeholder| (at.path(), node, placeholder)));
                true
            });
        }
    }
    let cause = cx.admission().causes.first().map(|c| &c.path);
    for (path, node, placeholder) in found {
        let place = placeholder_place(cx, node, placeholder);
        let label = "a placeholder";
        let help = format!(
            "replace {placeholder} with a value; where a tool fills it in later, run hcoplan on that tool's output"
        );
        let rejected = (cause == Some(&path)).then(|| cx.rejected(|_| true)).flatten();
        let message = format!("{path} still has the placeholder {placeholder}");
        if let Some(mut finding) = rejected {
            let said = cx.admission().message.contains(placeholder);
            if let Some(rejection) = cx.rejection(Some(message.as_str()).filter(|_| !said)) {
                finding.message = rejection;
            }
            out.reject(finding.at(place).label(label).help(help).silent());
            continue;
        }
        let finding = cx.finding(message);
        out.report(finding.at(place).label(label).help(help));
    }
}

fn placeholder_place(cx: &Context<'_>, node: &Node, placeholder: &str) -> Location {
    let start = node.as_str().and_then(|text| text.find(placeholder));
    let span = start.map_or(node.span, |start| locate_in_scalar(cx.document(), node, start..start + placeholder.len()));
    cx.location(span)
}

/// The first placeholder in a text.
pub(super) fn placeholder(text: &str) -> Option<&str> {
    if matches!(text.trim(), "..." | "…") {
        return Some(text.trim());
    }
    blank(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_placeholders_from_text() {
        for (text, expected) in [
            ("<architecture_list>", Some("<architecture_list>")),
            ("docker://quay.io/<your org>/x", Some("<your org>")),
            ("a < b > c <d>", Some("<d>")),
            ("${CLUSTER}-x", Some("${CLUSTER}")),
            ("{{ .Values.x }}", Some("{{ .Values.x }}")),
            (" ... ", Some("...")),
            ("a...b", None),
            ("1 < 2", None),
            ("<>", None),
            ("Jane <jane@example.org>", None),
            ("$HOME", None),
            ("{}", None),
        ] {
            assert_eq!(placeholder(text), expected, "{text}");
        }
    }
}
