//! Compares the findings about bundles with those of operator-sdk's multiarch validator: `testdata/bundles/table.txt`.
//!
//! The validator is reimplemented from operator-framework/api `pkg/validation/internal/multiarch.go`: it inspects
//! images with docker or podman, while the rules read saved output. It ignores the cluster and other objects.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as FilePath;

use hcoplan_diagnostics::finding::{Finding, FixKind, Group, Severity};
use hcoplan_repository::inventory::INVENTORY_SCHEMA;
use hcoplan_testing::annotations;
use serde_json::Value;

use super::fixtures::{directories, root};
use super::load::Case;
use crate::fix::{choose, round};
use crate::{Context, Form, Selector, Settings, rules};

/// Operating system and architecture.
type Platforms = BTreeSet<(String, String)>;

/// An image's platforms for the validator: `None` if it can't be inspected; empty for a single image, because `docker
/// manifest inspect` prints no list.
fn inspect(cx: &Context<'_>, image: &str) -> Option<Platforms> {
    let evidence = cx.image_evidence(image)?;
    let pairs = evidence.platforms.iter();
    let pairs = pairs.map(|p| (p.os.clone(), p.architecture.clone()));
    match evidence.form {
        Form::Single => Some(Platforms::new()),
        Form::One => None,
        Form::List | Form::Declared | Form::Legacy | Form::Built => Some(pairs.collect()),
    }
}

fn list<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    let items = value.pointer(pointer).and_then(Value::as_array);
    items.into_iter().flatten()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The platforms of the required node affinity: combinations of each term's two lists.
fn affinity(pod: &Value) -> Platforms {
    const TERMS: &str = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution\
                         /nodeSelectorTerms";
    let mut out = Platforms::new();
    for term in list(pod, TERMS) {
        let named = |key: &str| -> Vec<String> {
            let all = list(term, "/matchExpressions");
            let ours = all.filter(|e| text(e, "key") == key && text(e, "operator") == "In");
            let values = ours.flat_map(|e| list(e, "/values"));
            values.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        for os in named("kubernetes.io/os") {
            for architecture in named("kubernetes.io/arch") {
                out.insert((os.clone(), architecture));
            }
        }
    }
    out
}

/// The values of labels with a prefix; else the default.
fn labelled(csv: &Value, prefix: &str, default: &str) -> (BTreeSet<String>, bool) {
    let labels = csv.pointer("/metadata/labels").and_then(Value::as_object);
    let supported = labels.into_iter().flatten().filter(|(_, v)| *v == "supported");
    let names: BTreeSet<String> = supported.filter_map(|(k, _)| k.strip_prefix(prefix).map(str::to_owned)).collect();
    if names.is_empty() { ([default.to_owned()].into(), false) } else { (names, true) }
}

/// The validator's errors and warnings for a CSV, abbreviated.
fn validator(cx: &Context<'_>, csv: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let short = |image: &str| {
        let name = image.rsplit('/').next().unwrap_or(image);
        name.split([':', '@']).next().unwrap_or(name).to_owned()
    };
    let (mut errors, mut warnings) = (BTreeSet::new(), BTreeSet::new());
    let mut managers = BTreeSet::new();
    let mut run: BTreeMap<String, Platforms> = BTreeMap::new();
    for deployment in list(csv, "/spec/install/spec/deployments") {
        let pod = &deployment["spec"]["template"]["spec"];
        let containers = || list(pod, "/containers").map(|c| (text(c, "name"), text(c, "image")));
        let manager = |name: &str| name == "manager";
        let found = containers().any(|(name, _)| manager(name));
        for (name, image) in containers() {
            if (found && manager(name)) || (!found && name != "kube-rbac-proxy") {
                managers.insert(image.to_owned());
            }
            run.insert(image.to_owned(), affinity(pod));
        }
    }
    let related = list(csv, "/spec/relatedImages").map(|i| text(i, "image").to_owned());
    let all: BTreeSet<String> = run.keys().cloned().chain(related).collect();
    let seen: BTreeMap<&String, Option<Platforms>> = all.iter().map(|i| (i, inspect(cx, i))).collect();
    let (architectures, is_labelled) = labelled(csv, "operatorframework.io/arch.", "amd64");
    let (systems, has_systems) = labelled(csv, "operatorframework.io/os.", "linux");
    for (image, platforms) in &seen {
        let Some(platforms) = platforms else {
            warnings.insert(format!("no idea of {}", short(image)));
            continue;
        };
        for os in &systems {
            for architecture in &architectures {
                if !platforms.contains(&(os.clone(), architecture.clone())) {
                    errors.insert(format!("{} lacks {os}/{architecture}", short(image)));
                }
            }
        }
    }
    let own = managers.iter().filter_map(|m| seen.get(m)?.as_ref()).flatten();
    let own: Vec<&(String, String)> = own.collect();
    let manager_systems: BTreeSet<String> = systems.iter().cloned().chain(own.iter().map(|p| p.0.clone())).collect();
    let manager_architectures: BTreeSet<String> =
        architectures.iter().cloned().chain(own.iter().map(|p| p.1.clone())).collect();
    // A label that contains the name is enough.
    let has =
        |labels: &BTreeSet<String>, any: bool, name: &String| any && labels.iter().any(|l| l.contains(name.as_str()));
    for (name, labels, any, default, word) in manager_architectures
        .iter()
        .map(|a| (a, &architectures, is_labelled, "amd64", manager_architectures.len()))
        .chain(manager_systems.iter().map(|o| (o, &systems, has_systems, "linux", manager_systems.len())))
    {
        let implied = name == default && word == 1;
        if !implied && !has(labels, any, name) {
            warnings.insert(format!("no label for {name}"));
        }
    }
    for (image, platforms) in seen.iter().filter(|(i, _)| !managers.contains(**i)) {
        let Some(platforms) = platforms else {
            continue;
        };
        for architecture in &manager_architectures {
            if !platforms.iter().any(|p| p.1 == *architecture) {
                warnings.insert(format!("{} lacks {architecture}", short(image)));
            }
        }
    }
    for (image, allowed) in &run {
        let platforms = seen.get(image).cloned().flatten();
        if allowed.is_empty() {
            warnings.insert(format!("no affinity for {}", short(image)));
            continue;
        }
        let Some(platforms) = platforms else {
            // There is nothing to compare with.
            warnings.insert(format!("affinity of {} exceeds it", short(image)));
            continue;
        };
        if !allowed.is_subset(&platforms) {
            warnings.insert(format!("affinity of {} exceeds it", short(image)));
        }
        if !platforms.is_subset(allowed) {
            warnings.insert(format!("affinity of {} is narrower", short(image)));
        }
    }
    (errors, warnings)
}

fn joined(words: &BTreeSet<String>) -> String {
    if words.is_empty() { "-".to_owned() } else { words.iter().cloned().collect::<Vec<_>>().join(", ") }
}

/// The verdicts of both on a fixture.
fn verdicts(directory: &FilePath) -> [String; 3] {
    let case = Case::read(directory, None).expect("a fixture");
    let settings = Settings { select: vec![Selector::Group(Group::Bundle)], ..Settings::default() };
    let cx = case.surroundings(&settings);
    let csv = cx.csvs().first().expect("a ClusterServiceVersion");
    let (errors, warnings) = validator(&cx, &csv.document.root.to_json());
    let ours = case.lint(&settings).into_iter().map(|f| {
        let mark = match f.severity {
            Severity::Error => "!",
            Severity::Warning => "",
            Severity::Info => "?",
        };
        format!("{}{mark}", f.rule.name)
    });
    [joined(&errors), joined(&warnings), joined(&ours.collect())]
}

#[test]
fn bundles_are_judged_as_the_validator_judges_them() {
    let path = hcoplan_testing::root().join("testdata/bundles/table.txt");
    let table = fs::read_to_string(path).expect("the table");
    let mut complaints = Vec::new();
    let mut cases = 0;
    for line in table.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, errors, warnings, ours, why] = cells.as_slice() else {
            panic!("five columns: {line}");
        };
        cases += 1;
        let found = verdicts(&root().join(name));
        if found != [*errors, *warnings, *ours] {
            complaints.push(format!("{name} | {} | {why}", found.join(" | ")));
        }
        // Different verdicts need a reason in the table.
        let rejects = *errors != "-";
        if rejects != ours.contains('!') && why.is_empty() {
            complaints.push(format!("{name}: why do they differ?"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(cases > 20, "{cases} cases");
}

/// The fixes of `fix --unsafe` can be applied and leave no finding.
#[test]
fn does_not_find_fixed_findings_again() {
    let settings = Settings { select: vec![Selector::Group(Group::Bundle)], ..Settings::default() };
    let (mut complaints, mut applied) = (Vec::new(), 0);
    for rule in rules().iter().map(|r| r.rule) {
        let ours = rule.group == Group::Bundle && rule.fix == FixKind::Unsafe;
        for dir in directories(rule, "bad").into_iter().filter(|_| ours) {
            let directory = tempfile::tempdir().expect("a directory");
            annotations::copy(&dir, directory.path()).expect("a fixture");
            let fixable = |found: &[Finding]| -> BTreeSet<&'static str> {
                let ours = found.iter().filter(|f| f.rule.name == rule.name);
                let fixed = ours.filter(|f| f.fixes.iter().any(|f| !f.edits.is_empty()));
                fixed.map(|f| f.rule.name).collect()
            };
            let case = Case::read(directory.path(), None).expect("a fixture");
            let found = case.lint(&settings);
            let before = fixable(&found);
            let done = round(&choose(&found, true));
            for dropped in &done.dropped {
                complaints.push(format!("{}: {}", dir.display(), dropped.why));
            }
            applied += done.applied.len();
            for (path, file) in done.files {
                fs::write(directory.path().join(path), file.text).expect("written");
            }
            let case = Case::read(directory.path(), None).expect("a fixture");
            let after = fixable(&case.lint(&settings));
            if before.intersection(&after).next().is_some() {
                complaints.push(format!("{}: {} is found again", dir.display(), rule.name));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(applied > 10, "{applied} fixes");
}

#[test]
fn lists_of_images_know_the_architectures_that_inventories_know() {
    let lists = include_str!("../../../../schemas/image-architectures.schema.json");
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let (lists, inventory) = (read(lists), read(INVENTORY_SCHEMA));
    let items = "/properties/images/items/properties/architectures/items/enum";
    assert_eq!(lists.pointer(items), inventory.pointer("/definitions/architecture/enum"));
}
