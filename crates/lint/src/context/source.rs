//! Values that a context reads on first use.

use std::cell::OnceCell;

/// A value that a function of the caller reads once, on first use.
pub(super) struct Source<'a, T> {
    read: Option<Box<dyn Fn() -> T + 'a>>,
    cell: OnceCell<T>,
}

impl<T> Default for Source<'_, T> {
    fn default() -> Self {
        Self { read: None, cell: OnceCell::new() }
    }
}

impl<'a, T> Source<'a, T> {
    /// A source with a function that reads the value.
    pub(super) fn new(read: impl Fn() -> T + 'a) -> Self {
        Self { read: Some(Box::new(read)), cell: OnceCell::new() }
    }

    /// The value; by default the result of `otherwise`.
    pub(super) fn get(&self, otherwise: impl FnOnce() -> T) -> &T {
        self.cell.get_or_init(|| match &self.read {
            Some(read) => read(),
            None => otherwise(),
        })
    }
}
