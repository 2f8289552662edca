//! Values that a context reads at their first use.

use std::cell::OnceCell;

/// A value that a caller's function reads once, at its first use.
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
    /// A source that `read` is asked for.
    pub(super) fn new(read: impl Fn() -> T + 'a) -> Self {
        Self { read: Some(Box::new(read)), cell: OnceCell::new() }
    }

    /// The value; what `otherwise` makes where nothing was given that reads it.
    pub(super) fn get(&self, otherwise: impl FnOnce() -> T) -> &T {
        self.cell.get_or_init(|| match &self.read {
            Some(read) => read(),
            None => otherwise(),
        })
    }
}
