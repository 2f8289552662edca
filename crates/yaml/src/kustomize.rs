//! Scalars that kustomize and kubectl read differently.
//!
//! kustomize (and with it `kubectl apply -k`, Argo CD and Flux on a kustomization) reads YAML
//! with `yaml.v3`: `yes` and `on` are text there, and what looks like a date is a time. The same
//! file means one thing under `apply -f` and another under `apply -k`.

use std::fmt;

use crate::{Scalar, resolve};

/// How kustomize reads a plain scalar where it differs from kubectl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KustomizeScalar {
    /// As text.
    Text(String),
    /// As a number.
    Number(i64),
    /// As a time, which it prints like this.
    Time(String),
}

impl fmt::Display for KustomizeScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "the text \"{text}\""),
            Self::Number(number) => write!(f, "the number {number}"),
            Self::Time(time) => write!(f, "the time \"{time}\""),
        }
    }
}

/// How kustomize reads a plain scalar, where it differs from kubectl.
///
/// Checked against `kubectl kustomize` 5.5 on the 3,999 scalars of `testdata/yaml/scalars.jsonl`.
pub fn kustomize_reads(text: &str) -> Option<KustomizeScalar> {
    let is_word = ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word));
    if !is_word && matches!(resolve(text), Scalar::Bool(_)) {
        return Some(KustomizeScalar::Text(text.to_owned()));
    }
    if let Some(digits) = text.strip_prefix("0o-") {
        let value = i64::from_str_radix(&digits.replace('_', ""), 8).ok()?;
        return Some(KustomizeScalar::Number(-value));
    }
    let time = timestamp(text)?;
    (time != text).then_some(KustomizeScalar::Time(time))
}

/// A time as Go prints it again, if this is one: `2001-1-2` is `2001-01-02T00:00:00Z`.
pub(super) fn timestamp(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || bytes[4] != b'-' || !bytes[..4].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut rest = &text[5..];
    let month = number(&mut rest)?;
    rest = rest.strip_prefix('-')?;
    let day = number(&mut rest)?;
    let year = &text[..4];
    if !(1..=12).contains(&month) || !(1..=days_in(year.parse().ok()?, month)).contains(&day) {
        return None;
    }
    let date = format!("{year}-{month:02}-{day:02}");
    let Some(separator) = rest.chars().next() else {
        return Some(format!("{date}T00:00:00Z"));
    };
    rest = match separator {
        'T' | 't' => &rest[1..],
        ' ' => rest.trim_start_matches(' '),
        _ => return None,
    };
    let hour = number(&mut rest).filter(|h| *h < 24)?;
    rest = rest.strip_prefix(':')?;
    let minute = number(&mut rest).filter(|m| *m < 60)?;
    rest = rest.strip_prefix(':')?;
    let second = number(&mut rest).filter(|s| *s < 60)?;
    let mut fraction = "";
    if let Some(digits) = rest.strip_prefix(['.', ',']) {
        let end = digits.bytes().take_while(u8::is_ascii_digit).count();
        if end == 0 || end > 9 {
            return None;
        }
        fraction = digits[..end].trim_end_matches('0');
        rest = &digits[end..];
    }
    let zone = match (separator, rest) {
        (' ', "") | (_, "Z" | "+00:00" | "-00:00") => "Z",
        (' ', _) => return None,
        (_, zone) => zone,
    };
    if zone != "Z" {
        let sign_and_hours = zone.strip_prefix(['+', '-'])?;
        let (hours, minutes) = sign_and_hours.split_once(':')?;
        let two = |t: &str| t.len() == 2 && t.bytes().all(|b| b.is_ascii_digit());
        if !two(hours) || !two(minutes) || hours > "23" || minutes > "59" {
            return None;
        }
    }
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{point}{fraction}{zone}"))
}

/// The days of a month.
pub fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// One or two digits.
fn number(rest: &mut &str) -> Option<i64> {
    let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at(digits);
    *rest = after;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kustomize_reads_yes_and_no_as_text() {
        let table = include_str!("../../../testdata/yaml/scalars.jsonl");
        let mut different: Vec<String> = table
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|row| row["plain"].as_str().unwrap().to_owned())
            .filter(|plain| kustomize_reads(plain).is_some())
            .collect();
        different.sort_unstable();
        let expected = ["0o-7", "2001-01-01", "N", "No", "OFF", "On", "Y", "YES", "n", "no", "off", "on", "y", "yes"];
        assert_eq!(different, expected);
    }

    #[test]
    fn kustomize_prints_times_in_full() {
        let time = |text| timestamp(text).unwrap_or_default();
        assert_eq!(time("2001-1-1"), "2001-01-01T00:00:00Z");
        assert_eq!(time("2001-12-14t21:59:43.10-05:00"), "2001-12-14T21:59:43.1-05:00");
        assert_eq!(time("2001-01-01  1:2:3"), "2001-01-01T01:02:03Z");
        assert_eq!(time("2001-01-01T00:00:00,5Z"), "2001-01-01T00:00:00.5Z");
        assert_eq!(time("2000-02-29"), "2000-02-29T00:00:00Z");
        for text in [
            "2001-02-29",
            "2001-13-01",
            "2001-001-01",
            "2001-01-01T1:2:3",
            "2001-01-01T24:00:00Z",
            "2001-01-01T00:00:00z",
            "2001-01-01T12:34:60Z",
            "2001-01-01T00:00:00.Z",
        ] {
            assert_eq!(timestamp(text), None, "{text}");
        }
        assert_eq!(kustomize_reads("2001-01-01T00:00:00Z"), None);
    }
}
