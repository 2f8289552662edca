//! Output of `hcoplan release`: the versions of the distributions, the facts of a release, and the differences of two.

use serde::Serialize;

use crate::terminal::Terminal;
use crate::text::cut;
use crate::wrap_lines;
use hcoplan_analysis::ReleaseDiff;
use hcoplan_planner::boot::variant;
use hcoplan_planner::release::{Distribution, ImageSource, Platform, Release};

/// A version of a distribution.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    distribution: &'static str,
    title: &'static str,
    version: String,
    hco_release: String,
    phase: &'static str,
    modelled: Option<String>,
    /// The addresses that publish its release and its phase.
    sources: Vec<String>,
    #[serde(skip)]
    is_upstream: bool,
}

/// All versions of all distributions, sorted; HCO's patch releases are below their lines.
pub fn versions() -> Vec<Version> {
    let mut out = Vec::new();
    for distribution in Distribution::all() {
        let is_upstream = distribution.is_upstream();
        let (name, title) = (&*distribution.name, &*distribution.title);
        for line in distribution.lines() {
            let version = &distribution.versions[line];
            let source = |key: &str| distribution.sources.get(key).map_or_else(String::new, |s| s.url.clone());
            out.push(Version {
                distribution: name,
                title,
                version: line.to_owned(),
                hco_release: version.release.value.clone(),
                phase: version.phase.value.as_str(),
                modelled: Release::known(&version.release.value).map(|r| r.version().to_owned()),
                sources: vec![source(&version.release.source), source(&version.phase.source)],
                is_upstream,
            });
            let patches = Release::patch_names().filter(|_| is_upstream).filter_map(Release::patch);
            for release in patches.filter(|patch| patch.name() == line) {
                out.extend(release.patched().map(|patch| Version {
                    distribution: name,
                    title,
                    version: patch.name.to_owned(),
                    hco_release: release.name().to_owned(),
                    phase: if patch.moving { "moving" } else { "released" },
                    modelled: Some(release.version().to_owned()),
                    sources: vec![patch.source.clone()],
                    is_upstream,
                }));
            }
        }
    }
    out
}

/// Versions for people, grouped by distribution.
pub fn list(versions: &[Version], terminal: &Terminal) -> String {
    let mut out = String::new();
    for of_one in versions.chunk_by(|a, b| a.title == b.title) {
        for (index, version) in of_one.iter().enumerate() {
            if index == 0 {
                out.push_str(&format!("{}\n", version.title));
            }
            let Version { version: line, phase, .. } = version;
            let built = if version.is_upstream { String::new() } else { format!("HCO {}  ", version.hco_release) };
            let known = version.modelled.as_ref().map_or("not modelled".to_owned(), |p| format!("modelled at {p}"));
            let source = version.sources.first().map_or("", String::as_str);
            let text = format!("  {line:<8} {built}{phase:<9} {known:<19}");
            // A link that doesn't fit is in the JSON.
            let fits = !terminal.wraps || text.len() + 1 + source.len() <= terminal.width;
            out.push_str(&format!("{text} {}\n", if fits { source } else { "" }));
        }
    }
    out
}

/// The differences of two releases, for people.
pub fn differences(diff: &ReleaseDiff, terminal: &Terminal) -> String {
    /// Maximum characters of a value; the JSON has all of it.
    const MAX_SHOWN: usize = 80;
    let cut = |text: &str| cut(text, MAX_SHOWN);
    let mut out = format!("{} → {}\n", diff.before, diff.after);
    for (heading, list) in diff.sections() {
        out.push_str(&format!("\n{heading}\n"));
        if list.is_empty() {
            out.push_str("  as they were\n");
        }
        for one in list {
            let value = match (one.before.as_deref(), one.after.as_deref()) {
                (None, None) => String::new(),
                (Some(was), Some(is)) => format!(": {} → {}", cut(was), cut(is)),
                (None, Some(is)) => format!(": {}", cut(is)),
                (Some(was), None) => format!(" (was {})", cut(was)),
            };
            let line = format!("{} {}{value}", one.change.sign(), one.name);
            let width = if terminal.wraps { terminal.width.saturating_sub(4) } else { usize::MAX };
            out.push_str(&format!("  {}\n", wrap_lines(&line, width).join("\n    ")));
        }
    }
    out
}

/// The facts of a release.
pub fn page(release: &Release) -> String {
    let mut out = if release.label() == release.name() {
        format!("HCO {} ({})\n", release.name(), release.version())
    } else {
        format!("{}\n", release.title())
    };
    vendor(release, &mut out);
    let versions = release.schema_names().filter_map(|n| n.strip_prefix("hyperconverged.")).collect::<Vec<_>>();
    out.push_str(&format!("\nHyperConverged: {}\n", versions.join(", ")));
    for platform in [Platform::OpenShift, Platform::Kubernetes] {
        let operands: Vec<_> = release.work_order().operands_of(platform).collect();
        let operands = operands.join(", ");
        out.push_str(&format!("\nOperands on {}, in order of work:\n", platform.as_str()));
        for line in wrap_lines(&operands, 76) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push_str("\nGolden images:\n");
    for template in release.golden_images() {
        let metadata = &template["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default();
        let architectures = &metadata["annotations"]["ssp.kubevirt.io/dict.architectures"];
        match architectures.as_str() {
            Some(list) => out.push_str(&format!("  {name} ({list})\n")),
            None => out.push_str(&format!("  {name}\n")),
        }
        let mut own = release.distribution().golden_images.iter();
        if let Some(image) = own.find(|image| image.name == name) {
            let from = match &image.image {
                ImageSource::Url { url } => url.value.clone(),
                ImageSource::Stream { image_stream, from, .. } => {
                    format!("the ImageStream {} of {}", image_stream.value, from.value)
                }
            };
            out.push_str(&format!(
                "    DataSource {}, instance type {}, preference {}\n    from {from}\n",
                image.data_source.value, image.instancetype.value, image.preference.value
            ));
        }
    }
    out.push_str("\nFeature gates:\n");
    for gate in &release.tables().feature_gates {
        out.push_str(&format!("  {:<36} {}\n", gate.name, variant(&gate.phase).0));
    }
    out
}

/// Facts of a vendor's version.
fn vendor(release: &Release, out: &mut String) {
    let distribution = release.distribution();
    if distribution.is_upstream() {
        return;
    }
    let facts = [
        ("operator's namespace", distribution.namespace.value.as_str()),
        ("golden images in", &release.ssp().golden_images_namespace),
        ("common templates in", &release.tables().common_templates_namespace),
        ("runbooks", &distribution.runbooks.value),
    ];
    out.push('\n');
    for (what, value) in facts {
        out.push_str(&format!("  {what:<21} {value}\n"));
    }
    if !release.assumed().is_empty() {
        out.push_str("\nAssumed, because only the vendor's bundle has these values:\n");
    }
    for value in release.assumed() {
        out.push_str(&format!("  {:<36} {}\n", value.name, value.value));
    }
}
