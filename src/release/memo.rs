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

    /// The result of the input that is the least far from the one meant, and what lies between: at
    /// no distance it is that one, and `None` is too far.
    pub fn nearest<D>(&self, distance: impl Fn(&K) -> Option<(usize, D)>) -> Option<(V, D)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut nearest: Option<(usize, D, &V)> = None;
        for (input, result) in known.iter() {
            let Some((far, between)) = distance(input) else {
                continue;
            };
            if nearest.as_ref().is_none_or(|(least, ..)| far < *least) {
                nearest = Some((far, between, result));
            }
            if far == 0 {
                break;
            }
        }
        nearest.map(|(_, between, result)| (result.clone(), between))
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

    #[test]
    fn finds_the_nearest() {
        let memo = Memo::<usize, &str, 4>::default();
        let near = |wanted: usize| {
            let distance = |k: &usize| Some(k.abs_diff(wanted)).filter(|d| *d < 3);
            memo.nearest(|k| Some((distance(k)?, *k)))
        };
        assert_eq!(near(1), None);
        memo.keep(1, "one");
        memo.keep(3, "three");
        memo.keep(3, "another three");
        assert_eq!(near(2), Some(("one", 1)));
        assert_eq!(near(3), Some(("three", 3)));
        assert_eq!(near(5), Some(("three", 3)));
        assert_eq!(near(6), None);
    }
}
