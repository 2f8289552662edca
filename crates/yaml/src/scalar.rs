//! The value of a plain scalar, such as `yes`, `0777` and `1e3`.
//!
//! Kubernetes reads YAML 1.1 by way of Go (`sigs.k8s.io/yaml`), converts it to JSON and reads
//! that, so a number is what is left after both (see [`super::number`]).

use std::borrow::Cow;

use super::number;

/// What a scalar is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// `~`, `null`, nothing.
    Null,
    /// `yes`, `off`, `true`, …
    Bool(bool),
    /// An integer that fits 64 bits with a sign.
    Int(i64),
    /// An integer that fits 64 bits only without one.
    Uint(u64),
    /// A number with a point, an exponent, or too many digits.
    Float(f64),
    /// `.inf` and `.nan`: numbers to YAML, rejected on the way to JSON.
    NotJson(f64),
    /// Text.
    Text,
}

impl Scalar {
    /// The tag by which Go's messages call it.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Null => "!!null",
            Self::Bool(_) => "!!bool",
            Self::Int(_) | Self::Uint(_) => "!!int",
            Self::Float(_) | Self::NotJson(_) => "!!float",
            Self::Text => "!!str",
        }
    }
}

/// Resolves a plain scalar as kubectl does.
///
/// Source of the rule: `resolve` of go.yaml.in/yaml/v2, checked against kubectl 1.32 on the 3,999 scalars of
/// `testdata/yaml/scalars.jsonl`.
pub fn resolve(text: &str) -> Scalar {
    if is_text(text) {
        return Scalar::Text;
    }
    match text.as_bytes() {
        [] => Scalar::Null,
        [b'0'..=b'9', ..] => number(text),
        [b'+' | b'-', ..] => word(text).unwrap_or_else(|| number(text)),
        [b'.', ..] => word(text).unwrap_or_else(|| float(text)),
        _ => word(text).unwrap_or(Scalar::Text),
    }
}

/// Whether a plain scalar is nothing but text. Mostly its first character decides, without a closer
/// look.
pub(super) fn is_text(text: &str) -> bool {
    match text.as_bytes() {
        [] | [b'0'..=b'9' | b'+' | b'-' | b'.' | b'~', ..] => false,
        [b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O', ..] => {
            text.len() > "false".len() || word(text).is_none()
        }
        _ => true,
    }
}

fn word(text: &str) -> Option<Scalar> {
    Some(match text {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Scalar::Bool(true),
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Scalar::NotJson(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::NotJson(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::NotJson(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// A finite float, else text: `1e400` stays the text it is.
fn float(text: &str) -> Scalar {
    // Rust reads `inf` and `nan`, too.
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Scalar::Float(value),
        _ => Scalar::Text,
    }
}

/// Something that starts with a digit or a sign.
fn number(text: &str) -> Scalar {
    let plain = text.replace('_', "");
    let (sign, digits) = match plain.as_bytes().first() {
        Some(b'+') => ("+", &plain[1..]),
        Some(b'-') => ("-", &plain[1..]),
        _ => ("", plain.as_str()),
    };
    let (radix, digits) = radix(digits);
    if digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        if let Ok(magnitude) = u64::from_str_radix(digits, radix) {
            let value = match sign {
                "-" => 0i64.checked_sub_unsigned(magnitude),
                _ => i64::try_from(magnitude).ok(),
            };
            if let Some(value) = value {
                return Scalar::Int(value);
            }
            if sign.is_empty() {
                return Scalar::Uint(magnitude);
            }
        }
    } else if sign.is_empty() && plain.starts_with("0b") {
        // Go strips the prefix and parses what is left, sign and all: `0b-1` is -1.
        if let Ok(value) = i64::from_str_radix(digits, 2) {
            return Scalar::Int(value);
        }
    }
    float(&plain)
}

/// The base that the prefix asks for, and the digits after it.
fn radix(digits: &str) -> (u32, &str) {
    let bytes = digits.as_bytes();
    match (bytes.first(), bytes.get(1)) {
        (Some(b'0'), Some(b'x' | b'X')) => (16, &digits[2..]),
        (Some(b'0'), Some(b'o' | b'O')) => (8, &digits[2..]),
        (Some(b'0'), Some(b'b' | b'B')) => (2, &digits[2..]),
        (Some(b'0'), Some(_)) => (8, &digits[1..]),
        _ => (10, digits),
    }
}

/// A scalar's text where a mapping's key is, else Go's name of the type that can't be one.
pub(super) fn key_text(scalar: Scalar, text: Cow<'_, str>) -> Result<String, &'static str> {
    Ok(match scalar {
        Scalar::Text => text.into_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => number::go_general(f64::from(value as f32), true),
        Scalar::NotJson(value) if value.is_nan() => ".nan".to_owned(),
        Scalar::NotJson(value) if value > 0.0 => ".inf".to_owned(),
        Scalar::NotJson(_) => "-.inf".to_owned(),
        Scalar::Null => return Err("null"),
        Scalar::Uint(_) => return Err("uint64"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an object holds, numbers as the API server has them.
    fn json(text: &str) -> serde_json::Value {
        match resolve(text) {
            Scalar::Null => serde_json::Value::Null,
            Scalar::Bool(value) => value.into(),
            Scalar::Int(value) => value.into(),
            Scalar::Uint(value) => number::uint_number(value).into(),
            Scalar::Float(value) => number::float_number(value).into(),
            Scalar::NotJson(_) => panic!("{text} is rejected"),
            Scalar::Text => text.into(),
        }
    }

    #[test]
    fn reads_every_scalar_as_kubectl_does() {
        let table = include_str!("../../../testdata/yaml/scalars.jsonl");
        let mut wrong = Vec::new();
        for line in table.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let plain = row["plain"].as_str().unwrap();
            let (ours, kubectls) = (json(plain), &row["kubectl"]);
            let same = match (ours.as_f64(), kubectls.as_f64()) {
                (Some(a), Some(b)) => a == b && ours.is_i64() == kubectls.is_i64(),
                _ => ours == *kubectls,
            };
            if !same {
                wrong.push(format!("{plain:?}: {ours}, kubectl {kubectls}"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(table.lines().count(), 3999);
    }

    #[test]
    fn rejects_values_that_json_cannot_hold() {
        for text in [".inf", "-.Inf", "+.INF", ".NaN"] {
            assert!(matches!(resolve(text), Scalar::NotJson(_)), "{text}");
        }
        assert_eq!(resolve("-.nan"), Scalar::Text);
    }

    #[test]
    fn reads_keys_as_text() {
        let key = |text: &str| key_text(resolve(text), Cow::Borrowed(text));
        assert_eq!(key("yes"), Ok("true".to_owned()));
        assert_eq!(key("0x10"), Ok("16".to_owned()));
        assert_eq!(key("1.50"), Ok("1.5".to_owned()));
        assert_eq!(key("1e6"), Ok("1e+06".to_owned()));
        assert_eq!(key("0.1234567890123"), Ok("0.12345679".to_owned()));
        assert_eq!(key("~"), Err("null"));
        assert_eq!(key("18446744073709551615"), Err("uint64"));
    }
}
