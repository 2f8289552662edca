//! Tokens to events: the grammar, with a stack of its own instead of recursion.

mod flow;

use std::borrow::Cow;

use super::lex::{LexError, Lexed, Lexer, Tag, Token};
use super::{Comment, Style};
use crate::source::Span;

/// One step of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A scalar; [`Events::text`] has its text.
    Scalar(Style),
    /// A sequence begins.
    Seq(Style),
    /// A mapping begins.
    Map(Style),
    /// The innermost collection ends.
    End,
    /// The document ends.
    DocumentEnd,
    /// `*name`; [`Events::name`] has the name.
    Alias,
}

/// An event with its bytes in the document's text and the node's properties.
#[derive(Debug)]
pub(super) struct Spanned<'t> {
    pub(super) event: Event,
    pub(super) span: Span,
    pub(super) anchor: Option<&'t str>,
    pub(super) tag: Option<Tag>,
}

type Result<T> = std::result::Result<T, Box<LexError>>;

/// What comes next in an open collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    BlockEntry,
    /// A sequence whose dashes are at the column of the key above them.
    IndentlessEntry,
    BlockKey,
    BlockValue,
    FlowFirst,
    FlowEntry,
    /// `[a: b]`: a mapping of one pair inside a sequence.
    PairKey,
    PairValue,
    PairEnd,
    FlowFirstKey,
    FlowKey,
    FlowValue,
    /// A key that is alone in `{}`.
    FlowNoValue,
}

/// The events of one document.
pub(super) struct Events<'t> {
    lexer: Lexer<'t>,
    /// Open collections and where they began.
    states: Vec<(State, Span)>,
    started: bool,
}

impl<'t> Events<'t> {
    /// The events of `text`, which has no control characters and ends with a line break.
    pub(super) fn new(text: &'t str, max_depth: usize) -> Self {
        Self { lexer: Lexer::new(text, max_depth), states: Vec::with_capacity(16), started: false }
    }

    /// The comments of the text that was read.
    pub(super) fn comments(&mut self) -> Vec<Comment> {
        std::mem::take(&mut self.lexer.comments)
    }

    /// The text of a scalar, escapes and folding done.
    pub(super) fn text(&mut self, scalar: &Spanned<'t>, style: Style) -> Cow<'t, str> {
        self.lexer.text(scalar.span, style)
    }

    /// The name of an alias.
    pub(super) fn name(&self, alias: &Spanned<'t>) -> &'t str {
        self.lexer.name(alias.span)
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Result<Spanned<'t>> {
        let Some((state, since)) = self.states.last().copied() else {
            return self.document();
        };
        match state {
            State::BlockEntry => self.block_entry(since),
            State::IndentlessEntry => self.indentless_entry(),
            State::BlockKey => self.block_key(since),
            State::BlockValue => self.block_value(),
            State::FlowFirst => self.flow_entry(true, since),
            State::FlowEntry => self.flow_entry(false, since),
            State::PairKey => self.pair_key(),
            State::PairValue => self.pair_value(),
            State::PairEnd => self.pair_end(),
            State::FlowFirstKey => self.flow_key(true, since),
            State::FlowKey => self.flow_key(false, since),
            State::FlowValue => self.flow_value(),
            State::FlowNoValue => {
                self.become_state(State::FlowKey);
                let at = self.lexer.peek()?.span.start;
                Ok(nothing(at))
            }
        }
    }

    /// Where text begins that belongs to no document; Go reads one document and stops.
    pub(super) fn rest_start(&mut self) -> Result<u32> {
        let next = self.lexer.peek()?;
        Ok(match next.token {
            Token::DocumentEnd => next.span.end,
            _ => next.span.start,
        })
    }

    /// The document's only node, then its end.
    fn document(&mut self) -> Result<Spanned<'t>> {
        let end = Spanned { event: Event::DocumentEnd, ..nothing(0) };
        if std::mem::replace(&mut self.started, true) {
            return Ok(end);
        }
        let mut next = self.lexer.peek()?;
        let explicit = next.token == Token::DocumentStart;
        if explicit {
            next = self.behind()?;
        }
        match next.token {
            Token::End => Ok(end),
            Token::DocumentEnd | Token::DocumentStart | Token::Directive if explicit => Ok(end),
            Token::Directive => Err(error("did not find expected <document start>", next)),
            _ => self.node(next, true, false),
        }
    }

    /// The token after the next one, which is done.
    fn behind(&mut self) -> Result<Lexed> {
        self.lexer.skip();
        self.lexer.peek()
    }

    fn become_state(&mut self, state: State) {
        if let Some(top) = self.states.last_mut() {
            top.0 = state;
        }
    }

    /// A node that begins with the next token.
    #[inline]
    fn node(&mut self, next: Lexed, block: bool, indentless: bool) -> Result<Spanned<'t>> {
        let event = match next.token {
            Token::Scalar(style) => Event::Scalar(style),
            Token::Alias => Event::Alias,
            _ => return self.larger_node(next, block, indentless),
        };
        self.lexer.skip();
        Ok(spanned(event, next))
    }

    /// Properties, then a scalar or the beginning of a collection.
    fn larger_node(&mut self, mut next: Lexed, block: bool, indentless: bool) -> Result<Spanned<'t>> {
        let begin = next.span;
        let (mut anchor, mut tag) = (None, None);
        let mut properties_end = begin.end;
        loop {
            match next.token {
                Token::Anchor if anchor.is_none() => anchor = Some(self.lexer.name(next.span)),
                Token::Tag(name) if tag.is_none() => tag = Some(name),
                _ => break,
            }
            properties_end = next.span.end;
            next = self.behind()?;
        }
        let (event, state) = match next.token {
            Token::Scalar(style) => (Event::Scalar(style), None),
            Token::Dash if indentless => (Event::Seq(Style::Block), Some(State::IndentlessEntry)),
            Token::FlowSeq => (Event::Seq(Style::Flow), Some(State::FlowFirst)),
            Token::FlowMap => (Event::Map(Style::Flow), Some(State::FlowFirstKey)),
            Token::BlockSeq if block => (Event::Seq(Style::Block), Some(State::BlockEntry)),
            Token::BlockMap if block => (Event::Map(Style::Block), Some(State::BlockKey)),
            _ if anchor.is_some() || tag.is_some() => {
                let nothing = nothing(properties_end);
                return Ok(Spanned { anchor, tag, ..nothing });
            }
            _ => {
                let what = if block { "while parsing a block node" } else { "while parsing a flow node" };
                let problem = error("did not find expected node content", next);
                return Err(problem.with_start(begin, what));
            }
        };
        self.states.extend(state.map(|state| (state, next.span)));
        if state != Some(State::IndentlessEntry) {
            self.lexer.skip();
        }
        Ok(Spanned { anchor, tag, ..spanned(event, next) })
    }

    /// The node after the next token, or nothing at all when one of `ends` follows.
    fn node_unless(
        &mut self,
        ends: fn(Token) -> bool,
        block: bool,
        indentless: bool,
        indicator: Lexed,
    ) -> Result<Spanned<'t>> {
        let next = self.behind()?;
        if ends(next.token) { Ok(nothing(indicator.span.end)) } else { self.node(next, block, indentless) }
    }

    /// What follows a key: nothing, or a colon and what [`Self::node_unless`] finds.
    fn value(&mut self, ends: fn(Token) -> bool, block: bool) -> Result<Spanned<'t>> {
        let next = self.lexer.peek()?;
        match next.token {
            Token::Colon => self.node_unless(ends, block, block, next),
            _ => Ok(nothing(next.span.start)),
        }
    }

    fn close(&mut self, next: Lexed) -> Spanned<'t> {
        self.states.pop();
        self.lexer.skip();
        spanned(Event::End, next)
    }

    fn block_entry(&mut self, since: Span) -> Result<Spanned<'t>> {
        let next = self.lexer.peek()?;
        match next.token {
            Token::Dash => {
                let ends = |t: Token| matches!(t, Token::Dash | Token::BlockEnd);
                self.node_unless(ends, true, false, next)
            }
            Token::BlockEnd => Ok(self.close(next)),
            _ => Err(error("did not find expected '-' indicator", next)
                .with_start(since, "while parsing a block collection")),
        }
    }

    fn indentless_entry(&mut self) -> Result<Spanned<'t>> {
        let next = self.lexer.peek()?;
        if next.token == Token::Dash {
            let ends = |t: Token| matches!(t, Token::Dash | Token::Key | Token::Colon | Token::BlockEnd);
            return self.node_unless(ends, true, false, next);
        }
        self.states.pop();
        Ok(end_before(next))
    }

    fn block_key(&mut self, since: Span) -> Result<Spanned<'t>> {
        let next = self.lexer.peek()?;
        match next.token {
            Token::Key => {
                self.become_state(State::BlockValue);
                self.node_unless(ends_in_block, true, true, next)
            }
            Token::BlockEnd => Ok(self.close(next)),
            _ => Err(error("did not find expected key", next).with_start(since, "while parsing a block mapping")),
        }
    }

    fn block_value(&mut self) -> Result<Spanned<'t>> {
        self.become_state(State::BlockKey);
        self.value(ends_in_block, true)
    }
}

fn ends_in_block(token: Token) -> bool {
    matches!(token, Token::Key | Token::Colon | Token::BlockEnd)
}

/// An event that is what a token says.
fn spanned<'t>(event: Event, token: Lexed) -> Spanned<'t> {
    Spanned { event, span: token.span, anchor: None, tag: None }
}

/// The end of a collection that has no token of its own.
fn end_before<'t>(next: Lexed) -> Spanned<'t> {
    Spanned { event: Event::End, ..nothing(next.span.start) }
}

/// A value that isn't there.
fn nothing<'t>(at: u32) -> Spanned<'t> {
    Spanned { event: Event::Scalar(Style::Plain), span: Span { start: at, end: at }, anchor: None, tag: None }
}

fn error(message: &'static str, next: Lexed) -> Box<LexError> {
    LexError::new(message, next.span)
}
