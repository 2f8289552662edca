//! Runs work in parallel and returns results in order, with bounded memory.

use crate::prelude::*;
use hcoplan_diagnostics::source::locked;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum number of results waiting for the sink, per worker.
const AHEAD: usize = 16;

struct Shared<R> {
    /// The next item to work on.
    next: usize,
    /// The next result for the sink.
    wanted: usize,
    /// Results waiting for their turn.
    done: BTreeMap<usize, R>,
    stopped: bool,
}

impl<R> Shared<R> {
    /// The next item's index; `None` if nothing is left, or the sink is too far behind.
    fn take(&mut self, items: usize, window: usize) -> Option<usize> {
        let free = !self.stopped && self.next < items && self.next < self.wanted + window;
        free.then(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// The results that are next in order.
    fn ready(&mut self) -> Vec<R> {
        let mut ready = Vec::new();
        while let Some(result) = self.done.remove(&self.wanted) {
            ready.push(result);
            self.wanted += 1;
        }
        ready
    }
}

/// Calls `work` for every item on `workers` threads including this one, and `sink` on this thread with the results in
/// order. At most a few dozen results wait at a time. Stops early if the sink says so.
pub(crate) fn ordered<T: Sync, R: Send>(
    items: &[T],
    workers: usize,
    work: impl Fn(&T) -> R + Sync,
    mut sink: impl FnMut(R) -> ControlFlow<()>,
) {
    let workers = workers.min(items.len());
    if workers < 2 {
        for item in items {
            if sink(work(item)).is_break() {
                return;
            }
        }
        return;
    }
    let window = workers * AHEAD;
    let shared = Mutex::new(Shared { next: 0, wanted: 0, done: BTreeMap::new(), stopped: false });
    let (finished, room) = (Condvar::new(), Condvar::new());
    let lock = || locked(&shared);
    let wait = |condition: &Condvar, guard| -> MutexGuard<'_, Shared<R>> {
        condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
    };
    let worker = || {
        let mut guard = lock();
        while !guard.stopped && guard.next < items.len() {
            let Some(index) = guard.take(items.len(), window) else {
                guard = wait(&room, guard);
                continue;
            };
            drop(guard);
            let result = work(&items[index]);
            guard = lock();
            guard.done.insert(index, result);
            if index == guard.wanted {
                finished.notify_one();
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(worker);
        }
        let mut guard = lock();
        while guard.wanted < items.len() {
            let ready = guard.ready();
            if !ready.is_empty() {
                drop(guard);
                room.notify_all();
                for result in ready {
                    if sink(result).is_break() {
                        lock().stopped = true;
                        room.notify_all();
                        return;
                    }
                }
                guard = lock();
            } else if let Some(index) = guard.take(items.len(), window) {
                drop(guard);
                let result = work(&items[index]);
                guard = lock();
                guard.done.insert(index, result);
            } else {
                guard = wait(&finished, guard);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(count: usize, workers: usize, stop_at: Option<usize>) -> Vec<usize> {
        let items: Vec<_> = (0..count).collect();
        let mut out = Vec::new();
        ordered(
            &items,
            workers,
            |i| {
                // Some items are slow, so that later ones finish first.
                if i % 7 == 0 {
                    std::thread::yield_now();
                }
                i * 2
            },
            |r| {
                out.push(r / 2);
                match stop_at {
                    Some(at) if r / 2 == at => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            },
        );
        out
    }

    #[test]
    fn keeps_order_with_any_number_of_workers() {
        for workers in [0, 1, 2, 3, 8, 50] {
            for count in [0, 1, 2, 31, 500] {
                assert_eq!(run(count, workers, None), (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn stops_when_the_sink_fails() {
        for workers in [1, 4] {
            assert_eq!(run(500, workers, Some(9)), (0..=9).collect::<Vec<_>>());
        }
    }
}
