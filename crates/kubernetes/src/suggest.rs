//! "Did you mean …?"

/// The candidate that `word` is most likely a slip of: the one at the smallest edit distance, if
/// that is small for the word's length. Upper and lower case, `-`, `_` and spaces don't count.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let plain = plain(word);
    let most = (plain.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = distance(&plain, &self::plain(candidate));
        if distance <= most && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn plain(word: &str) -> Vec<char> {
    let kept = word.chars().filter(|c| !matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).take(64).collect()
}

/// How many characters have to be added, removed, replaced or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x;
            if swapped {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        let known = [
            "name",
            "namespace",
            "nodePools",
            "nodes",
            "architecture",
            "arm64",
        ];
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
