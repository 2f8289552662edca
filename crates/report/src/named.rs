//! Names of formats for `--format`.

/// An enum of formats.
pub trait Named: Copy + PartialEq + 'static {
    /// Every format with its name, the default first.
    const NAMES: &'static [(Self, &'static str)];

    /// The format's name.
    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// The format with a name.
    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, own)| *own == name).map(|(format, _)| *format)
    }
}

/// The names of formats.
pub fn names<F: Named>(formats: impl IntoIterator<Item = F>) -> Vec<&'static str> {
    formats.into_iter().map(F::name).collect()
}

/// Every format of a set.
pub fn all<F: Named>() -> impl Iterator<Item = F> {
    F::NAMES.iter().map(|(format, _)| *format)
}
