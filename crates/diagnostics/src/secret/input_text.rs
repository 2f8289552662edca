//! Text from the input, escaped for the output.

use crate::prelude::*;
pub use hcoplan_yaml::is_invisible_or_control;
use std::borrow::Cow;

use super::mask_text;

/// Text that came from input, whole or in part: names of files, directories and clusters, fields, values, and
/// messages with any of these in them. It is masked first and then escaped for its destination,
/// which reads it as text and nothing else.
#[derive(Debug, Clone)]
pub struct InputText<'t>(Cow<'t, str>);

impl<'t> InputText<'t> {
    /// Masks the text.
    pub fn new(text: &'t str) -> Self {
        Self(mask_text(text))
    }

    /// For a terminal, a log, a YAML comment, or code that escapes HTML itself: on one line. Breaks become
    /// blanks, control characters become their code, and no part of the line is a workflow command, which
    /// GitHub searches in every line of a log.
    pub fn line(self) -> Cow<'t, str> {
        if !self.0.chars().any(is_invisible_or_control) && !has_command(&self.0) {
            return self.0;
        }
        let mut out = visible(&self.0, |c| match c {
            '\n' => Some(" "),
            '\r' => Some(""),
            '\t' => Some("\t"),
            _ => None,
        });
        if has_command(&out) {
            out = without_commands(&out);
        }
        Cow::Owned(out)
    }

    /// For several lines on a terminal or in a log: as [`Self::line`], with the breaks of the message.
    pub fn lines(self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for line in self.0.split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            out.push_str(&InputText(text.into()).line());
            out.push_str(&line[text.len()..]);
        }
        out
    }

    /// For Markdown, in a paragraph or a table's cell: no HTML, no link, no mention, and no markup except
    /// code between backticks, in which nothing has an effect.
    pub fn markdown(self) -> String {
        let text = self.line();
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(start) = text[at..].find('`').map(|n| at + n) {
            push_text(&text, at..start, &mut out);
            let fence = run_of_backticks(&text[start..]);
            at = match closing(&text[start + fence..], fence) {
                Some(length) => {
                    let end = start + fence + length + fence;
                    out.push_str(&text[start..end].replace('|', "\\|"));
                    end
                }
                None => {
                    out.push_str(&"\\`".repeat(fence));
                    start + fence
                }
            };
        }
        push_text(&text, at..text.len(), &mut out);
        out
    }

    /// For Markdown as code, also in a table's cell: after a fence longer than any run of backticks inside.
    pub fn markdown_code(self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let text = self.line().replace('|', "\\|");
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest + 1);
        match longest {
            0 => format!("{fence}{text}{fence}"),
            _ => format!("{fence} {text} {fence}"),
        }
    }

    /// For the message of a GitHub workflow command.
    pub fn workflow_message(self) -> String {
        visible(&self.0, |c| match c {
            '%' => Some("%25"),
            '\r' => Some("%0D"),
            '\n' => Some("%0A"),
            '\t' => Some("\t"),
            _ => None,
        })
    }

    /// For a property of a GitHub workflow command.
    pub fn workflow_property(self) -> String {
        let text = self.workflow_message();
        text.replace(':', "%3A").replace(',', "%2C")
    }

    /// For XML, in an attribute or between tags. Breaks stay.
    pub fn xml(self) -> String {
        visible(&self.0, |c| match c {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '>' => Some("&gt;"),
            '"' => Some("&quot;"),
            '\n' => Some("\n"),
            '\t' => Some("\t"),
            // XML has no place for these, not even as references.
            '\u{fffe}' | '\u{ffff}' => Some(""),
            _ => None,
        })
    }

    /// For a message of a report that another program shows: breaks stay, control characters are escaped.
    pub fn message(self) -> Cow<'t, str> {
        match escape_invisible(&self.0) {
            Cow::Owned(text) => text.into(),
            Cow::Borrowed(_) => self.0,
        }
    }

    /// For a message of SARIF, in which `[text](target)` is a link (SARIF 2.1.0, 3.11.6).
    pub fn sarif(self) -> Cow<'t, str> {
        match self.message() {
            text if text.contains("](") => text.replace('[', "\\[").replace(']', "\\]").into(),
            text => text,
        }
    }
}

/// A finished text with invisible characters escaped; its lines stay.
pub fn escape_invisible(text: &str) -> Cow<'_, str> {
    let kept = |c: char| match c {
        '\n' => Some("\n"),
        '\t' => Some("\t"),
        _ => None,
    };
    if text.chars().any(|c| kept(c).is_none() && is_invisible_or_control(c)) {
        visible(text, kept).into()
    } else {
        text.into()
    }
}

/// A text in which some characters are written otherwise, and of the others the invisible ones as their codes.
fn visible(text: &str, written: impl Fn(char) -> Option<&'static str>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match written(c) {
            Some(text) => out.push_str(text),
            None if is_invisible_or_control(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            None => out.push(c),
        }
    }
    out
}

/// Whether a runner could read a command in a line: `::` where a word begins (text may be
/// wrapped there), or the older `##[` anywhere.
fn has_command(line: &str) -> bool {
    line.starts_with("::") || ["##[", " ::", "\t::"].iter().any(|c| line.contains(c))
}

fn without_commands(line: &str) -> String {
    let mut out = line.replace("##[", "#\\u{23}[");
    for blank in [" ", "\t"] {
        out = out.replace(&format!("{blank}::"), &format!("{blank}\\u{{3a}}:"));
    }
    if out.starts_with("::") {
        out.replace_range(..1, "\\u{3a}");
    }
    out
}

/// A part of a text that isn't code, for Markdown.
fn push_text(text: &str, part: Range<usize>, out: &mut String) {
    for (n, c) in text[part.clone()].char_indices() {
        let at = part.start + n;
        match c {
            '|' | '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '~' | '$' => {
                out.extend(['\\', c]);
                // GitLab's labels and snippets.
                out.extend(
                    Some("&#8203;").filter(|_| "~$".contains(c) && next_is(text, at, char::is_ascii_alphanumeric)),
                );
            }
            '&' if next_is(text, at, char::is_ascii_digit) => out.push_str("&amp;&#8203;"),
            '&' => out.push_str("&amp;"),
            // Forges search the rendered Markdown for mentions and issues: an escape doesn't help,
            // a zero-width space does.
            '#' => out.push_str("\\#&#8203;"),
            '@' => out.push_str("&#64;&#8203;"),
            ':' if text[at..].starts_with("://") => out.push_str(":&#8203;"),
            '.' if ends_with_www(&text[..at]) => out.push_str("&#8203;."),
            '!' | '%' if next_is(text, at, char::is_ascii_alphanumeric) => {
                out.push(c);
                out.push_str("&#8203;");
            }
            c => {
                out.push(c);
                if begins_reference(text, at) {
                    out.push_str("&#8203;");
                }
            }
        }
    }
}

fn next_is(text: &str, at: usize, is: impl Fn(&char) -> bool) -> bool {
    text[at..].chars().nth(1).is_some_and(|c| is(&c))
}

/// Whether a forge links or draws what begins here: an abbreviated or whole commit, `GH-12`, `:name:`.
fn begins_reference(text: &str, at: usize) -> bool {
    const COMMIT: usize = 40;
    let rest = &text[at..];
    if text[..at].chars().next_back().is_some_and(char::is_alphanumeric) {
        return false;
    }
    let word: &str = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_hexadecimal = word.bytes().all(|b| b.is_ascii_hexdigit());
    let is_number = word.bytes().all(|b| b.is_ascii_digit());
    let is_commit = is_hexadecimal && (7..=COMMIT).contains(&word.len()) && (!is_number || word.len() == COMMIT);
    let is_issue = word.eq_ignore_ascii_case("GH") && rest[word.len()..].starts_with('-');
    let is_drawn = rest.strip_prefix(':').and_then(|rest| rest.split_once(':')).is_some_and(|(name, _)| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-');
        !name.is_empty() && name.chars().all(is_part)
    });
    is_commit || is_issue || is_drawn
}

/// How many backticks a text begins with.
fn run_of_backticks(text: &str) -> usize {
    text.bytes().take_while(|b| *b == b'`').count()
}

/// How much of a text is before as many backticks as the code began with, no more and no less
/// (CommonMark 0.31, 6.1).
fn closing(text: &str, fence: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|n| at + n) {
        let run = run_of_backticks(&text[start..]);
        if run == fence {
            return Some(start);
        }
        at = start + run;
    }
    None
}

fn ends_with_www(text: &str) -> bool {
    let last = text.len().checked_sub(3).and_then(|at| text.get(at..));
    last.is_some_and(|last| last.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters() {
        let line = |text| InputText::new(text).line().into_owned();
        assert_eq!(line("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb c");
        assert_eq!(line("\u{202e}x\u{200b}"), "\\u{202e}x\\u{200b}");
        assert_eq!(line("a\u{2028}b\u{85}"), "a\\u{2028}b\\u{85}");
        assert!(matches!(InputText::new("plain ä").line(), Cow::Borrowed(_)));
    }

    #[test]
    fn output_has_no_workflow_command() {
        let line = |text| InputText::new(text).line().into_owned();
        assert_eq!(line("::error::x"), "\\u{3a}:error::x");
        assert_eq!(line("a\n::error::x"), "a \\u{3a}:error::x");
        assert_eq!(line("x ##[error]y"), "x #\\u{23}[error]y");
        assert_eq!(line("a\t::b"), "a\t\\u{3a}:b");
        assert_eq!(line("a::b"), "a::b");
        let message = |text| InputText::new(text).workflow_message();
        assert_eq!(message("a%\r\n\tb\u{1b}[31m\0"), "a%25%0D%0A\tb\\u{1b}[31m\\u{0}");
        let property = InputText::new("a:b,\u{202e}").workflow_property();
        assert_eq!(property, "a%3Ab%2C\\u{202e}");
    }

    #[test]
    fn escapes_markdown() {
        let markdown = |text| InputText::new(text).markdown();
        assert_eq!(markdown("![x](y)\n<b>`@me #1"), "!\\[x\\](y) \\<b\\>\\`&#64;&#8203;me \\#&#8203;1");
        assert_eq!(markdown("see https://x and www.x"), "see https:&#8203;//x and www&#8203;.x");
        // What is code stays so: after as many backticks as it began with.
        let hidden = |text: &'static str| markdown(text).replace("&#8203;", "~");
        assert_eq!(hidden("deadbeef1 GH-12 :tada: !12 100% 1234567"), "d~eadbeef1 G~H-12 :~tada: !~12 100% 1234567");
        assert_eq!(markdown("set `a_b: c|d` [x]"), "set `a_b: c\\|d` \\[x\\]");
        assert_eq!(markdown("``a`b`` `c_d"), "``a`b`` \\`c\\_d");
        assert_eq!(markdown("`a``b_"), "\\`a\\`\\`b\\_");
        assert_eq!(markdown("\\`a_` `@me"), "\\\\`a_` \\`&#64;&#8203;me");
        let code = |text| InputText::new(text).markdown_code();
        assert_eq!(code("a`b``c|"), "``` a`b``c\\| ```");
        assert_eq!(code("@a"), "`@a`");
    }

    #[test]
    fn masks_secrets_before_escaping() {
        let secret = "http://me:pw@proxy/";
        assert_eq!(InputText::new(secret).markdown(), "http:&#8203;//\\*\\*\\*&#64;&#8203;proxy/");
        assert_eq!(InputText::new("password: x1234567").line(), "password: ***");
        assert_eq!(InputText::new(secret).xml(), "http://***@proxy/");
    }

    #[test]
    fn escapes_xml_sarif_and_workflow_commands() {
        assert_eq!(InputText::new("a\n<\u{1}\u{ffff}").xml(), "a\n&lt;\\u{1}");
        assert_eq!(InputText::new("[a](b)").sarif(), "\\[a\\](b)");
        assert_eq!(InputText::new("a[0]\u{202e}").sarif(), "a[0]\\u{202e}");
        assert_eq!(InputText::new("a\n::b\u{1b}").lines(), "a\n\\u{3a}:b\\u{1b}");
    }
}
