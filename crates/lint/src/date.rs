//! Dates of suppressions and baselines. This module has no clock: today is an argument.

use std::fmt;

use hcoplan_kubernetes::go::time;

const SECONDS_PER_DAY: i64 = 86_400;

/// A date of the Gregorian calendar: the days since 0001-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(i64);

impl Date {
    /// The date of a Unix time, UTC.
    pub fn of_unix_seconds(seconds: u64) -> Self {
        let epoch = Self::parse("1970-01-01").map_or(0, |date| date.0);
        Self(epoch + i64::try_from(seconds).unwrap_or(0) / SECONDS_PER_DAY)
    }

    /// Parses `2027-01-31`.
    pub fn parse(text: &str) -> Option<Self> {
        time::parse(&format!("{text}T00:00:00Z")).map(|seconds| Self(seconds / SECONDS_PER_DAY))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&time::print(self.0 * SECONDS_PER_DAY)[..10])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_existing_days_only() {
        assert_eq!(Date::parse("2027-01-31").unwrap().to_string(), "2027-01-31");
        for wrong in ["2027-02-29", "2027-13-01", "27-01-31", "2027-1-31", "2027-01-31x", ""] {
            assert_eq!(Date::parse(wrong), None, "{wrong}");
        }
        assert!(Date::parse("2028-02-29").is_some());
        assert!(Date::parse("2027-01-31") < Date::parse("2027-02-01"));
    }

    #[test]
    fn counts_days() {
        let day = |text| Date::parse(text).unwrap();
        assert_eq!(Date::of_unix_seconds(0), day("1970-01-01"));
        assert_eq!(Date::of_unix_seconds(1_795_219_200), day("2026-11-21"));
    }
}
