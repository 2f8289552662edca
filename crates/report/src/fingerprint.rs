//! GitHub's hash that recognises a moved line.

use crate::prelude::*;

/// Number of characters in a line's hash.
const BLOCK: usize = 100;
const MULTIPLIER: u64 = 37;
/// GitHub's marker for the end of the file.
const END: u64 = 65535;

/// GitHub's `primaryLocationLineHash` of every line: a rolling hash over 100 UTF-16 units from the line's start without
/// spaces and tabs, with normalised line breaks, and a count of equal hashes before it. The upload action computes the
/// same and warns about differences.
pub(super) fn line_hashes(file: &SourceFile) -> Vec<String> {
    let text = file.text().replace("\r\n", "\n").replace('\r', "\n");
    let mut units: Vec<(u64, bool)> = Vec::new();
    let mut at_line_start = true;
    for unit in text.encode_utf16() {
        let starts = at_line_start;
        at_line_start = unit == u16::from(b'\n');
        if unit == u16::from(b' ') || unit == u16::from(b'\t') {
            // White space isn't hashed, but a line may start with it.
            at_line_start = at_line_start || starts;
            continue;
        }
        units.push((u64::from(unit), starts));
    }
    units.push((END, at_line_start));
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    let mut hashes = Vec::new();
    for (at, (_, starts)) in units.iter().enumerate() {
        if !starts {
            continue;
        }
        let mut hash: u64 = 0;
        for offset in 0..BLOCK {
            // The end marker is followed by zeros.
            let unit = units.get(at + offset).map_or(0, |(u, _)| *u);
            hash = hash.wrapping_mul(MULTIPLIER).wrapping_add(unit);
        }
        let count = counts.entry(hash).or_default();
        *count += 1;
        hashes.push(format!("{hash:x}:{count}"));
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_fingerprints_as_githubs_action_does() {
        let hashes = |text: &str| line_hashes(&SourceFile::new("a", text));
        assert_eq!(hashes(""), ["c129715d7a2bc9a3:1"]);
        let want = ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"];
        assert_eq!(hashes(" a\nb\n  \t\tc\n d"), want);
        let long = format!("{}\r\ny\né", "x".repeat(150));
        let want = ["52b56201ffb58620:1", "71a13d076245581b:1", "27b31dc6a609eecc:1"];
        assert_eq!(hashes(&long), want);
    }

    #[test]
    fn one_hash_per_line_and_repeats_are_counted() {
        let file = SourceFile::new("a", "a: 1\nb: 2\n");
        assert_eq!(line_hashes(&file).len(), 3);
        let long = "x".repeat(200);
        let file = SourceFile::new("a", format!("{long}\n{long}\n"));
        let hashes = line_hashes(&file);
        assert!(hashes[0].ends_with(":1") && hashes[1].ends_with(":2"), "{hashes:?}");
    }

    #[test]
    fn ignores_white_space() {
        let one = SourceFile::new("a", "a:  1\n\tb: 2\r\n");
        let two = SourceFile::new("a", "a: 1\nb:2\n");
        assert_eq!(line_hashes(&one), line_hashes(&two));
    }
}
