//! JSON with invisible characters escaped, so that names of files are shown whole and can't control a terminal.

use crate::prelude::*;
use hcoplan_diagnostics::secret::is_invisible_or_control;
use serde::Serialize;

/// A writer that escapes invisible characters of JSON without changing its meaning.
#[derive(Debug)]
pub struct VisibleJson<W>(pub W);

impl<W: Write> Write for VisibleJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The serialiser writes whole characters, and non-ASCII ones only within strings.
        match std::str::from_utf8(bytes) {
            Ok(text) if !bytes.is_ascii() || bytes.contains(&0x7f) => self.0.write_all(visible(text).as_bytes())?,
            _ => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes JSON as indented text with a final line break.
pub(super) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(VisibleJson(&mut *out), document)?;
    writeln!(out)
}

/// JSON as indented text with a final line break.
pub fn text(document: &Value) -> String {
    visible(&format!("{document:#}\n"))
}

/// JSON text with invisible characters escaped.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_whitespace() || !is_invisible_or_control(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_invisible_characters_without_changing_the_json() {
        let value = serde_json::json!({"a\u{202e}": "é\u{200b}\u{e0041}\u{7f}\u{85}\n\t\"漢"});
        let mut out = Vec::new();
        serde_json::to_writer_pretty(VisibleJson(&mut out), &value).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.chars().any(|c| c != '\n' && is_invisible_or_control(c)), "{text}");
        assert!(text.contains("é\\u200b\\udb40\\udc41\\u007f\\u0085"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert_eq!(visible(&value.to_string()).parse::<Value>().unwrap(), value);
    }
}
