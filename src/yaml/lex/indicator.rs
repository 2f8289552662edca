//! Indicators, and the keys that only their colon makes keys.

use super::{Lexer, Result, SimpleKey, Token};

const TOO_LONG_FOR_A_KEY: usize = 1024;

impl<'t> Lexer<'t> {
    /// Whether the first token may turn out to be a key, so that more has to be read.
    pub(super) fn first_may_be_key(&mut self) -> Result<bool> {
        for level in 0..self.keys.len() {
            if matches!(self.keys[level], Some(key) if key.number == self.taken) {
                return self.key_is_valid(level);
            }
        }
        Ok(false)
    }

    /// Whether the key of a level can still get its colon.
    pub(super) fn key_is_valid(&mut self, level: usize) -> Result<bool> {
        let Some(key) = self.keys[level] else {
            return Ok(false);
        };
        let stale = key.line < self.line
            || (self.pos > key.at + TOO_LONG_FOR_A_KEY
                && self.text[key.at..self.pos].chars().count() > TOO_LONG_FOR_A_KEY);
        if stale {
            if key.required {
                return self.no_colon(key);
            }
            self.keys[level] = None;
        }
        Ok(!stale)
    }

    pub(super) fn no_colon<T>(&self, key: SimpleKey) -> Result<T> {
        self.fail_since(
            "could not find expected ':'",
            key.at,
            "this needs a ':' behind it",
        )
    }

    /// Remembers that a key may begin here.
    pub(super) fn save_key(&mut self) -> Result<()> {
        if !self.key_allowed {
            return Ok(());
        }
        self.drop_key()?;
        let key = SimpleKey {
            required: self.flow_level() == 0 && self.indent == self.column(),
            number: self.taken + self.tokens.len(),
            at: self.pos,
            line: self.line,
            column: self.column(),
        };
        if let Some(last) = self.keys.last_mut() {
            *last = Some(key);
        }
        Ok(())
    }

    /// Forgets the open key of this level: something else stands where its colon would.
    pub(super) fn drop_key(&mut self) -> Result<()> {
        match self.keys.last_mut().and_then(Option::take) {
            Some(key) if key.required => self.no_colon(key),
            _ => Ok(()),
        }
    }

    pub(super) fn end(&mut self) -> Result<()> {
        self.dedent_to(-1);
        self.drop_key()?;
        self.key_allowed = false;
        self.push(Token::End, self.pos);
        Ok(())
    }

    pub(super) fn document_marker(&mut self) -> Result<()> {
        self.dedent_to(-1);
        self.drop_key()?;
        self.key_allowed = false;
        let token = match self.at(0) {
            b'-' => Token::DocumentStart,
            _ => Token::DocumentEnd,
        };
        self.pos += 3;
        self.push(token, self.pos - 3);
        Ok(())
    }

    pub(super) fn indicator(&mut self, token: Token<'t>) {
        self.pos += 1;
        self.push(token, self.pos - 1);
    }

    pub(super) fn flow_start(&mut self, token: Token<'t>) -> Result<()> {
        self.save_key()?;
        self.keys.push(None);
        self.limit_depth(self.flow_level())?;
        self.key_allowed = true;
        self.indicator(token);
        Ok(())
    }

    pub(super) fn flow_end(&mut self, token: Token<'t>) -> Result<()> {
        self.drop_key()?;
        if self.flow_level() > 0 {
            self.keys.pop();
        }
        self.key_allowed = false;
        self.indicator(token);
        Ok(())
    }

    pub(super) fn dash(&mut self) -> Result<()> {
        if self.flow_level() == 0 {
            if !self.key_allowed {
                return self.fail("block sequence entries are not allowed in this context");
            }
            self.indent_to(self.column(), self.tokens.len(), Token::BlockSeq, self.pos)?;
        }
        self.drop_key()?;
        self.key_allowed = true;
        self.indicator(Token::Dash);
        Ok(())
    }

    pub(super) fn question_mark(&mut self) -> Result<()> {
        if self.flow_level() == 0 {
            if !self.key_allowed {
                return self.fail("mapping keys are not allowed in this context");
            }
            self.indent_to(self.column(), self.tokens.len(), Token::BlockMap, self.pos)?;
        }
        self.drop_key()?;
        self.key_allowed = self.flow_level() == 0;
        self.indicator(Token::Key);
        Ok(())
    }

    pub(super) fn colon(&mut self) -> Result<()> {
        let level = self.flow_level();
        let valid = self.key_is_valid(level)?;
        match self.keys[level].filter(|_| valid) {
            Some(key) => {
                // The key's first token is still in the queue: nothing is taken before that
                // is settled.
                let index = key.number.saturating_sub(self.taken);
                self.announce(Token::Key, index, key.at);
                self.indent_to(key.column, index, Token::BlockMap, key.at)?;
                self.keys[level] = None;
                self.key_allowed = false;
            }
            _ if level == 0 => {
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
