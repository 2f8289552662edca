//! What a change makes of a HyperConverged that a controller applies, where its files say nothing of it: it leaves what
//! is applied, or the controller's object changes.

use serde_json::{Map, Value};

use super::build::{BUILT, DISABLED};
use super::gitops::{Applied, Controller, Kind, LeftOut, Source, idle, is_filled, labels_of_cluster, phrase};
use super::identity::{SYNC_OPTIONS, has_sync_option};
use super::left::{Fate, Left};
use super::listed;
use super::mentions::{has, has_any};
use super::nodes::{all_nodes, names_of};
use super::paths::{matches_any, parent};
use super::wrapper_changes::is_planned;
use super::wrappers::policy;
use super::{ClusterRef, Repo, fields, is_same_document};
use crate::prelude::*;

/// The sources with what generators and files fill in, after the object's own fields.
const FILLED_IN: &str = "~sources";

/// The findings about how controllers apply a cluster's HyperConverged after a change, compared with before.
pub fn applied_changes(before: &Repo, after: &Repo, was: &ClusterRef, cluster: &ClusterRef) -> Vec<Finding> {
    let (all_old, all_new) = (before.applying(was), after.applying(cluster));
    let kept = |why: String, place| Left { why, place, fate: Fate::Kept }.finding(before, was, None);
    let mut out = Vec::new();
    for old in all_old.iter().copied() {
        let new = after.gitops().same(old, before.gitops());
        if let Some(new) = new.filter(|new| all_new.iter().any(|own| std::ptr::eq(*own, *new))) {
            // Unless something applies it still, possibly itself.
            let is_applied = after.appliers_of_file(new.document.file.path()).next().is_some();
            let deleter = if is_applied { None } else { before.deleter_of_object(after, &old.document) };
            out.extend(match deleter {
                Some(by) => vec![before.inner_left(old, was, &by, new.place())],
                None => settings_changes(before, after, old, new),
            });
            continue;
        }
        let left = before.left(after, old, was, Some(cluster));
        if let Some(new) = all_new.iter().find(|new| new.may_apply_to(old)) {
            out.extend(left.and_then(|left| left.race(was, new)));
        } else {
            let destination = old.destination.as_ref().filter(|_| !all_new.is_empty());
            out.extend(left.map(|left| left.finding(before, was, destination)));
        }
    }
    let has_controllers = !before.gitops().applied.is_empty();
    for new in all_new.iter().filter(|_| has_controllers) {
        let same = before.gitops().same(new, after.gitops());
        let has_moved = same.is_some_and(|same| {
            all_old.iter().any(|old| std::ptr::eq(*old, same))
                || before.clusters().iter().any(|other| before.is_applied(same, other))
        });
        if !has_moved && !all_old.iter().any(|old| old.may_apply_to(new)) {
            out.push(is_added(cluster, new, all_old.is_empty()));
        }
    }
    let list = |repo: &Repo, cluster: &ClusterRef| {
        let document = repo.object(cluster.object)?;
        let place = document.locate_key(&Path::dotted("items"));
        (all_new.is_empty() && listed::is_list(&document.root)).then_some(place)
    };
    if let (None, Some(place)) = (list(before, was), list(after, cluster)) {
        let why = format!("{}, and kubectl applies only what that has", LeftOut::List);
        out.push(kept(why, place));
    }
    if before.is_unlisted(after, was, cluster)
        && let Some(place) = after.named_at(cluster.object)
    {
        out.push(kept(LeftOut::Kustomization.to_string(), place));
    }
    if out.is_empty() {
        out.extend(wrapper_changes(before, after, was, cluster));
    }
    if before.idle_policy_of(was).is_none()
        && let Some((why, place)) = after.idle_policy_of(cluster)
    {
        out.push(kept(why, place));
    }
    out.extend(after.is_replaced_by_force(cluster).filter(|_| before.is_replaced_by_force(was).is_none()));
    out.iter_mut().for_each(|finding| finding.cluster = Some(cluster.name().clone()));
    out
}

/// The finding that a field of what applies a HyperConverged changes.
fn setting_change(document: &Document, field: &str, node: &Node) -> Finding {
    let place = document.location(node.below(field).unwrap_or(node).span);
    let message = format!("the change of `{field}` of {} is not in the plan", phrase(document));
    other_setting(message, place).help("look at what the controller would apply before you merge it")
}

fn other_setting(message: String, place: Location) -> Finding {
    Finding::new(&CHANGE_NOT_PLANNED, message).at(place).label("may change what is applied, or where")
}

/// The first changed setting of the wrapper of a HyperConverged, and of what places it or the object that has it.
fn wrapper_changes(before: &Repo, after: &Repo, was: &ClusterRef, cluster: &ClusterRef) -> Vec<Finding> {
    let mut out = Vec::new();
    if let (Some(old), Some(new)) = (before.wrapper_of(was), after.wrapper_of(cluster)) {
        if let Some(role) = role_of(cluster.path()).and_then(Utf8Path::file_name)
            && new.document.root.get("kind").is_none()
            && before.is_played(role)
            && !after.is_played(role)
        {
            let why = format!("no playbook has the role {role} any more");
            let place = new.document.location(new.node.span);
            return vec![Left { why, place, fate: Fate::Kept }.finding(before, was, None)];
        }
        let own = changed(&old.settings, &new.settings, "", &|_| false);
        out.extend(own.map(|field| setting_change(&new.document, &field, &new.node)));
    }
    if let (Some(old), Some(new)) = (before.holder_of(was), after.holder_of(cluster)) {
        let [was, now] = [(before, &old), (after, &new)].map(|(repo, holder)| repo.gitops().placing(holder, None));
        out.extend(related_changes(&was, &now, &new, &|_| false));
    }
    out
}

/// The first changed setting of each object that decides with another one what is applied; or the lost one, if it places
/// something, is a cluster, or is the last.
fn related_changes(
    old: &[Arc<Document>],
    new: &[Arc<Document>],
    user: &Document,
    is_known: &dyn Fn(&str) -> bool,
) -> Vec<Finding> {
    let identity = |one: &Arc<Document>| (one.text("kind").to_owned(), names_of(one).map(ToOwned::to_owned));
    let [was, now] = [old, new].map(|all| all.iter().map(|one| (identity(one), one)).collect::<BTreeMap<_, _>>());
    let places = |one: &Document| fields::has("placing", one.text("kind")) || labels_of_cluster(one).is_some();
    let selecting =
        old.iter().chain(new).map(|one| &**one).filter(|one| labels_of_cluster(one).is_none()).chain([user]);
    let selecting: BTreeSet<&str> = selecting.map(|one| one.file.text()).collect();
    let is_selected_by =
        |label: &str| fields::has("placing.labels", label) || selecting.iter().any(|text| has(text, label));
    // Of what applies an object, only its paths may change while it does.
    let settings = |one: &Document| {
        let mut settings = settings(&one.root, &[]);
        without_paths(&mut settings);
        if let Some(labels) = labels_of_cluster(one) {
            let labels = labels.iter().filter(|label| is_selected_by(&label.key.text));
            settings["labels"] = labels.map(|label| (label.key.text.clone(), label.value.to_json())).collect();
        }
        settings
    };
    let change = |related: &Arc<Document>| {
        let field = match was.get(&identity(related)) {
            Some(was) if was.root.span == related.root.span && was.file.text() == related.file.text() => return None,
            Some(was) => changed(&settings(was), &settings(related), "", is_known)?,
            None => {
                places(related).then_some(())?;
                let message = format!("{} is applied elsewhere, too, with {}", phrase(user), phrase(related));
                return Some(other_setting(message, related.location(related.root.span)));
            }
        };
        Some(setting_change(related, &field, &related.root))
    };
    let is_applier = |one: &Document| Kind::of(one.text("apiVersion"), one.text("kind")).is_some();
    let has_its_kind = |one: &Document| new.iter().any(|new| new.text("kind") == one.text("kind"));
    let is_counted = |one: &Document| places(one) || is_applier(one) || !has_its_kind(one);
    let mut lost = old.iter().filter(|was| !now.contains_key(&identity(was)) && is_counted(was));
    if let Some(gone) = lost.next() {
        let message = format!("{} is without {} now", phrase(user), phrase(gone));
        let place = ["spec.sourceRef", "spec.project"].iter().find_map(|field| user.root.below(field));
        let finding = other_setting(message, user.location(place.unwrap_or(&user.root).span));
        return vec![finding.help("keep it, unless it is created elsewhere")];
    }
    new.iter().filter_map(change).collect()
}

/// The directory of the role of Ansible that a file belongs to.
pub(super) fn role_of(file: &Utf8Path) -> Option<&Utf8Path> {
    file.ancestors().find(|above| parent(above).file_name() == Some("roles"))
}

/// The settings of a document that names something, without the items of lists that don't, and without tasks' names.
pub(super) fn settings_about(root: &Node, names: &dyn Fn(&Node) -> bool) -> Option<String> {
    let has = |node: &Node| all_nodes(node).any(names);
    let lists = all_nodes(root).map(Node::items).filter(|items| items.iter().any(has));
    let left = lists.flatten().filter_map(|item| if has(item) { item.get("name") } else { Some(item) });
    let left: Vec<Span> = left.map(|node| node.span).collect();
    has(root).then(|| settings(root, &left).to_string())
}

/// The settings of an object without some parts, and without labels, annotations and the like.
fn settings(node: &Node, without: &[Span]) -> Value {
    match &node.value {
        hcoplan_yaml::Value::Map(entries) => {
            let is_harmless = |key: &str| fields::has("wrappers.harmless", key);
            let own =
                entries.iter().filter(|entry| !is_harmless(&entry.key.text) && !without.contains(&entry.value.span));
            own.map(|entry| (entry.key.text.clone(), settings(&entry.value, without))).collect()
        }
        hcoplan_yaml::Value::Seq(items) => {
            items.iter().filter(|item| !without.contains(&item.span)).map(|item| settings(item, without)).collect()
        }
        _ => node.to_json(),
    }
}

/// What wraps a HyperConverged.
struct WrapperOf {
    document: Arc<Document>,
    /// The object, or the task.
    node: Node,
    /// Its settings without the manifests.
    settings: Value,
}

/// The finding that a controller applies a HyperConverged that was in the repository before, now or to one more cluster.
fn is_added(cluster: &ClusterRef, by: &Applied, is_first: bool) -> Finding {
    let (name, phrase) = (cluster.name(), phrase(&by.document));
    let destination = by.destination.as_ref().filter(|_| !is_first);
    let how = destination.map_or_else(|| "now".to_owned(), |destination| format!("to {destination}, too"));
    let message = format!("the HyperConverged of cluster {name} is applied {how}: by {phrase}");
    Finding::new(&CHANGE_NOT_PLANNED, message)
        .at(by.place())
        .label("HCO makes its objects there")
        .help("`hcoplan render` prints what HCO makes of it")
}

/// The first changed setting of each object that decides what is applied.
fn settings_changes(before: &Repo, after: &Repo, old: &Applied, new: &Applied) -> Vec<Finding> {
    let is_built = new.sources.iter().all(|source| source.is_built);
    let mut out = Vec::new();
    let (mut a, mut b) = (old.settings(), new.settings());
    // The directory is the cluster's: it is compared with what was applied before.
    if [old, new].iter().all(|applied| applied.sources.iter().all(|source| source.is_here)) {
        [&mut a, &mut b].into_iter().for_each(without_paths);
    }
    if a[FILLED_IN] == b[FILLED_IN] {
        // `source` and a single one of `sources` are the same, in any order.
        for side in [&mut a, &mut b] {
            let spec = side["spec"].as_object_mut();
            spec.into_iter().for_each(|spec| spec.retain(|key, _| key != "source" && key != "sources"));
        }
    }
    // What isn't there is never ready.
    let waits = |(repo, by): (&Repo, &Applied)| {
        let is_there = |on: &Node| repo.gitops().applied.iter().any(|by| by.name == on.text("name"));
        !by.document.root.list_at("spec.dependsOn").iter().all(is_there)
    };
    let waits = |field: &str| field == "spec.dependsOn" && [(before, old), (after, new)].into_iter().any(waits);
    let is_known = |field: &str| {
        // A set's Applications are like others.
        let own = field.strip_prefix("spec.template.").unwrap_or(field);
        let is_in = |harmless: &str| {
            own.strip_prefix(harmless).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
        };
        fields::of("unapplied").iter().any(|harmless| is_in(harmless)) && !waits(field)
            || own == "spec.syncPolicy.syncOptions" && old.changing_options() == new.changing_options()
            || is_built && is_planned(field)
    };
    out.extend(changed(&a, &b, "", &is_known).map(|field| {
        // What generators and `.argocd-source` files fill in.
        let field = if field.starts_with(FILLED_IN) { "source" } else { &field };
        setting_change(&new.document, field, &new.document.root)
    }));
    let related = |repo: &Repo, by: &Applied| {
        let outer = repo.outer(by).into_iter().map(|outer| Arc::clone(&outer.document));
        repo.gitops().placing(&by.document, by.destination.as_ref()).into_iter().chain(outer).collect::<Vec<_>>()
    };
    out.extend(related_changes(&related(before, old), &related(after, new), &new.document, &is_known));
    out
}

/// Removes the directories of sources: of what names a repository.
fn without_paths(settings: &mut Value) {
    let inner: Vec<&mut Value> = match settings {
        Value::Object(fields) => {
            if ["repoURL", "sourceRef"].iter().any(|key| fields.contains_key(*key)) {
                fields.remove("path");
            }
            fields.values_mut().collect()
        }
        Value::Array(items) => items.iter_mut().collect(),
        _ => return,
    };
    inner.into_iter().for_each(without_paths);
}

/// The path of the first difference of two values that `is_known` doesn't leave out.
fn changed(old: &Value, new: &Value, path: &str, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    if old == new || is_known(path) {
        return None;
    }
    let none = Map::new();
    // A default, but for a sync that is automated.
    let is_none = |value: &Value| matches!(value, Value::Null | Value::Bool(false)) || value == "";
    if path.starts_with("spec.") && !path.contains("automated") && is_none(old) && is_none(new) {
        return None;
    }
    let (a, b) = match (old, new) {
        (Value::Object(a), Value::Object(b)) => (a, b),
        (Value::Null, Value::Object(b)) => (&none, b),
        (Value::Object(a), Value::Null) => (a, &none),
        _ => return Some(path.to_owned()),
    };
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    keys.into_iter().find_map(|key| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        changed(a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null), &path, is_known)
    })
}

/// Whether an annotation of an object, or with `labels` a label, has such a value.
fn says(document: &Document, labels: bool, key: &str, is_meant: impl Fn(&str) -> bool) -> bool {
    let all = ["metadata.annotations"].into_iter().chain(labels.then_some("metadata.labels"));
    let mut values = all.filter_map(|all| document.root.below(all)?.get(key)?.as_str());
    values.any(is_meant)
}

impl Applied {
    /// Whether it applies to the same cluster as another one, or may.
    fn may_apply_to(&self, other: &Self) -> bool {
        let both = self.destination.as_ref().zip(other.destination.as_ref());
        both.is_none_or(|(own, theirs)| own == theirs)
    }

    /// What it says of what it applies: its spec, its annotations, and its sources with what files add to them.
    pub(super) fn settings(&self) -> Value {
        let of = |path: &str| self.document.root.below(path).map(Node::to_json);
        let metadata = json!({"annotations": of("metadata.annotations"), "namespace": of("metadata.namespace")});
        let placement = of("policyDefaults.placement");
        let mut out = json!({"metadata": metadata, "spec": of("spec"), "policyDefaults": {"placement": placement}});
        let made = self.object.to_json();
        if self.kind == Kind::ApplicationSet && is_filled(&made) {
            // What the generators fill in is known.
            let generators = self.document.root.below("spec.generators");
            let revisions = generators.iter().flat_map(|all| all_nodes(all)).filter_map(|one| one.text_at("revision"));
            out["spec"]["generators"] = revisions.collect();
            out["spec"]["template"] = made;
        }
        if self.kind.controller() == Controller::ArgoCd {
            let mut sources: Vec<Value> = self.sources.iter().map(|source| source.node.to_json()).collect();
            sources.sort_by_key(Value::to_string);
            out[FILLED_IN] = (0..).map(|index: usize| index.to_string()).zip(sources).collect();
        }
        out
    }
}

impl Repo {
    /// What applies a cluster's HyperConverged, or the chart that renders it.
    pub(super) fn applying(&self, cluster: &ClusterRef) -> Vec<&Applied> {
        let is_it = |by: &&Applied| self.is_applied(by, cluster);
        match self.applier_of_chart(cluster) {
            Some(_) => self.gitops().applied.iter().filter(is_it).collect(),
            None => self.gitops().around(cluster.directory()).filter(is_it).collect(),
        }
    }

    /// What applies a controller's object, what applies that, and so on.
    fn outer<'r>(&'r self, by: &'r Applied) -> Vec<&'r Applied> {
        let mut out: Vec<&Applied> = vec![by];
        let mut at = 0;
        while let Some(inner) = out.get(at).copied() {
            let is_new = |other: &&Applied| !out.iter().any(|own| Arc::ptr_eq(&own.document, &other.document));
            let more: Vec<_> = self.appliers_of_file(inner.document.file.path()).filter(is_new).collect();
            out.extend(more);
            at += 1;
        }
        out.split_off(1)
    }

    /// The document that has a cluster's HyperConverged, or the one with the text that has it.
    fn holder_of(&self, cluster: &ClusterRef) -> Option<Arc<Document>> {
        let content = self.content(cluster.object.file).ok()?;
        let span = content.object(cluster.object.place)?.span;
        let mut all = content.documents.iter();
        all.find(|document| document.span.holds(span)).cloned()
    }

    /// What wraps a cluster's HyperConverged.
    fn wrapper_of(&self, cluster: &ClusterRef) -> Option<WrapperOf> {
        let document = self.written(cluster.object)?;
        let objects = listed::objects(&document.root);
        let wrapper = objects.get(cluster.object.place.item? as usize)?.wrapper?;
        let is_task = document.root.get("kind").is_none();
        let node = if is_task { wrapper.node } else { &document.root };
        let inside: Vec<Span> = objects.iter().filter(|o| o.wrapper.is_some()).map(|object| object.node.span).collect();
        let mut settings = settings(node, &inside);
        if let Some(task) = settings.as_object_mut().filter(|_| is_task) {
            task.remove("name");
        }
        Some(WrapperOf { node: node.clone(), document, settings })
    }

    /// Whether a playbook or another role has a role.
    fn is_played(&self, role: &str) -> bool {
        let has_role = |node: &Node| {
            let lists = ["roles", "dependencies"].into_iter().flat_map(|key| node.list_at(key));
            let included = fields::of("ansible.include").iter().filter_map(|key| node.get(key));
            let mut all = lists.chain(included);
            all.any(|item| item.as_str() == Some(role) || ["role", "name"].iter().any(|key| item.text(key) == role))
        };
        self.paths.iter().filter_map(|path| self.tree.source(path).ok()).any(|file| {
            has_any(file.text(), &["role", "dependencies"])
                && has(file.text(), role)
                && yaml::parse_yaml(&file).documents.iter().any(|document| all_nodes(&document.root).any(has_role))
        })
    }

    /// Whether a controller's object applies a cluster's HyperConverged.
    pub(super) fn is_applied(&self, by: &Applied, cluster: &ClusterRef) -> bool {
        by.sources.iter().any(|source| self.left_out(by, source, cluster).is_none())
    }

    /// Whether all that applies a cluster's HyperConverged leaves expressions in it as they are: Argo CD without a plugin,
    /// Flux without `postBuild`.
    pub(super) fn is_applied_as_written(&self, cluster: &ClusterRef) -> bool {
        let is_disabled = || {
            let object = self.object(cluster.object);
            object.is_some_and(|object| says(&object, true, DISABLED, |value| value == "disabled"))
        };
        let leaves = |by: &&Applied| match by.kind {
            Kind::Application | Kind::ApplicationSet => by.sources.iter().all(|s| s.node.get("plugin").is_none()),
            Kind::FluxKustomization => by.object.below("spec.postBuild").is_none_or(Node::is_empty) || is_disabled(),
            _ => false,
        };
        let applying = self.applying(cluster);
        !applying.is_empty() && applying.iter().all(leaves)
    }

    /// The cluster that one of another revision is after a change, according to what applies it; with `self` as the
    /// revision before, what it was.
    pub fn of_same_applier(&self, other: &Self, cluster: &ClusterRef) -> Option<&ClusterRef> {
        let same = |by: &&Applied| self.gitops().same(by, other.gitops());
        let by: Vec<&Applied> = other.applying(cluster).iter().filter_map(same).collect();
        self.clusters().iter().find(|own| by.iter().any(|by| self.is_applied(by, own)))
    }

    /// Why a source of a controller's object doesn't apply a cluster's HyperConverged; `None` if it does.
    pub(super) fn left_out(&self, applied: &Applied, source: &Source, cluster: &ClusterRef) -> Option<LeftOut> {
        let controller = applied.kind.controller();
        let directory = cluster.directory();
        let by_place = if let Some(of_chart) = self.applier_of_chart(cluster) {
            // A set's Applications each have their own output.
            let is_named = directory.file_name() == Some(&self.gitops().output_name(applied));
            let is_it =
                is_same_document(&applied.document, of_chart) && (is_named || applied.kind != Kind::ApplicationSet);
            (!is_it).then_some(LeftOut::Elsewhere)
        } else if !source.is_here {
            Some(LeftOut::Elsewhere)
        } else if self.inputs_of(cluster.path()).is_some() {
            (!self.is_build_of(applied, source, directory)).then_some(LeftOut::Elsewhere)
        } else {
            let is_skipped = || {
                let text = self.tree.read(cluster.path()).unwrap_or_default();
                controller == Controller::ArgoCd && has(text, "+argocd:skip-file-rendering")
            };
            let by_place = self.left_out_by_place(applied, source, cluster.path());
            by_place.or_else(|| is_skipped().then_some(LeftOut::SkippedFile))
        };
        by_place.or_else(|| self.left_out_by_itself(applied.kind, cluster))
    }

    /// Whether the build in a directory is of a source: where several objects change what they apply, each one's is in a
    /// directory of its name.
    fn is_build_of(&self, applied: &Applied, source: &Source, directory: &Utf8Path) -> bool {
        let name = self.gitops().output_name(applied);
        let is_named = directory.file_name() == Some(&name) && source.is_at(parent(directory));
        let has_own = || self.inputs_of(&directory.join(&name).join(BUILT)).is_some();
        is_named || source.is_at(directory) && !has_own()
    }

    /// Whether a controller's object applies the build in a directory.
    pub(super) fn builds_into(&self, applied: &Applied, directory: &Utf8Path) -> bool {
        applied.here().any(|source| self.is_build_of(applied, source, directory))
    }

    /// Why a source doesn't apply a file as it is; `None` if it does.
    pub(super) fn left_out_by_place(&self, applied: &Applied, source: &Source, file: &Utf8Path) -> Option<LeftOut> {
        let ignored = || self.is_ignored(applied, file).then_some(LeftOut::Ignored);
        applied.left_out(source, &*self.tree, file).or_else(ignored)
    }

    /// Why a file isn't applied, although controllers apply its directory.
    pub(super) fn left_out_by_all(&self, file: &Utf8Path) -> Option<LeftOut> {
        let sources = self.gitops().around(parent(file)).flat_map(|by| by.here().map(move |source| (by, source)));
        let reasons = sources.map(|(by, source)| self.left_out_by_place(by, source, file));
        let reasons: Vec<LeftOut> = reasons.collect::<Option<_>>()?;
        reasons.into_iter().find(|why| matches!(why, LeftOut::Pattern | LeftOut::Ignored))
    }

    /// Whether an ignore file of the controller, in any directory above, or its GitRepository leaves a file out.
    fn is_ignored(&self, applied: &Applied, file: &Utf8Path) -> bool {
        let matches =
            |text: &str, directory: &Utf8Path| matches_any(text, file.strip_prefix(directory).unwrap_or(file));
        let by_file = |directory: &Utf8Path| {
            let name = applied.kind.controller().ignore_file()?;
            let bytes = self.tree.read(&directory.join(name)).ok()?;
            Some(matches(&String::from_utf8_lossy(&bytes), directory))
        };
        let own = self.gitops().repositories(applied).iter().find_map(|source| source.root.text_at("spec.ignore"));
        let by_default = || match applied.kind.controller() {
            Controller::Flux => fields::of("flux.ignores").join("\n"),
            _ => String::new(),
        };
        matches(&own.map_or_else(by_default, ToOwned::to_owned), Utf8Path::new(""))
            || file.ancestors().skip(1).any(|directory| by_file(directory).unwrap_or(false))
    }

    /// Whether annotations of the HyperConverged, for Flux also labels, keep a controller from applying it, or delete it
    /// again; or that it is a list.
    fn left_out_by_itself(&self, kind: Kind, cluster: &ClusterRef) -> Option<LeftOut> {
        let document = self.object(cluster.object)?;
        let controller = kind.controller();
        let metadata = match controller {
            _ if kind == Kind::HelmRelease => "helm.metadata",
            Controller::ArgoCd => "argocd.metadata",
            Controller::Flux => "flux.metadata",
            _ => return None,
        };
        let found = fields::pairs_of(metadata).find(|(key, value)| {
            says(&document, controller == Controller::Flux, key, |own| match value.strip_prefix('!') {
                Some(but) => own != but,
                None => *value == "*" || own.eq_ignore_ascii_case(value),
            })
        });
        let shown = |value: &'static str| if value.starts_with(['!', '*']) { "…" } else { value };
        let found = found.map(|(key, value)| LeftOut::Metadata(key, shown(value)));
        let is_list = controller == Controller::ArgoCd
            && document.root.get("items").is_some_and(|items| matches!(items.value, hcoplan_yaml::Value::Seq(_)));
        let is_one_of_many = || {
            let content = self.content(cluster.object.file).is_ok_and(|content| content.documents.len() > 1);
            controller == Controller::ArgoCd && cluster.path().extension() == Some("json") && content
        };
        found.or(is_list.then_some(LeftOut::List)).or_else(|| is_one_of_many().then_some(LeftOut::Objects))
    }

    /// Why the policy that has a cluster's HyperConverged enforces nothing, and where it says so.
    fn idle_policy_of(&self, cluster: &ClusterRef) -> Option<(String, Location)> {
        let document = self.written(cluster.object)?;
        let generators = self.applying(cluster).into_iter().filter(|by| by.kind == Kind::PolicyGenerator);
        let of_generator =
            generators.flat_map(|by| by.sources.iter().map(move |source| (by, source))).find_map(|(by, source)| {
                let is_its = self.left_out(by, source, cluster).is_none();
                let field = idle(&by.document.root, &source.node).filter(|_| is_its)?;
                Some((&*by.document, field))
            });
        let own = || policy::idle(&document.root).map(|field| (&*document, field));
        let (document, field) = of_generator.or_else(own)?;
        let value = field.to_json();
        let why = match value.as_str() {
            Some(action) => format!("{} has `remediationAction: {action}`", phrase(document)),
            None => format!("{} is disabled", phrase(document)),
        };
        Some((why, document.location(field.span)))
    }

    /// The finding about a HyperConverged that Argo CD deletes and creates again at each sync.
    fn is_replaced_by_force(&self, cluster: &ClusterRef) -> Option<Finding> {
        let object = self.hyperconverged(cluster).ok()?;
        let options = object.pointer("/metadata/annotations")?.get(SYNC_OPTIONS)?.as_str()?.to_owned();
        ["Force=true", "Replace=true"].iter().all(|option| has_sync_option(&options, option)).then_some(())?;
        let message = "with `Force=true,Replace=true` Argo CD deletes the HyperConverged and creates it again at each \
                       sync, and with it KubeVirt and CDI";
        let help = "remove `Force=true`";
        Some(Finding::new(&HCO_REMOVED, message).at(self.named_at(cluster.object)?).help(help))
    }
}
