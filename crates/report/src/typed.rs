//! The typed command, which reports repeat.

/// The typed command.
#[derive(Debug, Clone, Default)]
pub struct Typed {
    /// All words that affect the content.
    pub command: String,
    /// Those that select the clusters.
    pub scope: String,
}

impl Typed {
    /// A subcommand about the same clusters; about one of them, unless the words name some.
    pub fn about_same(&self, subcommand: &str, cluster: Option<&str>) -> String {
        let cluster = cluster.filter(|_| !self.scope.contains(" --cluster "));
        let cluster = cluster.map_or_else(String::new, |cluster| format!(" --cluster {cluster}"));
        format!("hcoplan {subcommand}{}{cluster}", self.scope)
    }
}
