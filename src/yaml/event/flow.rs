//! What stands in `[]` and `{}`.

use super::{Events, Result, Spanned, State, error, nothing, spanned};
use crate::yaml::Style;
use crate::yaml::lex::{Lexed, Token};

use super::Event;

impl<'t> Events<'t> {
    pub(super) fn flow_entry(&mut self, first: bool, since: usize) -> Result<Spanned<'t>> {
        if !first {
            let next = self.lexer.peek()?;
            match next.token {
                Token::Comma => {
                    self.lexer.take()?;
                }
                Token::FlowSeqEnd => {}
                _ => {
                    return Err(error("did not find expected ',' or ']'", next)
                        .since(since, "while parsing a flow sequence"));
                }
            }
        }
        self.become_state(State::FlowEntry);
        match self.lexer.peek()?.token {
            Token::FlowSeqEnd => self.close(),
            Token::Key => {
                let Lexed { start, end, .. } = self.lexer.take()?;
                self.states.push((State::PairKey, start));
                Ok(spanned(Event::Map(Style::Flow), start, end))
            }
            _ => self.node(false, false),
        }
    }

    pub(super) fn pair_key(&mut self) -> Result<Spanned<'t>> {
        self.become_state(State::PairValue);
        let next = self.lexer.peek()?;
        if matches!(next.token, Token::Colon | Token::Comma | Token::FlowSeqEnd) {
            // Go steps over the token here, so that `[? : x]` has no value either.
            let at = self.lexer.take()?.end;
            return Ok(nothing(at));
        }
        self.node(false, false)
    }

    pub(super) fn pair_value(&mut self) -> Result<Spanned<'t>> {
        self.become_state(State::PairEnd);
        let next = self.lexer.peek()?;
        if next.token != Token::Colon {
            return Ok(nothing(next.start));
        }
        let at = self.lexer.take()?.end;
        let ends = |t: Token| matches!(t, Token::Comma | Token::FlowSeqEnd);
        self.node_unless(ends, false, false, at)
    }

    pub(super) fn pair_end(&mut self) -> Result<Spanned<'t>> {
        self.states.pop();
        let at = self.lexer.peek()?.start;
        Ok(spanned(Event::End, at, at))
    }

    pub(super) fn flow_key(&mut self, first: bool, since: usize) -> Result<Spanned<'t>> {
        if !first {
            let next = self.lexer.peek()?;
            match next.token {
                Token::Comma => {
                    self.lexer.take()?;
                }
                Token::FlowMapEnd => {}
                _ => {
                    return Err(error("did not find expected ',' or '}'", next)
                        .since(since, "while parsing a flow mapping"));
                }
            }
        }
        match self.lexer.peek()?.token {
            Token::FlowMapEnd => self.close(),
            Token::Key => {
                let at = self.lexer.take()?.end;
                self.become_state(State::FlowValue);
                let ends = |t: Token| matches!(t, Token::Colon | Token::Comma | Token::FlowMapEnd);
                self.node_unless(ends, false, false, at)
            }
            _ => {
                self.become_state(State::FlowNoValue);
                self.node(false, false)
            }
        }
    }

    pub(super) fn flow_value(&mut self) -> Result<Spanned<'t>> {
        self.become_state(State::FlowKey);
        let next = self.lexer.peek()?;
        if next.token != Token::Colon {
            return Ok(nothing(next.start));
        }
        let at = self.lexer.take()?.end;
        let ends = |t: Token| matches!(t, Token::Comma | Token::FlowMapEnd);
        self.node_unless(ends, false, false, at)
    }
}
