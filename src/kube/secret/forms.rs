//! What is secret by the look of it, whatever stands around it.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::packed::Searcher;

/// What comes behind these, in letters, digits and `-_`, is a token.
const PREFIXES: [&str; 9] = [
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "sha256~",
    "AKIA",
];

/// A name that ends so is the name of something secret.
const NAMES: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "secretkey",
    "secret_key",
    "secret-key",
    "secret_access_key",
    "privatekey",
    "private_key",
    "clientsecret",
    "client_secret",
];

/// The beginning of a private key; one of a certificate or of a public key is none.
const PEM: &str = "-----BEGIN ";

/// [`PEM`] in base64, and how it goes on where it is a certificate's.
const BASE64_PEM: (&str, &str) = ("LS0tLS1CRUdJTi", "BDRVJUSUZJQ0FURS");

/// Whether a name says that what it names is secret.
pub(super) fn is_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|n| name.ends_with(n))
}

/// Where a text has credentials that can be told by their form: in an address, behind `Bearer`, as
/// a JSON Web Token, as a private key, as tokens of well-known makers. In no order.
pub(super) fn credentials(text: &str) -> Vec<Range<usize>> {
    // Every report goes through here, and hardly one has any.
    match may_have_credentials(text) {
        true => every_credential(text),
        false => Vec::new(),
    }
}

/// The schemes of HTTP that a credential stands behind, without their first letters, whose case
/// doesn't matter.
const SCHEMES: [&str; 2] = ["earer ", "asic "];

/// What a JSON Web Token begins with.
const JWT: &str = "eyJ";

/// Whether there is anything in a text by which [`every_credential`] could find something.
fn may_have_credentials(text: &str) -> bool {
    static MARKS: LazyLock<AnyOf> = LazyLock::new(|| {
        let others = [JWT, PEM, BASE64_PEM.0].into_iter().chain(SCHEMES);
        AnyOf::new(PREFIXES.into_iter().chain(others))
    });
    let in_an_address = || {
        let mut addresses = memchr::memmem::find_iter(text.as_bytes(), "://");
        addresses.any(|at| in_address(text, at + 3).is_some())
    };
    MARKS.is_in(text) || memchr::memchr(b'@', text.as_bytes()).is_some() && in_an_address()
}

fn every_credential(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    for (at, pair) in bytes.windows(2).enumerate() {
        let begins = |with: &str| bytes[at..].starts_with(with.as_bytes());
        match pair {
            b":/" if begins("://") => out.extend(in_address(text, at + 3)),
            [b'B' | b'b', b'e' | b'a'] => {
                for scheme in SCHEMES {
                    if bytes[at + 1..].starts_with(scheme.as_bytes()) {
                        out.extend(behind_scheme(text, at + 1 + scheme.len()));
                    }
                }
            }
            b"ey" if begins(JWT) => {
                let range = run(text, at, "-_.");
                let parts = text[range.clone()].contains('.');
                out.extend(Some(range).filter(|r| parts && r.len() >= 20));
            }
            b"--" if begins(PEM) => out.extend(in_pem(text, at + PEM.len())),
            b"LS" if begins(BASE64_PEM.0) => {
                let behind = &text[at + BASE64_PEM.0.len()..];
                if !behind.starts_with(BASE64_PEM.1) {
                    out.push(run(text, at, "+/="));
                }
            }
            [b'g', b'h' | b'i' | b'l'] | b"xo" | b"sh" | b"AK" => {
                if let Some(prefix) = PREFIXES.iter().find(|p| begins(p)) {
                    let range = run(text, at, "-_~");
                    out.extend(Some(range).filter(|r| r.len() >= prefix.len() + 16));
                }
            }
            _ => {}
        }
    }
    out
}

/// Words that are looked for together, in one pass.
struct AnyOf {
    words: Vec<&'static str>,
    /// `None` on machines that have no instructions for it.
    searcher: Option<Searcher>,
}

impl AnyOf {
    fn new(words: impl IntoIterator<Item = &'static str>) -> Self {
        let words: Vec<_> = words.into_iter().collect();
        Self {
            searcher: Searcher::new(&words),
            words,
        }
    }

    fn is_in(&self, text: &str) -> bool {
        match &self.searcher {
            Some(searcher) => searcher.find(text).is_some(),
            None => self.words.iter().any(|word| text.contains(word)),
        }
    }
}

/// `user:password` of `scheme://user:password@host`, behind the slashes.
fn in_address(text: &str, start: usize) -> Option<Range<usize>> {
    let ends = |c: char| c.is_whitespace() || "/?#\"'<>`\\(){}[],|".contains(c);
    let rest = &text[start..];
    let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
    let end = authority.rfind('@').filter(|end| *end > 0)?;
    Some(start..start + end)
}

/// What comes behind `Bearer`, where it looks like a token.
fn behind_scheme(text: &str, start: usize) -> Option<Range<usize>> {
    let range = run(text, start, "-._~+/=");
    let by_chance = |c: char| c.is_ascii_digit() || c == '=';
    let token = &text[range.clone()];
    let is_token = token.len() >= 8 && (token.contains(by_chance) || token.len() >= 24);
    is_token.then_some(range)
}

/// A private key as PEM, on one line with `\n` in it or on many, behind its first word.
fn in_pem(text: &str, at: usize) -> Option<Range<usize>> {
    let (label, behind) = text[at..].split_once("-----")?;
    let start = text.len() - behind.len();
    let end = behind.find("-----END").unwrap_or(behind.len());
    label.ends_with("PRIVATE KEY").then_some(start..start + end)
}

/// In lower case, what is in every text in which [`assigned`] or the tree could find something.
const SUSPICIOUS: [&str; 9] = [
    "passw",
    "passphrase",
    "private",
    "token",
    "secret",
    "credential",
    "apikey",
    "api_key",
    "api-key",
];

/// Whether there is anything in a text by which [`assigned`] or the tree could find something.
pub(super) fn is_suspicious(text: &str) -> bool {
    static ANY: LazyLock<AnyOf> = LazyLock::new(|| AnyOf::new(SUSPICIOUS));
    ANY.is_in(&text.to_ascii_lowercase())
}

/// From an offset on, what is letters, digits and `others`.
fn run(text: &str, start: usize, others: &str) -> Range<usize> {
    let rest = &text[start..];
    let ends = |c: char| !c.is_ascii_alphanumeric() && !others.contains(c);
    start..start + rest.find(ends).unwrap_or(rest.len())
}

/// Where a text gives a value to a name that says that it is secret: `password: x`,
/// `export API_TOKEN=x`, `--token x`, `"apiKey": "x"`, escaped or not.
pub(super) fn assigned(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut out = Vec::new();
    for name in NAMES {
        for (at, found) in lower.match_indices(name) {
            let rest = &text[at + found.len()..];
            let quotes = |c: char| matches!(c, '"' | '\'' | '\\');
            let behind = rest.trim_start_matches(quotes);
            let is_flag = || lower[..at].ends_with("--") || lower[..at].ends_with('-');
            let value = match behind
                .trim_start_matches([' ', '\t'])
                .strip_prefix([':', '='])
            {
                Some(value) => value,
                None if is_flag() && behind.starts_with(' ') => behind,
                None => continue,
            };
            let value = value.trim_start_matches([' ', '\t']);
            let opening = value.trim_start_matches('\\').chars().next();
            let value = value.trim_start_matches(quotes);
            let ends = |c: char| match opening {
                Some(quote @ ('"' | '\'')) => c == quote || c == '\\' || c == '\n',
                _ => c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ',' | '}' | ')' | ';'),
            };
            let length = value.find(ends).unwrap_or(value.len());
            let start = text.len() - value.len();
            if is_value(&value[..length]) {
                out.push(start..start + length);
            }
        }
    }
    out
}

/// Whether something is a value, not where one comes from.
fn is_value(text: &str) -> bool {
    let refers = ['$', '{', '*', '&', '|', '>', '[', '<', '#', '!'];
    let says_nothing = ["true", "false", "null", "none", "yes", "no"];
    text.len() > 2 && !text.starts_with(refers) && !says_nothing.contains(&text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str, mut ranges: Vec<Range<usize>>) -> Vec<&str> {
        ranges.sort_by_key(|r| (r.start, r.end));
        ranges.into_iter().map(|r| &text[r]).collect()
    }

    #[test]
    fn credentials_by_their_form() {
        let cases: [(&str, &[&str]); 16] = [
            ("url: https://me:pw@host:80/a@b", &["me:pw"]),
            ("https://token@host", &["token"]),
            ("docker://quay.io/a/b@sha256:00", &[]),
            ("\"http://a:b@c\",\"http://d\"", &["a:b"]),
            ("git@github.com:a/b", &[]),
            ("Authorization: Bearer abc123def456", &["abc123def456"]),
            ("Basic dXNlcjpwdw==", &["dXNlcjpwdw=="]),
            ("basic authentication is off", &[]),
            (
                "eyJhbGciOi.eyJzdWIiOiIx.c2ln",
                &["eyJhbGciOi.eyJzdWIiOiIx.c2ln"],
            ),
            ("eyJ", &[]),
            ("ghp_0123456789abcdefghij", &["ghp_0123456789abcdefghij"]),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END",
                &["\nMII\n"],
            ),
            ("-----BEGIN PRIVATE KEY-----\\nMII", &["\\nMII"]),
            ("-----BEGIN CERTIFICATE-----\nMII\n-----END", &[]),
            (
                "key: LS0tLS1CRUdJTiBQUklWQVRF+/==",
                &["LS0tLS1CRUdJTiBQUklWQVRF+/=="],
            ),
            ("ca: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0=", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text, credentials(text)), expected, "{text}");
        }
    }

    #[test]
    fn every_makers_tokens() {
        for prefix in PREFIXES {
            let token = format!("{prefix}0123456789abcdefghij");
            let text = format!("see {token}, of course");
            assert_eq!(
                found(&text, credentials(&text)),
                [token.as_str()],
                "{prefix}"
            );
        }
    }

    #[test]
    fn values_of_secret_names() {
        let cases: [(&str, &[&str]); 13] = [
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
            assert_eq!(found(text, assigned(text)), expected, "{text}");
        }
    }

    /// Texts of what credentials consist of, whole or cut.
    fn texts() -> impl Strategy<Value = String> {
        let pieces: Vec<&'static str> = PREFIXES
            .into_iter()
            .chain(SCHEMES)
            .chain(SUSPICIOUS)
            .chain([JWT, PEM, BASE64_PEM.0, BASE64_PEM.1])
            .chain([
                "://", "@", "@", "/", ":", "B", "b", "-----END", "-----", " ", "\n", "\\n", "\"",
                "é",
            ])
            .chain(["PRIVATE KEY-----", "a.b", "me:pw", "0123456789abcdefghij"])
            .collect();
        let piece = (prop::sample::select(pieces), 0..40_usize, any::<bool>());
        let cut = piece.prop_map(|(text, cut, upper)| {
            let kept = text.get(cut.saturating_sub(24)..).unwrap_or(text);
            match upper && cut % 3 == 0 {
                true => kept.to_uppercase(),
                false => kept.to_owned(),
            }
        });
        prop::collection::vec(cut, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn nothing_is_missed_for_being_quick(text in texts()) {
            prop_assert_eq!(credentials(&text), every_credential(&text));
            let lower = text.to_ascii_lowercase();
            let suspicious = SUSPICIOUS.iter().any(|word| lower.contains(word));
            prop_assert_eq!(is_suspicious(&text), suspicious);
            prop_assert!(suspicious || assigned(&text).is_empty());
        }
    }
}
