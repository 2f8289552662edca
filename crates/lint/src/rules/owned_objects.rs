//! Objects in git that HCO, SSP or CDI create, delete or duplicate.

use hcoplan_explain::docs::switch_text;

use super::prelude::*;
use crate::KUBEVIRT_GATES;

pub(super) static RULES: &[RegisteredRule] = &[
    always(&COMMON_TEMPLATE_IN_GIT, |cx, out| each(cx, out, &["Template"], common_template)),
    always(&DUPLICATE_WASP_AGENT, |cx, out| each(cx, out, &["DaemonSet"], wasp_agent)),
    always(&OPERAND_MANAGED_IN_GIT, operands),
    always(&REMOVED_OBJECT_IN_GIT, removed_objects),
    always(&RENDERED_GOLDEN_IMAGE_IN_GIT, |cx, out| each(cx, out, &["DataImportCron", "DataSource"], golden_image)),
    always(&SECOND_OPERAND_CR, |cx, out| {
        each(cx, out, &["CDI", "KubeVirt", "NetworkAddonsConfig", "SSP"], second_operand);
        each(cx, out, &["Deployment"], second_operator);
    }),
];

/// A declared object: kind, group, name and namespace; empty if not written.
struct Declared<'d> {
    document: &'d Document,
    kind: &'d str,
    group: &'d str,
    name: &'d str,
    namespace: &'d str,
}

impl<'d> Declared<'d> {
    fn of(document: &'d Document) -> Self {
        let text = |path| document.text(path);
        let (kind, name) = (text("kind"), text("metadata.name"));
        let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
        Self { document, kind, group, name, namespace: namespace_of(document) }
    }

    /// Whether it has this group and name.
    fn is(&self, group: &str, name: &str) -> bool {
        self.group == group && self.name == name
    }

    /// Whether it is a rendered object.
    fn is_same(&self, id: &ObjectId) -> bool {
        self.kind == id.kind && self.is(id.group(), &id.name) && self.may_be_in(id.namespace.as_deref())
    }

    /// Without a namespace, an object of any application may have the name of one of HCO's.
    fn may_be_in(&self, namespace: Option<&str>) -> bool {
        let is_own = self.group.ends_with("kubevirt.io");
        self.namespace == namespace.unwrap_or_default() || self.namespace.is_empty() && is_own
    }

    fn finding(&self, cx: &Context<'_>, message: impl Into<String>) -> Finding {
        cx.finding_about(self.document, message)
    }
}

fn each(cx: &Context<'_>, out: &mut Sink, kinds: &[&str], find: fn(&Context<'_>, &Declared<'_>) -> Option<Finding>) {
    let documents = kinds.iter().flat_map(|kind| cx.of_kind(kind));
    out.report_all(documents.filter_map(|document| find(cx, &Declared::of(document))));
}

fn common_template(cx: &Context<'_>, git: &Declared<'_>) -> Option<Finding> {
    cx.plan().ssp.as_ref()?;
    let configured = cx.hyperconverged()?.text("workloadSources.commonTemplatesNamespace");
    let common = configured.unwrap_or(&cx.release().tables().common_templates_namespace);
    let label = Path::dotted("metadata.labels").key("template.kubevirt.io/type");
    let is_base = git.document.root.str_at(&label) == Some("base");
    let message = format!("SSP overwrites the template {}, a common template", git.name);
    let finding = git
        .finding(cx, message)
        .label("SSP reverts changes")
        .help("give the copy another name and namespace, and remove the label template.kubevirt.io/type");
    (is_base && git.namespace == common).then(|| finding.related(git.document.locate(&label), "a base template"))
}

fn wasp_agent(cx: &Context<'_>, git: &Declared<'_>) -> Option<Finding> {
    const FIELD: &str = "higherWorkloadDensity.memoryOvercommitPercentage";
    let overcommit = cx.hyperconverged()?.get(&format!("virtualization.{FIELD}"))?;
    let percent = overcommit.as_u64().filter(|p| *p > 100 && git.name == "wasp-agent" && git.namespace == "wasp")?;
    let message = format!(
        "the DaemonSet wasp-agent duplicates HCO's own, which it deploys with memory overcommitted to {percent}%"
    );
    let finding = git.finding(cx, message).label("a second wasp agent").help("delete the DaemonSet");
    Some(finding.related(cx.field(FIELD).value_place(), "makes HCO deploy its own"))
}

fn golden_image(cx: &Context<'_>, git: &Declared<'_>) -> Option<Finding> {
    let Declared { kind, name, namespace, .. } = *git;
    let is_same = |r: &&Rendered| {
        let id = &r.object.id;
        id.kind == kind && id.name == name && id.namespace.as_deref() == Some(namespace)
    };
    let managed = || cx.plan().ssp.as_deref()?.cron_of(namespace, name).filter(|_| kind == "DataSource");
    let (made, by) = match cx.import_crons().chain(cx.data_sources()).find(is_same) {
        Some(rendered) => (rendered, "SSP creates it"),
        None => (managed()?, "CDI creates it for a DataImportCron of SSP's"),
    };
    let finding = git
        .finding(cx, format!("git must not manage the {kind} {name}: {by}"))
        .label(by)
        .help("delete the manifest, and move its settings to dataImportCronTemplates");
    let is_written = cx.image_of(&made.origin).is_some_and(|i| i.written.is_some());
    let place = is_written.then(|| cx.origin_place(&made.origin, "metadata.name"));
    Some(with_related(finding, place, "from this template"))
}

fn second_operand(cx: &Context<'_>, git: &Declared<'_>) -> Option<Finding> {
    let own = cx.plan().operands.iter().map(|(_, object)| &object.id).find(|id| id.kind == git.kind)?;
    if git.group != own.group() || git.is_same(own) {
        return None;
    }
    let finding = git.finding(cx, format!("{} {} is a second one: HCO creates {}", git.kind, git.name, own.name));
    Some(finding.label(format!("HCO makes {own}")).help("delete it, and write its settings into the HyperConverged"))
}

fn second_operator(cx: &Context<'_>, git: &Declared<'_>) -> Option<Finding> {
    static OPERATORS: Rows<&str> = Rows::of("operators");
    let own = text(tree::get(cx.object(), "metadata.namespace"));
    if [own, "", &cx.inventory().namespace].contains(&git.namespace) || !OPERATORS.contains(&git.name) {
        return None;
    }
    let finding = git.finding(cx, format!("{} is deployed a second time: HCO deploys its own", git.name));
    let finding = finding.label("HCO deploys its own, in its own namespace");
    Some(finding.help("delete it, or move it to another cluster's directory"))
}

fn removed_objects(cx: &Context<'_>, out: &mut Sink) {
    let own = cx.object().pointer("/metadata/namespace").and_then(Json::as_str);
    for removed in &cx.release().upgrade().removed_objects {
        let same = declared(cx, &removed.kind).filter(|git| {
            let here = own == Some(git.namespace) && removed.namespace != "default";
            git.is(&removed.group, &removed.name) && (git.namespace == removed.namespace || here)
        });
        let message = format!("{} {} is removed in {}", removed.kind, removed.name, cx.release().label());
        out.report_all(same.map(|git| {
            let finding = git.finding(cx, message.as_str());
            finding.label("HCO deletes it, git creates it again").help("delete the manifest")
        }));
    }
}

fn declared<'c>(cx: &'c Context<'_>, kind: &str) -> impl Iterator<Item = Declared<'c>> + use<'c> {
    cx.other_objects().of_kind(kind).iter().map(|document| Declared::of(document))
}

fn operands(cx: &Context<'_>, out: &mut Sink) {
    for (_, object) in &cx.plan().operands {
        let same = declared(cx, &object.id.kind).filter(|git| git.is_same(&object.id));
        out.report_all(same.map(|git| operand(cx, &git, &object.body)));
    }
}

fn operand(cx: &Context<'_>, git: &Declared<'_>, rendered: &Json) -> Finding {
    let Declared { kind, name, document, .. } = *git;
    let Some((path, value)) = difference(&document.root, rendered) else {
        return git
            .finding(cx, format!("{kind} {name} is HCO's own object"))
            .warning()
            .label("HCO creates the same object")
            .silent()
            .help("delete the manifest: HCO makes the object");
    };
    let message = format!("{kind} {name} is HCO's own object, and git has another {path}");
    let finding =
        git.finding(cx, message).at(document.locate_key(&path)).label("HCO reverts this, and git writes it again");
    if kind == "KubeVirt" && path.to_pointer() == KUBEVIRT_GATES {
        return gates(cx, finding, &value, rendered);
    }
    let Some((field, copied)) = cx.field_behind(kind, &path) else {
        return finding.help(format!("delete the manifest: {PLACE}"));
    };
    let set = [Change::Set(field.clone(), value)];
    let title = format!("set {field} of the HyperConverged, and delete the manifest");
    let fix = copied.then(|| cx.suggest(title.as_str(), &set)).flatten();
    finding.remedy(title, fix)
}

const PLACE: &str = "the HyperConverged is the place for its settings";

/// Names what sets the gates that a KubeVirt in git has in addition to the rendered ones.
fn gates(cx: &Context<'_>, finding: Finding, written: &Json, rendered: &Json) -> Finding {
    let names = |list: &Json| -> Vec<String> { texts(list).map(str::to_owned).collect() };
    let present = rendered.pointer(KUBEVIRT_GATES).map(names).unwrap_or_default();
    let added: Vec<String> = names(written).into_iter().filter(|gate| !present.contains(gate)).collect();
    let known = |gate: &String| cx.release().kubevirt_gate(gate);
    let switches = added.iter().filter_map(|gate| known(gate)?.switch());
    let set: Vec<(Path, Change)> = switches.map(|own| cx.switch_on(&own.name)).collect();
    let is_needless = |gate: &&String| known(gate).is_some_and(|gate| gate.is_always_on());
    if set.is_empty() {
        let setter = || added.iter().filter_map(known).find(|gate| gate.setter().is_some());
        let why = match added.iter().find(is_needless) {
            Some(gate) => format!("the feature of the gate {gate} is always on"),
            None => setter().map_or_else(|| PLACE.to_owned(), |gate| switch_text(&gate)),
        };
        return finding.help(format!("delete the manifest: {why}"));
    }
    let is_all = set.len() + added.iter().filter(is_needless).count() == added.len();
    let (fields, changes): (Vec<String>, Vec<Change>) = set.into_iter().map(|(f, c)| (f.to_string(), c)).unzip();
    let title = format!("set {} of the HyperConverged, and delete the manifest", and(&fields));
    let fix = is_all.then(|| cx.suggest(title.as_str(), &changes)).flatten();
    finding.remedy(title, fix)
}

/// The first scalar that differs from the rendered object or is missing there. Of the metadata, HCO owns only labels
/// and annotations.
fn difference(root: &Node, rendered: &Json) -> Option<(Path, Json)> {
    let mut open: Vec<(Path, &Node)> = root
        .entries()
        .iter()
        .filter(|e| !matches!(e.key.text.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
        .map(|e| (Path::root().key(&e.key.text), &e.value))
        .rev()
        .collect();
    while let Some((path, node)) = open.pop() {
        match &node.value {
            Value::Map(entries) => open.extend(entries.iter().rev().map(|e| (path.key(&e.key.text), &e.value))),
            Value::Null => {}
            _ if path.get(rendered) == Some(&node.to_json()) => {}
            _ => return Some((path, node.to_json())),
        }
    }
    None
}
