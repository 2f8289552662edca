//! What the environment allows.

/// The variable by which a platform, or whoever starts an editor, allows what `kustomize: true` asks for.
const ALLOW_KUSTOMIZE: &str = "HCOPLAN_ALLOW_KUSTOMIZE";

/// Whether kustomize may be run where `hcoplan.yaml` asks for it.
pub fn allows_kustomize() -> bool {
    std::env::var_os(ALLOW_KUSTOMIZE).is_some_and(|value| value == "1")
}
