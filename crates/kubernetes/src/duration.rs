//! Go's `time.Duration`: how it is read and how it prints.
use crate::prelude::*;
/// A span of time in nanoseconds, as Go counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(pub i64);

impl Duration {
    /// So many seconds.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }
}

/// What Go's `time.ParseDuration` says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Not a duration, or one that does not fit.
    #[error("time: invalid duration {0}")]
    Invalid(String),
    /// A number without a unit after it.
    #[error("time: missing unit in duration {0}")]
    MissingUnit(String),
    /// A unit that Go does not know.
    #[error("time: unknown unit {0} in duration {1}")]
    UnknownUnit(String, String),
}

const LIMIT: u64 = 1 << 63;

/// Reads a duration such as `1h30m`, `-1.5s` or `0`.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let invalid = || DurationError::Invalid(quote(text));
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(Duration(0));
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (digits, after) = split_digits(rest);
        let mut whole: u64 = 0;
        for digit in digits.bytes() {
            whole = whole
                .checked_mul(10)
                .and_then(|n| n.checked_add(u64::from(digit - b'0')))
                .filter(|n| *n <= LIMIT)
                .ok_or_else(invalid)?;
        }
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", after),
        };
        if digits.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let (unit, after) = split_before(after, |b| b == b'.' || b.is_ascii_digit());
        if unit.is_empty() {
            return Err(DurationError::MissingUnit(quote(text)));
        }
        let nanoseconds = unit_nanoseconds(unit).ok_or_else(|| DurationError::UnknownUnit(quote(unit), quote(text)))?;
        let mut part = whole.checked_mul(nanoseconds).filter(|n| *n <= LIMIT).ok_or_else(invalid)?;
        part += fraction_of(fraction, nanoseconds);
        if part > LIMIT {
            return Err(invalid());
        }
        total = total.checked_add(part).filter(|n| *n <= LIMIT).ok_or_else(invalid)?;
        rest = after;
    }
    if negative {
        return Ok(Duration(0_i64.wrapping_sub_unsigned(total)));
    }
    i64::try_from(total).map(Duration).map_err(|_| invalid())
}

fn split_digits(text: &str) -> (&str, &str) {
    split_before(text, |byte| !byte.is_ascii_digit())
}

/// Splits before the first byte that `is_meant` accepts and that begins a character.
fn split_before(text: &str, is_meant: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(is_meant);
    text.split_at(end.unwrap_or(text.len()))
}

fn unit_nanoseconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        // The micro sign and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// A decimal fraction of a unit, rounded down as Go does it: digits beyond what 63 bits hold
/// are dropped, the rest is a floating-point product.
fn fraction_of(digits: &str, unit: u64) -> u64 {
    let (mut value, mut scale): (u64, f64) = (0, 1.0);
    for digit in digits.bytes() {
        let next = value
            .checked_mul(10)
            .and_then(|n| n.checked_add(u64::from(digit - b'0')))
            .filter(|n| value <= (LIMIT - 1) / 10 && *n <= LIMIT);
        let Some(next) = next else { break };
        value = next;
        scale *= 10.0;
    }
    if value == 0 {
        return 0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// A string in quotes as Go's `time` package quotes it: bytes outside printable ASCII escaped.
pub(crate) fn quote(text: &str) -> String {
    use fmt::Write as _;
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut bytes = [0; 4];
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            ' '..='\x7f' => quoted.push(c),
            _ => {
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    write!(quoted, "\\x{byte:02x}").expect("writing to a string");
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

/// As Go's `time.Duration` prints itself.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let (minutes, hours) = (total / 60_000_000_000, total / 3_600_000_000_000);
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if minutes > 0 {
            write!(f, "{}m", minutes % 60)?;
        }
        let (places, unit) = match total {
            1..1_000 => (0, "ns"),
            1_000..1_000_000 => (3, "µs"),
            1_000_000..1_000_000_000 => (6, "ms"),
            _ => (9, "s"),
        };
        let (rest, one) = (total % 60_000_000_000, 10_u64.pow(places));
        write!(f, "{}", rest / one)?;
        if rest % one > 0 {
            let fraction = format!("{:0width$}", rest % one, width = places as usize);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        f.write_str(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        parse(text).map_or_else(|e| e.to_string(), |d| d.to_string())
    }

    #[test]
    fn prints_as_go_does() {
        for (text, expected) in [
            ("48h", "48h0m0s"),
            ("90m", "1h30m0s"),
            ("0", "0s"),
            ("+0s", "0s"),
            ("1.5h", "1h30m0s"),
            ("-1.5s", "-1.5s"),
            (".5s", "500ms"),
            ("1.s", "1s"),
            ("1h1m1s1ms1us1ns", "1h1m1.001001001s"),
            ("1500us", "1.5ms"),
            ("2µs", "2µs"),
            ("999ns", "999ns"),
            ("3000000h", "time: invalid duration \"3000000h\""),
            ("-2562047h47m16.854775808s", "-2562047h47m16.854775808s"),
            ("2562047h47m16.854775807s", "2562047h47m16.854775807s"),
            ("0.3333333333333333333h", "20m0s"),
        ] {
            assert_eq!(printed(text), expected, "{text}");
        }
    }

    #[test]
    fn rejects_as_go_does() {
        for (text, expected) in [
            ("", r#"time: invalid duration """#),
            ("-", r#"time: invalid duration "-""#),
            ("3", r#"time: missing unit in duration "3""#),
            ("1h3", r#"time: missing unit in duration "1h3""#),
            (".s", r#"time: invalid duration ".s""#),
            ("h", r#"time: invalid duration "h""#),
            ("1d", r#"time: unknown unit "d" in duration "1d""#),
            ("1 h", r#"time: unknown unit " h" in duration "1 h""#),
            ("1h-1m", r#"time: unknown unit "h-" in duration "1h-1m""#),
            ("1ä", r#"time: unknown unit "\xc3\xa4" in duration "1\xc3\xa4""#),
            ("9223372036854775808ns", r#"time: invalid duration "9223372036854775808ns""#),
        ] {
            assert_eq!(printed(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn printed_text_reads_back(nanoseconds: i64) {
            let duration = Duration(nanoseconds);
            proptest::prop_assert_eq!(parse(&duration.to_string()), Ok(duration));
        }

        #[test]
        fn never_panics_on_any_text(text in "\\PC*|[0-9.hmsuµn-]*") {
            let _ = parse(&text);
        }
    }
}
