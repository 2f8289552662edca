//! Suggests what a missing path was meant to be.

use crate::prelude::*;
use clap::ArgMatches;

use super::mistakes::{command_line, takes};
use crate::finding::nearest;
use crate::release::Release;
use crate::repo::{self, Repo};
use crate::source::Revision;

/// A revision, release or cluster given as a directory, else a path with a similar name.
pub(super) fn meant(typed: &[OsString], missing: &Utf8Path) -> Option<String> {
    let command = command_line();
    let matches = command.clone().try_get_matches_from(typed).ok()?;
    let (name, given) = matches.subcommand()?;
    let subcommand = command.find_subcommand(name)?;
    let words = positionals(given);
    if words.contains(&missing.as_str()) {
        let (paths, words): (Vec<&str>, _) = words.into_iter().partition(|w| Utf8Path::new(w).exists());
        if let Some(options) = as_options(subcommand, &words) {
            let words = ["hcoplan", name].into_iter().chain(paths);
            let meant = words.chain([options.as_str()]).collect::<Vec<_>>().join(" ");
            return Some(format!("did you mean `{meant}`?"));
        }
    }
    let (directory, last) = (missing.parent()?, missing.file_name()?);
    let at = if directory == "" { Utf8Path::new(".") } else { directory };
    let entries = at.read_dir_utf8().ok()?.filter_map(Result::ok);
    let names: Vec<String> = entries.map(|e| e.file_name().to_owned()).collect();
    let names = || names.iter().map(String::as_str);
    // A file with one HyperConverged gives its cluster its name.
    let file = names().find(|name| Utf8Path::new(name).file_stem() == Some(last));
    let near = file.or_else(|| nearest(last, names()))?;
    Some(format!("did you mean {}?", directory.join(near)))
}

/// The typed directories.
fn positionals(given: &ArgMatches) -> Vec<&str> {
    let ids = given.ids().filter(|id| ["directory", "other", "more"].contains(&id.as_str()));
    let mut ids: Vec<&str> = ids.map(clap::Id::as_str).collect();
    ids.sort_unstable();
    let typed = |id: &&str| given.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
    let words = ids.into_iter().filter(typed).filter_map(|id| given.get_raw(id)).flatten();
    words.filter_map(|w| w.to_str()).collect()
}

/// The options for words that were typed as directories.
fn as_options(subcommand: &Command, words: &[&str]) -> Option<String> {
    let all = |is: fn(&str) -> bool| {
        let parts = |w: &str| match hcoplan_analysis::range(w) {
            Ok((a, b)) => is(&a) && b.is_none_or(|b| is(&b)),
            Err(_) => false,
        };
        words.iter().all(|w| parts(w))
    };
    let range = words.join("..");
    if all(|name| Release::known(name).is_some()) && takes(subcommand, "release") {
        let upgrade = if takes(subcommand, "upgrade-to") && words.len() == 1 {
            format!("` or `--upgrade-to {range}")
        } else {
            String::new()
        };
        return Some(format!("--release {range}{upgrade}"));
    }
    let is_revision = |name: &str| !name.starts_with('-') && Revision::is_there(Utf8Path::new("."), name);
    if takes(subcommand, "against") && all(is_revision) {
        return Some(format!("--against {range}"));
    }
    if !takes(subcommand, "cluster") {
        return None;
    }
    let repo = Repo::open(&Place::whole(".".into()).root, &repo::Options::default()).ok()?;
    let is_cluster = |word: &&str| {
        let mut clusters = repo.clusters().iter();
        clusters.any(|c| **c.name() == **word || c.name().rsplit('/').next() == Some(*word))
    };
    let options = words.iter().map(|w| format!("--cluster {w}"));
    let are_clusters = words.iter().all(is_cluster);
    are_clusters.then(|| options.collect::<Vec<_>>().join(" "))
}
