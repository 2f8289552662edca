//! Documents as Kubernetes reads them, one line of JSON each, so that anybody can look.

use std::io::{self, Write};

use serde_json::Value as Json;

use super::number::go_json;
use super::parse::Parsed;

/// Writes one line for each document that could be read. Keys are sorted, numbers are as Go
/// prints them (`1e+21`).
///
/// # Errors
/// Those of the writer.
pub fn write_lines(parsed: &Parsed, out: &mut dyn Write) -> io::Result<()> {
    for document in &parsed.documents {
        writeln!(out, "{}", json_line(&document.root.to_json()))?;
    }
    Ok(())
}

/// A tree on one line, with numbers as Go prints them.
pub fn json_line(value: &Json) -> String {
    let mut line = String::new();
    write_value(value, &mut line);
    line
}

fn write_value(value: &Json, out: &mut String) {
    match value {
        Json::Number(number) => out.push_str(&go_json(number)),
        Json::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Json::Object(entries) => {
            out.push('{');
            for (i, (key, value)) in entries.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Json::String(key.clone()).to_string());
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::source::SourceFile;

    #[test]
    fn one_line_each() {
        let text = "b: 1e21\na: [0777, 1.0, yes, ~, \"x\\n\"]\n---\n# nothing\n---\nc: 12345678901234567890\n";
        let mut out = Vec::new();
        write_lines(&parse(&SourceFile::new("f.yaml", text)), &mut out).unwrap();
        let expected = "{\"a\":[511,1,true,null,\"x\\n\"],\"b\":1e+21}\n{\"c\":12345678901234567000}\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
