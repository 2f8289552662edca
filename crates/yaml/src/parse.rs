//! A file to its documents, as kubectl reads them.

use std::borrow::Cow;
use std::sync::Arc;

use super::build::Builder;
use super::event::Events;
use super::json;
use super::problem::{Problem, ProblemKind};
use super::split::{Chunk, split};
use super::{Comment, Document, Limits, Node, Value};
use crate::source::{Bytes, SourceFile, Span, above_limit};

/// The contents of a file.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The documents that could be read, without empty ones, as in kubectl.
    pub documents: Vec<Document>,
    /// What is wrong with the file, in the order of the text.
    pub problems: Vec<Problem>,
    /// Comments that are in no document: before a first `---`, in an empty document.
    pub comments: Vec<Comment>,
}

impl Parsed {
    /// Whether some document could not be read.
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|p| p.kind.is_fatal())
    }

    /// The first problem that keeps a document from being read, after its place in the file: `a.yaml:3:1: …`.
    pub fn fatal(&self, file: &SourceFile) -> Option<String> {
        let problem = self.problems.iter().find(|p| p.kind.is_fatal())?;
        let at = file.position(problem.span.start);
        Some(format!("{}:{at}: {}", file.path(), problem.message))
    }

    /// Whether an unreadable document is a template (`{{ … }}`), which isn't YAML yet.
    pub fn is_template(&self) -> bool {
        self.problems.iter().any(|p| p.kind == ProblemKind::Template)
    }
}

/// Reads a file within the [`Limits`].
pub fn parse(file: &Arc<SourceFile>) -> Parsed {
    parse_with(file, &Limits::DEFAULT)
}

/// Reads a file. Never fails: what can't be read is a [`Problem`], and its document is missing.
pub fn parse_with(file: &Arc<SourceFile>, limits: &Limits) -> Parsed {
    read(file, limits, starts_as_json(file.text()))
}

fn read(file: &Arc<SourceFile>, limits: &Limits, as_json: bool) -> Parsed {
    let mut parsed = Parsed::default();
    let text = file.text();
    if text.len() > limits.max_bytes {
        parsed.problems.push(Problem::new(
            ProblemKind::TooBig,
            Span::new(0, 0),
            format!("larger than {}, the limit", Bytes(limits.max_bytes as u64)),
        ));
        return parsed;
    }
    let mut state = State { file, limits, nodes: 0, parsed };
    for span in file.replaced() {
        let message = "these bytes are not UTF-8; kubectl replaces them with U+FFFD";
        state.report(ProblemKind::Undecodable, *span, message);
    }
    if as_json {
        state.json();
    } else {
        state.yaml();
    }
    state.parsed.problems.sort_by_key(|p| p.span.start);
    state.parsed
}

/// Reads a file as YAML also where it begins with a brace, which [`parse`] takes for JSON as kubectl
/// does. kustomize reads its own files and inline patches this way.
pub fn parse_yaml(file: &Arc<SourceFile>) -> Parsed {
    read(file, &Limits::DEFAULT, false)
}

/// A text with a line break after its last line, which kubectl adds.
fn whole_lines(text: &str) -> Cow<'_, str> {
    if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) }
}

/// Whether kubectl tries JSON first: a brace is the first thing in the first 4,096 bytes.
fn starts_as_json(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('{') && text.len() - start.len() < 4096
}

/// What was read of a file so far.
struct State<'f> {
    file: &'f Arc<SourceFile>,
    limits: &'f Limits,
    nodes: usize,
    parsed: Parsed,
}

impl State<'_> {
    fn report(&mut self, kind: ProblemKind, span: Span, message: impl Into<String>) {
        self.parsed.problems.push(Problem::new(kind, span, message));
    }

    /// Reads a stream of JSON values; the first that isn't JSON ends it. (kubectl 1.33 begins to
    /// try YAML there, 1.32 doesn't.) Source of the rule: `YAMLOrJSONDecoder` of
    /// k8s.io/apimachinery/pkg/util/yaml.
    fn json(&mut self) {
        let mut reader = json::Reader::new(self.file.text(), self.limits);
        loop {
            let read = reader.next();
            let fatal = reader.problems.any_fatal();
            self.parsed.problems.extend(reader.problems.take());
            match read {
                Ok(None) => return,
                Ok(Some(root)) if fatal || matches!(root.value, Value::Null) => {}
                Ok(Some(root)) => {
                    let span = root.span;
                    if !self.push(root, span, Vec::new()) {
                        return;
                    }
                }
                Err(mut problem) => {
                    if self.file.text()[problem.span.range()].starts_with('{') {
                        problem.kind = ProblemKind::Template;
                    }
                    self.parsed.problems.push(problem);
                    return;
                }
            }
        }
    }

    fn yaml(&mut self) {
        let text = self.file.text();
        for chunk in split(text) {
            match chunk {
                Chunk::Text(span) => {
                    if !self.document(span) {
                        return;
                    }
                }
                Chunk::BadSeparator(span) => {
                    let found = text.get(span.range()).unwrap_or("");
                    let message = format!("invalid Yaml document separator: {found}");
                    self.report(ProblemKind::Separator, span, message);
                }
            }
        }
    }

    /// Adds a document; `false` when there are too many.
    fn push(&mut self, root: Node, span: Span, comments: Vec<Comment>) -> bool {
        let documents = &mut self.parsed.documents;
        if documents.len() >= self.limits.max_documents {
            let first = Span::new(span.start as usize, span.start as usize);
            let message = above_limit(self.limits.max_documents, "documents");
            self.report(ProblemKind::TooManyDocuments, first, message);
            return false;
        }
        self.parsed.problems.extend(not_a_mapping(&root));
        documents.push(Document { file: Arc::clone(self.file), index: documents.len(), span, root, comments });
        true
    }

    /// Reads the document at `span`; `false` when no more should be read.
    fn document(&mut self, span: Span) -> bool {
        let text = self.file.text().get(span.range()).unwrap_or("");
        if let Some((at, character)) = control_character(text) {
            let at = span.start as usize + at;
            let span = Span::new(at, at + character.len_utf8());
            self.report(ProblemKind::Syntax, span, "control characters are not allowed");
            return true;
        }
        let text = whole_lines(text);
        let mut events = Events::new(&text, self.limits.max_depth);
        let mut builder = Builder::new(self.limits, span, self.nodes);
        let read = builder.build(&mut events);
        let read = read.and_then(|root| Ok((root, events.rest_start().map_err(|e| builder.lexical_problem(*e))?)));
        self.nodes = builder.nodes;
        let mut problems = builder.problems.take();
        let root = match read {
            Ok((root, rest)) => {
                problems.extend(ignored(&text, rest as usize, span));
                root
            }
            Err(problem) => {
                problems.retain(|p| !p.kind.is_fatal());
                problems.push(problem);
                None
            }
        };
        let mut comments = events.comments();
        for comment in &mut comments {
            comment.span.start += span.start;
            comment.span.end = (comment.span.end + span.start).min(span.end);
        }
        let fatal = problems.iter().any(|p| p.kind.is_fatal());
        if fatal && has_bare_action(&text) {
            for problem in problems.iter_mut().filter(|p| p.kind.is_fatal()) {
                problem.kind = ProblemKind::Template;
            }
        }
        let too_big = problems.iter().any(|p| p.kind == ProblemKind::TooBig);
        self.parsed.problems.append(&mut problems);
        match root {
            Some(root) if !fatal && !matches!(root.value, Value::Null) => self.push(root, span, comments),
            _ => {
                self.parsed.comments.append(&mut comments);
                !too_big
            }
        }
    }
}

/// Whether a text has a template's action outside of quotes: with all of them in quotes it is meant to be YAML.
fn has_bare_action(text: &str) -> bool {
    text.lines().any(|line| {
        let (mut quote, mut before) = (None, ' ');
        line.char_indices().any(|(at, c)| {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if matches!(c, '"' | '\'') && (before.is_whitespace() || "[{,:(".contains(before)) => {
                    quote = Some(c);
                }
                None if c == '#' && before.is_whitespace() => quote = Some('\n'),
                None => {}
            }
            before = c;
            quote.is_none() && (line[at..].starts_with("{{") || line[at..].starts_with("{%"))
        })
    })
}

/// The first character that YAML doesn't allow.
fn control_character(text: &str) -> Option<(usize, char)> {
    let suspect = |b: &u8| (*b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r')) || *b >= 0x7F;
    // Without an early exit the compiler checks a whole block at once.
    let any = |block: &[u8; 64]| block.iter().fold(false, |any, b| any | suspect(b));
    let (blocks, rest) = text.as_bytes().as_chunks();
    if !blocks.iter().any(any) && !rest.iter().any(suspect) {
        return None;
    }
    let rejected = |c: char| match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{FFFE}' | '\u{FFFF}' => true,
        c => c.is_control(),
    };
    text.char_indices().find(|(_, c)| rejected(*c))
}

/// Text after the document's end, which Go ignores.
fn ignored(text: &str, rest: usize, span: Span) -> Option<Problem> {
    let after = text.get(rest..)?;
    let mut offset = rest;
    for line in after.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if !trimmed.is_empty() && !trimmed.starts_with('#') {
            let start = span.start as usize + offset + (line.len() - trimmed.len());
            let end = start + trimmed.trim_end().len();
            let message = "kubectl ignores this text after the document's end";
            return Some(Problem::new(ProblemKind::Ignored, Span::new(start, end), message));
        }
        offset += line.len();
    }
    None
}

fn not_a_mapping(root: &Node) -> Option<Problem> {
    let what = match root.value {
        Value::Map(_) | Value::Null => return None,
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Seq(_) => "array",
    };
    let message = format!("json: cannot unmarshal {what} into Go value of type unstructured.detector");
    Some(Problem::new(ProblemKind::NotAMapping, root.span, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_document_of_a_file() {
        let file = SourceFile::new("a.yaml", "# c\na: true\nb: [1, {c: 0777}]\n---\nx: &v {k: z}\nw: *v\n");
        let parsed = parse(&file);
        assert_eq!(parsed.problems, []);
        assert_eq!(parsed.documents[0].root.to_json(), serde_json::json!({"a": true, "b": [1, {"c": 511}]}));
        assert_eq!(parsed.documents[1].root.to_json(), serde_json::json!({"x": {"k": "z"}, "w": {"k": "z"}}));
    }
}
