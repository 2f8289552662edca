//! What is in `[]` and `{}`.

use super::{Event, Events, Result, Spanned, State, end_before, error, nothing, spanned};
use crate::Style;
use crate::lex::Token;
use crate::source::Span;

impl<'t> Events<'t> {
    pub(super) fn flow_entry(&mut self, first: bool, since: Span) -> Result<Spanned<'t>> {
        let mut next = self.lexer.peek()?;
        if !first {
            next = match next.token {
                Token::Comma => self.behind()?,
                Token::FlowSeqEnd => next,
                _ => {
                    return Err(error("did not find expected ',' or ']'", next)
                        .with_start(since, "while parsing a flow sequence"));
                }
            };
        }
        self.become_state(State::FlowEntry);
        match next.token {
            Token::FlowSeqEnd => Ok(self.close(next)),
            Token::Key => {
                self.lexer.skip();
                self.states.push((State::PairKey, next.span));
                Ok(spanned(Event::Map(Style::Flow), next))
            }
            _ => self.node(next, false, false),
        }
    }

    pub(super) fn pair_key(&mut self) -> Result<Spanned<'t>> {
        self.become_state(State::PairValue);
        let next = self.lexer.peek()?;
        if matches!(next.token, Token::Colon | Token::Comma | Token::FlowSeqEnd) {
            // Go steps over the token here, so that `[? : x]` has no value either.
            self.lexer.skip();
            return Ok(nothing(next.span.end));
        }
        self.node(next, false, false)
    }

    pub(super) fn pair_value(&mut self) -> Result<Spanned<'t>> {
        self.become_state(State::PairEnd);
        let ends = |t: Token| matches!(t, Token::Comma | Token::FlowSeqEnd);
        self.value(ends, false)
    }

    pub(super) fn pair_end(&mut self) -> Result<Spanned<'t>> {
        self.states.pop();
        Ok(end_before(self.lexer.peek()?))
    }

    pub(super) fn flow_key(&mut self, first: bool, since: Span) -> Result<Spanned<'t>> {
        let mut next = self.lexer.peek()?;
        if !first {
            next = match next.token {
                Token::Comma => self.behind()?,
                Token::FlowMapEnd => next,
                _ => {
                    return Err(error("did not find expected ',' or '}'", next)
                        .with_start(since, "while parsing a flow mapping"));
                }
            };
        }
        match next.token {
            Token::FlowMapEnd => Ok(self.close(next)),
            Token::Key => {
                self.become_state(State::FlowValue);
                let ends = |t: Token| matches!(t, Token::Colon | Token::Comma | Token::FlowMapEnd);
                self.node_unless(ends, false, false, next)
            }
            _ => {
                self.become_state(State::FlowNoValue);
                self.node(next, false, false)
            }
        }
    }

    pub(super) fn flow_value(&mut self) -> Result<Spanned<'t>> {
        self.become_state(State::FlowKey);
        let ends = |t: Token| matches!(t, Token::Comma | Token::FlowMapEnd);
        self.value(ends, false)
    }
}
