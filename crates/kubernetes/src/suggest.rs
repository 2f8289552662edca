//! "Did you mean …?"

/// The candidate that was most likely meant by `word`: the one at the smallest edit distance, if
/// that is small for the word's length. Upper and lower case, `-`, `_` and spaces don't count.
///
/// Of more than 500 candidates only the first are compared.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const MAX_NAMES: usize = 500;
    let word = plain(word);
    let max_distance = (word.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().take(MAX_NAMES) {
        let distance = strsim::osa_distance(&word, &plain(candidate));
        if distance <= max_distance && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn plain(word: &str) -> String {
    let kept = word.chars().filter(|c| !matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_candidate() {
        let known = ["name", "namespace", "nodePools", "nodes", "architecture", "arm64"];
        let cases = [
            ("nodepools", Some("nodePools")),
            ("node_pools", Some("nodePools")),
            ("nmae", Some("name")),
            ("namespaces", Some("namespace")),
            ("architectre", Some("architecture")),
            ("amr64", Some("arm64")),
            ("region", None),
            ("x", None),
            ("", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
