//! Selects clusters by name.

use crate::prelude::*;

type Accepts = dyn Fn(&ClusterName) -> bool + Send + Sync;

/// The selected clusters; all by default.
#[derive(Clone, Default)]
pub struct ClusterFilter(Option<Arc<Accepts>>);

impl ClusterFilter {
    /// The clusters that a function accepts.
    pub fn new(accepts: impl Fn(&ClusterName) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(accepts)))
    }

    /// Whether a cluster is selected.
    pub fn has(&self, cluster: &ClusterName) -> bool {
        self.0.as_ref().is_none_or(|accepts| accepts(cluster))
    }
}

impl fmt::Debug for ClusterFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "some clusters",
            None => "every cluster",
        })
    }
}
