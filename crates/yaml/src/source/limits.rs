//! How much is read before it is refused.
//!
//! The limits belong to the process, as those of `ulimit` do: whoever reads, or reads again, keeps to
//! the same ones. The command line sets them once, before anything is read.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// How much is read before it is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file, and of what its aliases add. Default: 64 MiB. A manifest has kilobytes; a dump
    /// of a thousand nodes has thirty megabytes. The limit keeps a stray archive from taking all memory.
    pub max_bytes: usize,
    /// Bytes of all files of a repository that are looked into, which bounds what is kept of them.
    /// Default: 4 GiB.
    pub max_total: u64,
    /// Documents of one file. Default: 100,000.
    pub max_documents: usize,
    /// Keys and values of one file, which bounds the memory. Default: 6,000,000.
    pub max_nodes: usize,
    /// Nested collections. kubectl stops at 10,000; no schema of Kubernetes goes beyond 100.
    /// Default: 255.
    pub max_depth: usize,
    /// Nodes that aliases may add to one document. Default: 400,000, above which Go allows
    /// fewer and fewer.
    pub max_alias_nodes: usize,
    /// Findings of a run. Default: no limit.
    pub max_findings: usize,
}

impl Limits {
    /// Where nothing else is said.
    pub const DEFAULT: Self = Self {
        max_bytes: 64 << 20,
        max_total: 4 << 30,
        max_documents: 100_000,
        max_nodes: 6_000_000,
        max_depth: 255,
        max_alias_nodes: 400_000,
        max_findings: usize::MAX,
    };

    /// The largest file that can be allowed: places in a file are counted in 32 bits.
    pub const MOST_BYTES: usize = u32::MAX as usize;

    /// The deepest nesting that can be allowed: what walks a document calls itself once a level.
    pub const MOST_DEPTH: usize = 1000;

    /// The limits of this process.
    pub fn current() -> &'static Self {
        LIMITS.get_or_init(|| Self::DEFAULT)
    }

    /// Sets the limits of this process; `false` when something was read already.
    pub fn set(self) -> bool {
        LIMITS.set(self).is_ok()
    }
}

static LIMITS: OnceLock<Limits> = OnceLock::new();

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A limit that was reached, and the argument that raises it: the same words everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitReached {
    /// What there is more of: `100 documents`.
    pub what: &'static str,
    /// The limit.
    pub limit: usize,
    /// The argument.
    pub flag: &'static str,
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, limit, flag } = self;
        write!(f, "more than {limit} {what}, the limit ({flag} raises it)")
    }
}

/// A number of bytes as people write it: `64MiB`, `64Mi`, `100`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u32); 3] = [("Gi", 30), ("Mi", 20), ("Ki", 10)];

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, shift): &&(&str, u32)| self.0 >> shift << shift == self.0;
        match UNITS.iter().find(whole).filter(|_| self.0 > 0) {
            Some((unit, shift)) => write!(f, "{} {unit}B", self.0 >> shift),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write a number of bytes, or one with KiB, MiB or GiB, as in 64MiB".to_owned();
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let unit = text.get(digits.len()..).unwrap_or_default().trim_start();
        let shift = match unit.strip_suffix('B').unwrap_or(unit) {
            "" => 0,
            unit => UNITS.iter().find(|u| u.0 == unit).ok_or_else(wrong)?.1,
        };
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        let bytes = number.checked_mul(1 << shift).filter(|n| *n > 0);
        bytes.map(Self).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_are_written() {
        for (text, bytes) in
            [("1", 1), ("100B", 100), ("2KiB", 2 << 10), ("64Mi", 64 << 20), ("64 MiB", 64 << 20), ("3GiB", 3 << 30)]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
            assert_eq!(Bytes(bytes).to_string().replace(" bytes", "").parse(), Ok(Bytes(bytes)));
        }
        assert_eq!(Bytes(3 << 30).to_string(), "3 GiB");
        assert_eq!(Bytes(1025).to_string(), "1025 bytes");
        for text in ["", "0", "MiB", "1.5MiB", "-1", "1MB", "1M", "1 TiB", "99999999999GiB", "1KiBB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
