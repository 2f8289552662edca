//! Numbers as Go holds and prints them.

use serde_json::Number;

/// A float as it arrives in an object: Go prints it as JSON and reads that back, so one without
/// a fraction that fits 64 bits becomes an integer.
pub fn float_number(value: f64) -> Number {
    // The shortest digits, filled up with zeros, as Go prints them: not the exact value.
    match value.to_string().parse::<i64>() {
        Ok(value) => Number::from(value),
        Err(_) => Number::from_f64(value).unwrap_or_else(|| Number::from(0)),
    }
}

/// An integer beyond 63 bits becomes a float in an object.
pub fn uint_number(value: u64) -> Number {
    i64::try_from(value).map_or_else(|_| float_number(value as f64), Number::from)
}

/// A number as Go's `encoding/json` prints it: `1e+21`, `1e-7`, never `1.0`.
pub fn go_json(number: &Number) -> String {
    match number.as_f64() {
        Some(value) if number.is_f64() => {
            let size = value.abs();
            if size == 0.0 || (1e-6..1e21).contains(&size) { value.to_string() } else { exponential(value, false, 1) }
        }
        _ => number.to_string(),
    }
}

/// A number as Go's YAML library prints it after a way through JSON: `1e+21`, `1e+06` for what
/// isn't written as an integer there.
pub(super) fn go_yaml(number: &Number) -> String {
    // Unstructured objects hold integers of 63 bits and floats.
    let json = match number.as_u64().filter(|_| !number.is_i64()) {
        Some(value) => go_json(&uint_number(value)),
        None => go_json(number),
    };
    if let Ok(integer) = json.parse::<i64>() {
        return integer.to_string();
    }
    match number.as_f64() {
        Some(value) if json.parse::<u64>().is_err() => go_general(value, false),
        _ => json,
    }
}

/// A float as Go's `%g` prints it with as few digits as tell it from others: `1e+06`, `0.5`.
/// `single` means digits enough for 32 bits only, which is how Go prints a key.
pub(super) fn go_general(value: f64, single: bool) -> String {
    let exponent: i32 = scientific(value, single).rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
    if value != 0.0 && !(-4..6).contains(&exponent) {
        return exponential(value, single, 2);
    }
    if single { (value as f32).to_string() } else { value.to_string() }
}

/// `1.5e+06`: a sign always, and negative exponents with at least so many digits.
fn exponential(value: f64, single: bool, digits: usize) -> String {
    let scientific = scientific(value, single);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{mantissa}e-{exponent:0>digits$}"),
        None => format!("{mantissa}e+{exponent:0>2}"),
    }
}

fn scientific(value: f64, single: bool) -> String {
    if single { format!("{:e}", value as f32) } else { format!("{value:e}") }
}

/// How Go's messages write what JSON can't: `+Inf`.
pub(super) fn go_name(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "+Inf"
    } else {
        "-Inf"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_infinity_and_nan_as_go_does() {
        let names = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(go_name);
        assert_eq!(names, ["NaN", "+Inf", "-Inf"]);
    }

    #[test]
    fn floats_without_a_fraction_are_integers() {
        assert!(float_number(1e3).is_i64());
        assert!(float_number(-0.0).is_i64());
        assert_eq!(float_number(1.2345678901234567e18).to_string(), "1234567890123456800");
        assert!(float_number(1e19).is_f64());
        assert!(uint_number(u64::MAX).is_f64());
    }

    #[test]
    fn prints_as_go_does() {
        let json = |v: f64| go_json(&Number::from_f64(v).unwrap());
        assert_eq!(json(1e21), "1e+21");
        assert_eq!(json(5e21), "5e+21");
        assert_eq!(json(1e20), "100000000000000000000");
        assert_eq!(json(1e-7), "1e-7");
        assert_eq!(json(1.5e-10), "1.5e-10");
        assert_eq!(json(0.000001), "0.000001");
        assert_eq!(json(0.1), "0.1");
        assert_eq!(go_general(1e6, false), "1e+06");
        assert_eq!(go_general(123456.5, false), "123456.5");
        assert_eq!(go_general(1234567.5, false), "1.2345675e+06");
        assert_eq!(go_general(0.0001, false), "0.0001");
        assert_eq!(go_general(0.00001, false), "1e-05");
        assert_eq!(go_general(1e21, false), "1e+21");
    }
}
