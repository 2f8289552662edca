//! Parses a section of a rule's page into blocks and quotes.

use super::files::file_name;

/// A fenced block.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// `yaml`, `sh`, `dockerfile`, `text`, `console`.
    pub(super) language: String,
    pub(super) lines: Vec<String>,
}

/// A part of a page.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    pub(super) blocks: Vec<Block>,
    /// The quoted findings: lines with `> `, separated by empty lines.
    pub(super) quotes: Vec<String>,
    /// The remaining text.
    pub(super) prose: String,
}

impl Section {
    /// The section with a heading.
    pub(super) fn of(page: &str, heading: &str) -> Self {
        let mut lines = page.lines().skip_while(|l| l.strip_prefix("## ") != Some(heading));
        lines.next();
        Self::read(lines.take_while(|l| !l.starts_with("## ")))
    }

    fn read<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        let mut out = Self::default();
        let mut open: Option<Block> = None;
        let mut quoting = false;
        for line in lines {
            match (line.strip_prefix("```"), &mut open) {
                (Some(_), Some(_)) => out.blocks.extend(open.take()),
                (Some(language), None) => {
                    let language = language.to_owned();
                    let lines = Vec::new();
                    open = Some(Block { language, lines });
                }
                (None, Some(block)) => block.lines.push(line.to_owned()),
                (None, None) => match (line.strip_prefix("> "), quoting) {
                    (Some(more), true) => {
                        let quote = out.quotes.last_mut().expect("one is open");
                        quote.push(' ');
                        quote.push_str(more);
                    }
                    (Some(message), false) => out.quotes.push(message.to_owned()),
                    (None, _) => {
                        out.prose.push_str(line);
                        out.prose.push('\n');
                    }
                },
            }
            quoting = open.is_none() && line.starts_with("> ");
        }
        out
    }

    /// The alternatives of a remedy: each paragraph that starts with "Or" starts another.
    pub(super) fn ways(page: &str, heading: &str) -> Vec<Self> {
        let mut ways: Vec<Vec<&str>> = vec![Vec::new()];
        let mut lines = page.lines().skip_while(|l| l.strip_prefix("## ") != Some(heading));
        lines.next();
        let (mut is_block, mut is_empty) = (false, true);
        for line in lines.take_while(|l| !l.starts_with("## ")) {
            if is_empty && !is_block && ["Or ", "Or,"].iter().any(|or| line.starts_with(or)) {
                ways.push(Vec::new());
            }
            is_block ^= line.starts_with("```");
            is_empty = line.is_empty();
            ways.last_mut().expect("one at least").push(line);
        }
        ways.into_iter().map(|w| Self::read(w.into_iter())).collect()
    }

    /// The release of the section: "Release 1.17".
    pub(super) fn release(&self) -> Option<&str> {
        let (_, after) = self.prose.split_once("Release ")?;
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '.');
        let name = &after[..end.unwrap_or(after.len())];
        Some(name.trim_end_matches('.')).filter(|n| n.starts_with("1."))
    }

    /// Blocks of files. The command line's tests run the pages' commands.
    pub(super) fn files(&self) -> impl Iterator<Item = &Block> {
        let is_named = |b: &Block| b.lines.first().is_some_and(|l| file_name(l).is_some());
        let is_file = move |b: &&Block| match b.language.as_str() {
            "console" => false,
            "sh" => is_named(b),
            _ => true,
        };
        self.blocks.iter().filter(is_file)
    }
}
