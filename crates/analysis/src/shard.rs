//! `--shard I/N`: one of several parts of the clusters.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// A part of the clusters, assigned by a hash of the name: a cluster stays in its shard when others are added or
/// removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Starts at one.
    pub index: u64,
    /// The number of shards.
    pub of: u64,
}

impl Shard {
    /// Whether a cluster belongs to it: by the first eight bytes of the SHA-256 of its name.
    pub fn has(self, cluster: &str) -> bool {
        let digest = Sha256::digest(cluster.as_bytes());
        let first = digest.iter().take(8);
        let number = first.fold(0, |n: u64, byte| (n << 8) | u64::from(*byte));
        number % self.of == self.index - 1
    }

    /// Whether it reports findings without a cluster.
    pub fn is_first(self) -> bool {
        self.index == 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || "write I/N, as in 1/4: the first of four parts".to_owned();
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        let number = |t: &str| t.parse::<u64>().ok().filter(|n| (1..=100_000).contains(n));
        let (index, of) = number(index).zip(number(of)).ok_or_else(wrong)?;
        if index <= of { Ok(Self { index, of }) } else { Err(format!("there are {of} parts, counted from 1")) }
    }
}
