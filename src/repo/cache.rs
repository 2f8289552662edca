//! Parsed files that are kept, up to a limit, so that a small repository is parsed once and a
//! large one costs no more memory.

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError};

use super::scan::Content;

/// How much text may be kept parsed, in bytes; its trees take about fifteen times as much
/// (measured: 6 MiB of small manifests made 90 MB). Enough for some thousand clusters.
const MOST_TEXT: usize = 3 << 19;

/// Parsed files by their index.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    files: HashMap<u32, Arc<Content>>,
    text: usize,
}

impl Cache {
    /// Keeps a file if there is room.
    pub(super) fn offer(&self, file: u32, content: Content) {
        let size = content.file.text().len();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.text + size <= MOST_TEXT {
            kept.text += size;
            kept.files.insert(file, Arc::new(content));
        }
    }

    /// Keeps a file in any case: it can't be read again.
    pub(super) fn pin(&self, file: u32, content: Content) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.files.insert(file, Arc::new(content));
    }

    /// Never gives the files' memory back: it goes with the process, at once.
    pub(super) fn leave(self) {
        let _left = ManuallyDrop::new(self);
    }

    pub(super) fn get(&self, file: u32) -> Option<Arc<Content>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.files.get(&file).map(Arc::clone)
    }
}
