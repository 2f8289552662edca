//! Distributions of HCO: upstream's own, and products that are built from it.
//!
//! A distribution is data, `schemas/distributions/<name>.json`: how its versions map to HCO releases,
//! where it puts things, which golden images it ships. Every fact names its source; one that public
//! sources don't state is marked as assumed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hcoplan_schemas::DISTRIBUTIONS;
use serde::Deserialize;

use super::version_numbers;

/// Where a fact was read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactSource {
    /// The address: of a file at a commit, a tag, a change, or a page of the documentation.
    pub url: String,
    /// The day of the commit, or that the page was read: `2026-08-19`.
    pub date: String,
}

/// Something that is known of a distribution.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// What is known.
    pub value: String,
    /// The key of its source in [`Distribution::sources`].
    pub source: String,
    /// Whether the source only suggests it, and the vendor's bundle may say something else.
    #[serde(default)]
    pub assumed: bool,
}

/// How far a version has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Maturity {
    /// It is published.
    Released,
    /// It has a branch of its own, and nothing is published from it yet.
    Branch,
    /// Only its plans are known.
    Ahead,
}

impl Maturity {
    /// `released`, `branch` or `ahead`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Branch => "branch",
            Self::Ahead => "ahead",
        }
    }
}

/// A version's [`Maturity`], with its source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phased {
    /// How far it has come.
    pub value: Maturity,
    /// The key of its source.
    pub source: String,
}

/// A version of a distribution.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributionVersion {
    /// The HCO release that it is built from, `1.16`; it need not be modelled.
    pub release: Fact,
    /// How far it has come.
    pub phase: Phased,
}

/// A variable of the operator's environment that the distribution sets otherwise than upstream. `{version}` is replaced
/// with the distribution's version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Variable {
    /// `SMBIOS`
    pub name: String,
    /// What it is set to.
    pub value: String,
    /// The key of its source.
    pub source: String,
    /// Whether the vendor's bundle may say something else, or more.
    #[serde(default)]
    pub assumed: bool,
    /// The versions that it is known of; all where there is none.
    #[serde(default)]
    pub versions: Vec<String>,
}

/// Where a golden image is pulled from.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum ImageSource {
    /// A registry.
    Url {
        /// `docker://quay.io/containerdisks/fedora:latest`
        url: Fact,
    },
    /// An ImageStream that HCO makes in the golden images' namespace.
    #[serde(rename_all = "camelCase")]
    Stream {
        /// Its name.
        image_stream: Fact,
        /// What it follows, `registry.redhat.io/rhel9/rhel-guest-image`.
        from: Fact,
        /// Its only tag.
        tag: Fact,
        /// Whether OpenShift looks for newer ones by itself: `true` or `false`.
        scheduled: Fact,
    },
}

/// A common golden image of a distribution.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommonImage {
    /// Name of the DataImportCronTemplate, `rhel9-image-cron`.
    pub name: String,
    /// The DataSource that it manages.
    pub data_source: Fact,
    /// Where it is pulled from.
    pub image: ImageSource,
    /// The architectures that it exists for, as its annotation lists them.
    pub architectures: Fact,
    /// The size of its volume.
    pub storage: Fact,
    /// The instance type that CDI labels the DataSource with.
    pub instancetype: Fact,
    /// The preference that CDI labels the DataSource with.
    pub preference: Fact,
}

/// Where the alerts' runbooks are.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runbooks {
    /// The address, with `{alert}` for the alert's name.
    pub value: String,
    /// The key of its source.
    pub source: String,
    /// The alerts that have one; all where nothing is listed.
    #[serde(default)]
    pub alerts: Vec<String>,
}

/// `schemas/distributions/<name>.json`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Distribution {
    /// The file's name, `openshift-virtualization`.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Where its facts were read.
    pub sources: BTreeMap<String, FactSource>,
    /// Where its operator runs.
    pub namespace: Fact,
    /// Where its golden images go.
    pub golden_images_namespace: Fact,
    /// Where its common templates go.
    pub common_templates_namespace: Fact,
    /// The packages that OLM installs it from.
    pub packages: Vec<Fact>,
    /// HCO's feature gates for what it calls a Technology Preview.
    #[serde(default)]
    pub technology_previews: Vec<Fact>,
    /// Where its runbooks are.
    pub runbooks: Runbooks,
    /// Its versions, `4.20`.
    pub versions: BTreeMap<String, DistributionVersion>,
    /// What it sets otherwise in the operator's environment.
    #[serde(default)]
    pub environment: Vec<Variable>,
    /// Its common golden images; upstream's are those of its releases.
    #[serde(default)]
    pub golden_images: Vec<CommonImage>,
    /// The DataSources of its common templates; upstream's are those of its releases.
    #[serde(default)]
    pub template_data_sources: Vec<Fact>,
}

/// The name of upstream's distribution, whose versions are the releases themselves.
pub const UPSTREAM: &str = "hco";

impl Distribution {
    /// Those that are known, upstream's first.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Distribution>> = OnceLock::new();
        ALL.get_or_init(|| {
            let parse = |(_, text): &(_, &str)| serde_json::from_str(text).expect("distributions fit");
            let mut all: Vec<Self> = DISTRIBUTIONS.iter().map(parse).collect();
            all.sort_by_key(|d| d.name != UPSTREAM);
            all
        })
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|d| d.name == name)
    }

    /// The one that OLM installs from this package.
    pub fn of_package(package: &str) -> Option<&'static Self> {
        let has = |d: &&Self| d.packages.iter().any(|p| p.value == package);
        Self::all().iter().find(has)
    }

    /// The one with this version line, `4.20`.
    pub fn of_line(line: &str) -> Option<&'static Self> {
        Self::all().iter().find(|d| d.versions.contains_key(line))
    }

    /// Whether it is upstream's own.
    pub fn is_upstream(&self) -> bool {
        self.name == UPSTREAM
    }

    /// The registries that the ImageStreams of its golden images follow, which upstream has none of.
    pub fn registries(&self) -> impl Iterator<Item = &str> {
        self.golden_images.iter().filter_map(|image| match &image.image {
            ImageSource::Stream { from, .. } => from.value.split('/').next(),
            ImageSource::Url { .. } => None,
        })
    }

    /// An alert's runbook; `None` where it publishes none.
    pub fn runbook(&self, alert: &str) -> Option<String> {
        let has = self.runbooks.alerts.is_empty() || self.runbooks.alerts.iter().any(|a| a == alert);
        has.then(|| self.runbooks.value.replace("{alert}", alert))
    }

    /// The runbooks of an alert that vendors publish: the distribution's title and the address.
    pub fn vendors_runbooks(alert: &str) -> Vec<(&'static str, String)> {
        let vendors = Self::all().iter().filter(|d| !d.is_upstream());
        let own = vendors.filter_map(|d| Some((d.title.as_str(), d.runbook(alert)?)));
        own.collect()
    }

    /// Its version lines, oldest first.
    pub fn lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.versions.keys().map(String::as_str).collect();
        lines.sort_by_key(|line| version_numbers(line));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn each_source_is_there_and_is_used() {
        for (_, text) in DISTRIBUTIONS {
            let file: Value = serde_json::from_str(text).expect("JSON");
            let mut named = Vec::new();
            sources(&file, &mut named);
            let distribution: Distribution = serde_json::from_str(text).expect("fits");
            for source in &named {
                assert!(distribution.sources.contains_key(source), "{source}");
            }
            for (key, source) in &distribution.sources {
                assert!(named.contains(key), "{key} is the source of nothing");
                assert!(source.url.starts_with("https://"), "{key}");
                assert_eq!(source.date.len(), "2026-08-19".len(), "{key}");
            }
        }
    }

    /// Takes the source from one fact after the other.
    #[test]
    fn rejects_a_fact_without_a_source() {
        for (_, text) in DISTRIBUTIONS {
            let file: Value = serde_json::from_str(text).expect("JSON");
            let (mut tried, mut whole) = (0, file.clone());
            while without_source(&mut whole, &mut tried.clone()) {
                let rejected = serde_json::from_value::<Distribution>(whole);
                let why = rejected.expect_err("without a source").to_string();
                assert!(why.contains("source") || why.contains("untagged"), "{why}");
                tried += 1;
                whole = file.clone();
            }
            assert!(tried > 10, "{tried} facts");
        }
    }

    /// Every value that a person could check is in a fact, which has a source.
    #[test]
    fn nothing_is_known_but_facts() {
        for (_, text) in DISTRIBUTIONS {
            let mut file: Value = serde_json::from_str(text).expect("JSON");
            for plain in ["name", "title", "sources"] {
                file.as_object_mut().expect("an object").remove(plain);
            }
            bare(&file, "");
        }
    }

    fn bare(value: &Value, path: &str) {
        match value {
            Value::Object(map) if map.contains_key("source") => {}
            Value::Object(map) => {
                for (key, value) in map {
                    // What a golden image is called is how it is found, as is a version.
                    if key != "name" {
                        bare(value, &format!("{path}.{key}"));
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| bare(item, path)),
            _ => panic!("{path} has no source"),
        }
    }

    fn sources(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                out.extend(map.get("source").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|v| sources(v, out));
            }
            Value::Array(items) => items.iter().for_each(|v| sources(v, out)),
            _ => {}
        }
    }

    /// Removes the `left`th source.
    fn without_source(value: &mut Value, left: &mut usize) -> bool {
        match value {
            Value::Object(map) => {
                if map.contains_key("source") {
                    if *left == 0 {
                        map.remove("source");
                        return true;
                    }
                    *left -= 1;
                }
                map.values_mut().any(|v| without_source(v, left))
            }
            Value::Array(items) => items.iter_mut().any(|v| without_source(v, left)),
            _ => false,
        }
    }

    #[test]
    fn upstreams_versions_are_the_releases() {
        let upstream = Distribution::named(UPSTREAM).expect("known");
        let known: Vec<&str> = crate::release::Release::known_names().collect();
        assert_eq!(upstream.lines(), known);
        for distribution in Distribution::all() {
            for version in distribution.environment.iter().flat_map(|v| &v.versions) {
                assert!(distribution.versions.contains_key(version), "{version}");
            }
        }
    }
}
