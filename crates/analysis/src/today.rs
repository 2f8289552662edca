//! The current date; nothing else in the analysis reads a clock.

use hcoplan_lint::Date;

/// Today in UTC: suppressions and baseline entries may expire.
pub fn today() -> Date {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Date::of_unix_seconds(since_1970.map_or(0, |d| d.as_secs()))
}
