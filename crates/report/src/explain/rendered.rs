//! A page of markdown as a document, for a terminal: headings, paragraphs, lists, tables and code.

use crate::document::{Block, Document, Text};

/// A page as a document.
pub fn document(markdown: &str) -> Document {
    let mut out = Vec::new();
    // Its indentation, and its text.
    let mut paragraph = (0, String::new());
    let mut code: Option<String> = None;
    for line in markdown.lines() {
        if let Some(text) = &mut code {
            if line.trim_start().starts_with("```") {
                out.push(Block::Code(code.take().unwrap_or_default()));
            } else {
                text.push_str(line);
                text.push('\n');
            }
            continue;
        }
        let item = line.trim_start().strip_prefix("- ");
        let starts = item.is_some() || line.starts_with(['#', '|', '>']) || line.trim_start().starts_with("```");
        let indent = line.len() - line.trim_start().len();
        let goes_on = match &paragraph {
            (own, text) if text.starts_with("- ") => indent > *own,
            (0, _) => indent == 0,
            // A field's page has a fact a line, and its next line is indented.
            (own, text) => indent > *own && !text.ends_with(':'),
        };
        if line.trim().is_empty() || starts || !goes_on {
            flush(&mut paragraph, &mut out);
        }
        if line.trim_start().starts_with("```") {
            code = Some(String::new());
        } else if let Some(title) = line.strip_prefix('#') {
            out.push(Block::Heading(2, styled(title.trim_start_matches('#').trim())));
        } else if let Some(cells) = line.strip_prefix('|') {
            let cells: Vec<&str> = cells.trim_end_matches('|').split('|').map(str::trim).collect();
            if !cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':'))) {
                out.push(Block::List(vec![Text::join(cells.iter().map(|cell| styled(cell)), "  ")]));
            }
        } else if line.trim().is_empty() {
            let is_open = !matches!(out.last(), None | Some(Block::Heading(..)));
            out.extend(is_open.then(|| Block::Paragraph(Text::new())));
        } else if item.is_some() {
            paragraph = (indent, line.trim_start().to_owned());
        } else if paragraph.1.is_empty() {
            paragraph = (indent, line.trim_start_matches("> ").trim().to_owned());
        } else {
            paragraph.1 += " ";
            paragraph.1 += line.trim_start_matches("> ").trim();
        }
    }
    flush(&mut paragraph, &mut out);
    Document { blocks: out, ..Document::default() }
}

fn flush(paragraph: &mut (usize, String), out: &mut Vec<Block>) {
    let (indent, text) = std::mem::take(paragraph);
    match text.strip_prefix("- ") {
        Some(item) => out.push(Block::List(vec![Text::from("• ").then(styled(item))])),
        None if text.is_empty() => {}
        None if indent > 0 => out.push(Block::List(vec![styled(&text)])),
        None => out.push(Block::Paragraph(styled(&text))),
    }
}

/// Inline code, strong words and links.
fn styled(line: &str) -> Text {
    let mut out = Text::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '*', '[']) {
        let (before, found) = rest.split_at(at);
        let (text, after) = match piece(found) {
            Some((text, after)) => (text, after),
            None => {
                let end = found.chars().next().map_or(0, char::len_utf8);
                (Text::from(&found[..end]), &found[end..])
            }
        };
        out = out.plain(before).then(text);
        rest = after;
    }
    out.plain(rest)
}

/// A styled piece at the start of a text, and what follows it.
fn piece(text: &str) -> Option<(Text, &str)> {
    if let Some(inner) = text.strip_prefix('`') {
        let (code, rest) = inner.split_once('`')?;
        return Some((Text::new().code(code), rest));
    }
    if let Some(inner) = text.strip_prefix("**") {
        let (words, rest) = inner.split_once("**")?;
        return Some((Text::new().strong(words), rest));
    }
    let (words, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (address, rest) = rest.split_once(')')?;
    let is_web = address.starts_with("http");
    let words = words.trim_matches('`');
    Some((if is_web { Text::new().address(words, address) } else { Text::from(words) }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{Terminal, print};

    #[test]
    fn renders_marks_as_styles() {
        let page = "# title\n\nOne **strong** word, `code` and [a page](https://a.example).\n\n- an item\n  goes on\n\n```yaml\na: 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 * 3 |\n\nSpec.field (v1)\n  integer\n  a fact that\n    goes on\n\n  Default:\n    1.18: none\n    1.19: 2\n";
        let text = print(&document(page), Terminal { width: 40, wraps: true, ..Terminal::default() });
        assert!(!text.contains(['#', '`', '|']) && !text.contains("**"), "{text}");
        for part in [
            "title\n",
            "  • an item goes on\n",
            "    a: 1\n",
            " 2 * 3",
            "\n  integer\n  a fact that goes on\n",
            ":\n  1.18: none\n  1.19: 2\n",
            "(https://a.example)",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }
}
