//! The contents of `hcoplan.yaml` and related files.

use hcoplan_diagnostics::source::origin_name;
use hcoplan_yaml::Segment;
use hcoplan_yaml::edit::{Change, apply, edits, inline};

use super::known::Assumed;
use super::{DumpedCluster, INVENTORY_SCHEMA};
use crate::prelude::*;
use crate::repo::paths::in_root;
use crate::repo::{AppliedBy, CONFIG_FILE, ClusterRef, Loaded, Repo, WithSource};

/// The contents of `hcoplan.yaml`.
#[derive(Debug, Default)]
pub struct Configuration {
    /// Whether charts are rendered.
    has_charts: bool,
    /// The user's release of all clusters without their own.
    release: Option<String>,
    /// Whether the only group has all clusters of the repository, so that its facts stand at the top of a new file.
    is_whole: bool,
    /// Clusters alike, by their paths.
    groups: Vec<(Facts, Vec<Utf8PathBuf>)>,
}

/// Facts about clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Facts {
    /// The written inventory.
    inventory: Option<Utf8PathBuf>,
    /// The release that the user names.
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

    /// The assumed ones by their keys, each as a comment.
    fn questions(&self) -> impl Iterator<Item = (&'static str, String)> {
        let release = self.assumed.release.iter().map(|label| ("release", format!("# release: {label:?}{QUESTION}")));
        let platform = self.assumed.platform.iter().map(|one| ("platform", format!("# platform: {one}{QUESTION}")));
        release.chain(platform)
    }

    /// The keys that nobody has to correct.
    fn answered(&self) -> Vec<&'static str> {
        ["release", "platform"].into_iter().filter(|key| !self.questions().any(|(asked, _)| asked == *key)).collect()
    }

    /// Lines with this indentation, those of assumed ones as comments.
    fn lines(&self, indent: &str) -> String {
        let known = self.known().map(|(key, value)| format!("{key}: {}", inline(&value.into())));
        let lines = known.chain(self.copied.iter().cloned()).chain(self.questions().map(|(_, line)| line));
        lines.map(|line| format!("{indent}{line}\n")).collect()
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
        let Some(clusters) = root.get("clusters").filter(|clusters| !clusters.items().is_empty()) else {
            if root.style != Style::Block {
                return self.appended_inline(text, paths);
            }
            let is_empty = root.get("clusters").is_some();
            let empty = is_empty.then(|| Change::Remove(Path::dotted("clusters")));
            let mut now = changed(text, empty.into_iter().collect())?;
            if let Some(braces) = parsed(&now).filter(|left| left.root.is_empty()) {
                now.replace_range(braces.root.span.range(), "");
                now = now.trim_start().to_owned();
            }
            return Some(appended(&now, &format!("clusters:\n{}", self.item(paths, "  "))));
        };
        let Some(last) = clusters.items().last().filter(|_| clusters.style == Style::Block) else {
            return self.appended_inline(text, paths);
        };
        let indent = column(text, clusters);
        let end = end_of_item(text, indent, last);
        let (before, after) = text.split_at(end);
        let line_break = if before.ends_with('\n') { "" } else { "\n" };
        Some(format!("{before}{line_break}{}{after}", self.item(paths, &" ".repeat(indent))))
    }

    /// The same where the file's layout has no lines for comments.
    fn appended_inline(&self, text: &str, paths: &[Utf8PathBuf]) -> Option<String> {
        let path: Vec<Json> = paths.iter().map(|path| path.as_str().into()).collect();
        let known = self.known().map(|(key, value)| (key.to_owned(), value.into()));
        let item = std::iter::once(("path".to_owned(), path.into())).chain(known).collect();
        changed(text, vec![Change::Append(Path::dotted("clusters"), Json::Object(item))])
    }

    /// An item of an existing file, or its top, with what it lacks.
    fn added_to(&self, text: &str, at: &Path) -> Option<String> {
        let mut now = with_values(text, self.known().map(|(key, value)| (at.key(key), value.into())))?;
        let root = parsed(&now)?.root;
        let item = root.at(at)?;
        if item.style != Style::Block {
            return Some(now);
        }
        let indent = column(&now, item);
        let range = match root.at(&at.parent()).filter(|_| !at.0.is_empty()) {
            Some(list) => item.span.range().start..end_of_item(&now, column(&now, list), item),
            None => 0..now.len(),
        };
        let mut own = without_questions(&now[range.clone()], indent, &self.answered());
        let asked_above = |line: &String| now.lines().any(|own| own == line);
        for (key, line) in self.questions().filter(|(_, line)| !asked_above(line)) {
            if item.get(key).is_none() && !own.contains(&format!("# {key}:")) {
                own = appended(&own, &format!("{}{line}\n", " ".repeat(indent)));
            }
        }
        now.replace_range(range, &own);
        Some(now)
    }
}

impl Configuration {
    /// That of some clusters of a repository; `release` is what the user says of those without one.
    pub fn new(repo: &Repo, clusters: &[(&ClusterRef, Loaded)], has_charts: bool, release: Option<String>) -> Self {
        let are_all = clusters.len() == repo.clusters().len();
        let mut groups: BTreeMap<Facts, Vec<Utf8PathBuf>> = BTreeMap::new();
        for (cluster, loaded) in clusters {
            let mut facts = Facts { assumed: Assumed::of(loaded), ..Facts::default() };
            if let Some(release) = &release
                && loaded.identity.release.as_ref().is_none_or(WithSource::is_configured)
            {
                facts.assumed.release = None;
                facts.release = Some(release.clone()).filter(|_| !are_all);
            }
            // An entry of `hcoplan.yaml` can only mean the only HyperConverged of a file.
            let is_only = repo.clusters().iter().filter(|c| c.named_path() == cluster.named_path()).count() == 1;
            if facts != Facts::default() && is_only {
                groups.entry(facts).or_default().push(cluster.named_path().to_owned());
            }
        }
        let (is_whole, release) = (are_all && groups.len() < 2, release.filter(|_| are_all));
        Self { has_charts, release, is_whole, groups: groups.into_iter().collect() }
    }

    /// That of an inventory of a cluster.
    pub fn of_inventory(repo: &Repo, cluster: &ClusterRef, inventory: &Utf8Path) -> Self {
        let mut out = Self { is_whole: repo.clusters().len() == 1, ..Self::default() };
        out.add_inventory(cluster, inventory);
        out
    }

    /// Adds the inventory of the only cluster.
    fn add_inventory(&mut self, cluster: &ClusterRef, inventory: &Utf8Path) -> &mut Facts {
        if self.groups.is_empty() {
            self.groups.push((Facts::default(), vec![cluster.named_path().to_owned()]));
        }
        let facts = &mut self.groups[0].0;
        facts.inventory = Some(inventory.to_owned());
        facts
    }

    /// Adds what a dump says of the only cluster: the written inventory has its facts.
    pub fn add_dump(&mut self, cluster: &ClusterRef, inventory: &Utf8Path, dumped: &DumpedCluster) {
        let facts = self.add_inventory(cluster, inventory);
        facts.assumed.release = facts.assumed.release.take().filter(|_| dumped.identity.release.is_none());
        facts.assumed.platform = facts.assumed.platform.filter(|_| dumped.identity.platform.is_assumed());
    }

    /// The file with what it lacks, or a new one in place of an empty text; `None` if it lacks nothing, or is none that
    /// can be changed.
    pub fn new_text(&self, text: &str) -> Option<String> {
        let mut now = text.to_owned();
        if self.has_inventory() {
            now = now.replace(WITHOUT_INVENTORY, "");
        }
        let answered = self.groups.iter().filter(|_| self.is_whole).flat_map(|(facts, _)| facts.answered());
        let answered: Vec<&str> = answered.chain(self.release.is_some().then_some("release")).collect();
        now = without_questions(&now, 0, &answered);
        // A file of comments has no document.
        let documents = yaml::parse_yaml(&SourceFile::new(CONFIG_FILE, &now)).documents;
        let (empty, with_content): (Vec<_>, Vec<_>) = documents.iter().partition(|document| document.root.is_empty());
        if with_content.is_empty() {
            let braces = empty.iter().map(|document| document.root.span.range()).next_back();
            now.replace_range(braces.unwrap_or_default(), "");
            if now.trim().is_empty() {
                return Some(self.text());
            }
            let is_known = |line: &&str| line.starts_with('#') && now.lines().any(|own| own == line.trim_end());
            let body = self.body();
            now = appended(&now, &body.split_inclusive('\n').filter(|line| !is_known(line)).collect::<String>());
        } else {
            let charts = self.has_charts.then_some(("helm", Json::Bool(true)));
            let all = self.release.iter().map(|label| ("release", label.as_str().into())).chain(charts);
            now = with_values(&now, all.map(|(key, value)| (Path::dotted(key), value)))?;
            for (facts, paths) in &self.groups {
                now = self.group_added_to(&now, paths, facts)?;
            }
        }
        (now != text).then_some(now)
    }

    /// An existing file with what it lacks of clusters alike.
    fn group_added_to(&self, text: &str, paths: &[Utf8PathBuf], facts: &Facts) -> Option<String> {
        let mut now = text.to_owned();
        let root = parsed(text)?.root;
        if self.is_whole && root.get("clusters").is_none() {
            return facts.added_to(text, &Path::default());
        }
        let is_of = |path: &Utf8PathBuf, own: &Utf8PathBuf| own == path || path.parent() == Some(own);
        let (mut new, mut copied) = (Vec::new(), Vec::new());
        for path in paths {
            let root = parsed(&now)?.root;
            let is_its = |own: &Utf8PathBuf| is_of(path, own);
            let items = root.list_at("clusters").iter().map(paths_of).enumerate();
            let Some((at, own)) = items.into_iter().find(|(_, own)| own.iter().any(is_its)) else {
                new.push(path.clone());
                continue;
            };
            let entry = Path::dotted("clusters").index(at);
            let others = own.iter().any(|own| !paths.iter().any(|path| is_of(path, own)));
            if others && facts.known().next().is_some() {
                // Its facts aren't the others'.
                let index = own.iter().position(is_its)?;
                let kept = root.list_at("clusters")[at].entries().iter();
                let kept = kept.filter(|e| e.key.text != "path" && !facts.known().any(|(key, _)| key == e.key.text));
                copied = kept.map(|e| now[e.key.span.range().start..e.value.span.range().end].to_owned()).collect();
                now = changed(&now, vec![Change::Remove(entry.key("path").index(index))])?;
                new.push(path.clone());
            } else {
                now = facts.added_to(&now, &entry)?;
            }
        }
        let is_asked = |(_, line): (&str, String)| now.lines().any(|own| own == line);
        if new.is_empty() || facts.known().next().is_none() && facts.questions().all(is_asked) {
            return Some(now);
        }
        Facts { copied, ..facts.clone() }.appended_to(&now, &new)
    }

    /// A new file.
    fn text(&self) -> String {
        let schema = INVENTORY_SCHEMA.replace("inventory.", "config.");
        let mut out = format!("# yaml-language-server: $schema={schema}\n");
        if self.groups.iter().any(|(facts, _)| facts.assumed != Assumed::default()) {
            out += "# hcoplan assumes what the lines with `# ?` say: correct them, and remove the first `#`.\n";
        }
        out += &self.body();
        if !self.has_inventory() {
            out += WITHOUT_INVENTORY;
        }
        out
    }

    fn has_inventory(&self) -> bool {
        self.groups.iter().any(|(facts, _)| facts.inventory.is_some())
    }

    /// Its settings.
    fn body(&self) -> String {
        let release = Facts { release: self.release.clone(), ..Facts::default() };
        let mut out = release.lines("");
        let charts = if self.has_charts { "helm: true\n" } else { "" };
        if self.is_whole {
            self.groups.iter().for_each(|(facts, _)| out += &facts.lines(""));
            return out + charts;
        }
        let items: String = self.groups.iter().map(|(facts, paths)| facts.item(paths, "  ")).collect();
        let clusters = if items.is_empty() { "" } else { "clusters:\n" };
        format!("{out}{charts}{clusters}{items}")
    }
}

/// The end of a line that a person has to correct.
const QUESTION: &str = "  # ?";
/// The remark of a file without an inventory.
const WITHOUT_INVENTORY: &str =
    "# Without an inventory nodes are assumed: `hcoplan init DIR --nodes DUMP` writes one.\n";

/// A text without the lines that asked for some keys.
fn without_questions(text: &str, indent: usize, keys: &[&str]) -> String {
    let asks = |line: &str, key: &&str| line.strip_prefix("# ").is_some_and(|own| own.starts_with(&format!("{key}: ")));
    let is_kept = |line: &&str| {
        let own = line.trim();
        line.len() - line.trim_start().len() != indent
            || !own.ends_with(QUESTION)
            || !keys.iter().any(|key| asks(own, key))
    };
    text.split_inclusive('\n').filter(is_kept).collect()
}

/// A text with other lines at its end.
fn appended(text: &str, lines: &str) -> String {
    let line_break = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{line_break}{lines}")
}

/// The characters before a node in its first line: the indentation of a block's list or item.
fn column(text: &str, node: &Node) -> usize {
    let start = node.span.range().start;
    start - line_start(text, start)
}

/// Where an item of a list with this indentation ends with the comments that belong to it.
fn end_of_item(text: &str, indent: usize, item: &Node) -> usize {
    let end_of_line = |from: usize| text[from..].find('\n').map_or(text.len(), |at| from + at + 1);
    let mut end = end_of_line(text[..item.span.range().end].trim_end().len());
    while let Some(rest) = Some(text[end..].trim_start_matches(' ')).filter(|rest| rest.starts_with('#'))
        && text.len() - rest.len() - end > indent
    {
        end = end_of_line(end);
    }
    end
}

/// A text with values where others or none are.
fn with_values(text: &str, values: impl Iterator<Item = (Path, Json)>) -> Option<String> {
    let root = parsed(text)?.root;
    let lacks = |(path, value): &(Path, Json)| root.at(path).is_none_or(|own| own.to_json() != *value);
    changed(text, values.filter(lacks).map(|(path, value)| Change::Set(path, value)).collect())
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
    let document = parsed(text)?;
    // A new key at the top comes last: a comment before it may belong to the entry above.
    let is_new = |path: &Path| matches!(path.0.as_slice(), [Segment::Key(key)] if document.root.get(key).is_none());
    let (mut new, mut others) = (String::new(), Vec::new());
    for change in changes {
        match &change {
            Change::Set(path, value) if document.root.style == Style::Block && is_new(path) => {
                let Some(Segment::Key(key)) = path.0.first() else { continue };
                new += &format!("{key}: {}\n", inline(value));
            }
            _ => others.push(change),
        }
    }
    let now = apply(text, &edits(&document, &others).ok()?).ok()?;
    Some(if new.is_empty() { now } else { appended(&now, &new) })
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

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::Memory;

    use super::*;
    use crate::repo::Options;

    const HC: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n\
                      metadata: {name: kubevirt-hyperconverged, namespace: openshift-cnv}\n";
    const NODES: &str = "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nspec:\n  nodePools:\n  \
                         - {name: a, count: 1, architecture: amd64, roles: [worker]}\n";

    /// What `init` writes in a repository with these clusters, after a first line of its own.
    fn written(clusters: &[&str], config: Option<&str>, chosen: &str, release: Option<&str>, nodes: bool) -> String {
        let paths: Vec<String> = clusters.iter().map(|name| format!("{name}/hc.yaml")).collect();
        let files = paths.iter().map(|path| (path.as_str(), HC));
        let config_file = config.map(|text| (CONFIG_FILE, text));
        let tree: Memory = files.chain(config_file).chain([("n.yaml/x.yaml", NODES)]).collect();
        let repo = Repo::from_tree(Arc::new(tree), &Options::default()).expect("a repository");
        let chosen = repo.clusters().iter().filter(|cluster| cluster.path().starts_with(chosen));
        let loaded: Vec<_> = chosen.map(|cluster| (cluster, repo.load(cluster).expect("loaded"))).collect();
        let mut out = Configuration::new(&repo, &loaded, false, release.map(ToOwned::to_owned));
        if nodes {
            out.add_inventory(loaded[0].0, Utf8Path::new("n.yaml"));
        }
        match config {
            Some(config) => out.new_text(config).unwrap_or_else(|| "unchanged".to_owned()),
            None => out.text().split_once('\n').expect("a line").1.to_owned(),
        }
    }

    #[test]
    fn adds_what_a_file_lacks_and_keeps_the_rest() {
        let comments = "# ours\n# release: \"4.22\"  # ?\n";
        assert_eq!(written(&["a"], Some(comments), "", None, false), "unchanged");
        assert_eq!(written(&["a"], Some(comments), "", None, true), format!("{comments}inventory: n.yaml\n"));
        assert_eq!(written(&["a"], Some(comments), "", Some("4.21"), false), "# ours\nrelease: \"4.21\"\n");
        let entry = "  - path: b/hc.yaml\n    # release: \"4.22\"  # ?\n";
        let stated = "clusters: # all\n  - path: a/hc.yaml\n    release: \"4.21\"  # since May\n";
        assert_eq!(written(&["a", "b"], Some(stated), "", None, false), format!("{stated}{entry}"));
        let both = format!("{stated}{entry}lint: {{failOn: error}}\n");
        assert_eq!(written(&["a", "b"], Some(&both), "", None, false), "unchanged");
        let answered = both.replace("# release: \"4.22\"  # ?", "release: \"4.20\"");
        assert_eq!(written(&["a", "b"], Some(&both), "b", Some("4.20"), false), answered);
        let with_nodes = both.replace("b/hc.yaml\n", "b/hc.yaml\n    inventory: n.yaml\n");
        assert_eq!(written(&["a", "b"], Some(&both), "b", None, true), with_nodes);
        for empty in ["{}\n", "---\n", "# ours\n---\n# more\n"] {
            let text = written(&["a", "b"], Some(empty), "b", Some("4.20"), false);
            let rest = "clusters:\n  - path: b/hc.yaml\n    release: \"4.20\"\n";
            assert!(text.contains(rest) && parsed(&text).is_some(), "{text}");
            assert!(empty.lines().filter(|line| line.starts_with('#')).all(|line| text.contains(line)), "{text}");
        }
        for dash in ["-\n   ", "- # the first\n   ", "- &a\n   ", "-  "] {
            let indent = if dash == "-  " { "      " } else { "    " };
            let own = format!("clusters:\n  {dash} path: a/hc.yaml\n{indent}release: \"4.21\"\n");
            assert_eq!(written(&["a", "b"], Some(&own), "", None, false), format!("{own}{entry}"));
        }
        let list = written(&["a", "b"], Some("clusters: []\n"), "b", None, false);
        assert_eq!(list, format!("clusters:\n{entry}"));
        let none = written(&["a", "b"], Some("clusters: []\nlint: {}\n"), "b", None, false);
        assert_eq!(none, format!("lint: {{}}\nclusters:\n{entry}"));
        let top = format!("{both}release: \"4.20\"\n");
        assert_eq!(written(&["a", "b"], Some(&both), "", Some("4.20"), false), top, "it comes last");
    }

    #[test]
    fn cluster_with_its_own_facts_leaves_the_entry_of_several() {
        let shared = "clusters:\n  - path:\n      - a/hc.yaml\n      - b/hc.yaml\n    platform: OpenShift\n";
        let own = "  - path: b/hc.yaml\n    release: \"4.20\"\n    platform: OpenShift\n";
        let left = shared.replace("      - b/hc.yaml\n", "");
        assert_eq!(written(&["a", "b"], Some(shared), "b", Some("4.20"), false), format!("{left}{own}"));
        let all = written(
            &["x/a", "x/b", "c"],
            Some(&shared.replace("- ", "- x/").replace("x/path", "path")),
            "x",
            Some("4.20"),
            false,
        );
        assert!(
            all.contains("x/a/hc.yaml") && all.contains("x/b/hc.yaml\n    platform: OpenShift\n    release: \"4.20\""),
            "{all}"
        );
    }

    #[test]
    fn new_file_states_alike_facts_once() {
        let question = "# release: \"4.22\"  # ?\n";
        let text = written(&["a", "b"], None, "", None, false);
        assert!(text.contains(question) && !text.contains("clusters:"), "{text}");
        let text = written(&["a", "b"], None, "a", Some("4.20"), false);
        assert!(text.starts_with("clusters:\n  - path: a/hc.yaml\n    release: \"4.20\"\n"), "{text}");
        let text = written(&["a", "b"], None, "", Some("4.20"), false);
        assert!(text.starts_with("release: \"4.20\"\n"), "{text}");
    }
}
