//! The patterns of the operators' CRDs and of hcoplan's own documents, each written out as a
//! function.
//!
//! A general regular expression engine costs more at start-up than a whole plan does, and there
//! are few. They are RE2: `\d` is ASCII, `$` is the end of the text and not of a
//! line, and a pattern without anchors matches anywhere.

/// A pattern that has a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A resource quantity, `64Mi`.
    Quantity,
    /// A share of one with up to three digits, `0.055`.
    Share,
    /// Contains `kubevirt-hyperconverged`.
    HyperConvergedName,
    /// A condition's reason, `ReconcileCompleted`.
    ConditionReason,
    /// A condition's type, `example.com/Ready`.
    ConditionType,
    /// A DNS label, `my-namespace`.
    DnsLabel,
    /// A MAC address with colons.
    MacAddress,
    /// A DNS label that may have dots inside, `node-1.example`.
    DottedName,
    /// A label's name, `control-plane`.
    LabelName,
    /// Five words, `42 3/12 * * *`.
    FiveWords,
    /// A rule's name, `dict-architectures-overclaim`.
    RuleName,
    /// A cluster's name, `prod/east`.
    ClusterName,
}

impl Pattern {
    /// The function for a pattern's text.
    pub(super) fn of(text: &str) -> Option<Self> {
        Some(match text {
            r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$" => {
                Self::Quantity
            }
            r"^(0(?:\.\d{1,3})?|1)$" => Self::Share,
            "kubevirt-hyperconverged" => Self::HyperConvergedName,
            "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" => Self::ConditionReason,
            r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$" => {
                Self::ConditionType
            }
            "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" => Self::DnsLabel,
            "^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$" => Self::MacAddress,
            "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$" => Self::DottedName,
            "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$" => Self::LabelName,
            "^[^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+$" => Self::FiveWords,
            "^[a-z0-9]+(-[a-z0-9]+)*$" => Self::RuleName,
            "^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$" => Self::ClusterName,
            _ => return None,
        })
    }

    /// Whether the text matches.
    pub(super) fn matches(self, text: &str) -> bool {
        match self {
            Self::Quantity => quantity(text),
            Self::Share => share(text),
            Self::HyperConvergedName => text.contains("kubevirt-hyperconverged"),
            Self::ConditionReason => framed(
                text,
                |first| first.is_ascii_alphabetic(),
                |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b',' | b':'),
                |last| last.is_ascii_alphanumeric() || last == b'_',
            ),
            Self::ConditionType => condition_type(text),
            Self::DnsLabel => dns_label(text),
            Self::MacAddress => mac_address(text),
            Self::DottedName => framed(
                text,
                is_dns,
                |b| is_dns(b) || matches!(b, b'-' | b'.'),
                is_dns,
            ),
            Self::LabelName => framed(
                text,
                |b| b.is_ascii_alphanumeric(),
                |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'),
                |b| b.is_ascii_alphanumeric(),
            ),
            Self::FiveWords => {
                text.split(' ').count() == 5 && text.split(' ').all(|word| !word.is_empty())
            }
            Self::RuleName => text
                .split('-')
                .all(|word| !word.is_empty() && word.bytes().all(is_dns)),
            Self::ClusterName => text.split('/').all(|step| {
                let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
                !step.is_empty() && step.bytes().all(plain)
            }),
        }
    }
}

/// First, middle and last characters of their own kinds; one character is only a first.
fn framed(
    text: &str,
    first: impl Fn(u8) -> bool,
    middle: impl Fn(u8) -> bool,
    last: impl Fn(u8) -> bool,
) -> bool {
    match text.as_bytes() {
        [] => false,
        [a] => first(*a),
        [a, rest @ .., z] => first(*a) && rest.iter().all(|b| middle(*b)) && last(*z),
    }
}

/// An optional sign, a decimal, and nothing, a suffix or an exponent (itself a decimal).
fn quantity(text: &str) -> bool {
    let Some(rest) = decimal(unsigned(text)) else {
        return false;
    };
    let exponent = rest
        .strip_prefix(['e', 'E'])
        .is_some_and(|e| decimal(unsigned(e)) == Some(""));
    exponent
        || matches!(
            rest,
            "" | "Ki"
                | "Mi"
                | "Gi"
                | "Ti"
                | "Pi"
                | "Ei"
                | "n"
                | "u"
                | "m"
                | "k"
                | "M"
                | "G"
                | "T"
                | "P"
                | "E"
        )
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

/// What stands behind `12`, `12.`, `12.5` or `.5`.
fn decimal(text: &str) -> Option<&str> {
    let digits = |t: &str| t.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let rest = &text[whole..];
    match rest.strip_prefix('.') {
        Some(fraction) => {
            let places = digits(fraction);
            (whole > 0 || places > 0).then(|| &fraction[places..])
        }
        None => (whole > 0).then_some(rest),
    }
}

fn share(text: &str) -> bool {
    match text.strip_prefix("0.") {
        Some(digits) => {
            (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
        }
        None => text == "0" || text == "1",
    }
}

fn condition_type(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    prefix.is_none_or(|p| p.split('.').all(dns_label))
        && framed(
            name,
            |b| b.is_ascii_alphanumeric(),
            |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'),
            |b| b.is_ascii_alphanumeric(),
        )
}

fn dns_label(text: &str) -> bool {
    framed(text, is_dns, |b| is_dns(b) || b == b'-', is_dns)
}

fn is_dns(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn mac_address(text: &str) -> bool {
    text.len() == 17
        && text.split(':').count() == 6
        && text
            .split(':')
            .all(|pair| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: Pattern, yes: &[&str], no: &[&str]) {
        for text in yes {
            assert!(pattern.matches(text), "{pattern:?} refuses {text:?}");
        }
        for text in no {
            assert!(!pattern.matches(text), "{pattern:?} takes {text:?}");
        }
    }

    #[test]
    fn quantities() {
        check(
            Pattern::Quantity,
            &[
                "0", "64Mi", "+1.5G", "-.5m", "5.", "1E", "1Ei", "1e3", "1E-3", "1e.5", "10k", "7n",
            ],
            &[
                "", "64 MiB", "Mi", ".", "1e", "1K", "1ki", "--1", "1e+", "1Mi ", "1Mi\n", "1e5Mi",
            ],
        );
    }

    #[test]
    fn shares() {
        check(
            Pattern::Share,
            &["0", "1", "0.1", "0.055"],
            &["1.5", "1.0", "0.", "0.0555", ".5", "00", "0.1 ", ""],
        );
    }

    #[test]
    fn names_anywhere() {
        check(
            Pattern::HyperConvergedName,
            &["kubevirt-hyperconverged", "my-kubevirt-hyperconverged-2"],
            &["my-hco", ""],
        );
    }

    #[test]
    fn conditions() {
        check(
            Pattern::ConditionReason,
            &["A", "Reconcile_Completed", "a,b:c"],
            &["", "1a", "a:", "a-b"],
        );
        check(
            Pattern::ConditionType,
            &["Ready", "a.b-c.io/Ready_x", "9", "0/1"],
            &["", "/x", "A/x", "a./x", "a/b/c", "-a", "x_"],
        );
    }

    #[test]
    fn names_of_our_own() {
        check(
            Pattern::DottedName,
            &["a", "a.b-c", "0..a"],
            &["", ".a", "a-", "A", "a_b", "a\n"],
        );
        check(
            Pattern::LabelName,
            &["A", "control-plane", "a_.b"],
            &["", "-a", "a_", "a b", "ä"],
        );
        check(
            Pattern::FiveWords,
            &["42 3/12 * * *", "a b c d ä"],
            &[
                "",
                "1 2 3 4",
                "1  2 3 4 5",
                "1 2 3 4 5 6",
                " 1 2 3 4",
                "1 2 3 4 ",
            ],
        );
        check(
            Pattern::RuleName,
            &["a", "a-1-b"],
            &["", "a-", "-a", "a--b", "A"],
        );
        check(
            Pattern::ClusterName,
            &["prod/east", ".", "a_b-c.d/.."],
            &["", "/a", "a/", "a//b", "a b"],
        );
    }

    #[test]
    fn labels_and_addresses() {
        check(
            Pattern::DnsLabel,
            &["a", "a-b", "0"],
            &["", "-a", "a-", "A", "a.b"],
        );
        check(
            Pattern::MacAddress,
            &["02:00:00:aF:00:ff"],
            &[
                "02-00-00-00-00-00",
                "02:00:00:00:00",
                "02:00:00:00:00:0g",
                "2:000:00:00:00:00",
            ],
        );
    }
}
