//! Distributions of HCO: upstream, and products built from it.
//!
//! A distribution is data, `schemas/distributions/<name>.json`: the mapping of its versions to HCO releases, its
//! namespaces, its golden images. Every fact has a source; one that public sources don't state is marked as assumed.

use super::version_numbers;
use crate::prelude::*;
use hcoplan_schemas::DISTRIBUTIONS;

/// The source of a fact.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactSource {
    /// The URL of a file at a commit, a tag, a change, or a page of documentation.
    pub url: String,
    /// The day of the commit, or on which the page was read: `2026-08-19`.
    pub date: String,
}

/// A fact about a distribution.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The value.
    pub value: String,
    /// The key of its source in [`Distribution::sources`].
    pub source: String,
    /// Whether the source only suggests it, so that the vendor's bundle may differ.
    #[serde(default)]
    pub assumed: bool,
}

/// The maturity of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Maturity {
    /// Published.
    Released,
    /// Developed on its branch, but not published.
    Branch,
    /// Only planned.
    Ahead,
}

hcoplan_kubernetes::names!(Maturity { Released = "released", Branch = "branch", Ahead = "ahead" });

/// A version's [`Maturity`], with its source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phased {
    /// The maturity.
    pub value: Maturity,
    /// The key of its source.
    pub source: String,
}

/// A version of a distribution.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributionVersion {
    /// The HCO release that it is built from, `1.16`; it may not be modelled.
    pub release: Fact,
    /// The maturity.
    pub phase: Phased,
}

/// An environment variable of the operator that differs from upstream. `{version}` is replaced with the distribution's
/// version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Variable {
    /// The variable's name, `SMBIOS`.
    pub name: String,
    /// The variable's value.
    pub value: String,
    /// The key of its source.
    pub source: String,
    /// Whether the vendor's bundle may differ or have more.
    #[serde(default)]
    pub assumed: bool,
    /// The versions that it applies to; all if empty.
    #[serde(default)]
    pub versions: Vec<String>,
}

/// The source of a golden image.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum ImageSource {
    /// A registry.
    Url {
        /// The URL, `docker://quay.io/containerdisks/fedora:latest`.
        url: Fact,
    },
    /// An ImageStream that HCO creates in the golden images' namespace.
    #[serde(rename_all = "camelCase")]
    Stream {
        /// Its name.
        image_stream: Fact,
        /// The repository that it follows, `registry.redhat.io/rhel9/rhel-guest-image`.
        from: Fact,
        /// Its only tag.
        tag: Fact,
        /// Whether OpenShift imports newer images: `true` or `false`.
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
    /// Its source.
    pub image: ImageSource,
    /// Its architectures, as its annotation lists them.
    pub architectures: Fact,
    /// The size of its volume.
    pub storage: Fact,
    /// The instance type in the DataSource's labels, set by CDI.
    pub instancetype: Fact,
    /// The preference in the DataSource's labels, set by CDI.
    pub preference: Fact,
}

/// The runbooks of alerts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runbooks {
    /// The URL, with `{alert}` for the alert's name.
    pub value: String,
    /// The key of its source.
    pub source: String,
    /// The alerts that have one; all if empty.
    #[serde(default)]
    pub alerts: Vec<String>,
}

/// The file `schemas/distributions/<name>.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Distribution {
    /// The file's name, `openshift-virtualization`.
    pub name: String,
    /// Its title for output.
    pub title: String,
    /// The sources of its facts, by key.
    pub sources: BTreeMap<String, FactSource>,
    /// The operator's namespace.
    pub namespace: Fact,
    /// The golden images' namespace.
    pub golden_images_namespace: Fact,
    /// The common templates' namespace.
    pub common_templates_namespace: Fact,
    /// The packages that OLM installs it from.
    pub packages: Vec<Fact>,
    /// HCO's feature gates that it calls a Technology Preview.
    #[serde(default)]
    pub technology_previews: Vec<Fact>,
    /// Its runbooks.
    pub runbooks: Runbooks,
    /// Its versions, `4.20`.
    pub versions: BTreeMap<String, DistributionVersion>,
    /// Its changes to the operator's environment.
    #[serde(default)]
    pub environment: Vec<Variable>,
    /// Its common golden images; empty for upstream, whose releases have them.
    #[serde(default)]
    pub golden_images: Vec<CommonImage>,
    /// The DataSources of its common templates; empty for upstream, whose releases have them.
    #[serde(default)]
    pub template_data_sources: Vec<Fact>,
}

/// The name of upstream's distribution, whose versions are the releases.
pub const UPSTREAM: &str = "hco";

impl Distribution {
    /// All known distributions, upstream first.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Distribution>> = OnceLock::new();
        ALL.get_or_init(|| {
            let parse = |(_, text): &(_, &str)| serde_json::from_str(text).expect("distributions fit");
            let mut all: Vec<Self> = DISTRIBUTIONS.iter().map(parse).collect();
            all.sort_by_key(|d| d.name != UPSTREAM);
            all
        })
    }

    /// The distribution with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|d| d.name == name)
    }

    /// The distribution that OLM installs from this package.
    pub fn of_package(package: &str) -> Option<&'static Self> {
        Self::all().iter().find(|d| d.packages.iter().any(|p| p.value == package))
    }

    /// The distribution with this version line, `4.20`.
    pub fn of_line(line: &str) -> Option<&'static Self> {
        Self::all().iter().find(|d| d.versions.contains_key(line))
    }

    /// Whether it is upstream.
    pub fn is_upstream(&self) -> bool {
        self.name == UPSTREAM
    }

    /// The registries that the ImageStreams of its golden images follow; none for upstream.
    pub fn registries(&self) -> impl Iterator<Item = &str> {
        self.golden_images.iter().filter_map(|image| match &image.image {
            ImageSource::Stream { from, .. } => from.value.split('/').next(),
            ImageSource::Url { .. } => None,
        })
    }

    /// The URL of an alert's runbook; `None` if there is none.
    pub fn runbook(&self, alert: &str) -> Option<String> {
        let has_runbook = self.runbooks.alerts.is_empty() || self.runbooks.alerts.iter().any(|a| a == alert);
        has_runbook.then(|| self.runbooks.value.replace("{alert}", alert))
    }

    /// The vendors' runbooks of an alert: the distribution's title and the URL.
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
    use crate::release::Release;
    use serde_json::Value;

    #[test]
    fn each_source_exists_and_is_used() {
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

    /// Removes the source of each fact in turn.
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

    /// Every checkable value is in a fact, which has a source.
    #[test]
    fn every_value_is_a_fact() {
        for (_, text) in DISTRIBUTIONS {
            let mut file: Value = serde_json::from_str(text).expect("JSON");
            for plain in ["name", "title", "sources"] {
                file.as_object_mut().expect("an object").remove(plain);
            }
            assert_sourced(&file, "");
        }
    }

    fn assert_sourced(value: &Value, path: &str) {
        match value {
            Value::Object(map) if map.contains_key("source") => {}
            Value::Object(map) => {
                for (key, value) in map {
                    // Names of golden images and versions need no source.
                    if key != "name" {
                        assert_sourced(value, &format!("{path}.{key}"));
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| assert_sourced(item, path)),
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

    /// Removes the source with index `skipped`.
    fn without_source(value: &mut Value, skipped: &mut usize) -> bool {
        match value {
            Value::Object(map) => {
                if map.contains_key("source") {
                    if *skipped == 0 {
                        map.remove("source");
                        return true;
                    }
                    *skipped -= 1;
                }
                map.values_mut().any(|v| without_source(v, skipped))
            }
            Value::Array(items) => items.iter_mut().any(|v| without_source(v, skipped)),
            _ => false,
        }
    }

    #[test]
    fn upstream_versions_are_the_releases() {
        let upstream = Distribution::named(UPSTREAM).expect("known");
        let known: Vec<&str> = Release::known_names().collect();
        assert_eq!(upstream.lines(), known);
        for distribution in Distribution::all() {
            for version in distribution.environment.iter().flat_map(|v| &v.versions) {
                assert!(distribution.versions.contains_key(version), "{version}");
            }
        }
    }
}
