//! The file of a ClusterInventory: reading one, and what it says when it is written.

use camino::Utf8Path;

use super::failure::Failure;
use super::output::Output;
use crate::inventory::{self, Source, SourceKind};
use crate::release::{Distribution, Platform, Release};
use crate::repo::{self, FactOrigin, Identity, Trust};
use crate::secret::InputText;
use crate::source::SourceFile;
use crate::yaml::{self, Document, Node as Tree};

/// Where an editor finds the schema.
pub(super) const SCHEMA: &str = "https://raw.githubusercontent.com/hcoplan/hcoplan/main/schemas/inventory.schema.json";

/// The ClusterInventory of a file.
pub(super) fn inventory_in(path: &Utf8Path, output: &Output) -> Result<Document, Failure> {
    let bytes = repo::read_named(Utf8Path::new("."), path, &Trust::Files)?;
    let file = SourceFile::from_bytes(path, bytes);
    let place = |span: crate::source::Span| {
        let at = file.position(span.start);
        format!("{path}:{}:{}", at.line, at.column)
    };
    let parsed = yaml::parse(&file);
    if let Some(problem) = parsed.problems.iter().find(|p| p.kind.is_fatal()) {
        let message = format!("{}: {}", place(problem.span), problem.message);
        return Err(Failure::Unreadable(message));
    }
    let text = |d: &Document, key: &str| d.root.get(key).and_then(Tree::as_str).map(str::to_owned);
    let is_inventory = |d: &Document| {
        let version = text(d, "apiVersion").unwrap_or_default();
        let kind = text(d, "kind").unwrap_or_default();
        SourceKind::of(&version, &kind) == Some(SourceKind::Declared)
    };
    let Some(document) = parsed.documents.into_iter().find(is_inventory) else {
        return Err(Failure::usage(format!("{path}: there is no ClusterInventory in it"), "hcoplan import makes one"));
    };
    let source = Source { kind: SourceKind::Declared, document: document.clone().into() };
    let (loaded, findings) = inventory::load(&[source]);
    for finding in &findings {
        let at = finding.location.as_ref().map(|l| place(l.span));
        let at = at.unwrap_or_else(|| path.to_string());
        output.warning(format_args!("{at}: {}", finding.message));
    }
    if loaded.valid {
        Ok(document)
    } else {
        Err(Failure::usage(format!("{path} can't be understood"), "mend what the warnings name"))
    }
}

/// What begins the line of a release that is to be filled in.
const NO_RELEASE: &str = "  # release: \"…\"  # ";
/// Nodes that are to be filled in.
pub(super) const NO_NODES: &str = "  \
  # The nodes; `kubectl get nodes -o json | hcoplan import -` prints them.
  # nodePools:
  #   - {name: control-plane, count: 3, architecture: amd64, roles: [control-plane]}
  #   - {name: worker, count: 3, architecture: amd64, roles: [worker]}
";

/// A release to fill in: a comment that names those to choose from.
pub(super) fn no_release() -> String {
    format!("{NO_RELEASE}{}\n", known_versions().join(", "))
}

/// A text without the comments to fill in for a field of `spec` that says something now. What somebody has
/// changed in them stays.
pub(super) fn filled_in(text: String, field: &str) -> String {
    let is_to_fill_in = |line: &str| match field {
        "release" => line.starts_with(NO_RELEASE),
        "platform" => ["OpenShift  # or Kubernetes", "Kubernetes  # or OpenShift"]
            .iter()
            .any(|rest| line.strip_prefix("  # platform: ") == Some(rest)),
        _ => false,
    };
    match field {
        "nodePools" | "nodes" => text.replacen(NO_NODES, "", 1),
        _ => text.split_inclusive('\n').filter(|line| !is_to_fill_in(line.trim_end())).collect(),
    }
}

/// The fields of an inventory's `spec` that other manifests say, each with what said it.
pub(super) fn facts(identity: &Identity) -> String {
    let mut out = match &identity.release {
        Some(release) => format!("  release: {:?}  # {}\n", release.value, comment(&release.source())),
        None => no_release(),
    };
    let platform = identity.platform.value.as_str();
    out.push_str(&match identity.platform.by {
        FactOrigin::Nothing if identity.platform.value == Platform::OpenShift => {
            format!("  # platform: {platform}  # or Kubernetes\n")
        }
        FactOrigin::Nothing => format!("  # platform: {platform}  # or OpenShift\n"),
        _ => format!("  platform: {platform}  # {}\n", comment(&identity.platform.source())),
    });
    let namespace = &identity.namespace;
    if namespace.by != FactOrigin::Nothing {
        let value = yaml::edit::inline(&namespace.value.as_str().into());
        out.push_str(&format!("  namespace: {value}  # {}\n", comment(&namespace.source())));
    }
    out
}

/// What stands in a comment, on its line.
pub(super) fn comment(text: &str) -> String {
    InputText::new(text).line().into_owned()
}

/// The names of releases, for people to choose one.
pub(super) fn known_versions() -> Vec<&'static str> {
    let distributions = Distribution::all().iter();
    let lines = distributions.flat_map(|d| {
        let modelled = |l: &&str| Release::known(&d.versions[*l].release.value).is_some();
        d.lines().into_iter().filter(modelled)
    });
    lines.collect()
}
