//! Sets of bytes, to skip quickly over bytes without a meaning.

/// A set of bytes.
pub(super) struct ByteSet([bool; 256]);

impl ByteSet {
    /// The set of these bytes.
    pub(super) const fn of(members: &[u8]) -> Self {
        let mut set = [false; 256];
        let mut i = 0;
        while i < members.len() {
            set[members[i] as usize] = true;
            i += 1;
        }
        Self(set)
    }

    /// How many bytes are in front of the first that is in the set.
    pub(super) fn find(&self, bytes: &[u8]) -> usize {
        let found = bytes.iter().position(|b| self.0[usize::from(*b)]);
        found.unwrap_or(bytes.len())
    }
}
