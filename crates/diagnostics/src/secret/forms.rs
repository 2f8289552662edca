//! Values that are secret because of their name.

use crate::prelude::*;
use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use hcoplan_kubernetes::Table;
use hcoplan_yaml::source::lines;

use super::credentials::merged;

/// A name with one of these endings names a secret.
static NAMES: Table<Vec<&str>> = Table::of(include_str!("names.json"));

/// Whether a name is the name of a secret.
pub(super) fn is_name(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    NAMES.iter().any(|n| name.ends_with(n))
}

/// Words, in lower case, of which every text with a named secret has at least one.
static SUSPICIOUS: Table<Vec<&str>> = Table::of(include_str!("suspicious.json"));

/// Whether a key on a path is the name of a secret: everything below it is secret, too.
pub(super) fn is_below_name(path: &str) -> bool {
    path.split(['.', '/', '[', ']', '"', '\'']).any(is_name)
}

/// What stands after a secret's name in a text that can't be parsed: the rest of its line, and the lines below it that
/// are indented further.
pub(super) fn below_names(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut inside = None;
    for (at, line) in lines(text) {
        let indent = line.len() - line.trim_start().len();
        let is_inside = inside.is_some_and(|above| line.trim().is_empty() || indent > above);
        let lower = line.to_ascii_lowercase();
        let name = NAMES.iter().filter_map(|name| Some(lower.find(*name)? + name.len())).min();
        if !is_inside {
            inside = name.map(|_| indent);
        }
        if let Some(start) = if is_inside { Some(indent) } else { name } {
            out.push(at + start..at + line.trim_end().len().max(start));
        }
    }
    out
}

/// Whether a text has escapes, after which a key could be written, or a token that goes on in the next line.
fn has_escapes(text: &str) -> bool {
    ["\\u", "\\x", "\\U", "\\\n", "\\\r"].iter().any(|escape| text.contains(escape))
}

/// Whether a text may have named secrets at all: a quick check before the search.
pub(super) fn is_suspicious(text: &str) -> bool {
    if has_escapes(text) {
        return true;
    }
    // `None` on machines that have no instructions for it.
    static ANY: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(SUSPICIOUS.iter()));
    let lower = text.to_ascii_lowercase();
    match &*ANY {
        Some(searcher) => searcher.find(&lower).is_some(),
        None => SUSPICIOUS.iter().any(|word| lower.contains(word)),
    }
}

/// Where a text gives a value to a name that says that it is secret: `password: x`,
/// `export API_TOKEN=x`, `--token x`, `"apiKey": "x"`, escaped or not. In order, without overlaps.
pub(super) fn assigned_secrets(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut out = Vec::new();
    // The last value by what ends it: a value that begins inside it ends where it does, so that no
    // character is examined for each name before it.
    let mut last: [Range<usize>; 3] = Default::default();
    for name in NAMES.iter() {
        for (at, found) in lower.match_indices(*name) {
            let rest = &text[at + found.len()..];
            let quotes = |c: char| matches!(c, '"' | '\'' | '\\');
            let behind = rest.trim_start_matches(quotes);
            let is_flag = || lower[..at].ends_with("--") || lower[..at].ends_with('-');
            let value = match behind.trim_start_matches([' ', '\t']).strip_prefix([':', '=']) {
                Some(value) => value,
                None if is_flag() && behind.starts_with(' ') => behind,
                None => continue,
            };
            let value = value.trim_start_matches([' ', '\t']);
            // As the API server rejects a field: `spec.password: Invalid value: "x": …`.
            let rejected = ["Invalid value:", "Unsupported value:", "Duplicate value:"];
            let value = rejected.iter().find_map(|words| value.strip_prefix(words)).unwrap_or(value);
            let value = value.trim_start_matches([' ', '\t']);
            let opening = value.trim_start_matches('\\').chars().next();
            let value = value.trim_start_matches(quotes);
            let start = text.len() - value.len();
            let last = match opening {
                Some('"') => &mut last[0],
                Some('\'') => &mut last[1],
                _ => &mut last[2],
            };
            let ends = |c: char| match opening {
                Some(quote @ ('"' | '\'')) => c == quote || c == '\\' || c == '\n',
                _ => c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ',' | '}' | ')' | ';'),
            };
            let end = if last.start <= start && start < last.end {
                last.end
            } else {
                value.find(ends).map_or(text.len(), |length| start + length)
            };
            *last = start..end;
            if is_value(&text[start..end]) {
                out.push(start..end);
            }
        }
    }
    merged(out)
}

/// Whether a text is a value, not a reference to one.
fn is_value(text: &str) -> bool {
    let refers = ['$', '{', '*', '&', '|', '>', '[', '<', '#', '!'];
    let says_nothing = ["true", "false", "null", "none", "yes", "no"];
    text.len() > 2 && !text.starts_with(refers) && !says_nothing.contains(&text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str, ranges: Vec<Range<usize>>) -> Vec<&str> {
        ranges.into_iter().map(|r| &text[r]).collect()
    }

    #[test]
    fn masks_values_of_secret_names() {
        let cases: [(&str, &[&str]); 16] = [
            ("spec.x.password: Invalid value: \"hunter2\": no", &["hunter2"]),
            ("client-key-data: LS0tLQ==", &["LS0tLQ=="]),
            ("userDataBase64: I2Nsb3Vk", &["I2Nsb3Vk"]),
            ("password: hunter2 # x", &["hunter2"]),
            ("  rootPassword: 'hunter 2'", &["hunter 2"]),
            ("export API_TOKEN=hunter2; x", &["hunter2"]),
            ("{\"apiKey\": \"hunter2\", \"b\": 1}", &["hunter2"]),
            ("{\\\"apiKey\\\":\\\"hunter2\\\"}", &["hunter2"]),
            ("oc login --token hunter2 x", &["hunter2"]),
            ("oc login --token=hunter2", &["hunter2"]),
            ("automountServiceAccountToken: false", &[]),
            ("TOKEN=$(cat x)", &[]),
            ("password: |", &[]),
            ("tokenBucketRateLimiter: {qps: 100}", &[]),
            ("a token that is there", &[]),
            ("secretRef: hunter2", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text, assigned_secrets(text)), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_quick_check_misses_no_secret(text in "(password|TOKEN|secret|api_key|Userdatabase64|[:=\"' \\\\a-z-]){0,12}") {
            let lower = text.to_ascii_lowercase();
            let suspicious = has_escapes(&text) || SUSPICIOUS.iter().any(|word| lower.contains(word));
            prop_assert_eq!(is_suspicious(&text), suspicious);
            prop_assert!(suspicious || assigned_secrets(&text).is_empty());
        }
    }
}
