//! Indicators, and keys, which only the colon after them makes keys.

use super::{Lexer, Result, SimpleKey, Token};

const TOO_LONG_FOR_A_KEY: usize = 1024;

impl Lexer<'_> {
    /// Whether the next token may turn out to be a key, so that more has to be read. Out of line,
    /// because nearly always no key is open.
    #[inline(never)]
    pub(super) fn next_may_be_key(&mut self) -> Result<bool> {
        match self.keys.first().copied() {
            Some(key) if key.index == self.next => {
                let stale = self.is_stale(key)?;
                if stale {
                    self.keys.remove(0);
                }
                Ok(!stale)
            }
            _ => Ok(false),
        }
    }

    /// Whether a key can't get its colon any more.
    fn is_stale(&self, key: SimpleKey) -> Result<bool> {
        let stale = key.line < self.line
            || (self.pos > key.at + TOO_LONG_FOR_A_KEY
                && self.text[key.at..self.pos].chars().count() > TOO_LONG_FOR_A_KEY);
        if stale && key.required { self.no_colon(key) } else { Ok(stale) }
    }

    /// The open key of this level, which is open no more.
    fn take_key(&mut self) -> Option<SimpleKey> {
        let level = self.flow_level;
        self.keys.pop_if(|key| key.level == level)
    }

    pub(super) fn no_colon<T>(&self, key: SimpleKey) -> Result<T> {
        let line = self.text.get(key.at..).and_then(|t| t.lines().next());
        let what = match line.map(str::trim) {
            Some("..." | "\u{2026}") => "a placeholder: write its text here",
            _ => "this needs a ':' after it",
        };
        self.fail_since("could not find expected ':'", key.at, what)
    }

    /// The key that may begin here.
    #[inline]
    pub(super) fn possible_key(&mut self) -> Result<Option<SimpleKey>> {
        if !self.key_allowed {
            return Ok(None);
        }
        self.drop_key()?;
        let column = self.column();
        Ok(Some(SimpleKey {
            required: self.flow_level == 0 && self.indent == column,
            index: self.tokens.len(),
            level: self.flow_level,
            at: self.pos,
            line: self.line,
            column,
        }))
    }

    /// Whether the colon of a key is right after it, and nothing speaks against reading both
    /// at once: neither other open keys nor a limit that what comes first may not reach.
    pub(super) fn has_colon(&self, key: SimpleKey) -> bool {
        self.at(0) == b':'
            && self.flow_level == 0
            && self.indents.len() < self.max_depth
            && self.is_blank_or_end(1)
            && key.line == self.line
            && self.pos <= key.at + TOO_LONG_FOR_A_KEY
    }

    /// Announces a key whose first token is at `index` of the queue, or comes there.
    pub(super) fn announce_key(&mut self, key: SimpleKey, index: usize) -> Result<()> {
        let behind = self.tokens.len() - index;
        self.indent_to(key.column, index, Token::BlockMap, key.at)?;
        self.announce(Token::Key, self.tokens.len() - behind, key.at);
        self.key_allowed = false;
        Ok(())
    }

    /// Forgets the open key of this level: something else is where its colon would.
    pub(super) fn drop_key(&mut self) -> Result<()> {
        match self.take_key() {
            Some(key) if key.required => self.no_colon(key),
            _ => Ok(()),
        }
    }

    /// Closes what is open, where a document begins or ends.
    pub(super) fn close_all(&mut self) -> Result<()> {
        self.dedent_to(-1);
        self.key_allowed = false;
        self.drop_key()
    }

    pub(super) fn end(&mut self) -> Result<()> {
        self.close_all()?;
        self.push(Token::End, self.pos);
        Ok(())
    }

    pub(super) fn document_marker(&mut self) -> Result<()> {
        self.close_all()?;
        let token = match self.at(0) {
            b'-' => Token::DocumentStart,
            _ => Token::DocumentEnd,
        };
        self.pos += 3;
        self.push(token, self.pos - 3);
        Ok(())
    }

    pub(super) fn indicator(&mut self, token: Token) {
        self.pos += 1;
        self.push(token, self.pos - 1);
    }

    pub(super) fn flow_start(&mut self, token: Token) -> Result<()> {
        let key = self.possible_key()?;
        self.keys.extend(key);
        self.flow_level += 1;
        self.limit_depth(self.flow_level)?;
        self.key_allowed = true;
        self.indicator(token);
        Ok(())
    }

    pub(super) fn flow_end(&mut self, token: Token) -> Result<()> {
        self.drop_key()?;
        self.flow_level = self.flow_level.saturating_sub(1);
        self.key_allowed = false;
        self.indicator(token);
        Ok(())
    }

    /// Opens the block collection of an entry, unless it is in it or in a flow collection.
    fn enter_block(&mut self, token: Token, refused: &'static str) -> Result<()> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return self.fail(refused);
            }
            self.indent_to(self.column(), self.tokens.len(), token, self.pos)?;
        }
        self.drop_key()
    }

    pub(super) fn dash(&mut self) -> Result<()> {
        self.enter_block(Token::BlockSeq, "block sequence entries are not allowed in this context")?;
        self.key_allowed = true;
        self.indicator(Token::Dash);
        Ok(())
    }

    pub(super) fn question_mark(&mut self) -> Result<()> {
        self.enter_block(Token::BlockMap, "mapping keys are not allowed in this context")?;
        self.key_allowed = self.flow_level == 0;
        self.indicator(Token::Key);
        Ok(())
    }

    pub(super) fn colon(&mut self) -> Result<()> {
        match self.take_key() {
            // The key's first token is still in the queue: no token leaves it before the key is decided.
            Some(key) if !self.is_stale(key)? => self.announce_key(key, key.index)?,
            _ if self.flow_level == 0 => {
                if !self.key_allowed {
                    return self.fail("mapping values are not allowed in this context");
                }
                self.indent_to(self.column(), self.tokens.len(), Token::BlockMap, self.pos)?;
                self.key_allowed = true;
            }
            _ => self.key_allowed = false,
        }
        self.indicator(Token::Colon);
        Ok(())
    }
}
