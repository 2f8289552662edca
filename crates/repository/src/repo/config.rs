//! `hcoplan.yaml`, at the root.

use hcoplan_kubernetes::schema::DocumentSchema;
use hcoplan_yaml::Value as Yaml;
use serde_json::Value;

use super::error::Located;
use super::nodes::{fields_at, is_on, value_mut};
use super::paths::in_root;
use crate::inventory::schema_finding;
use crate::prelude::*;

/// The name of the configuration, which is only read at the root.
pub const CONFIG_FILE: &str = "hcoplan.yaml";

/// The schema, which editors use too.
pub const CONFIG_SCHEMA: &str = hcoplan_schemas::CONFIG;

/// The contents of `hcoplan.yaml`; empty without one.
#[derive(Debug, Default)]
pub struct Config {
    /// Files and directories that are not read, in the syntax of `.gitignore`.
    pub ignore: Vec<Located<String>>,
    /// The release of clusters that don't declare theirs.
    pub release: Option<Located<String>>,
    /// The platform of clusters without a declared one.
    pub platform: Option<Located<Platform>>,
    /// The inventory of clusters without their own: files or directories.
    pub inventory: Vec<Located<String>>,
    /// Whether building kustomizations is disabled.
    pub is_kustomize_off: bool,
    /// Whether charts are rendered with helm, and the output is examined.
    pub helm: bool,
    /// Whether each cluster's directory of the output tree is a kustomization.
    pub kustomization: bool,
    /// Settings of single clusters.
    pub clusters: Vec<ClusterEntry>,
    /// Which rules run.
    pub lint: LintConfig,
    /// Severity and options of rules and groups, in the order of the text.
    pub rules: Vec<RuleConfig>,
    /// Findings that are not reported.
    pub suppress: Vec<SuppressConfig>,
}

/// Settings of a cluster.
#[derive(Debug)]
pub struct ClusterEntry {
    /// Its name; by default the HyperConverged's directory.
    pub name: Option<Located<String>>,
    /// The HyperConverged's file or directory.
    pub path: Located<String>,
    /// Its inventory: files or directories.
    pub inventory: Vec<Located<String>>,
    /// The release that it runs.
    pub release: Option<Located<String>>,
    /// Its platform.
    pub platform: Option<Located<Platform>>,
    /// Other files and directories about it, anywhere: its virtual machines, image evidence, bundles, storage classes.
    pub also: Vec<Located<String>>,
}

/// Which rules run. Names are not checked here: `lint` knows the rules.
#[derive(Debug, Default)]
pub struct LintConfig {
    /// Only these rules and groups run; empty = all.
    pub select: Vec<Located<String>>,
    /// These don't run.
    pub ignore: Vec<Located<String>>,
    /// Whether the pedantic rules run, too.
    pub pedantic: bool,
    /// The baseline file of known findings, relative to the root.
    pub baseline: Option<Located<String>>,
    /// The least severity with exit code 1; `Some(None)`: never.
    pub fail_on: Option<Option<Severity>>,
}

/// The configuration of a rule or a group.
#[derive(Debug)]
pub struct RuleConfig {
    /// The rule's or group's name.
    pub name: Located<String>,
    /// `Some(None)` switches it off.
    pub severity: Option<Option<Severity>>,
    /// Its options by name.
    pub options: BTreeMap<String, Located<Value>>,
}

/// Findings that are not reported.
#[derive(Debug)]
pub struct SuppressConfig {
    /// The rules or groups.
    pub rules: Vec<Located<String>>,
    /// Only in files that match this pattern, in the syntax of `.gitignore`.
    pub path: Option<Located<String>>,
    /// Only for this object: `Kind/name` or `Kind/namespace/name`.
    pub object: Option<Located<String>>,
    /// Only in clusters that match this pattern.
    pub cluster: Option<Located<String>>,
    /// The reason.
    pub reason: Option<Located<String>>,
    /// The last day of the suppression, `2027-01-31`.
    pub until: Option<Located<String>>,
    /// The whole entry.
    pub place: Location,
}

static SCHEMA: LazyLock<DocumentSchema> = LazyLock::new(|| DocumentSchema::of(CONFIG_SCHEMA));

/// Removes the paths of clusters outside of a directory, and entries without any other, with their mistakes.
fn retain_entries_of(directory: &Utf8Path, root: &mut Node) {
    let is_inside = |path: &Node| {
        let path = path.as_str().and_then(in_root);
        path.is_some_and(|path| path.starts_with(directory))
    };
    let Some(Node { value: Yaml::Seq(clusters), .. }) = value_mut(root, "clusters") else { return };
    clusters.retain_mut(|entry| {
        if let Some(Node { value: Yaml::Seq(paths), .. }) = value_mut(entry, "path") {
            paths.retain(is_inside);
            return !paths.is_empty();
        }
        entry.get("path").is_some_and(is_inside)
    });
}

/// Parses `hcoplan.yaml`, of a part only its own clusters' entries; returns findings instead if anything is wrong.
pub(super) fn read(file: &Arc<SourceFile>, part: Option<&Utf8Path>) -> Result<Config, Vec<Finding>> {
    let mut parsed = yaml::parse_yaml(file);
    if let (Some(part), Some(document)) = (part, parsed.documents.first_mut()) {
        retain_entries_of(part, &mut document.root);
    }
    let problems = parsed.problems.iter().filter(|p| p.kind.is_fatal());
    let mut findings: Vec<Finding> =
        problems.map(|p| invalid(p.message.clone(), &Location::new(file, p.span))).collect();
    let mut config = Config::default();
    if let Some(second) = parsed.documents.get(1) {
        let message = "hcoplan.yaml has more than one document".to_owned();
        findings.push(invalid(message, &second.location(second.root.span)));
    }
    if let Some(document) = parsed.documents.first() {
        let mistakes = SCHEMA.check(file, &document.root);
        findings.extend(mistakes.into_iter().map(|m| schema_finding(&CONFIGURATION_INVALID, document, m)));
        config.read(document);
        findings.extend(config.ignore.iter().filter_map(pattern));
        let baseline = config.lint.baseline.iter();
        let outside = baseline.filter(|path| in_root(&path.value).is_none());
        findings.extend(outside.map(|path| invalid(format!("`{}` is outside the root", path.value), &path.place)));
    }
    if findings.is_empty() { Ok(config) } else { Err(findings) }
}

/// The finding about something that is wrong in the configuration.
pub(super) fn invalid(message: String, place: &Location) -> Finding {
    Finding::new(&CONFIGURATION_INVALID, message).at(place.clone())
}

fn pattern(pattern: &Located<String>) -> Option<Finding> {
    let walk = Walk { ignore: vec![pattern.value.clone()], ..Walk::default() };
    let error = walk.matcher().err()?;
    Some(invalid(error.to_string(), &pattern.place))
}

/// `Some(None)`: off. YAML reads a bare `off` as false.
fn level(node: &Node) -> Option<Option<Severity>> {
    match &node.value {
        Yaml::Bool(false) => Some(None),
        Yaml::String(text) => match text.as_str() {
            "off" | "never" => Some(None),
            name => Severity::named(name).map(Some),
        },
        _ => None,
    }
}

impl Config {
    /// Reads valid settings; the schema reports the others.
    fn read(&mut self, document: &Document) {
        let root = &document.root;
        let texts = |node: &Node, key: &str| Located::texts(document, node, key);
        self.ignore = texts(root, "ignore");
        self.release = Located::release(document, root, "release");
        self.platform = Located::platform(document, root);
        self.inventory = texts(root, "inventory");
        for entry in root.list_at("clusters") {
            self.clusters.extend(texts(entry, "path").into_iter().map(|path| ClusterEntry {
                name: Located::text(document, entry, "name"),
                path,
                inventory: texts(entry, "inventory"),
                release: Located::release(document, entry, "release"),
                platform: Located::platform(document, entry),
                also: texts(entry, "also"),
            }));
        }
        self.is_kustomize_off = matches!(root.get("kustomize").map(|n| &n.value), Some(Yaml::Bool(false)));
        self.helm = is_on(root, "helm");
        self.kustomization = is_on(root, "output.kustomization");
        if let Some(lint) = root.get("lint") {
            self.lint = LintConfig {
                select: texts(lint, "select"),
                ignore: texts(lint, "ignore"),
                pedantic: is_on(lint, "pedantic"),
                baseline: Located::text(document, lint, "baseline"),
                fail_on: lint.get("failOn").and_then(level),
            };
        }
        for entry in fields_at(root, "rules") {
            let place = document.location(entry.key.span);
            let value = entry.key.text.clone();
            let own = entry.value.get("severity").unwrap_or(&entry.value);
            let options = entry.value.entries().iter().filter(|e| e.key.text != "severity");
            let option = |e: &Entry| {
                let value = Located::new(e.value.to_json(), document, &e.value);
                (e.key.text.clone(), value)
            };
            self.rules.push(RuleConfig {
                name: Located { value, place },
                severity: level(own),
                options: options.map(option).collect(),
            });
        }
        for entry in root.list_at("suppress") {
            let text = |key: &str| Located::text(document, entry, key);
            self.suppress.push(SuppressConfig {
                rules: texts(entry, "rules"),
                path: text("path"),
                object: text("object"),
                cluster: text("cluster"),
                reason: text("reason"),
                until: text("until"),
                place: document.location(entry.span),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, Vec<String>> {
        read(&SourceFile::new(CONFIG_FILE, text), None).map_err(|findings| {
            let line = |f: Finding| {
                let start = f.location.expect("a place").start();
                format!("{}:{} {}", start.line, start.column, f.message)
            };
            findings.into_iter().map(line).collect()
        })
    }

    #[test]
    fn reads_every_setting() {
        let text = "\
ignore: [charts/]
release: '1.18'
inventory: all.yaml
clusters:
- {name: prod/east, path: base, inventory: [a.yaml, b.yaml], release: '1.17'}
kustomize: off
helm: true
output: {kustomization: true}
lint: {select: [golden-images], ignore: [x], pedantic: true, failOn: never, baseline: known.json}
rules:
  jsonpatch-present: off
  hygiene: {severity: info}
  some-rule: {severity: warning, most: 3}
suppress:
- {rules: [x], path: a/**, object: HyperConverged/hc, cluster: '*', reason: r, until: '2027-01-31'}
";
        let config = parse(text).expect("a good one");
        assert_eq!(config.ignore[0].value, "charts/");
        assert_eq!(config.release.expect("one").value, "1.18");
        assert_eq!(config.inventory[0].value, "all.yaml");
        let cluster = &config.clusters[0];
        assert_eq!(cluster.name.as_ref().expect("one").value, "prod/east");
        assert_eq!(cluster.inventory.len(), 2);
        assert_eq!(config.lint.fail_on, Some(None));
        assert_eq!(config.lint.baseline.expect("one").value, "known.json");
        assert!(config.lint.pedantic && config.is_kustomize_off && config.helm && config.kustomization);
        let levels: Vec<_> = config.rules.iter().map(|r| r.severity).collect();
        let expected = [None, Some(Severity::Info), Some(Severity::Warning)];
        assert_eq!(levels, expected.map(Some));
        assert_eq!(config.rules[2].options["most"].value, 3);
        assert_eq!(config.rules[2].name.place.text(), "some-rule");
        assert_eq!(config.suppress[0].until.as_ref().expect("one").value, "2027-01-31");
        assert!(parse("").is_ok());
        assert!(parse("# nothing yet\n").is_ok());
    }

    #[test]
    fn locates_mistakes() {
        let cases = [
            ("ignroe: []\n", "1:1 unknown field `ignroe`"),
            ("ignore: ['[z-a]']\n", "1:10 `[z-a]` is not a valid pattern"),
            ("lint: {baseline: ../x.json}\n", "1:18 `../x.json` is outside the root"),
            ("rules: {x: on}\n", "1:12 `rules.x` must be false, not `on`"),
            ("rules: {x: eror}\n", "1:12 `rules.x` can't be `eror`"),
            ("clusters: [{name: a}]\n", "1:13 `clusters[0]` lacks `path`"),
            ("release: [1.18]\n", "1:10 `release` must be a number or a text, not a list"),
            ("inventory: {a: b}\n", "1:12 `inventory` can't be a mapping"),
            ("suppress: [{rules: []}]\n", "1:20 `suppress[0].rules` must not be empty"),
            ("a: [\n", "2:1 "),
            ("a: 1\n", "1:1 unknown field `a`"),
            ("ignore: []\n---\nignore: []\n", "3:1 hcoplan.yaml has more than one document"),
        ];
        for (text, expected) in cases {
            let found = parse(text).expect_err(text);
            assert!(found[0].starts_with(expected), "{text}: {found:?}");
            assert_eq!(found.len(), 1, "{found:?}");
        }
    }
}
