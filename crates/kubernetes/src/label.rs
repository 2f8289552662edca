//! What a label's key and value may look like.

/// A label value: at most 63 characters, empty or letters, digits, `-`, `_`, `.` with a letter
/// or digit at both ends.
pub fn is_value(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

/// A label key: a name like a non-empty value, perhaps with `prefix/` before it, the prefix a
/// lower-case DNS subdomain.
pub fn is_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix) && is_name(name),
        None => is_name(text),
    }
}

fn is_name(text: &str) -> bool {
    let ends = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

/// A lower-case DNS subdomain, what most objects may be named.
pub fn is_subdomain(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|part| {
            let bytes = part.as_bytes();
            let lower = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
            bytes.first().is_some_and(lower)
                && bytes.last().is_some_and(lower)
                && bytes.iter().all(|b| lower(b) || *b == b'-')
        })
}

/// A lower-case DNS label, what a namespace may be named: a subdomain of one part, at most 63 characters.
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && !text.contains('.') && is_subdomain(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_label_keys() {
        for key in ["a", "kubernetes.io/arch", "node-role.kubernetes.io/worker", "A_b.c-d"] {
            assert!(is_key(key), "{key}");
        }
        for key in ["", "/a", "a/", "a/b/c", "UP.io/a", "-a", "a.", "a..b/c", "x y"] {
            assert!(!is_key(key), "{key}");
        }
    }

    #[test]
    fn checks_label_values() {
        assert!(is_value("") && is_value("amd64") && is_value(&"x".repeat(63)));
        assert!(!is_value(&"x".repeat(64)) && !is_value("a b") && !is_value("_a"));
    }
}
