use crate::prelude::*;

/// One operation of the webhook's patch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) kind: ChangeKind,
    pub(super) path: Path,
    pub(super) value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Add,
    Replace,
    Remove,
}

impl Change {
    pub(super) fn add(path: Path, value: Value) -> Self {
        let kind = ChangeKind::Add;
        Self { kind, path, value }
    }

    pub(super) fn replace(path: Path, value: Value) -> Self {
        let kind = ChangeKind::Replace;
        Self { kind, path, value }
    }

    pub(super) fn remove(path: Path) -> Self {
        let (kind, value) = (ChangeKind::Remove, Value::Null);
        Self { kind, path, value }
    }
}
