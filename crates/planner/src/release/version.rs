//! Parses versions into numbers and parts.

/// The numbers of a version (`1.18.2`), for comparisons: `4.20` is after `4.9`. Other parts count as 0.
pub fn version_numbers(version: &str) -> Vec<u64> {
    let parts = version.split('.');
    parts.map(|part| part.parse().unwrap_or_default()).collect()
}

/// The line and patch of a version: `v4.20.3` has the line `4.20` and the patch `3`. `None` if the text isn't a
/// version.
pub fn version_parts(text: &str) -> Option<(String, Option<String>)> {
    let plain = text.trim().trim_start_matches(['v', 'V']);
    let parts: Vec<&str> = plain.split('.').collect();
    let number = |p: &&str| !p.is_empty() && hcoplan_kubernetes::text::is_digits(p);
    match parts.as_slice() {
        [major, minor] if number(major) && number(minor) => Some((format!("{major}.{minor}"), None)),
        [major, minor, patch] if number(major) && number(minor) => {
            // `4.20.3-12` is a build of 4.20.3.
            let patch = patch.split(['-', '+']).next().unwrap_or_default();
            number(&patch).then(|| (format!("{major}.{minor}"), Some(patch.to_owned())))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_versions_into_parts() {
        let parts = |text| version_parts(text).map(|(line, patch)| (line, patch.unwrap_or_default()));
        let is = |line: &str, patch: &str| Some((line.to_owned(), patch.to_owned()));
        assert_eq!(parts("4.20"), is("4.20", ""));
        assert_eq!(parts("v4.20.3"), is("4.20", "3"));
        assert_eq!(parts("4.20.3-12"), is("4.20", "3"));
        assert_eq!(parts("latest"), None);
        assert_eq!(parts("4"), None);
        assert_eq!(parts("4.20.3.1"), None);
        assert_eq!(parts("4.x"), None);
    }
}
