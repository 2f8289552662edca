//! What a checkout makes of the bytes that git stores: `.gitattributes`.

use camino::{Utf8Path, Utf8PathBuf};
use ignore::gitignore::Gitignore;

use super::{Revision, Walk};

/// The attributes that make a checkout differ from what is stored.
const NAMES: [&str; 3] = ["working-tree-encoding=", "eol=crlf", "ident"];

/// The attributes of a revision, by directory.
#[derive(Debug)]
pub(super) struct Attributes(Vec<(Utf8PathBuf, &'static str, Gitignore)>);

impl Attributes {
    pub(super) fn of(revision: &Revision) -> Self {
        let files = revision.entries.iter().filter(|(path, _)| path.file_name() == Some(".gitattributes"));
        let texts = files.filter_map(|(path, entry)| Some((path.parent()?, revision.object(&entry.object).ok()?)));
        let of_text = |(directory, bytes): (&Utf8Path, Vec<u8>)| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let named = move |name: &'static str| {
                let has = |line: &&str| line.split_whitespace().skip(1).any(|word| word.starts_with(name));
                let patterns = text.lines().filter(has).filter_map(|line| line.split_whitespace().next());
                let walk = Walk { ignore: patterns.map(str::to_owned).collect(), ..Walk::default() };
                (!walk.ignore.is_empty()).then(|| Some((directory.to_owned(), name, walk.matcher().ok()?))).flatten()
            };
            NAMES.into_iter().filter_map(named).collect::<Vec<_>>()
        };
        Self(texts.flat_map(of_text).collect())
    }

    /// Whether a file has an attribute.
    pub(super) fn has(&self, path: &Utf8Path, name: &str) -> bool {
        let is_meant = |(directory, own, matcher): &(Utf8PathBuf, &str, Gitignore)| {
            let below = path.strip_prefix(directory).ok();
            *own == name && below.is_some_and(|below| matcher.matched(below, false).is_ignore())
        };
        self.0.iter().any(is_meant)
    }
}

/// With `$Id$` filled in, as git does it: the name of the stored content.
pub(super) fn with_ident(bytes: &[u8], object: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains("$Id$") { text.replace("$Id$", &format!("$Id: {object} $")).into_bytes() } else { bytes.to_vec() }
}

/// With Windows' line ends; git leaves alone what has some already, or looks binary.
pub(super) fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    if bytes.contains(&0) || bytes.windows(2).any(|two| two == b"\r\n") {
        return bytes.to_vec();
    }
    let ends = bytes.iter().flat_map(|byte| if *byte == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(byte) });
    ends.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_what_a_checkout_has() {
        assert_eq!(with_ident(b"a: $Id$\n", "c0ffee"), b"a: $Id: c0ffee $\n");
        assert_eq!(with_ident(b"a: $Id: old $\n", "c0ffee"), b"a: $Id: old $\n");
        assert_eq!(with_crlf(b"a\nb\n"), b"a\r\nb\r\n");
        assert_eq!(with_crlf(b"a\r\nb\n"), b"a\r\nb\n");
        assert_eq!(with_crlf(b"a\0\n"), b"a\0\n");
    }
}
