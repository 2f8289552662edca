//! Credentials that are recognised by their form alone.
//!
//! The tokens of well-known makers are gitleaks' rules, kept as data (`gitleaks.json`). `makers.json` has further makers'
//! tokens, forms that gitleaks leaves out, and tokens of unusual length: a mask may hide too much. The rules below look
//! at what matches, too.
//!
//! One search for the rules' keywords finds the rules that can match, and only those are compiled. The `regex` crate
//! matches in linear time, and the next search starts after the last match.

use crate::prelude::*;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// A form of credentials. The match of its first group is secret; without a group, the whole match.
struct Form {
    /// One of them is in every text that has such a credential, in any case.
    keywords: &'static [&'static str],
    /// ASCII only, unless it says otherwise.
    pattern: &'static str,
    /// Whether a match is a credential.
    accepts: fn(&str) -> bool,
}

static FORMS: [Form; 4] = [
    // `user:password@host` without a scheme, as registries are written; the digest of an image is none.
    Form {
        accepts: |text| !text.contains("@sha256:") && !text.contains("@sha512:"),
        keywords: &["@"],
        pattern: r##"(?:^|[\s"'=(\[{,])([\w.+~-]+:(?u:[^ \t\r\n/:@"'<>(){}\[\],]+)@[A-Za-z0-9][\w.-]*(?::\w+)?)"##,
    },
    Form {
        accepts: |text| {
            let by_chance = |c: char| c.is_ascii_digit() || c == '=';
            text.contains(by_chance) || text.len() >= 24
        },
        keywords: &["bearer ", "basic "],
        pattern: r"(?i:bearer|basic) ([\w.~+/=-]{8,})",
    },
    // A JSON Web Token.
    Form { accepts: |text| text.len() >= 20, keywords: &["eyj"], pattern: r"eyJ[\w-]*\.[\w.-]*" },
    // A private key as PEM in base64; that of a certificate is none.
    Form {
        accepts: |text| !text.starts_with("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS"),
        keywords: &["ls0tls1crudjti"],
        pattern: r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*",
    },
];

/// gitleaks' rules for tokens with a form of their own.
#[derive(Deserialize)]
struct Gitleaks {
    rules: Vec<GitleaksRule>,
}

#[derive(Deserialize)]
struct GitleaksRule {
    keywords: Vec<String>,
    regex: String,
}

struct Rule {
    pattern: String,
    accepts: fn(&str) -> bool,
    /// Compiled when one of the keywords is met for the first time.
    regex: OnceLock<Regex>,
}

impl Rule {
    fn new(pattern: String, accepts: fn(&str) -> bool) -> Self {
        let regex = OnceLock::new();
        Self { pattern, accepts, regex }
    }

    fn find(&self, text: &str, out: &mut Vec<Range<usize>>) {
        let compile = || {
            let mut builder = RegexBuilder::new(&self.pattern);
            let built = builder.unicode(false).build();
            built.expect("a test compiles every rule")
        };
        let regex = self.regex.get_or_init(compile);
        let accept = |range: &Range<usize>| !range.is_empty() && (self.accepts)(&text[range.clone()]);
        match regex.captures_len() {
            1 => out.extend(regex.find_iter(text).map(|m| m.range()).filter(accept)),
            _ => {
                let all = regex.captures_iter(text);
                let first = all.filter_map(|c| c.get(1).map(|m| m.range()));
                out.extend(first.filter(accept));
            }
        }
    }
}

struct Rules {
    rules: Vec<Rule>,
    keywords: AhoCorasick,
    /// The rule of each keyword, by its number.
    rule_of: Vec<usize>,
}

impl Rules {
    /// What the rules find of which a keyword is in a text.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let keywords = self.keywords.find_overlapping_iter(text);
        let rules: BTreeSet<usize> = keywords.map(|keyword| self.rule_of[keyword.pattern().as_usize()]).collect();
        let mut out = Vec::new();
        rules.into_iter().for_each(|rule| self.rules[rule].find(text, &mut out));
        out
    }
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let text = include_str!("gitleaks.json");
    let gitleaks: Gitleaks = serde_json::from_str(text).expect("a test reads it");
    let (mut rules, mut keywords): (Vec<Rule>, Vec<(String, usize)>) = Default::default();
    for form in &FORMS {
        keywords.extend(form.keywords.iter().map(|&k| (k.to_owned(), rules.len())));
        rules.push(Rule::new(form.pattern.to_owned(), form.accepts));
    }
    let makers: Vec<GitleaksRule> = serde_json::from_str(include_str!("makers.json")).expect("a test reads it");
    for kept in gitleaks.rules.into_iter().chain(makers) {
        keywords.extend(kept.keywords.into_iter().map(|k| (k, rules.len())));
        rules.push(Rule::new(kept.regex, |_| true));
    }
    let (keywords, rule_of): (Vec<String>, Vec<usize>) = keywords.into_iter().unzip();
    // The other kinds are faster to search, but take longer to build than most runs search.
    let mut builder = AhoCorasick::builder();
    let built = builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::ContiguousNFA)).build(keywords);
    Rules { rules, keywords: built.expect("a few hundred words"), rule_of }
});

/// The ranges of credentials that are recognised by their form: in order, without overlaps.
pub(super) fn credentials(text: &str) -> Vec<Range<usize>> {
    let mut out = RULES.find(text);
    out.extend(encoded(text).filter(|(_, decoded)| !RULES.find(decoded).is_empty()).map(|(range, _)| range));
    merged(out)
}

/// The words of a text that are long enough for a credential in base64, and what they are decoded.
fn encoded(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    const MIN_BYTES: usize = 24;
    let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let mut at = 0;
    let words = text.as_bytes().split(move |b| !is_digit(b)).map(move |word| {
        let start = at;
        at += word.len() + 1;
        start..start + word.len()
    });
    words.filter(|word| word.len() >= MIN_BYTES).filter_map(|word| {
        let whole = &text[word.start..][..word.len() / 4 * 4];
        Some((word, String::from_utf8(hcoplan_yaml::decode_base64(whole)?).ok()?))
    })
}

/// Ranges in order, overlapping ones merged.
pub(super) fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|r| (r.start, r.end));
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|r| !r.is_empty()) {
        match out.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let ranges = credentials(text).into_iter();
        ranges.map(|r| &text[r]).collect()
    }

    #[test]
    fn masks_credentials_by_their_form() {
        let cases: [(&str, &[&str]); 22] = [
            ("url: https://me:pw@host:80/a@b", &["me:pw"]),
            ("https://token@host", &["token"]),
            ("http://a@b@c", &["a@b"]),
            ("docker://quay.io/a/b@sha256:00", &[]),
            ("\"http://a:b@c\",\"http://d\"", &["a:b"]),
            ("git@github.com:a/b", &[]),
            ("url: me:pw@registry/a:1", &["me:pw@registry"]),
            ("image: a:1@sha256:0123456789", &[]),
            ("Authorization: Bearer abc123def456", &["abc123def456"]),
            ("Basic dXNlcjpwdw==", &["dXNlcjpwdw=="]),
            ("basic authentication is off", &[]),
            ("eyJhbGciOi.eyJzdWIiOiIx.c2ln", &["eyJhbGciOi.eyJzdWIiOiIx.c2ln"]),
            ("eyJ", &[]),
            ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END", &["\nMII\n"]),
            ("-----BEGIN PRIVATE KEY-----\\nMII", &["\\nMII"]),
            ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END", &["\nlQ\n"]),
            ("-----BEGIN CERTIFICATE-----\nMII\n-----END", &[]),
            ("key: LS0tLS1CRUdJTiBQUklWQVRF+/==", &["LS0tLS1CRUdJTiBQUklWQVRF+/=="]),
            ("ca: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0=", &[]),
            (r#"{"auth": "dXNlcjpwdw=="}"#, &["dXNlcjpwdw=="]),
            ("auth: required", &[]),
            ("AccountName=a;AccountKey=abcd1234+/==;x", &["abcd1234+/=="]),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn masks_tokens_of_every_maker() {
        for prefix in [
            "ghp_",
            "gho_",
            "ghs_",
            "ghu_",
            "ghr_",
            "github_pat_",
            "glpat-",
            "xoxb-",
            "xoxp-",
            "xapp-1-",
            "sha256~",
            "AKIA",
            "ASIA",
            "npm_",
            "dckr_pat_",
            "hvs.",
            "AIza",
            "sk-",
            "sk-proj-",
        ] {
            let token = match prefix {
                "AKIA" | "ASIA" => format!("{prefix}ABCDEFGHIJKLMNOP"),
                _ => format!("{prefix}0123456789abcdefghij"),
            };
            let text = format!("see {token}, of course");
            assert_eq!(found(&text), [token.as_str()], "{prefix}");
        }
        // Tokens that only gitleaks' rules find.
        for token in [
            "dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "sk_live_0123456789abcdef",
            "lin_api_0123456789abcdef0123456789abcdef01234567",
            // Further makers.
            "figd_0123456789abcdefghij",
            "t1.abc.0123456789abcdefghij",
            "NRAK-0123456789ABCDEFGHIJ",
        ] {
            assert_eq!(found(&format!("({token})")), [token]);
        }
    }

    #[test]
    fn each_rule_matches_some_token() {
        for rule in &RULES.rules {
            rule.find("", &mut Vec::new());
            assert!(rule.regex.get().is_some());
        }
        assert!(RULES.rules.len() > 100);
        assert!(include_str!("gitleaks.json").contains("MIT License"));
    }

    /// Texts of parts of credentials, whole or cut.
    fn texts() -> impl Strategy<Value = String> {
        let pieces: Vec<&'static str> = FORMS
            .iter()
            .flat_map(|form| form.keywords)
            .copied()
            .chain(["LS0tLS1CRUdJTi", "eyJ", "AKIA", "ASIA", "AIza", "AccountKey="])
            .chain(["-----BEGIN ", "PRIVATE KEY-----", "-----END", "-----"])
            .chain(["://", "@", "/", ":", " ", "\n", "\"", "é", "a.b", "me:pw"])
            .chain(["0123456789abcdefghij", "ABCDEFGHIJKLMNOP"])
            .collect();
        let piece = (prop::sample::select(pieces), 0..40_usize, any::<bool>());
        let cut = piece.prop_map(|(text, cut, upper)| {
            let kept = text.get(cut.saturating_sub(24)..).unwrap_or(text);
            if upper && cut % 3 == 0 { kept.to_uppercase() } else { kept.to_owned() }
        });
        prop::collection::vec(cut, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn keywords_find_every_rule_that_matches(text in texts()) {
            let mut all = Vec::new();
            for rule in &RULES.rules {
                rule.find(&text, &mut all);
            }
            prop_assert_eq!(credentials(&text), merged(all));
        }
    }
}
