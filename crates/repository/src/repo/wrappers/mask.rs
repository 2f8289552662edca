//! Masks the placeholders of a text without changing offsets.

use super::super::variables::closing as nested;
use crate::prelude::*;

/// The mark of a placeholder: an unassigned character of two bytes, so that it fits `$X`.
pub(super) const MARK: char = '\u{7fc}';

/// The template language of a text; as text who fills it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Language {
    /// Nothing.
    #[error("nothing")]
    Literal,
    /// The shell.
    #[error("the shell")]
    Shell,
    /// Jinja, as in Ansible.
    #[error("Jinja")]
    Jinja,
    /// Go's templates, as in policies.
    #[error("a template")]
    Go,
    /// Terraform's heredocs.
    #[error("Terraform")]
    Terraform,
    /// ytt's comments.
    #[error("ytt")]
    Ytt,
    /// The syntax of any build: Jinja's braces, the shell's variables, `@NAME@`.
    #[error("the tool that applies it")]
    Any,
}

/// A masked text with the original offsets.
#[derive(Debug)]
pub(super) struct Masked {
    pub(super) text: String,
    pub(super) language: Language,
    /// Unknown lines: conditional ones, and lines with only a template expression.
    pub(super) lines: Vec<Line>,
    /// The branches of conditions.
    pub(super) branches: Vec<Range<usize>>,
    /// Whether conditional parts were kept, so that `lines` are theirs.
    pub(super) is_whole: bool,
}

/// Which conditional parts of a text are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parts {
    None,
    All,
    /// This branch, and those around it.
    Branch(Range<usize>),
}

impl Parts {
    fn has(&self, branch: &Range<usize>) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Branch(one) => branch.start <= one.start && one.end <= branch.end,
        }
    }
}

/// Unknown lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The tag, for a condition the first one.
    pub(super) tag: Range<usize>,
    /// The masked range: the tag, or everything up to the end of its block.
    pub(super) covered: Range<usize>,
}

impl Line {
    /// Whether it begins a block.
    pub(super) fn is_block(&self) -> bool {
        self.covered != self.tag
    }

    /// The column and text that it inserts, if the template has them; `None` for another document.
    fn adds<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let first = line_start(text, self.tag.start);
        let lines = || {
            let all = text[first..self.covered.end].lines();
            all.map(|line| (line.len() - line.trim_start().len(), line.trim_start()))
        };
        let is_own = |line: &str| !line.is_empty() && !line.starts_with("{%") && !line.starts_with("{{");
        let own = lines().find(|(_, line)| is_own(line)).or_else(|| lines().next());
        own.filter(|(_, line)| !line.starts_with("---"))
    }
}

/// Masks placeholders, and other conditional parts than `kept`.
pub(super) fn mask(text: &str, language: Language, kept: &Parts) -> Masked {
    let is_whole = *kept == Parts::All;
    let mut out = Masked { text: text.to_owned(), language, lines: Vec::new(), branches: Vec::new(), is_whole };
    match language {
        Language::Literal => {}
        Language::Shell => shell(text, &mut out),
        Language::Jinja | Language::Go | Language::Ytt => braces(text, language, kept, &mut out),
        Language::Terraform => terraform(text, &mut out),
        Language::Any => {
            braces(text, language, kept, &mut out);
            let rest = out.text.clone();
            shell(&rest, &mut out);
            names(&rest, &mut out);
        }
    }
    // The indentation that `<<-` removes.
    if matches!(language, Language::Shell | Language::Literal | Language::Terraform) {
        out.text = tabs(&out.text);
    }
    out
}

fn tabs(text: &str) -> String {
    let line = |line: &str| {
        let rest = line.trim_start_matches('\t');
        " ".repeat(line.len() - rest.len()) + rest
    };
    text.split_inclusive('\n').map(line).collect()
}

impl Masked {
    /// Whether lines are in the object at a location, or directly after it.
    pub(super) fn is_in(&self, line: &Line, text: &str, object: &Range<usize>) -> bool {
        let tag = &line.tag;
        if object.start <= tag.start && tag.end <= object.end + 1 {
            return true;
        }
        let is_left = self.is_whole && line.is_block();
        let column = object.start - line_start(&self.text, object.start);
        !is_left
            && object.end <= tag.start
            && is_blank(&self.text[object.end..tag.start])
            && line.adds(text).is_some_and(|(at, _)| column <= at)
    }

    /// Whether lines are the whole value of a field, by the location of its key.
    pub(super) fn is_value_of(&self, line: &Line, text: &str, key: Range<usize>) -> bool {
        let Some(between) = self.text.get(key.end..line.covered.start) else {
            return false;
        };
        let column = key.start - line_start(&self.text, key.start);
        let is_below = match line.adds(text) {
            Some((at, added)) if line.is_block() => column < at || column == at && added.starts_with("- "),
            // `indent` moves it.
            _ => true,
        };
        let behind = between.trim_start_matches(['"', '\'']).trim_start();
        is_below && behind.strip_prefix(':').is_some_and(is_blank)
    }

    /// Replaces a value by a mark.
    fn value(&mut self, range: Range<usize>) {
        let length = range.len();
        let filling = |i: usize| match self.text.as_bytes()[range.start + i] {
            b'\n' => ' ',
            _ => 'x',
        };
        let filled: String = (MARK.len_utf8()..length).map(filling).collect();
        self.text.replace_range(range, &format!("{MARK}{filled}"));
    }

    /// Replaces text by blanks.
    fn blank(&mut self, range: Range<usize>) {
        let blank = |b: u8| if b == b'\n' { '\n' } else { ' ' };
        let blanks: String = self.text.as_bytes()[range.clone()].iter().map(|b| blank(*b)).collect();
        self.text.replace_range(range, &blanks);
    }
}

/// Whether a text has only comments.
fn is_blank(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.all(|line| line.is_empty() || line.starts_with('#'))
}

/// Masks what `length` finds at one of some marks.
fn each(text: &str, marks: [u8; 3], out: &mut Masked, length: impl Fn(usize) -> Option<usize>) {
    let [first, second, third] = marks;
    let mut at = 0;
    while let Some(found) = memchr::memchr3(first, second, third, &text.as_bytes()[at..]) {
        let start = at + found;
        at = start + 1;
        if let Some(length) = length(start) {
            at = start + length;
            out.value(start..at);
        }
    }
}

/// Masks `${ … }`; `$${` is a dollar sign.
fn terraform(text: &str, out: &mut Masked) {
    each(text, [b'$'; 3], out, |start| {
        let is_open = text[start..].starts_with("${") && !text[..start].ends_with('$');
        text[start..].find('}').filter(|_| is_open).map(|end| end + 1)
    });
}

/// The length of the name that a text begins with.
fn name_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// Masks `@NAME@`.
fn names(text: &str, out: &mut Masked) {
    each(text, [b'@'; 3], out, |start| {
        let rest = &text[start + 1..];
        let length = name_length(rest);
        (length > 0 && rest[length..].starts_with('@')).then_some(length + 2)
    });
}

fn shell(text: &str, out: &mut Masked) {
    each(text, [b'$', b'`', b'\\'], out, |start| {
        let rest = &text[start..];
        let closing = |open: usize, close: char| rest[open..].find(close).map(|end| open + end + 1);
        let length = match (rest.as_bytes()[0], rest.as_bytes().get(1)) {
            (b'$', Some(b'{')) => closing(2, '}'),
            (b'$', Some(b'(')) => nested(rest, '(', ')').map(|end| end + 1),
            (b'$', Some(c)) if c.is_ascii_alphabetic() || *c == b'_' => Some(1 + name_length(&rest[1..])),
            (b'`', _) => closing(1, '`').filter(|n| *n > 1),
            (b'\\', Some(b'$' | b'`' | b'\\')) => Some(2),
            _ => None,
        };
        length.filter(|length| !rest[..*length].contains('\n'))
    });
}

/// A tag of a template.
struct Tag<'t> {
    range: Range<usize>,
    /// Its first word.
    word: &'t str,
    is_value: bool,
}

fn tags(text: &str, language: Language) -> Vec<Tag<'_>> {
    let forms: &[(&'static str, &str)] = match language {
        Language::Go => &[("{{", "}}")],
        Language::Ytt => &[("#@", "\n"), ("(@", "@)")],
        _ => &[("{{", "}}"), ("{%", "%}"), ("{#", "#}")],
    };
    let mut out = Vec::new();
    let mut at = 0;
    let find = |from: usize, (open, close): (&'static str, &str)| {
        let start = from + text[from..].find(open)?;
        let end = match close {
            "\n" => text[start..].find(close).map_or(text.len(), |end| start + end),
            _ => start + text[start..].find(close)? + close.len(),
        };
        Some((start, end, open))
    };
    // Each form is searched only up to its next occurrence.
    let mut known: Vec<_> = forms.iter().map(|form| find(0, *form)).collect();
    loop {
        for (next, form) in known.iter_mut().zip(forms) {
            if next.is_some_and(|(start, ..)| start < at) {
                *next = find(at, *form);
            }
        }
        let Some((start, end, open)) = known.iter().flatten().min().copied() else {
            return out;
        };
        let behind = if open == "#@" { end } else { end - 2 };
        let inside = text[start + 2..behind].trim_matches(['-', '+']).trim();
        let inside = inside.strip_prefix("hub").unwrap_or(inside);
        let inside = inside.strip_suffix("hub").unwrap_or(inside).trim_matches('-').trim();
        let is_go = matches!(language, Language::Go);
        let word = inside.split(|c: char| c.is_whitespace() || c == '(' || c == ':').next().unwrap_or_default();
        let steers = is_go
            && (OPEN.contains(&word)
                || ["end", "else", "/*"].contains(&word)
                || inside.starts_with('$') && inside.contains(":="));
        // What ytt computes stands in place of a value.
        let is_set = || text[..start].trim_end_matches(' ').ends_with([':', '-']);
        let is_value = open == "{{" && !steers || open == "(@" || open == "#@" && is_set();
        out.push(Tag { range: start..end, word, is_value });
        at = end;
    }
}

/// The words that begin a conditional block.
const OPEN: [&str; 7] = ["if", "for", "range", "with", "define", "def", "block"];

fn braces(text: &str, language: Language, kept: &Parts, out: &mut Masked) {
    // Each with its tags up to now.
    let mut open: Vec<Vec<Range<usize>>> = Vec::new();
    for tag in tags(text, language) {
        let (range, word) = (tag.range, tag.word);
        let is_alone = |out: &Masked, from: usize| {
            let line = line_start(text, from);
            out.text[line..from].trim().is_empty()
        };
        if tag.is_value || !matches!(language, Language::Go | Language::Ytt) && word == "include" {
            let is_line = if tag.is_value {
                let before = line_start(text, range.start);
                let after = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
                text[before..after].trim() == &text[range.clone()]
            } else {
                is_alone(out, range.start)
            };
            if is_line {
                out.blank(range.clone());
                out.lines.push(Line { covered: range.clone(), tag: range });
            } else {
                out.value(range);
            }
            continue;
        }
        if OPEN.contains(&word) {
            open.push(vec![range.clone()]);
        } else if word.starts_with("el")
            && let Some(tags) = open.last_mut()
        {
            tags.push(range.clone());
        } else if word.starts_with("end")
            && let Some(mut tags) = open.pop()
        {
            tags.push(range.clone());
            let (first, covered) = (tags[0].clone(), tags[0].start..range.end);
            let mut branches = tags.windows(2).map(|two| two[0].end..two[1].start);
            // A choice between values of a field.
            if !text[covered.clone()].contains('\n') && !is_alone(out, first.start) {
                match branches.find(|branch| matches!(kept, Parts::Branch(_)) && kept.has(branch)) {
                    Some(branch) => {
                        out.blank(covered.start..branch.start);
                        out.blank(branch.end..covered.end);
                    }
                    None => out.value(covered.clone()),
                }
                // Blanks around a branch would be part of a quoted value.
                if text[..covered.start].ends_with(": ")
                    && text[covered.end..].trim_start_matches(' ').starts_with('\n')
                {
                    out.branches.extend(tags.windows(2).map(|two| two[0].end..two[1].start));
                }
                continue;
            }
            for branch in branches {
                if !kept.has(&branch) {
                    out.blank(branch.clone());
                }
                out.branches.push(branch);
            }
            if open.is_empty() {
                if *kept == Parts::None {
                    out.lines.retain(|line| line.tag.start < first.start);
                }
                out.lines.push(Line { tag: first, covered });
            }
        }
        out.blank(range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masking_keeps_every_offset() {
        for (text, language) in [
            ("a: $B-${C}x `d` $(e (f)) \\$g $1 $", Language::Shell),
            ("a: {{ b }}\n{{ c }}\n{% if d %}\ne: 1\n{% else %}\n{% endif %}\n", Language::Jinja),
            ("{{- range $a := b }}\n- c: '{{hub d hub}}'\n{{- end }}\n", Language::Go),
            ("{{ {% {#", Language::Jinja),
            ("{{}}é{{é\né}}", Language::Go),
            ("a: {% if é %}b{% else %}{{ c }}{% endif %}\nd: {% include 'e' %}\n", Language::Jinja),
            ("a: ${b}-$${c}\nd: ${", Language::Terraform),
            ("a: {{ b }}-${C}\nd: @E@\nf: @", Language::Any),
            ("#@ if a:\nb: #@ é\n#@ else:\nb: x(@= c @)\n#@ end\nd: #@ e", Language::Ytt),
        ] {
            for kept in [Parts::None, Parts::All] {
                let masked = mask(text, language, &kept);
                assert_eq!(masked.text.len(), text.len(), "{text}");
                let breaks = |t: &str| t.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
                assert!(breaks(&masked.text).iter().all(|b| breaks(text).contains(b)));
            }
        }
        let masked = mask("a: {{ b }}", Language::Jinja, &Parts::None).text;
        assert_eq!(masked, format!("a: {MARK}xxxxx"));
    }
}
