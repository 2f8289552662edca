//! Text to tokens, by the rules of the library that Kubernetes reads with.
//!
//! That is YAML 1.1 as libyaml and its Go descendants understand it, which is neither YAML 1.2
//! nor quite the specification: `\/` is an unknown escape, `[a?b]` isn't a sequence, a key and its
//! colon share a line and at most 1,024 characters. Every token has its bytes, comments are kept
//! aside, and nothing is copied unless a scalar needs folding or escapes.
//!
//! Indentation becomes tokens here ([`Token::BlockMap`], [`Token::BlockEnd`]): a mapping is only
//! known by the colon after its first key, so a possible key is remembered, and when the colon
//! comes the tokens that announce it are put in front.

mod indicator;
mod property;
mod scalar;
mod set;
mod space;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use super::problem::Problem;
use super::{Comment, Style};
use crate::source::Span;

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// `---`
    DocumentStart,
    /// `...`
    DocumentEnd,
    /// `%YAML 1.1`, `%TAG …`
    Directive,
    /// The end of the text.
    End,
    /// A block sequence begins.
    BlockSeq,
    /// A block mapping begins.
    BlockMap,
    /// A block collection ends.
    BlockEnd,
    /// `[`
    FlowSeq,
    /// `]`
    FlowSeqEnd,
    /// `{`
    FlowMap,
    /// `}`
    FlowMapEnd,
    /// `- `
    Dash,
    /// `,`
    Comma,
    /// `? `, or nothing in front of a simple key.
    Key,
    /// `: `
    Colon,
    /// `*name`
    Alias,
    /// `&name`
    Anchor,
    /// `!!str`, `!foo`, `!`
    Tag(Tag),
    /// A scalar.
    Scalar(Style),
}

/// What a tag means to Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// `!!str`
    Str,
    /// `!!int`
    Int,
    /// `!!float`
    Float,
    /// `!!bool`
    Bool,
    /// `!!null`
    Null,
    /// `!!timestamp`
    Timestamp,
    /// `!!binary`
    Binary,
    /// `!!merge`
    Merge,
    /// Any other: the value is taken as text.
    Other,
}

/// What is wrong, in Go's words, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LexError {
    pub(super) message: Cow<'static, str>,
    /// Starts where the lexer noticed the error.
    pub(super) at: Span,
    /// Where the broken token began, and what was being read.
    pub(super) since: Option<(Span, &'static str)>,
    pub(super) too_deep: bool,
}

impl LexError {
    /// An error at a place. In a box, so that results without an error stay small.
    pub(super) fn new(message: impl Into<Cow<'static, str>>, at: Span) -> Box<Self> {
        Box::new(Self { message: message.into(), at, since: None, too_deep: false })
    }

    /// Adds where it began, and what was being read.
    pub(super) fn with_start(mut self: Box<Self>, at: Span, what: &'static str) -> Box<Self> {
        self.since = Some((at, what));
        self
    }
}

type Result<T> = std::result::Result<T, Box<LexError>>;

/// A token with its bytes in the lexer's text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexed {
    pub(super) token: Token,
    pub(super) span: Span,
}

/// A place where a key may have begun that its colon would confirm.
#[derive(Debug, Clone, Copy)]
struct SimpleKey {
    /// At a block mapping's own column only a key can be.
    required: bool,
    /// Where the key's first token is in the queue.
    index: usize,
    /// How many flow collections it is in.
    level: usize,
    at: usize,
    line: usize,
    column: i32,
}

/// The tokens of one document's text, on demand.
pub(super) struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    line: usize,
    line_start: usize,
    /// The queue: tokens that were read, of which those before `next` are taken.
    tokens: Vec<Lexed>,
    next: usize,
    /// The texts of scalars that had to be folded or unescaped, and where these begin.
    copied: VecDeque<(usize, String)>,
    /// How many flow collections are open.
    flow_level: usize,
    /// The open keys: at most one of the block level and of each flow collection.
    keys: Vec<SimpleKey>,
    key_allowed: bool,
    /// The column of the innermost block collection, -1 outside of all, and those around it.
    indent: i32,
    indents: Vec<i32>,
    max_depth: usize,
    /// Comments met so far; their spans count from the text's start.
    pub(super) comments: Vec<Comment>,
}

impl<'t> Lexer<'t> {
    /// The tokens of `text`, which has no control characters and ends with a line break.
    pub(super) fn new(text: &'t str, max_depth: usize) -> Self {
        // Files glued together leave byte order marks at the beginning of documents.
        let start = text.len() - text.trim_start_matches('\u{FEFF}').len();
        Self {
            text,
            bytes: text.as_bytes(),
            pos: start,
            line: 0,
            line_start: start,
            tokens: Vec::with_capacity(8),
            next: 0,
            copied: VecDeque::new(),
            flow_level: 0,
            keys: Vec::new(),
            key_allowed: true,
            indent: -1,
            indents: Vec::new(),
            max_depth,
            comments: Vec::new(),
        }
    }

    /// The next token, left where it is: nothing can come in front of it any more.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<Lexed> {
        if self.next == self.tokens.len() || !self.keys.is_empty() {
            self.fill_queue()?;
        }
        Ok(self.tokens[self.next])
    }

    /// Reads until there is a token that isn't a key which has yet to be announced.
    fn fill_queue(&mut self) -> Result<()> {
        while self.next == self.tokens.len() || (!self.keys.is_empty() && self.next_may_be_key()?) {
            self.fetch()?;
        }
        Ok(())
    }

    /// Steps over the token that was peeked at.
    pub(super) fn skip(&mut self) {
        self.next += 1;
        if self.next == self.tokens.len() {
            self.tokens.clear();
            self.next = 0;
        }
    }

    /// The text of a scalar, folded and unescaped. Scalars are asked for in their order.
    pub(super) fn text(&mut self, span: Span, style: Style) -> Cow<'t, str> {
        let Range { start, end } = span.range();
        if start == end {
            return Cow::Borrowed("");
        }
        if let Some((_, copy)) = self.copied.pop_front_if(|(of, _)| *of == start) {
            return Cow::Owned(copy);
        }
        Cow::Borrowed(match style {
            Style::SingleQuoted | Style::DoubleQuoted => &self.text[start + 1..end - 1],
            _ => &self.text[start..end],
        })
    }

    /// The name of an anchor or alias.
    pub(super) fn name(&self, span: Span) -> &'t str {
        &self.text[span.range()][1..]
    }

    fn column(&self) -> i32 {
        i32::try_from(self.pos - self.line_start).unwrap_or(i32::MAX)
    }

    fn at(&self, offset: usize) -> u8 {
        self.bytes.get(self.pos + offset).copied().unwrap_or(0)
    }

    fn here(&self) -> Span {
        Span::new(self.pos, self.pos)
    }

    fn fail<T>(&self, message: &'static str) -> Result<T> {
        Err(LexError::new(message, self.here()))
    }

    fn fail_since<T>(&self, message: &'static str, at: usize, what: &'static str) -> Result<T> {
        Err(LexError::new(message, self.here()).with_start(Span::new(at, at), what))
    }

    fn push(&mut self, token: Token, start: usize) {
        let span = Span::new(start, self.pos);
        self.tokens.push(Lexed { token, span });
    }

    /// Announces what begins at `at` in front of the token at `index` of the queue.
    fn announce(&mut self, token: Token, index: usize, at: usize) {
        let span = Span::new(at, at);
        self.tokens.insert(index, Lexed { token, span });
    }

    /// Opens a block collection, unless one is open at its column; the token goes to `index` of
    /// the queue.
    #[inline]
    fn indent_to(&mut self, column: i32, index: usize, token: Token, at: usize) -> Result<()> {
        if self.flow_level > 0 || self.indent >= column { Ok(()) } else { self.open_block(column, index, token, at) }
    }

    fn open_block(&mut self, column: i32, index: usize, token: Token, at: usize) -> Result<()> {
        self.indents.push(self.indent);
        self.indent = column;
        self.limit_depth(self.indents.len())?;
        self.announce(token, index, at);
        Ok(())
    }

    fn limit_depth(&self, depth: usize) -> Result<()> {
        if depth <= self.max_depth {
            return Ok(());
        }
        let message = Problem::too_deep(self.max_depth, Span::default()).message;
        let mut error = LexError::new(message, self.here());
        error.too_deep = true;
        Err(error)
    }

    /// Closes the block collections that are indented deeper than a column.
    fn dedent_to(&mut self, column: i32) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(Token::BlockEnd, self.pos);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Reads one token of the text, which may put several into the queue.
    #[inline(never)]
    fn fetch(&mut self) -> Result<()> {
        self.skip_to_token();
        self.dedent_to(self.column());
        let flow = self.flow_level > 0;
        let byte = self.at(0);
        match byte {
            0 => self.end(),
            b'%' if self.column() == 0 => self.directive(),
            b'-' | b'.' if self.column() == 0 && self.is_document_marker() => self.document_marker(),
            b'[' => self.flow_start(Token::FlowSeq),
            b'{' => self.flow_start(Token::FlowMap),
            b']' => self.flow_end(Token::FlowSeqEnd),
            b'}' => self.flow_end(Token::FlowMapEnd),
            b',' => {
                self.drop_key()?;
                self.key_allowed = true;
                self.indicator(Token::Comma);
                Ok(())
            }
            b'-' if self.is_blank_or_end(1) => self.dash(),
            b'?' if flow || self.is_blank_or_end(1) => self.question_mark(),
            b':' if flow || self.is_blank_or_end(1) => self.colon(),
            c @ (b'*' | b'&' | b'!') => {
                let key = self.possible_key()?;
                self.keys.extend(key);
                self.key_allowed = false;
                if c == b'!' { self.tag() } else { self.anchor_or_alias() }
            }
            b'|' | b'>' if !flow => {
                self.drop_key()?;
                self.key_allowed = true;
                self.block_scalar()
            }
            b'\'' | b'"' => self.scalar(Self::quoted),
            b'\t' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => self.fail("found character that cannot start any token"),
            _ => self.scalar(Self::plain),
        }
    }
}
