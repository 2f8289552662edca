//! The controllers.
use crate::prelude::*;
/// A controller that reads directories of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Controller {
    /// Applications and ApplicationSets.
    ArgoCd,
    /// Kustomizations.
    Flux,
    /// Subscriptions and policy generators of Advanced Cluster Management.
    Acm,
    /// GitRepos of Rancher's Fleet.
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

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ArgoCd => "Argo CD",
            Self::Flux => "Flux",
            Self::Acm => "Advanced Cluster Management",
            Self::Fleet => "Fleet",
        })
    }
}
