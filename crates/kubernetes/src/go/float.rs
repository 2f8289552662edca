//! How Go prints floating-point numbers in JSON.
use crate::prelude::*;
/// A number of a `float32` or `float64` field: a whole one prints without a fraction, a `float32` with the fewest
/// digits that identify it.
pub(super) fn printed(number: &Number, bits: u8) -> Value {
    let exact = bits == 64 && !number.is_f64();
    let Some(mut wide) = number.as_f64().filter(|_| !exact) else {
        return Value::Number(number.clone());
    };
    if bits == 32 {
        // The shortest decimal of the float32, read back as a float64.
        let narrow = wide as f32;
        wide = narrow.to_string().parse().unwrap_or(wide);
    }
    if wide.fract() == 0.0 && wide.abs() < 9.0e18 {
        let whole = wide as i64;
        return Value::from(whole);
    }
    Number::from_f64(wide).map_or_else(|| Value::Number(number.clone()), Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn whole_numbers_have_no_fraction() {
        let print = |v: serde_json::Value, bits| super::printed(v.as_number().unwrap(), bits);
        assert_eq!(print(json!(1.0), 64).to_string(), "1");
        assert_eq!(print(json!(1.5), 64).to_string(), "1.5");
        assert_eq!(print(json!(0.1), 32).to_string(), "0.1");
        assert_eq!(print(json!(16_777_217), 32).to_string(), "16777216");
        assert_eq!(print(json!(u64::MAX), 64).to_string(), "18446744073709551615");
    }
}
