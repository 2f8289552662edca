//! The limits of what is read. They are constant, so that each reading has the same result.

use std::fmt;

/// How much is read before it is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file, and of what its aliases add. A manifest has kilobytes; a dump of a thousand nodes has thirty
    /// megabytes. The limit keeps a stray archive from taking all memory.
    pub max_bytes: usize,
    /// Bytes of all files of a repository that are searched, which bounds what is kept of them.
    pub max_total: u64,
    /// Documents of one file.
    pub max_documents: usize,
    /// Keys and values of one file, which bounds the memory.
    pub max_nodes: usize,
    /// Nested collections. kubectl stops at 10,000; no schema of Kubernetes goes beyond 100.
    pub max_depth: usize,
    /// Nodes that aliases may add to one document. Go allows fewer and fewer above 400,000.
    pub max_alias_nodes: usize,
}

impl Limits {
    /// The limits of every run.
    pub const DEFAULT: Self = Self {
        max_bytes: 64 << 20,
        max_total: 4 << 30,
        max_documents: 100_000,
        max_nodes: 6_000_000,
        max_depth: 255,
        max_alias_nodes: 400_000,
    };
}

/// That there is more of something than the limit: `more than 100 documents, the limit`.
pub fn above_limit(limit: usize, what: &str) -> String {
    format!("more than {limit} {what}, the limit")
}

/// A number of bytes as people write it: `64 MiB`, `100 bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u32); 3] = [("Gi", 30), ("Mi", 20), ("Ki", 10)];

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, shift)| self.0 >> shift << shift == self.0).filter(|_| self.0 > 0) {
            Some((unit, shift)) => write!(f, "{} {unit}B", self.0 >> shift),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_bytes_in_the_largest_whole_unit() {
        for (bytes, text) in
            [(0, "0 bytes"), (1025, "1025 bytes"), (2 << 10, "2 KiB"), (64 << 20, "64 MiB"), (3 << 30, "3 GiB")]
        {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
