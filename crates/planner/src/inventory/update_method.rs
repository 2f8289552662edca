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

hcoplan_kubernetes::names!(UpdateMethod {
    Apply = "client-side",
    ServerSide = "server-side",
    Replace = "replace",
});

impl fmt::Display for UpdateMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
