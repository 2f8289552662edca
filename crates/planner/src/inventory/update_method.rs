//! How a cluster's HyperConverged is submitted.

use std::fmt;

/// How a manifest is submitted where there is an object already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum UpdateMethod {
    /// As client-side `kubectl apply` does, and who applies like it.
    #[default]
    Apply,
    /// The API server merges it, as Flux asks for, and Argo CD with `ServerSideApply=true`; conflicts are forced.
    ServerSide,
    /// As it is, as `kubectl replace` does.
    Replace,
}

impl UpdateMethod {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Apply, Self::ServerSide, Self::Replace];

    /// `client-side`, `server-side` or `replace`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "client-side",
            Self::ServerSide => "server-side",
            Self::Replace => "replace",
        }
    }

    /// The method of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }
}

impl fmt::Display for UpdateMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
