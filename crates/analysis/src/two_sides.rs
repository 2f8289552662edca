//! The two sides of a comparison given on the command line: directories, revisions, releases, inventories, a running
//! cluster.

use super::before::ComparisonMode;
use super::compare_base::CompareBase;
use super::export::export;
use super::open::{configuration, find, place, trust};
use super::sides::range;
use super::sources::Sources;
use crate::clusters::Clusters;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::sides::Side;

/// The arguments that select the sides.
#[derive(Debug, Default)]
pub struct TwoSides {
    /// The directory of both sides, and how to read it.
    pub sources: Sources,
    /// The directory of the side after, if different.
    pub other: Option<Utf8PathBuf>,
    /// A revision or a range.
    pub against: Option<String>,
    /// A release or a range.
    pub release: Option<String>,
    /// The inventory of both sides, or of the side before.
    pub inventory: Option<Utf8PathBuf>,
    /// The inventory of the side after.
    pub inventory_after: Option<Utf8PathBuf>,
    /// The dump of a running cluster, used as the side before.
    pub live: Option<Utf8PathBuf>,
}

/// The names of two sides, or only that of the side before.
type Range = (String, Option<String>);

impl TwoSides {
    /// The side after with its clusters, and the side before.
    ///
    /// # Errors
    /// If they can't be read or combined.
    pub fn open(&self, notices: &dyn Notices) -> Result<(Clusters, CompareBase), Failure> {
        let against = self.against.as_deref().map(range).transpose()?;
        let release = self.release.as_deref().map(range).transpose()?;
        let (first, second) = (self.inventory.as_ref(), self.inventory_after.as_ref());
        let mut after = Sources { is_compared: self.other.is_some(), ..self.sources.clone() };
        after.directory = self.other.clone().unwrap_or(after.directory);
        after.revision = against.as_ref().and_then(|(_, b)| b.clone());
        after.release = release.as_ref().map(|(a, b)| b.clone().unwrap_or_else(|| a.clone()));
        after.inventory.extend(second.or(first).cloned());
        let is_two = self.other.is_some()
            || against.is_some()
            || release.as_ref().is_some_and(|(_, b)| b.is_some())
            || second.is_some();
        if self.live.is_some() && is_two {
            return Err(Failure::usage(
                "--live is the side before; give one side after, not two",
                "give one release and one inventory at most",
            ));
        }
        after.name = self.name(against.as_ref(), release.as_ref(), false);
        let foreign = self.live.iter().cloned().collect();
        let found = find(&after, foreign, notices)?;
        if let Some(path) = &self.live {
            found.check_live()?;
            return Ok((found, CompareBase::objects(path, export(path)?)));
        }
        if !is_two {
            let base = CompareBase::merge_base(&found, notices)?;
            return Ok((found, base));
        }
        let name = self.name(against.as_ref(), release.as_ref(), true);
        let mut before = Side {
            name: name.unwrap_or_default(),
            revision: against.map(|(a, _)| a),
            release: release.map(|(a, _)| a),
            ..if self.other.is_some() { self.other_side()? } else { found.side() }
        };
        before.options.inventory = first.cloned().into_iter().collect();
        // Two directories may be two clusters; two states of one directory are the same cluster.
        let mode = if self.other.is_some() { ComparisonMode::Alternatives } else { ComparisonMode::BeforeAndAfter };
        Ok((found, CompareBase::sources(before, mode)?))
    }

    /// The first of two directories.
    fn other_side(&self) -> Result<Side, Failure> {
        let sources = Sources { is_compared: true, ..self.sources.clone() };
        let place = place(&sources)?;
        let trust = trust(&sources, &place.root)?;
        let config = configuration(&sources, &trust)?;
        let options = Options { config, trust, builds: sources.builds, within: place.below, ..Options::default() };
        Ok(Side { options, ..Side::of(&place.root) })
    }

    /// The name of a side.
    fn name(&self, against: Option<&Range>, release: Option<&Range>, is_before: bool) -> Option<String> {
        let pick = |(a, b): &Range| if is_before { Some(a.clone()) } else { b.clone() };
        let directory = self.other.as_ref().map(|other| if is_before { &self.sources.directory } else { other });
        let mut name = directory.map(ToString::to_string).or_else(|| against.and_then(pick));
        if let Some(release) = release.filter(|(_, b)| b.is_some()).and_then(pick) {
            let is_both = directory.is_some() || against.is_some();
            let place = name.unwrap_or_else(|| "the working tree".to_owned());
            name = Some(if is_both { format!("{place} on release {release}") } else { format!("release {release}") });
        }
        if self.inventory_after.is_some() {
            let own = "the repository's inventory";
            let inventory = if is_before { &self.inventory } else { &self.inventory_after };
            let inventory = inventory.as_ref().map_or(own, |path| path.as_str());
            name = Some(name.map_or_else(|| inventory.to_owned(), |name| format!("{name} with {inventory}")));
        }
        name
    }
}
