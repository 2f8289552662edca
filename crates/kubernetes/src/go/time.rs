//! `metav1.Time`: RFC 3339 in, UTC to the second out.
use crate::prelude::*;
use crate::text::is_digits;
use hcoplan_yaml::days_in;
/// Prints a timestamp as Go does, in UTC. `null` and the zero time print as null.
pub(super) fn encode(value: &mut Value) {
    if let Value::String(text) = value {
        match parse(text) {
            Some(0) => *value = Value::Null,
            Some(seconds) => *text = print(seconds),
            None => {}
        }
    }
}

/// Seconds since 0001-01-01T00:00:00Z; a fraction of a second is dropped.
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        is_digits(part).then(|| part.parse().ok())?
    };
    let is = |at: usize, wanted: u8| bytes.get(at) == Some(&wanted);
    if !(is(4, b'-') && is(7, b'-') && is(10, b'T') && is(13, b':') && is(16, b':')) {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut zone = 19;
    if is(zone, b'.') || is(zone, b',') {
        let fraction = bytes[20..].iter().take_while(|b| b.is_ascii_digit()).count();
        if fraction == 0 {
            return None;
        }
        zone += 1 + fraction;
    }
    let offset = match bytes.get(zone)? {
        b'Z' if bytes.len() == zone + 1 => 0,
        sign @ (b'+' | b'-') if bytes.len() == zone + 6 && is(zone + 3, b':') => {
            let (hours, minutes) = (digits(zone + 1, zone + 3)?, digits(zone + 4, zone + 6)?);
            if hours > 24 || minutes > 60 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    let days = days_before_year(year) + day_of_year(year, month, day);
    Some(days * 86_400 + hour * 3600 + minute * 60 + second - offset)
}

/// Prints seconds since 0001-01-01T00:00:00Z as Go does, in UTC.
pub fn print(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let mut year = 1 + days.div_euclid(366);
    while days_before_year(year + 1) <= days {
        year += 1;
    }
    let mut day = days - days_before_year(year) + 1;
    let mut month = 1;
    while day > days_in(year, month) {
        day -= days_in(year, month);
        month += 1;
    }
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

fn day_of_year(year: i64, month: i64, day: i64) -> i64 {
    (1..month).map(|m| days_in(year, m)).sum::<i64>() + day - 1
}

fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    past * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn printed(text: &str) -> Value {
        let mut value = json!(text);
        encode(&mut value);
        value
    }

    #[test]
    fn prints_utc() {
        assert_eq!(printed("2024-02-29T12:00:00Z"), "2024-02-29T12:00:00Z");
        assert_eq!(printed("2024-01-01T00:30:00+02:00"), "2023-12-31T22:30:00Z");
        assert_eq!(printed("2023-12-31T23:59:59.9-00:01"), "2024-01-01T00:00:59Z");
        assert_eq!(printed("0001-01-01T00:00:00Z"), Value::Null);
    }

    #[test]
    fn rejects_invalid_times() {
        for text in [
            "",
            "2024-02-30T00:00:00Z",
            "2024-01-01",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.Z",
            "äääää",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
