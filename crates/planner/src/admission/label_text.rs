//! What Kubernetes says about names that are none.
//!
//! Source: apimachinery `pkg/util/validation`.

const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const NAME_TEXT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start \
                         and end with an alphanumeric character";

/// What is wrong with a label's or annotation's key; empty when nothing is.
pub(crate) fn key_problems(key: &str) -> Vec<String> {
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
pub(crate) fn value_problems(value: &str) -> Vec<String> {
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
pub(crate) fn subdomain_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push("must be no more than 253 bytes".to_owned());
    }
    if !text.split('.').all(is_dns_label) {
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

fn is_dns_label(text: &str) -> bool {
    let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(plain) && bytes.last().is_some_and(plain) && bytes.iter().all(|b| plain(b) || *b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

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
