//! What names, labels and annotation keys may look like, and what Kubernetes says about those that don't.
//!
//! Source: apimachinery `pkg/util/validation`.

const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const NAME_TEXT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start \
                         and end with an alphanumeric character";

/// Whether a label may have a value: at most 63 characters, empty or letters, digits, `-`, `_`, `.` with a letter or digit at
/// both ends.
pub fn is_value(text: &str) -> bool {
    value_problems(text).is_empty()
}

/// Whether a label or annotation may have a key: a name like a non-empty value, perhaps with `prefix/` before it, the prefix
/// a lower-case DNS subdomain.
pub fn is_key(text: &str) -> bool {
    key_problems(text).is_empty()
}

/// Whether it is a lower-case DNS subdomain, what most objects may be named.
pub fn is_subdomain(text: &str) -> bool {
    subdomain_problems(text).is_empty()
}

/// Whether it is a lower-case DNS label, what a namespace may be named: a subdomain of one part, at most 63 characters.
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_part(text)
}

/// What is wrong with a label's or annotation's key; empty when nothing is.
pub fn key_problems(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else {
                let of_prefix = subdomain_problems(prefix);
                problems.extend(of_prefix.iter().map(|p| format!("prefix part {p}")));
            }
            name
        }
        _ => {
            problems.push(format!(
                "a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                name_text()
            ));
            return problems;
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_name(name) {
        problems.push(format!("name part {}", name_text()));
    }
    problems
}

/// What is wrong with a label's value; empty when nothing is.
pub fn value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > 63 {
        problems.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_name(value) {
        problems.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', \
             '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  \
             or 'my_value',  or '12345', regex used for validation is '({NAME})?')"
        ));
    }
    problems
}

/// What is wrong with a DNS subdomain; empty when nothing is.
pub fn subdomain_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push("must be no more than 253 bytes".to_owned());
    }
    if !text.split('.').all(is_part) {
        problems.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character (e.g. \
             'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    problems
}

fn name_text() -> String {
    format!("{NAME_TEXT} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME}')")
}

fn is_name(text: &str) -> bool {
    let ends = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

/// Whether it may be a part of a subdomain.
fn is_part(text: &str) -> bool {
    let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(plain) && bytes.last().is_some_and(plain) && bytes.iter().all(|b| plain(b) || *b == b'-')
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
        assert!(is_key(&"x".repeat(63)) && !is_key(&"x".repeat(64)));
    }

    #[test]
    fn checks_label_values() {
        assert!(is_value("") && is_value("amd64") && is_value(&"x".repeat(63)));
        assert!(!is_value(&"x".repeat(64)) && !is_value("a b") && !is_value("_a"));
    }

    #[test]
    fn names_errors() {
        for good in ["a", "example.com/My_name", "0"] {
            assert!(key_problems(good).is_empty(), "{good}");
        }
        assert_eq!(
            key_problems("-a"),
            ["name part must consist of alphanumeric characters, '-', '_' or '.', and must \
                 start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
                 '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"]
        );
        assert_eq!(key_problems("/").len(), 3);
        assert_eq!(key_problems("a/b/c").len(), 1);
        assert!(value_problems("").is_empty() && value_problems("a_b").is_empty());
        assert_eq!(value_problems(&"-".repeat(64)).len(), 2);
        assert_eq!(subdomain_problems("A.b").len(), 1);
    }
}
