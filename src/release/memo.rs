//! Results that are kept for the next cluster.

use std::sync::{PoisonError, RwLock};

/// Results by what they were made from, for what a fleet has few of. With more than `MOST` the
/// memory is given back.
#[derive(Debug)]
pub struct Memo<K, V, const MOST: usize>(RwLock<Vec<(K, V)>>);

impl<K, V, const MOST: usize> Default for Memo<K, V, MOST> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

// Poisoned or not, an entry is complete before it is pushed.
impl<K, V: Clone, const MOST: usize> Memo<K, V, MOST> {
    /// The result of the first input that is the one meant.
    pub fn find(&self, is: impl Fn(&K) -> bool) -> Option<V> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(input, _)| is(input));
        found.map(|(_, result)| result.clone())
    }

    /// Keeps a result.
    pub fn keep(&self, input: K, result: V) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.push((input, result));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_when_it_is_full() {
        let memo = Memo::<u8, &str, 2>::default();
        assert_eq!(memo.find(|k| *k == 1), None);
        memo.keep(1, "one");
        memo.keep(2, "two");
        assert_eq!(memo.find(|k| *k == 1), Some("one"));
        memo.keep(3, "three");
        assert_eq!(memo.find(|k| *k == 1), None);
        assert_eq!(memo.find(|k| *k == 3), Some("three"));
    }
}
