use crate::prelude::*;

/// One operation of the webhook's patch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WebhookEdit {
    pub(super) kind: WebhookEditKind,
    pub(super) path: Path,
    pub(super) value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WebhookEditKind {
    Add,
    Replace,
    Remove,
}

impl WebhookEdit {
    pub(super) fn add(path: Path, value: Value) -> Self {
        let kind = WebhookEditKind::Add;
        Self { kind, path, value }
    }

    pub(super) fn replace(path: Path, value: Value) -> Self {
        let kind = WebhookEditKind::Replace;
        Self { kind, path, value }
    }

    pub(super) fn remove(path: Path) -> Self {
        let (kind, value) = (WebhookEditKind::Remove, Value::Null);
        Self { kind, path, value }
    }
}
