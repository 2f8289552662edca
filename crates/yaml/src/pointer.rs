//! JSON pointers (RFC 6901).

/// Appends a key to a pointer.
pub fn push(pointer: &mut String, key: &str) {
    pointer.push('/');
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// The key of a segment: `~1` is a slash, `~0` a tilde, any other tilde itself.
pub fn unescape(segment: &str) -> String {
    if !segment.contains('~') {
        return segment.to_owned();
    }
    segment.replace("~1", "/").replace("~0", "~")
}

/// Whether a pointer equals another or is below it.
pub fn is_within(pointer: &str, above: &str) -> bool {
    let rest = pointer.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether one of two pointers is within the other.
pub fn overlap(a: &str, b: &str) -> bool {
    is_within(a, b) || is_within(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescapes_tildes() {
        for (segment, key) in [("a~1b", "a/b"), ("~01", "~1"), ("~0~1~2~", "~/~2~"), ("é~0", "é~"), ("~é", "~é")] {
            assert_eq!(unescape(segment), key);
        }
    }

    #[test]
    fn is_within_whole_segments() {
        assert!(is_within("/a/b", "/a") && is_within("/a", "/a"));
        assert!(!is_within("/ab", "/a") && !is_within("/a", "/a/b"));
    }
}
