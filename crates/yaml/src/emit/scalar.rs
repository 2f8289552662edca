//! Strings: which style, and how it is folded.

use super::Emitter;
use crate::kustomize::timestamp;
use crate::scalar::{Scalar, resolve};
use crate::scalar_text::{ESCAPES, is_break};

const WIDTH: i32 = 80;

/// The longest key, in bytes, that is written without `? `.
const MAX_KEY_BYTES: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// What a text allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Analysis {
    /// Some character breaks the line.
    pub(crate) multiline: bool,
    pub(crate) plain: bool,
    pub(crate) single: bool,
    pub(crate) literal: bool,
}

/// Whether a key is short and on one line.
pub(super) fn fits_a_simple_key(key: &str) -> bool {
    key.len() <= MAX_KEY_BYTES && (is_one_word(key) || !key.contains(is_break))
}

/// Whether the bare text would read as something else than text. Numbers in base 60 are no
/// numbers to Go, but to others.
pub(crate) fn needs_quotes(text: &str) -> bool {
    resolve(text) != Scalar::Text || timestamp(text).is_some() || is_base_60(text)
}

/// `1:30`, `-1_0:59.5`.
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !text.starts_with(|c: char| c.is_ascii_digit()) || !text.contains(':') {
        return false;
    }
    let (text, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = text.split(':');
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    parts.next().is_some_and(digits)
        && digits(fraction)
        && parts.all(|part| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']))
}

/// What Go prints without an escape. Characters beyond 16 bits are not among them.
fn is_printable(c: char) -> bool {
    match c {
        '\n' | ' '..='~' => true,
        '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => false,
        c => ('\u{A0}'..'\u{10000}').contains(&c),
    }
}

/// Most texts: a name, a version, a path. Nothing in one means anything to YAML, and it has no
/// place to be folded at.
fn is_one_word(text: &str) -> bool {
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'/');
    matches!(text.as_bytes(), [first, rest @ ..]
        if first.is_ascii_alphanumeric() && rest.iter().all(|b| inside(*b)))
}

/// Examines every character once.
pub(crate) fn analyze(text: &str) -> Analysis {
    if is_one_word(text) {
        return Analysis { multiline: false, plain: true, single: true, literal: true };
    }
    let mut found = Analysis {
        multiline: false,
        plain: !text.starts_with("---") && !text.starts_with("..."),
        single: true,
        literal: true,
    };
    let mut after_blank = true;
    let (mut after_space, mut after_break) = (false, false);
    let mut i = 0;
    while let Some(c) = text[i..].chars().next() {
        let word = if i == 0 { 0 } else { neutral_bytes(&text[i..]) };
        if word > 0 {
            (after_blank, after_space, after_break) = (false, false, false);
            i += word;
            continue;
        }
        let behind = i + c.len_utf8();
        let next = text[behind..].chars().next();
        let before_blank = next.is_none_or(|c| matches!(c, ' ' | '\t'));
        let indicator = match c {
            '#' => after_blank,
            ':' => before_blank,
            '?' | '-' => i == 0 && before_blank,
            ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => i == 0,
            _ => false,
        };
        if indicator {
            found.plain = false;
        }
        if !is_printable(c) {
            (found.plain, found.single, found.literal) = (false, false, false);
        }
        let at_edge = i == 0 || next.is_none();
        if c == ' ' {
            found.plain &= !at_edge;
            found.literal &= next.is_some();
            if after_break {
                (found.plain, found.single) = (false, false);
            }
        } else if is_break(c) {
            found.multiline = true;
            found.plain = false;
            if after_space {
                (found.single, found.literal) = (false, false);
            }
            // kubectl writes a literal here that reads back with one line break more.
            found.literal &= next.is_some() || c == '\n';
        }
        after_space = c == ' ';
        after_break = is_break(c);
        after_blank = matches!(c, ' ' | '\t') || after_break;
        i = behind;
    }
    found
}

/// How many bytes at the beginning have a meaning in YAML only as the text's first byte.
fn neutral_bytes(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_graphic() && !matches!(b, b':' | b'#')).count()
}

/// How many bytes at a text's beginning are written as they are, without a place to fold.
fn word(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_graphic() && *b != b'\'').count()
}

fn choose(text: &str, is_key: bool) -> Style {
    if text.is_empty() {
        return Style::Double;
    }
    let allowed = analyze(text);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if needs_quotes(text) {
        Style::Double
    } else {
        Style::Plain
    };
    match wanted {
        _ if is_key && allowed.multiline => Style::Double,
        Style::Plain if allowed.plain => Style::Plain,
        Style::Plain if allowed.single => Style::Single,
        Style::Literal if allowed.literal && !is_key => Style::Literal,
        _ => Style::Double,
    }
}

impl Emitter<'_> {
    /// A string, as a key or a value.
    pub(super) fn string(&mut self, text: &str, is_key: bool) {
        // kubectl writes this key bare, and reads a merge.
        let is_merge = is_key && text == "<<";
        if is_one_word(text) && !needs_quotes(text) && !is_merge {
            self.plain(text);
            return;
        }
        let style = if is_merge { Style::Double } else { choose(text, is_key) };
        let before = self.indent;
        self.indent = if before < 0 { 2 } else { before + 2 };
        match style {
            Style::Plain => self.unquoted(text, is_key),
            Style::Single => self.single_quoted(text, is_key),
            Style::Double => self.double_quoted(text, is_key),
            Style::Literal => self.literal(text),
        }
        self.indent = before;
    }

    fn unquoted(&mut self, text: &str, is_key: bool) {
        if !self.after_space {
            self.push(" ", 1);
        }
        self.folded(text, is_key, false);
        self.after_space = false;
        self.in_indentation = false;
    }

    fn single_quoted(&mut self, text: &str, is_key: bool) {
        self.indicator("'", true, false);
        self.folded(text, is_key, true);
        self.indicator("'", false, false);
    }

    /// Writes text on one line while it fits: after the width, a single space becomes a line
    /// break. Breaks other than `\n` stay what they are.
    fn folded(&mut self, text: &str, is_key: bool, quoted: bool) {
        if is_one_word(text) {
            self.push(text, text.len());
            self.in_indentation = false;
            return;
        }
        let mut after_space = false;
        let mut after_break = false;
        let mut rest = text;
        let mut first = true;
        while let Some(c) = rest.chars().next() {
            let word = word(rest);
            if word > 0 {
                if after_break {
                    self.start_line();
                }
                self.push(&rest[..word], word);
                self.in_indentation = false;
                (after_space, after_break, first) = (false, false, false);
                rest = &rest[word..];
                continue;
            }
            rest = &rest[c.len_utf8()..];
            if c == ' ' {
                let next = rest.chars().next();
                let inside = !quoted || (!first && next.is_some());
                let foldable = !is_key && !after_space && self.column > WIDTH && inside;
                if foldable && next != Some(' ') {
                    self.start_line();
                } else {
                    self.push(" ", 1);
                }
                after_space = true;
            } else if is_break(c) {
                self.out.push(c);
                self.column = 0;
                self.in_indentation = true;
                after_break = true;
            } else {
                if after_break {
                    self.start_line();
                }
                if quoted && c == '\'' {
                    self.push("'", 1);
                }
                self.out.push(c);
                self.column += 1;
                self.in_indentation = false;
                after_space = false;
                after_break = false;
            }
            first = false;
        }
    }

    fn double_quoted(&mut self, text: &str, is_key: bool) {
        self.indicator("\"", true, false);
        // Go examines the text's beginning only, and then escapes all of it.
        let all = text.starts_with('\u{FEFF}');
        let mut after_space = false;
        let mut chars = text.chars().peekable();
        let mut first = true;
        while let Some(c) = chars.next() {
            if all || !is_printable(c) || is_break(c) || c == '"' || c == '\\' {
                self.escape(c);
                after_space = false;
            } else if c == ' ' {
                let next = chars.peek();
                let inside = !first && next.is_some();
                if !is_key && !after_space && self.column > WIDTH && inside {
                    self.start_line();
                    if next == Some(&' ') {
                        self.push("\\", 1);
                    }
                } else {
                    self.push(" ", 1);
                }
                after_space = true;
            } else {
                self.out.push(c);
                self.column += 1;
                after_space = false;
            }
            first = false;
        }
        self.indicator("\"", false, false);
    }

    fn escape(&mut self, c: char) {
        let Some((letter, _)) = ESCAPES.iter().find(|(_, own)| *own == c) else {
            let code = u32::from(c);
            let text = match code {
                0..=0xFF => format!("\\x{code:02X}"),
                0x100..=0xFFFF => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
            self.push(&text, text.len());
            return;
        };
        self.push("\\", 1);
        self.out.push(*letter);
        self.column += 1;
    }

    fn literal(&mut self, text: &str) {
        self.indicator("|", true, false);
        if text.starts_with(' ') || text.starts_with(is_break) {
            self.indicator("2", false, false);
        }
        let mut last = text.chars().rev();
        match (last.next(), last.next()) {
            (Some(end), _) if !is_break(end) => self.indicator("-", false, false),
            (_, None) => self.indicator("+", false, false),
            (_, Some(before)) if is_break(before) => self.indicator("+", false, false),
            _ => {}
        }
        self.line_break();
        self.in_indentation = true;
        self.after_space = true;
        let mut at_start = true;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let word = word(rest).max(c.len_utf8());
            let (written, behind) = rest.split_at(word);
            rest = behind;
            if is_break(c) {
                self.out.push(c);
                self.column = 0;
                self.in_indentation = true;
                at_start = true;
                continue;
            }
            if at_start {
                self.start_line();
            }
            // Columns count characters: a word's are bytes, else it is one.
            let columns = if c.is_ascii() { word } else { 1 };
            self.push(written, columns);
            self.in_indentation = false;
            at_start = false;
        }
    }
}
