//! Reads keys of kustomizations like kustomize, whose Go JSON decoder ignores case, and folds two letters beyond ASCII.

use hcoplan_yaml::Node;

/// A key with case folded like in Go's JSON decoder, including the two letters beyond ASCII that fold to ASCII.
pub(super) fn fold_case(key: &str) -> String {
    let fold = |c| match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    key.chars().map(fold).collect()
}

/// The values of a key, in any case, and if it is repeated all of them.
pub(super) fn values<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = &'n Node> {
    let entries = node.entries().iter();
    entries.filter(move |e| fold_case(&e.key.text) == key).map(|e| &e.value)
}
