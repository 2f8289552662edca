//! Kubernetes resource quantities (`500m`, `1.5Gi`, `1e3`): parsed, compared and printed as apimachinery does.
//!
//! A parsed quantity keeps its text when that text is plainly canonical already (few digits, an exponent of the
//! suffix's own grid); otherwise it is formatted again. The test for "plainly canonical" accepts a few forms that
//! aren't, such as `+5` and `1E3`.

use crate::prelude::*;
use crate::text::is_digits;
use std::cmp::Ordering;

use super::decimal::Decimal;

/// What apimachinery says about a text that isn't a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Not number and suffix.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// An unknown suffix.
    #[error("unable to parse quantity's suffix")]
    Suffix,
    /// A number that can't be read.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    DecimalSi,
    BinarySi,
    DecimalExponent,
}

/// An amount with its print format. Equality and order are those of the amount.
#[derive(Debug, Clone)]
pub struct Quantity {
    negative: bool,
    amount: Decimal,
    format: Format,
    /// The text it was read from, where apimachinery keeps that.
    kept: Option<Box<str>>,
}

/// Digits that always fit an `int64`.
const SAFE_DIGITS: usize = 18;
/// The exponent of the smallest amount that is distinguished.
const NANO: i64 = -9;

impl Quantity {
    /// The quantity that a string or a number of a manifest means.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text).ok(),
            other => Self::parse(&other.to_string()).ok(),
        }
    }

    /// Reads a quantity. White space around it is not allowed here.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let parts = Parts::split(text)?;
        let (format, exponent) = interpret(parts.suffix).ok_or(QuantityError::Suffix)?;
        let kept = parts.is_plain(format, exponent)?;
        let mut quantity = Self {
            negative: parts.negative,
            amount: Decimal::new(parts.whole, parts.fraction, 0),
            format,
            kept: (kept || text == "0").then(|| text.into()),
        };
        if format == Format::BinarySi {
            quantity.amount.shift_left(u32::try_from(exponent).unwrap_or(0));
        } else {
            quantity.amount = Decimal::new(parts.whole, parts.fraction, exponent);
        }
        quantity.amount.round_up(NANO);
        if format == Format::BinarySi {
            let largest = Decimal::new("9223372036854775807", "", 0);
            if quantity.amount > largest {
                quantity.amount = largest;
            }
        }
        quantity.negative &= !quantity.amount.is_zero();
        Ok(quantity)
    }

    /// The amount in units of `10^exponent`, rounded away from zero, as Go's `ScaledValue`; beyond `i64` its limit.
    pub fn scaled(&self, exponent: i64) -> i64 {
        let mut amount = self.amount.clone();
        amount.round_up(exponent);
        let value = amount.scaled(exponent).unwrap_or(i64::MAX);
        if self.negative { -value } else { value }
    }

    fn write_canonical(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.amount.is_zero() {
            return f.write_str("0");
        }
        if self.negative {
            f.write_str("-")?;
        }
        // Small or broken amounts read badly in powers of two.
        let binary =
            self.format == Format::BinarySi && self.amount >= Decimal::new("1024", "", 0) && self.amount.is_whole();
        if binary {
            let (digits, power) = self.amount.binary();
            return write!(f, "{digits}{}", BINARY.get(power as usize).unwrap_or(&""));
        }
        let (digits, exponent) = self.amount.thousands();
        f.write_str(&digits)?;
        match (self.format, exponent) {
            (_, 0) => Ok(()),
            (Format::DecimalExponent, _) => write!(f, "e{exponent}"),
            _ => f.write_str(usize::try_from((exponent - NANO) / 3).ok().and_then(|n| DECIMAL.get(n)).unwrap_or(&"")),
        }
    }
}

/// A quantity as Go prints it after reading; `None` when it is none or prints as it is.
/// White space around it is ignored, as in JSON documents.
pub fn canonical(text: &str) -> Option<String> {
    let trimmed = text.trim();
    let parts = Parts::split(trimmed).ok()?;
    let (format, exponent) = interpret(parts.suffix)?;
    // A shortcut for nearly all quantities: the text that [`Quantity::parse`] would keep, without its arithmetic.
    let plain = parts.is_plain(format, exponent).ok()?;
    if plain || parts.is_small_binary(format, exponent) {
        return (trimmed != text).then(|| trimmed.to_owned());
    }
    let printed = Quantity::parse(trimmed).ok()?.to_string();
    (printed != text).then_some(printed)
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kept {
            Some(text) => f.write_str(text),
            None => self.write_canonical(f),
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.amount.cmp(&other.amount),
            (true, true) => other.amount.cmp(&self.amount),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

/// A text taken apart.
struct Parts<'a> {
    negative: bool,
    /// Without leading zeros, at least `0`.
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
    /// Whether nothing else was written: no sign, point or leading zero.
    bare: bool,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let digits = |text: &'a str| {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            text.split_at(end)
        };
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, rest) = digits(unsigned.trim_start_matches('0'));
        let whole = if whole.is_empty() { "0" } else { whole };
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let number = letters.strip_prefix(['-', '+']).unwrap_or(letters);
        if !is_digits(number) {
            return Err(QuantityError::Format);
        }
        Ok(Self {
            negative: text.starts_with('-'),
            whole,
            fraction,
            suffix,
            bare: whole != "0" && text.len() == whole.len() + suffix.len(),
        })
    }
}

impl Parts<'_> {
    /// Whether apimachinery keeps the text: its fast path takes it, and nothing could be shorter.
    fn is_plain(&self, format: Format, exponent: i64) -> Result<bool, QuantityError> {
        let digits = self.whole.len() + self.fraction.len();
        let shifted = || self.whole.bytes().chain(self.fraction.bytes());
        if format == Format::BinarySi {
            let room = 15 - i64::try_from(digits).unwrap_or(i64::MAX) - exponent * 3 / 10 - 1;
            if !self.fraction.is_empty() || room < 0 {
                return Ok(false);
            }
            let value: i64 = self.whole.parse().map_err(|_| QuantityError::Numeric)?;
            return Ok(value & 7 != 0);
        }
        if digits > SAFE_DIGITS {
            return Ok(false);
        }
        let fraction = i64::try_from(self.fraction.len()).unwrap_or(i64::MAX);
        let scale = exponent - fraction;
        let thousand = shifted().rev().take(3).eq(*b"000");
        Ok(scale >= NANO && scale % 3 == 0 && !thousand && shifted().next().is_some_and(|b| b != b'0'))
    }

    /// Whether it is `1Ki` to `1023Pi`, which are printed as they are.
    fn is_small_binary(&self, format: Format, exponent: i64) -> bool {
        let small = self.whole.len() < 4 || (self.whole.len() == 4 && self.whole < "1024");
        let binary = format == Format::BinarySi && exponent <= 50;
        binary && small && self.bare
    }
}

/// The suffixes of a format with a step of three powers of ten, or ten of two.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The format of a suffix and its power of ten, for binary ones of two.
fn interpret(suffix: &str) -> Option<(Format, i64)> {
    if let Some(exponent) = (NANO..).step_by(3).zip(DECIMAL).find_map(|(n, own)| (own == suffix).then_some(n)) {
        return Some((Format::DecimalSi, exponent));
    }
    if let Some(exponent) = (0..).step_by(10).zip(BINARY).find_map(|(n, own)| (own == suffix).then_some(n)) {
        return Some((Format::BinarySi, exponent));
    }
    // Go's ParseInt, then cut to 32 bits.
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((Format::DecimalExponent, i64::from(exponent as i32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        Quantity::parse(text).map_or_else(|e| e.to_string(), |q| q.to_string())
    }

    #[test]
    fn prints_as_apimachinery_does() {
        for (text, expected) in [
            ("0", "0"),
            ("0Gi", "0"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("0.1Gi", "107374182400m"),
            ("0.5", "500m"),
            ("1.5", "1500m"),
            ("1500m", "1500m"),
            ("1000m", "1"),
            ("1000", "1k"),
            ("1e3", "1e3"),
            ("1E3", "1E3"),
            ("1000e0", "1e3"),
            ("12e4", "120e3"),
            ("100k", "100k"),
            ("1000k", "1M"),
            ("0.0000000001", "1n"),
            ("-0.0000000001", "-1n"),
            ("1n", "1n"),
            ("1000u", "1m"),
            ("+5", "+5"),
            ("005", "005"),
            ("0.50", "500m"),
            ("-1024Ki", "-1Mi"),
            ("1023Ki", "1023Ki"),
            ("512", "512"),
            ("512Ki", "512Ki"),
            ("0.5Ki", "512"),
            ("0.0001Ki", "102400u"),
            ("10Ei", "9223372036854775807"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("100000000000000000000", "100E"),
            ("3e-10", "1e-9"),
            ("1e100", "10e99"),
            ("64M", "64M"),
            ("-", "0"),
            (".", "0"),
            ("5.", "5."),
        ] {
            assert_eq!(printed(text), expected, "{text}");
        }
    }

    #[test]
    fn rejects_invalid_quantities() {
        for text in ["", "true", "1 Gi", "1.2.3", "{}", "1Gi ", "ä"] {
            assert_eq!(Quantity::parse(text).err(), Some(QuantityError::Format), "{text}");
        }
        for text in ["1Ga", "1K", "1mi", "1e", "1e1.5", "1G1"] {
            let error = Quantity::parse(text).unwrap_err();
            assert_ne!(error, QuantityError::Numeric, "{text}");
        }
        assert_eq!(printed("1K"), "unable to parse quantity's suffix");
    }

    #[test]
    fn compares_by_amount() {
        let q = |text| Quantity::parse(text).unwrap();
        assert_eq!(q("1Gi"), q("1024Mi"));
        assert_eq!(q("1"), q("1000m"));
        assert!(q("1G") < q("1Gi"));
        assert!(q("-2") < q("-1"));
        assert!(q("-1") < q("0"));
        assert!(q("1e999999999") > q("9E"));
        assert!(q("9") < q("10") && q("91") < q("910"));
    }

    #[test]
    fn canonical_is_none_for_canonical_text() {
        assert_eq!(canonical("1Gi"), None);
        assert_eq!(canonical(" 1Gi "), Some("1Gi".to_owned()));
        assert_eq!(canonical("nothing"), None);
    }

    proptest::proptest! {
        #[test]
        fn keeps_printed_text(text in "[+-]?[0-9]{0,25}(\\.[0-9]{0,12})?([numkMGTPE]|[KMGTPE]i|[eE]-?[0-9]{1,3})?") {
            if let Ok(quantity) = Quantity::parse(&text) {
                let printed = quantity.to_string();
                let again = Quantity::parse(&printed).map(|q| q.to_string());
                proptest::prop_assert_eq!(again, Ok(printed));
            }
        }

        #[test]
        fn short_quantities_are_canonical_as_long_ones(
            text in "[+-]?[0-9]{0,5}(\\.[0-9]{0,3})?([numkMGTPE]|[KMGTPE]i|[eE]-?[0-9]{1,2})?",
        ) {
            let printed = Quantity::parse(&text).map(|q| q.to_string());
            let expected = printed.ok().filter(|p| *p != text);
            proptest::prop_assert_eq!(canonical(&text), expected);
        }

        #[test]
        fn never_panics_on_any_text(text in "\\PC*") {
            let _ = canonical(&text);
        }
    }
}
