//! What the environment allows.

/// By these variables a platform, or whoever starts an editor, allows what `kustomize: true` and `helm: true`
/// ask for.
pub const ALLOW_KUSTOMIZE: &str = "HCOPLAN_ALLOW_KUSTOMIZE";
/// See [`ALLOW_KUSTOMIZE`].
pub const ALLOW_HELM: &str = "HCOPLAN_ALLOW_HELM";

/// Whether the environment allows what the variable is about.
pub fn is_allowed(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "1")
}
