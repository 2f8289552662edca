//! Documents open in the editor. Their text takes precedence over the files.

use crate::prelude::*;
use lsp_types::TextDocumentContentChangeEvent;

use super::address;
use super::places::{Encoding, Lines, MARK};

/// An open document.
#[derive(Debug, Clone)]
pub(super) struct Open {
    /// Its URI, as the editor writes it.
    pub(super) address: String,
    /// The editor's version number.
    pub(super) version: i32,
    /// The editor's text.
    pub(super) text: String,
}

impl Open {
    /// Whether the editor's text starts with a byte order mark.
    pub(super) fn is_marked(&self) -> bool {
        self.text.starts_with(MARK)
    }

    /// Applies a change of a range or of the whole text.
    fn change(&mut self, change: TextDocumentContentChangeEvent, encoding: Encoding) {
        let Some(range) = change.range else {
            self.text = change.text;
            return;
        };
        let lines = Lines::new(&self.text, encoding);
        let (start, end) = (lines.offset(range.start), lines.offset(range.end));
        self.text.replace_range(start..end.max(start), &change.text);
    }
}

/// The open documents by path.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<Utf8PathBuf, Open>);

impl Documents {
    /// Opens a document; returns its path if it is a local file.
    pub(super) fn open(&mut self, open: Open) -> Option<Utf8PathBuf> {
        let path = address::to_path(&open.address)?;
        self.0.insert(path.clone(), open);
        Some(path)
    }

    /// Changes a document; `None` if it isn't open.
    pub(super) fn change(
        &mut self,
        address: &str,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> Option<Utf8PathBuf> {
        let path = address::to_path(address)?;
        let open = self.0.get_mut(&path)?;
        for change in changes {
            open.change(change, encoding);
        }
        open.version = version;
        Some(path)
    }

    /// Closes a document; `None` if it isn't open.
    pub(super) fn close(&mut self, address: &str) -> Option<Utf8PathBuf> {
        let path = address::to_path(address)?;
        self.0.remove(&path).map(|_| path)
    }

    /// The document at a path.
    pub(super) fn at(&self, path: &Utf8Path) -> Option<&Open> {
        self.0.get(path)
    }

    /// All open documents with their paths.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Utf8Path, &Open)> {
        self.0.iter().map(|(path, open)| (path.as_path(), open))
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range};

    use super::*;

    fn change(range: Option<(u32, u32, u32, u32)>, text: &str) -> TextDocumentContentChangeEvent {
        let range = range.map(|(a, b, c, d)| Range::new(Position::new(a, b), Position::new(c, d)));
        TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }
    }

    #[test]
    fn changes_are_made_one_after_the_other() {
        let mut documents = Documents::default();
        let path =
            documents
                .open(Open { address: "file:///a.yaml".to_owned(), version: 1, text: "a: 😀\nb: 2\n".to_owned() });
        let path = path.expect("a file");
        let changes = vec![
            change(Some((0, 5, 0, 5)), "!"),
            change(Some((0, 3, 0, 5)), "x"),
            change(Some((1, 3, 9, 9)), "3"),
            // A backward range, which clients should not send.
            change(Some((0, 1, 0, 0)), "b"),
        ];
        let changed = documents.change("file:///a.yaml", 2, changes, Encoding::Utf16);
        assert_eq!(changed.as_deref(), Some(&*path));
        let open = documents.at(&path).expect("open");
        assert_eq!((open.version, open.text.as_str()), (2, "ab: x!\nb: 3"));
        let whole = vec![change(None, "c"), change(Some((0, 1, 0, 1)), "d")];
        documents.change("file:///%61.yaml", 3, whole, Encoding::Utf16);
        assert_eq!(documents.at(&path).map(|o| o.text.as_str()), Some("cd"));
        assert!(documents.close("file:///a.yaml").is_some());
        assert!(documents.close("file:///a.yaml").is_none());
        let nobody = documents.change("file:///a.yaml", 4, Vec::new(), Encoding::Utf16);
        assert_eq!(nobody, None);
    }
}
