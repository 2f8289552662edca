//! What must not be shown: the data of Secrets.

use crate::source::{SourceFile, Span};
use crate::yaml::{self, Node, Segment};

/// The places below a Secret that hold what is secret.
const SECRET: [&[&str]; 3] = [
    &["data"],
    &["stringData"],
    &[
        "metadata",
        "annotations",
        "kubectl.kubernetes.io/last-applied-configuration",
    ],
];

/// The bytes of a file that must not be shown, in order. A file that mentions Secrets and can't
/// be parsed is secret as a whole.
pub(super) fn spans(file: &SourceFile) -> Vec<Span> {
    let text = file.text();
    if !text.contains("Secret") {
        return Vec::new();
    }
    let copy = SourceFile::new(file.path(), text);
    let parsed = yaml::parse(&copy);
    if parsed.is_broken() {
        return vec![Span::new(0, text.len())];
    }
    let mut out = Vec::new();
    for document in &parsed.documents {
        objects(&document.root, &mut out);
    }
    out.sort_unstable();
    out
}

/// Looks at an object, and at those in a list.
fn objects(node: &Node, out: &mut Vec<Span>) {
    let kind = node.get("kind").and_then(Node::as_str);
    if kind == Some("Secret") {
        for keys in SECRET {
            let path = keys.iter().map(|k| Segment::Key((*k).to_owned())).collect();
            out.extend(node.at(&yaml::Path(path)).map(|n| n.span));
        }
    }
    for item in node.get("items").map(Node::items).unwrap_or_default() {
        objects(item, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let file = SourceFile::new("a.yaml", text);
        let mut out = text.to_owned();
        for span in spans(&file).into_iter().rev() {
            out.replace_range(span.range(), "…");
        }
        out
    }

    #[test]
    fn data_of_secrets() {
        let text =
            "kind: Secret\ndata: {a: b}\nstringData:\n  c: d\n---\nkind: ConfigMap\ndata: {a: b}\n";
        let want = "kind: Secret\ndata: …\nstringData:\n  …\n---\nkind: ConfigMap\ndata: {a: b}\n";
        assert_eq!(shown(text), want);
    }

    #[test]
    fn secrets_in_lists_and_in_files_that_cannot_be_read() {
        let list = "kind: List\nitems:\n- kind: Secret\n  data: {a: b}\n";
        assert_eq!(
            shown(list),
            "kind: List\nitems:\n- kind: Secret\n  data: …\n"
        );
        assert_eq!(shown("kind: Secret\ndata: {a\n"), "…");
        assert_eq!(
            shown("kind: ConfigMap\ndata: {a: b}\n"),
            "kind: ConfigMap\ndata: {a: b}\n"
        );
    }
}
