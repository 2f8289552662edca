//! Cron schedules, as CDI's webhook reads them.
//!
//! Source: `ParseStandard` of robfig/cron v3: five fields, or a word such as `@daily`, perhaps
//! with a time zone in front. Kubernetes' CronJobs use the same.

use super::duration;

/// Why a text isn't a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Not five fields.
    #[error("it has {0} fields, five are needed: minute, hour, day, month, weekday")]
    Fields(usize),
    /// `@` and a word that isn't known.
    #[error("{0} is unknown")]
    Word(String),
    /// A field that can't be read.
    #[error("its {field} {text:?} {problem}")]
    Field {
        /// Which one.
        field: &'static str,
        /// The part of it that is wrong.
        text: String,
        /// What is wrong.
        problem: String,
    },
    /// A time zone and nothing after it.
    #[error("nothing follows the time zone")]
    ZoneOnly,
}

/// The range and the names of a field.
struct Bounds {
    name: &'static str,
    min: u32,
    max: u32,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const WORDS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

const FIELDS: [Bounds; 5] = [
    Bounds::new("minute", 0, 59, &[]),
    Bounds::new("hour", 0, 23, &[]),
    Bounds::new("day of the month", 1, 31, &[]),
    Bounds::new("month", 1, 12, &MONTHS),
    Bounds::new("weekday", 0, 6, &DAYS),
];

/// Checks a schedule. Time zones are taken as they are.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(text: &str) -> Result<(), ScheduleError> {
    let zoned = text.starts_with("TZ=") || text.starts_with("CRON_TZ=");
    let text = match (zoned, text.split_once(' ')) {
        (true, None) => return Err(ScheduleError::ZoneOnly),
        (true, Some((_, rest))) => rest.trim(),
        (false, _) => text,
    };
    if text.starts_with('@') {
        let every = text.strip_prefix("@every ");
        let known = match every {
            Some(period) => duration::parse(period).is_ok(),
            None => WORDS.contains(&text),
        };
        return known.then_some(()).ok_or_else(|| ScheduleError::Word(text.to_owned()));
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(ScheduleError::Fields(fields.len()));
    }
    for (field, bounds) in fields.iter().zip(&FIELDS) {
        // The library ignores empty parts between commas.
        for range in field.split(',').filter(|r| !r.is_empty()) {
            bounds.check(range).map_err(|problem| ScheduleError::Field {
                field: bounds.name,
                text: range.to_owned(),
                problem,
            })?;
        }
    }
    Ok(())
}

impl Bounds {
    const fn new(name: &'static str, min: u32, max: u32, names: &'static [&'static str]) -> Self {
        Self { name, min, max, names }
    }

    /// Checks `*`, `5`, `1-5`, each perhaps with `/2`.
    fn check(&self, range: &str) -> Result<(), String> {
        let mut parts = range.split('/');
        let span = parts.next().unwrap_or_default();
        let step = parts.next();
        if parts.next().is_some() {
            return Err("has more hyphens or slashes than a range".to_owned());
        }
        let mut ends = span.split('-');
        let low = ends.next().unwrap_or_default();
        // What follows an asterisk isn't examined.
        let any = low == "*" || low == "?";
        let high = ends.next();
        if !any && ends.next().is_some() {
            return Err("has more hyphens or slashes than a range".to_owned());
        }
        let low = if any { self.min } else { self.number(low)? };
        let high = match high {
            _ if any => self.max,
            Some(high) => self.number(high)?,
            None if step.is_some() => self.max,
            None => low,
        };
        if let Some(step) = step
            && number(step)? == 0
        {
            return Err("has a step of zero".to_owned());
        }
        if low < self.min || high > self.max {
            return Err(format!("is not between {} and {}", self.min, self.max));
        }
        if low > high {
            return Err("ends before it begins".to_owned());
        }
        Ok(())
    }

    fn number(&self, text: &str) -> Result<u32, String> {
        let named = self.names.iter().zip(self.min..).find(|(name, _)| name.eq_ignore_ascii_case(text));
        named.map_or_else(|| number(text), |(_, n)| Ok(n))
    }
}

/// A number as Go's `Atoi` reads it; negative ones are an error.
fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "isn't a number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_valid_schedules() {
        for text in [
            "0 */12 * * *",
            "42 3/12 * * *",
            "* * * * *",
            "0,30 8-18/2 1-31 jan-DEC mon-fri",
            "? ? ? ? ?",
            "59 23 31 12 6",
            "@daily",
            "@every 1h30m",
            "TZ=Europe/Berlin 0 4 * * *",
            "CRON_TZ=UTC @hourly",
            "+5 1 * * *",
            "1,,2 0 * * *",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_schedules() {
        for (text, why) in [
            ("", "it has 0 fields, five are needed: minute, hour, day, month, weekday"),
            ("0 0 * *", "it has 4 fields, five are needed: minute, hour, day, month, weekday"),
            ("0 0 0 * * *", "it has 6 fields, five are needed: minute, hour, day, month, weekday"),
            ("60 * * * *", "its minute \"60\" is not between 0 and 59"),
            ("* 24 * * *", "its hour \"24\" is not between 0 and 23"),
            ("* * 0 * *", "its day of the month \"0\" is not between 1 and 31"),
            ("* * * 13 *", "its month \"13\" is not between 1 and 12"),
            ("* * * * 7", "its weekday \"7\" is not between 0 and 6"),
            ("* 5-1 * * *", "its hour \"5-1\" ends before it begins"),
            ("*/0 * * * *", "its minute \"*/0\" has a step of zero"),
            ("1-2-3 * * * *", "its minute \"1-2-3\" has more hyphens or slashes than a range"),
            ("*/2/3 * * * *", "its minute \"*/2/3\" has more hyphens or slashes than a range"),
            ("x * * * *", "its minute \"x\" isn't a number"),
            ("-5 * * * *", "its minute \"-5\" isn't a number"),
            ("@fortnightly", "@fortnightly is unknown"),
            ("@every day", "@every day is unknown"),
            ("@every  1h", "@every  1h is unknown"),
            ("TZ=UTC", "nothing follows the time zone"),
        ] {
            let error = check(text).expect_err(text);
            assert_eq!(error.to_string(), why);
        }
    }
}
