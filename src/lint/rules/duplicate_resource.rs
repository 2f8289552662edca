//! One object twice in a directory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use camino::Utf8Path;

use super::prelude::*;
use crate::admission::GROUP;
use crate::kube::ObjectId;
use crate::yaml::{Document, Node, Path};

pub(super) static RULE: Rule = Rule {
    name: "duplicate-resource",
    group: Group::Hygiene,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    predicts: Predicts::Silent("the one that is applied last wins; kustomize refuses to build"),
    needs: Needs::Document,
    summary: "an object is declared twice in one directory",
    page: r#"
## What it finds

Two objects of the same API group, kind, namespace and name in the files of one directory, in a
cluster's directory or below it. API versions don't make a difference: `v1beta1` and `v1` are the
same object. Where the directory has a `kustomization.yaml`, only the files that it names as
resources count.

Two HyperConvergeds are `cluster-name-taken`.

## Why it matters

`kubectl apply -f` applies both, and the order of the file names decides. `kubectl apply -k` and Flux
refuse to build (`may not add resource with an already registered id`); Argo CD warns with
`RepeatedResourceWarning` and goes on.

## Example

```yaml
apiVersion: v1
kind: Namespace
metadata: {name: kubevirt-hyperconverged}
---
apiVersion: v1
kind: Namespace
metadata: {name: kubevirt-hyperconverged}
```

## Remedy

Keep one. What is meant for different clusters belongs into different directories.

## Sources

- kustomize: resource identifiers
- Argo CD: `RepeatedResourceWarning`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let neighbours = cx.neighbours();
    let built = Built::new(cx);
    let mut seen: HashMap<Identity<'_>, &Document> = HashMap::new();
    for kind in neighbours.kinds() {
        for document in neighbours.of_kind(kind) {
            let Some(identity) = identity(document).filter(|_| built.has(document.file.path()))
            else {
                continue;
            };
            let Some(first) = seen.get(&identity) else {
                seen.insert(identity, document);
                continue;
            };
            let name = Path::dotted("metadata.name");
            let finding =
                Finding::new(&RULE, format!("{kind} {} is declared twice", identity.name))
                    .at(document.locate(&name))
                    .object(ObjectId::of(&document.root.to_json()).to_string())
                    .label("a second time")
                    .help("keep one of them")
                    .related(first.locate(&name), "the first time");
            out.report(finding);
        }
    }
}

/// What makes an object in a directory.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'d> {
    directory: &'d str,
    group: &'d str,
    kind: &'d str,
    namespace: &'d str,
    name: &'d str,
}

/// `None` for what is no object with a name, and for HyperConvergeds.
fn identity(document: &Document) -> Option<Identity<'_>> {
    let text = |path: &str| document.root.below(path).and_then(Node::as_str);
    let group = match text("apiVersion")?.split_once('/') {
        Some((group, _)) => group,
        None => "",
    };
    (group != GROUP).then_some(Identity {
        directory: document.file.path().parent()?.as_str(),
        group,
        kind: text("kind")?,
        namespace: text("metadata.namespace").unwrap_or_default(),
        name: text("metadata.name")?,
    })
}

/// The files that kustomizations name as resources, by directory.
struct Built<'d>(BTreeMap<&'d Utf8Path, BTreeSet<&'d str>>);

impl<'d> Built<'d> {
    fn new(cx: &'d Context<'_>) -> Self {
        let mut out: BTreeMap<&Utf8Path, BTreeSet<&str>> = BTreeMap::new();
        // Neither apiVersion nor kind has to be there.
        for kind in ["Kustomization", ""] {
            for document in cx.neighbours().of_kind(kind) {
                let path = document.file.path();
                let is_one = path
                    .file_stem()
                    .is_some_and(|s| s.eq_ignore_ascii_case("kustomization"));
                let resources = document.root.get("resources").map(Node::items);
                if let (true, Some(directory)) = (is_one, path.parent()) {
                    let names = resources
                        .unwrap_or_default()
                        .iter()
                        .filter_map(Node::as_str);
                    let names = names.map(|n| n.trim_start_matches("./"));
                    out.entry(directory).or_default().extend(names);
                }
            }
        }
        Self(out)
    }

    /// Whether a file is built with its directory.
    fn has(&self, file: &Utf8Path) -> bool {
        let named = file.parent().and_then(|d| self.0.get(d));
        named.is_none_or(|names| file.file_name().is_some_and(|f| names.contains(f)))
    }
}
