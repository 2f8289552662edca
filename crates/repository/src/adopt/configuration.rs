//! The contents of `hcoplan.yaml` and related files.

use hcoplan_diagnostics::source::origin_name;
use hcoplan_yaml::edit::{Change, apply, edits, inline};
use hcoplan_yaml::{Segment, Style};
use serde_json::Value as Json;

use super::known::Assumed;
use super::{DumpedCluster, INVENTORY_SCHEMA};
use crate::prelude::*;
use crate::repo::paths::in_root;
use crate::repo::{AppliedBy, CONFIG_FILE, ClusterRef, Loaded, Repo};

/// The contents of `hcoplan.yaml`.
#[derive(Debug)]
pub struct Configuration {
    /// Whether charts are rendered.
    has_charts: bool,
    /// The facts about all clusters without their own.
    all: Facts,
    /// Clusters alike, by their paths.
    entries: Vec<(Vec<Utf8PathBuf>, Facts)>,
}

/// Facts about clusters.
#[derive(Debug, Clone, Default)]
struct Facts {
    /// The written inventory.
    inventory: Option<Utf8PathBuf>,
    /// The release that the user or a dump names.
    release: Option<String>,
    /// Other entries, as written.
    copied: Vec<String>,
    /// What a person has to correct.
    assumed: Assumed,
}

impl Facts {
    /// The known ones by their keys.
    fn known(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let inventory = self.inventory.iter().map(|file| ("inventory", file.as_str()));
        inventory.chain(self.release.iter().map(|label| ("release", label.as_str())))
    }

    /// Lines with this indentation, those of assumed ones as comments.
    fn lines(&self, indent: &str) -> String {
        let known = self.known().map(|(key, value)| format!("{indent}{key}: {}\n", inline(&value.into())));
        let release = self.assumed.release.iter().map(|label| format!("{indent}# release: {label:?}  # ?\n"));
        let platform = self.assumed.platform.iter().map(|one| format!("{indent}# platform: {one}  # ?\n"));
        let copied = self.copied.iter().map(|entry| format!("{indent}{entry}\n"));
        known.chain(copied).chain(release).chain(platform).collect()
    }

    /// An item of `clusters`.
    fn item(&self, paths: &[Utf8PathBuf], indent: &str) -> String {
        let quoted = |path: &Utf8PathBuf| inline(&path.as_str().into());
        let path = match paths {
            [only] => format!(" {}", quoted(only)),
            _ => paths.iter().map(|path| format!("\n{indent}    - {}", quoted(path))).collect(),
        };
        format!("{indent}- path:{path}\n{}", self.lines(&format!("{indent}  ")))
    }

    /// A file with a new item of `clusters`.
    fn appended_to(&self, text: &str, paths: &[Utf8PathBuf]) -> Option<String> {
        let root = parsed(text)?.root;
        let is_block = root.get("clusters").is_some_and(|clusters| clusters.style == Style::Block);
        let Some(last) = root.list_at("clusters").last().filter(|_| is_block) else {
            let path: Vec<Json> = paths.iter().map(|path| path.as_str().into()).collect();
            let known = self.known().map(|(key, value)| (key.to_owned(), value.into()));
            let item = std::iter::once(("path".to_owned(), path.into())).chain(known).collect();
            return changed(text, vec![Change::Append(Path::dotted("clusters"), Json::Object(item))]);
        };
        let range = last.span.range();
        let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let indent = text[line..].len() - text[line..].trim_start().len();
        // Comments may belong to the last item.
        let end_of_line = |from: usize| text[from..].find('\n').map_or(text.len(), |at| from + at + 1);
        let mut end = end_of_line(text[..range.end].trim_end().len());
        while let Some(rest) = Some(text[end..].trim_start_matches(' ')).filter(|rest| rest.starts_with('#'))
            && text.len() - rest.len() - end > indent
        {
            end = end_of_line(end);
        }
        let (before, after) = text.split_at(end);
        let line_break = if before.ends_with('\n') { "" } else { "\n" };
        Some(format!("{before}{line_break}{}{after}", self.item(paths, &" ".repeat(indent))))
    }
}

impl Configuration {
    /// That of some clusters of a repository; `release` is what the user says of those without one.
    pub fn new(repo: &Repo, clusters: &[(&ClusterRef, Loaded)], has_charts: bool, release: Option<String>) -> Self {
        let mut alike: BTreeMap<Assumed, Vec<Utf8PathBuf>> = BTreeMap::new();
        for (cluster, loaded) in clusters {
            let mut assumed = Assumed::of(loaded);
            assumed.release = assumed.release.filter(|_| release.is_none());
            // An entry means the only HyperConverged of a file.
            let is_its = |other: &&ClusterRef| other.named_path() == cluster.named_path();
            if assumed != Assumed::default() && repo.clusters().iter().filter(is_its).count() == 1 {
                alike.entry(assumed).or_default().push(cluster.named_path().to_owned());
            }
        }
        let mut out = Self { has_charts, all: Facts { release, ..Facts::default() }, entries: Vec::new() };
        if alike.len() == 1 && clusters.len() == repo.clusters().len() {
            out.all.assumed = alike.into_keys().next().unwrap_or_default();
        } else {
            let facts = |assumed| Facts { assumed, ..Facts::default() };
            out.entries.extend(alike.into_iter().map(|(assumed, paths)| (paths, facts(assumed))));
        }
        out
    }

    /// Adds what a dump says of its only cluster: the inventory that is written, and the release.
    pub fn add_dump(&mut self, repo: &Repo, cluster: &ClusterRef, inventory: &Utf8Path, dumped: &mut DumpedCluster) {
        let facts = if repo.clusters().len() == 1 {
            &mut self.all
        } else {
            if self.entries.is_empty() {
                self.entries.push((vec![cluster.named_path().to_owned()], Facts::default()));
            }
            &mut self.entries[0].1
        };
        facts.inventory = Some(inventory.to_owned());
        facts.release = facts.release.take().or_else(|| dumped.take_release());
        facts.assumed.release = facts.assumed.release.take().filter(|_| facts.release.is_none());
        facts.assumed.platform = facts.assumed.platform.filter(|_| dumped.identity.platform.is_assumed());
    }

    /// An existing file with what it lacks; `None` if it lacks nothing, or is none that can be changed.
    pub fn added_to(&self, text: &str) -> Option<String> {
        let charts = self.has_charts.then_some(("helm", Json::Bool(true)));
        let known = self.all.known().map(|(key, value)| (key, value.into())).chain(charts);
        let root = parsed(text)?.root;
        let mut now = changed(text, known.filter_map(|(key, value)| lacks(&root, Path::dotted(key), value)).collect())?;
        for (paths, facts) in &self.entries {
            let root = parsed(&now)?.root;
            let items: Vec<Vec<Utf8PathBuf>> = root.list_at("clusters").iter().map(paths_of).collect();
            let (mut new, mut changes, mut copied) = (Vec::new(), Vec::new(), Vec::new());
            for path in paths {
                let is_its = |own: &Utf8PathBuf| own == path || path.parent() == Some(own);
                let found = items.iter().position(|own| own.iter().any(is_its));
                let Some(at) = found else {
                    new.push(path.clone());
                    continue;
                };
                let entry = Path::dotted("clusters").index(at);
                let shared = items[at].iter().position(is_its).filter(|_| items[at].len() > 1);
                if let Some(index) = shared.filter(|_| facts.inventory.is_some()) {
                    // Its inventory isn't the others'.
                    changes.push(Change::Remove(entry.key("path").index(index)));
                    new.push(path.clone());
                    let own = root.list_at("clusters")[at].entries().iter();
                    let own =
                        own.filter(|own| own.key.text != "path" && !facts.known().any(|(key, _)| key == own.key.text));
                    copied
                        .extend(own.map(|own| now[own.key.span.range().start..own.value.span.range().end].to_owned()));
                } else {
                    let known = facts.known().map(|(key, value)| (entry.key(key), value.into()));
                    changes.extend(known.filter_map(|(path, value)| lacks(&root, path, value)));
                }
            }
            now = changed(&now, changes)?;
            if !new.is_empty() {
                let Facts { inventory, release, assumed, .. } = facts.clone();
                now = Facts { inventory, release, copied, assumed }.appended_to(&now, &new)?;
            }
        }
        (now != text).then_some(now)
    }

    /// A new file.
    pub fn text(&self) -> String {
        let schema = INVENTORY_SCHEMA.replace("inventory.", "config.");
        let mut out = format!("# yaml-language-server: $schema={schema}\n");
        let all = || self.entries.iter().map(|(_, facts)| facts).chain([&self.all]);
        if all().any(|facts| facts.assumed != Assumed::default()) {
            out += "# hcoplan assumes what the lines with `# ?` say: correct them, and remove the first `#`.\n";
        }
        out += &self.all.lines("");
        if self.has_charts {
            out += "helm: true\n";
        }
        if !self.entries.is_empty() {
            out += "clusters:\n";
        }
        self.entries.iter().for_each(|(paths, facts)| out += &facts.item(paths, "  "));
        if !all().any(|facts| facts.inventory.is_some()) {
            out += "# Without an inventory nodes are assumed: `hcoplan init DIR --nodes DUMP` writes one.\n";
        }
        out
    }
}

/// The change that puts in a value where none is; a written inventory replaces another one.
fn lacks(root: &Node, path: Path, value: Json) -> Option<Change> {
    let is_inventory = path.0.last() == Some(&Segment::Key("inventory".to_owned()));
    let is_wanted = root.at(&path).is_none_or(|own| is_inventory && own.to_json() != value);
    is_wanted.then_some(Change::Set(path, value))
}

/// The paths of an item of `clusters`.
fn paths_of(item: &Node) -> Vec<Utf8PathBuf> {
    let all = item.get("path").into_iter().chain(item.list_at("path"));
    all.filter_map(|path| in_root(path.as_str()?)).collect()
}

/// The only document of a file.
fn parsed(text: &str) -> Option<Document> {
    let mut documents = yaml::parse_yaml(&SourceFile::new(CONFIG_FILE, text)).documents.into_iter();
    documents.next().filter(|_| documents.next().is_none())
}

/// The text after changes.
fn changed(text: &str, changes: Vec<Change>) -> Option<String> {
    if changes.is_empty() {
        return Some(text.to_owned());
    }
    apply(text, &edits(&parsed(text)?, &changes).ok()?).ok()
}

/// The ignore file, and its lines, with which a controller that applies hcoplan's directory skips hcoplan's files;
/// `None` if no controller applies it or the controller has no such file.
pub fn ignored(repo: &Repo, root: &Utf8Path) -> Option<(Utf8PathBuf, &'static str)> {
    let mut appliers = repo.appliers(None);
    // git is run only if the repository's name matters.
    if appliers.has_controllers() {
        appliers = repo.appliers(origin_name(root));
    }
    match appliers.of(Utf8Path::new(DIRECTORY))? {
        AppliedBy::Controller(_, controller) => Some((controller.ignore_file()?.into(), IGNORED)),
        _ => None,
    }
}

/// The directory of hcoplan's files.
const DIRECTORY: &str = ".hcoplan";

/// The lines with which Flux, Fleet and Advanced Cluster Management skip hcoplan's files.
const IGNORED: &str = "\
# Don't apply hcoplan's files.
/.hcoplan/
/hcoplan.yaml
";

/// The path of a new inventory: in a directory that no controller applies.
pub fn inventory_path(cluster: &ClusterRef) -> Utf8PathBuf {
    let name = if cluster.name().is_root() { "inventory" } else { cluster.name() };
    format!("{DIRECTORY}/{name}.yaml").into()
}
