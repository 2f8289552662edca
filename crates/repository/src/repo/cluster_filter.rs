//! Selects clusters by name.

use std::fmt;
use std::sync::Arc;

type IsMeant = dyn Fn(&str) -> bool + Send + Sync;

/// The clusters that are meant; all of them where nobody says.
#[derive(Clone, Default)]
pub struct ClusterFilter(Option<Arc<IsMeant>>);

impl ClusterFilter {
    /// Those that are so.
    pub fn new(is_meant: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_meant)))
    }

    /// Whether a cluster is meant.
    pub fn has(&self, cluster: &str) -> bool {
        self.0.as_ref().is_none_or(|is_meant| is_meant(cluster))
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
