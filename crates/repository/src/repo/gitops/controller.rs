//! The controllers.
/// A controller that reads directories of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, thiserror::Error)]
pub enum Controller {
    /// Applications and ApplicationSets.
    #[error("Argo CD")]
    ArgoCd,
    /// Kustomizations.
    #[error("Flux")]
    Flux,
    /// Subscriptions and policy generators of Advanced Cluster Management.
    #[error("Advanced Cluster Management")]
    Acm,
    /// GitRepos of Rancher's Fleet.
    #[error("Fleet")]
    Fleet,
}

impl Controller {
    /// All known controllers.
    pub const ALL: [Self; 4] = [Self::ArgoCd, Self::Flux, Self::Acm, Self::Fleet];

    /// The controller's ignore file, in the syntax of `.gitignore`. Argo CD has none, and skips files without a
    /// Kubernetes object.
    pub const fn ignore_file(self) -> Option<&'static str> {
        match self {
            Self::ArgoCd => None,
            Self::Flux => Some(".sourceignore"),
            Self::Acm => Some(".kubernetesignore"),
            Self::Fleet => Some(".fleetignore"),
        }
    }
}
