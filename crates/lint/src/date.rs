//! Dates of suppressions and baselines. This module has no clock: today is an argument.

use std::fmt;

/// A date of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// A date; `None` if it doesn't exist.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(Self { year, month, day })
    }

    /// The date of a Unix time, UTC.
    pub fn of_unix_seconds(seconds: u64) -> Self {
        let mut days = seconds / 86_400;
        let mut year = 1970;
        loop {
            let length = if Self::new(year, 2, 29).is_some() { 366 } else { 365 };
            if days < length || year == u16::MAX {
                break;
            }
            days -= length;
            year += 1;
        }
        let mut month = 1;
        loop {
            let length = (28..=31).rev().find(|d| Self::new(year, month, *d).is_some());
            let length = u64::from(length.unwrap_or(31));
            if days < length || month == 12 {
                break;
            }
            days -= length;
            month += 1;
        }
        let day = u8::try_from(days + 1).unwrap_or(31);
        Self { year, month, day }
    }

    /// Parses `2027-01-31`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let lengths = (year.len(), month.len(), day.len()) == (4, 2, 2);
        let digits = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if parts.next().is_some() || !lengths || !digits {
            return None;
        }
        Self::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_existing_days_only() {
        assert_eq!(Date::parse("2027-01-31"), Date::new(2027, 1, 31));
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
