//! What a change makes of a HyperConverged that a controller applies, where its files say nothing of it: it leaves what
//! is applied, or the controller's object changes.

use std::sync::Arc;

use camino::Utf8Path;
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{Location, Walk};
use hcoplan_rule_pages::rules::{CHANGE_NOT_PLANNED, HCO_REMOVED};
use hcoplan_yaml::Document;
use serde_json::{Value, json};

use super::charts::is_chart;
use super::gitops::{Applied, Controller, Kind, Source, phrase};
use super::kustomization::has_kustomization;
use super::wrapper_changes::is_planned;
use super::{ClusterRef, Repo, parent, wrapper_fields};

/// Why a controller doesn't apply a HyperConverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    /// It is elsewhere.
    Elsewhere,
    /// `include` or `exclude` of an Application.
    Pattern,
    /// A kustomization there doesn't name it.
    Kustomization,
    /// The directory is a chart.
    Chart,
    /// Paths that Flux, Fleet or Advanced Cluster Management ignore.
    Ignored,
    /// An annotation of its own, with its value.
    Annotation(&'static str, &'static str),
    /// A comment that Argo CD reads.
    SkippedFile,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Elsewhere => f.write_str("it isn't in its path any more"),
            Self::Pattern => f.write_str("`directory.include` or `directory.exclude` leaves it out"),
            Self::Kustomization => f.write_str("a kustomization there doesn't name it"),
            Self::Chart => f.write_str("its directory is a chart now"),
            Self::Ignored => {
                f.write_str("an ignore file of the controller, or `spec.ignore` of the source, leaves it out")
            }
            Self::Annotation(key, value) => write!(f, "its annotation `{key}: {value}` says so"),
            Self::SkippedFile => f.write_str("the comment `+argocd:skip-file-rendering` says so"),
        }
    }
}

/// Annotations of an object with which a controller doesn't apply it, or deletes it again.
///
/// Sources: Argo CD's resource hooks and kustomize-controller's `reconcile` and `ssa`; kustomize drops local
/// configuration from its output.
const ANNOTATIONS: [(Option<Controller>, &str, &str); 6] = [
    (Some(Controller::Flux), "kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    (Some(Controller::Flux), "kustomize.toolkit.fluxcd.io/ssa", "Ignore"),
    (Some(Controller::Flux), "kustomize.toolkit.fluxcd.io/ssa", "IfNotPresent"),
    (Some(Controller::Flux), "config.kubernetes.io/local-config", "true"),
    (Some(Controller::ArgoCd), "argocd.argoproj.io/hook", ""),
    (None, "config.kubernetes.io/local-config", "true"),
];

/// The sources with what generators and files fill in, after the object's own fields.
const FILLED_IN: &str = "~sources";

const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

/// The findings about how controllers apply a cluster's HyperConverged after a change, compared with before.
pub fn applied_changes(before: &Repo, after: &Repo, was: &ClusterRef, cluster: &ClusterRef) -> Vec<Finding> {
    let is_applied = |repo: &Repo, applied: &Applied, cluster: &ClusterRef| {
        applied.sources.iter().any(|source| repo.left_out(applied, source, cluster).is_none())
    };
    let old: Vec<&Applied> = before.gitops().applied.iter().filter(|a| is_applied(before, a, was)).collect();
    let now = &after.gitops().applied;
    let is_still_applied = now.iter().any(|applied| is_applied(after, applied, cluster));
    let mut out = Vec::new();
    for old in old {
        let by = phrase(&old.document);
        let same = now.iter().find(|new| new.identity() == old.identity());
        let Some(new) = same else {
            if !is_still_applied {
                let place = old.document.location(old.document.root.span);
                out.push(leaves(cluster, old, format!("{by} is gone"), after.place_of(cluster).unwrap_or(place)));
            }
            continue;
        };
        let place = new.document.location(new.document.root.span);
        let why = new.sources.iter().map(|source| after.left_out(new, source, cluster)).collect::<Vec<_>>();
        if let [Some(why), ..] = why.as_slice()
            && !is_still_applied
        {
            let why = format!("{by} doesn't apply it: {why}");
            out.push(leaves(cluster, new, why, after.place_of(cluster).filter(|_| old.same_as(new)).unwrap_or(place)));
        } else {
            out.extend(settings_changes(before, after, old, new));
        }
    }
    out.extend(after.is_replaced_by_force(cluster).filter(|_| before.is_replaced_by_force(was).is_none()));
    out.iter_mut().for_each(|finding| finding.cluster = Some(cluster.name().into()));
    out
}

fn leaves(cluster: &ClusterRef, by: &Applied, why: String, place: Location) -> Finding {
    let name = cluster.name();
    let effect = if by.prunes {
        "it prunes: the HyperConverged is deleted in the cluster"
    } else {
        "the cluster keeps it, and nothing updates it"
    };
    Finding::new(&HCO_REMOVED, format!("the HyperConverged of cluster {name} is not applied any more: {why}"))
        .at(place)
        .label(effect)
        .help("undo it; if it is intended, pass `--ignore hco-removed`")
}

/// The first changed setting of each object that decides what is applied.
fn settings_changes(before: &Repo, after: &Repo, old: &Applied, new: &Applied) -> Vec<Finding> {
    let is_built = new.sources.iter().all(|source| source.is_built);
    let report = |document: &Arc<Document>, field: &str| {
        let by = phrase(document);
        // What generators and `.argocd-source` files fill in.
        let field = if field == FILLED_IN { "source" } else { field };
        let place = document.root.below(field).map_or(document.root.span, |node| node.span);
        Finding::new(&CHANGE_NOT_PLANNED, format!("the change of `{field}` of {by} is not in the plan"))
            .at(document.location(place))
            .label("may change what is applied, or where")
            .help("look at what the controller would apply before you merge it")
    };
    let mut out = Vec::new();
    let (a, b) = (old.settings(), new.settings());
    let is_known = |field: &str| {
        let is_in = |harmless: &str| field == harmless || field.starts_with(&format!("{harmless}."));
        wrapper_fields::of("unapplied").iter().any(|harmless| is_in(harmless)) || is_built && is_planned(field)
    };
    out.extend(changed(&a, &b, "", &is_known).map(|field| report(&new.document, &field)));
    for related in after.related(new) {
        let was = before.related(old).find(|was| names(was) == names(related));
        let spec = |document: &Document| document.root.get("spec").map(hcoplan_yaml::Node::to_json);
        let values = was.map(|was| [was, related].map(|d| json!({"spec": spec(d)})));
        let field = values.and_then(|[a, b]| changed(&a, &b, "", &is_known));
        out.extend(field.map(|field| report(related, &field)));
    }
    out
}

/// The path of the first difference of two values that `is_known` doesn't leave out.
fn changed(old: &Value, new: &Value, path: &str, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    if old == new || is_known(path) {
        return None;
    }
    let (Value::Object(a), Value::Object(b)) = (old, new) else { return Some(path.to_owned()) };
    let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    keys.into_iter().find_map(|key| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        changed(a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null), &path, is_known)
    })
}

fn names(document: &Document) -> (&str, &str, &str) {
    (document.text("kind"), document.text("metadata.namespace"), document.text("metadata.name"))
}

impl Applied {
    /// What stays the same of it while its settings change.
    fn identity(&self) -> (Kind, &str, &str, &str) {
        let (_, namespace, name) = names(&self.document);
        (self.kind, namespace, name, &self.name)
    }

    fn same_as(&self, other: &Self) -> bool {
        self.settings() == other.settings()
    }

    /// What it says of what it applies: its spec, its annotations, and its sources with what files add to them.
    fn settings(&self) -> Value {
        let of = |path: &str| self.document.root.below(path).map(hcoplan_yaml::Node::to_json);
        let sources: Vec<Value> = self.sources.iter().map(|source| source.node.to_json()).collect();
        json!({"metadata": {"annotations": of("metadata.annotations")}, "spec": of("spec"), FILLED_IN: sources})
    }
}

impl Repo {
    fn place_of(&self, cluster: &ClusterRef) -> Option<Location> {
        self.named_at(cluster.object)
    }

    /// The objects that decide with one what it applies: Flux's GitRepository, Argo CD's project.
    fn related<'a>(&'a self, applied: &'a Applied) -> impl Iterator<Item = &'a Arc<Document>> {
        let is_it = |document: &&Arc<Document>| {
            let (kind, _, name) = names(document);
            let (wanted, named) = match applied.kind.controller() {
                Controller::Flux => ("GitRepository", applied.document.root.text("spec.sourceRef.name")),
                _ => ("AppProject", applied.document.root.text("spec.project")),
            };
            kind == wanted && name == named
        };
        self.gitops().documents.iter().filter(is_it)
    }

    /// Why a source of a controller's object doesn't apply a cluster's HyperConverged; `None` if it does.
    fn left_out(&self, applied: &Applied, source: &Source, cluster: &ClusterRef) -> Option<LeftOut> {
        let controller = applied.kind.controller();
        let directory = cluster.directory();
        // A path may be a link to a directory.
        let linked = source.directory().map(|own| self.tree.real(&own));
        let is_at = |directory: &Utf8Path| source.is_at(directory) || linked.as_deref() == Some(directory);
        let is_built = self.built.as_ref().is_some_and(|built| built.inputs.contains_key(cluster.path()));
        if !source.is_here {
            return Some(LeftOut::Elsewhere);
        }
        if is_built {
            // What several objects apply is in a directory of each one's name.
            let is_own = is_at(directory) || directory.file_name() == Some(&applied.name) && is_at(parent(directory));
            return if is_own { self.left_out_by_itself(controller, cluster) } else { Some(LeftOut::Elsewhere) };
        }
        let above = directory.ancestors().find(|above| is_at(above));
        let Some(above) = above.filter(|above| source.recurses || *above == directory) else {
            return Some(LeftOut::Elsewhere);
        };
        let tree = &*self.tree;
        if has_kustomization(tree, above) {
            return Some(LeftOut::Kustomization);
        }
        if is_chart(tree, above) {
            return Some(LeftOut::Chart);
        }
        if !source.selects_file(above, cluster.path()) {
            return Some(LeftOut::Pattern);
        }
        if self.is_ignored(applied, cluster.path()) {
            return Some(LeftOut::Ignored);
        }
        let text = || self.tree.read(cluster.path()).unwrap_or_default();
        let comment = b"+argocd:skip-file-rendering";
        if controller == Controller::ArgoCd && memchr::memmem::find(&text(), comment).is_some() {
            return Some(LeftOut::SkippedFile);
        }
        self.left_out_by_itself(controller, cluster)
    }

    /// Whether an ignore file of the controller, in any directory above, or its GitRepository leaves a file out.
    fn is_ignored(&self, applied: &Applied, file: &Utf8Path) -> bool {
        let matches = |text: &str, directory: &Utf8Path| {
            let walk = Walk { ignore: text.lines().map(ToOwned::to_owned).collect(), ..Walk::default() };
            let below = file.strip_prefix(directory).unwrap_or(file);
            walk.matcher().is_ok_and(|matcher| matcher.matched_path_or_any_parents(below, false).is_ignore())
        };
        let by_file = |directory: &Utf8Path| {
            let name = applied.kind.controller().ignore_file()?;
            let bytes = self.tree.read(&directory.join(name)).ok()?;
            Some(matches(&String::from_utf8_lossy(&bytes), directory))
        };
        self.related(applied).any(|repository| matches(repository.text("spec.ignore"), Utf8Path::new("")))
            || file.ancestors().skip(1).any(|directory| by_file(directory).unwrap_or(false))
    }

    /// Whether annotations of the HyperConverged keep a controller from applying it.
    fn left_out_by_itself(&self, controller: Controller, cluster: &ClusterRef) -> Option<LeftOut> {
        let object = self.hyperconverged(cluster).ok()?;
        let annotations = object.pointer("/metadata/annotations")?;
        let is_set = |key: &str, value: &str| {
            let own = annotations.get(key).and_then(Value::as_str);
            own.is_some_and(|own| value.is_empty() && !own.is_empty() || own.eq_ignore_ascii_case(value))
        };
        let is_it = |(of, key, value): &&(Option<Controller>, &str, &str)| {
            of.is_none_or(|of| of == controller) && is_set(key, value)
        };
        ANNOTATIONS
            .iter()
            .find(is_it)
            .map(|(_, key, value)| LeftOut::Annotation(key, if value.is_empty() { "…" } else { value }))
    }

    /// The finding about a HyperConverged that Argo CD deletes and creates again at each sync.
    fn is_replaced_by_force(&self, cluster: &ClusterRef) -> Option<Finding> {
        let object = self.hyperconverged(cluster).ok()?;
        let options = object.pointer("/metadata/annotations")?.get(SYNC_OPTIONS)?.as_str()?.to_owned();
        let has = |option: &str| options.split(',').any(|o| o.trim() == option);
        (has("Force=true") && has("Replace=true")).then_some(())?;
        let message = "with `Force=true,Replace=true` Argo CD deletes the HyperConverged and creates it again at each \
                       sync, and with it KubeVirt and CDI";
        let help = "remove `Force=true`";
        Some(Finding::new(&HCO_REMOVED, message).at(self.place_of(cluster)?).help(help))
    }
}
