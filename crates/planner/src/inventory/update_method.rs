use std::fmt;

/// How a manifest updates an existing object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpdateMethod {
    /// Like client-side `kubectl apply` and tools that work like it.
    #[default]
    Apply,
    /// Server-side apply with forced conflicts, as in Flux and Argo CD with `ServerSideApply=true`.
    ServerSide,
    /// Replaces the object, like `kubectl replace`.
    Replace,
}

impl UpdateMethod {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Apply, Self::ServerSide, Self::Replace];

    /// `client-side`, `server-side` or `replace`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "client-side",
            Self::ServerSide => "server-side",
            Self::Replace => "replace",
        }
    }

    /// The method with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }
}

impl fmt::Display for UpdateMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
