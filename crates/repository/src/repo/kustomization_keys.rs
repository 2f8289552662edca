//! Keys of kustomizations. kustomize decodes them with Go's JSON decoder: in any case, and with two letters
//! beyond ASCII, they are the same key.

use hcoplan_yaml::Node;

/// A key as Go's JSON decoder compares it: letters of any case, and the two beyond ASCII that fold
/// to one of it.
pub(super) fn fold_case(key: &str) -> String {
    let fold = |c| match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    key.chars().map(fold).collect()
}

/// The values of a key, in whichever case it is written, and however often.
pub(super) fn values<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = &'n Node> {
    let entries = node.entries().iter();
    entries.filter(move |e| fold_case(&e.key.text) == key).map(|e| &e.value)
}
