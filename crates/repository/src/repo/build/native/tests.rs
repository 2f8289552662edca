//! Tests of builds in memory: values, the places that wrote them, and refusals. CI compares builds with kustomize's.

use hcoplan_diagnostics::source::Memory;

use super::*;
use crate::prelude::*;
use crate::repo::build::Additions;
use crate::repo::kustomization::Kustomizations;

const OBJECT: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  name: hc\n\
                      spec:\n  a: base\n  b: base\n  list: [1, 2]\n  map: {x: 1, y: 2}\n";

/// The build of a kustomization in `over` with files next to it and `base` below; a refusal with its place.
fn built(kustomization: &str, files: &[(&str, &str)]) -> Result<Accumulated, String> {
    let all = [
        ("base/hc.yaml", OBJECT),
        ("base/kustomization.yaml", "resources: [hc.yaml]\n"),
        ("over/kustomization.yaml", kustomization),
    ];
    let tree: Memory = all.iter().chain(files).copied().collect();
    let done = accumulate(&Kustomizations::new(&tree), Utf8Path::new("over"), &Additions::default());
    done.map_err(|refused| {
        let place = &refused.place;
        format!("{}:{} {}", place.file.path(), place.start().line, refused.why)
    })
}

fn spec(kustomization: &str) -> String {
    match built(kustomization, &[]) {
        Ok(built) => built.objects[0].root.get("spec").expect("a spec").to_json().to_string(),
        Err(refused) => refused,
    }
}

/// A kustomization of `base` with a patch of its HyperConverged.
fn merged(spec: &str) -> String {
    format!(
        "resources: [../base]\npatches:\n- patch: |-\n    apiVersion: hco.kubevirt.io/v1beta1\n    kind: HyperConverged\n    \
         metadata: {{name: hc}}\n    spec: {spec}\n"
    )
}

fn operated(operation: &str) -> String {
    format!("resources: [../base]\npatches:\n- target: {{kind: Hyper.*}}\n  patch: '[{{{operation}}}]'\n")
}

#[test]
fn merges_without_a_schema() {
    let rest = r#""b":"base","list":[1,2],"map":{"x":1,"y":2}}"#;
    for (patch, expected) in [
        ("{a: over}", format!(r#"{{"a":"over",{rest}"#)),
        ("{a: null}", format!("{{{rest}")),
        (
            "{list: [{$patch: delete, name: x}]}",
            r#"{"a":"base","b":"base","list":[{"$patch":"delete","name":"x"}],"map":{"x":1,"y":2}}"#.to_owned(),
        ),
        ("{map: {x: null, z: 3}}", r#"{"a":"base","b":"base","list":[1,2],"map":{"y":2,"z":3}}"#.to_owned()),
        ("{map: {$patch: replace, z: 3}}", r#"{"a":"base","b":"base","list":[1,2],"map":{"z":3}}"#.to_owned()),
        ("{map: {$patch: delete}}", r#"{"a":"base","b":"base","list":[1,2]}"#.to_owned()),
        (
            "{new: {x: null, y: 1}}",
            format!(r#"{{"a":"base",{},"new":{{"y":1}}}}"#, rest.trim_end_matches('}').to_owned() + "}"),
        ),
        (
            "{map: [1]}",
            "over/kustomization.yaml:7 the patch has a list at `spec.map`, where the object has a map".to_owned(),
        ),
    ] {
        let found = spec(&merged(patch));
        let sorted =
            |text: &str| serde_json::from_str::<serde_json::Value>(text).map_or(text.to_owned(), |v| v.to_string());
        assert_eq!(sorted(&found), sorted(&expected), "{patch}");
    }
}

#[test]
fn operations_find_annotations_where_the_object_has_none() {
    let annotated = built(&operated(r#""op": "add", "path": "/metadata/annotations/a", "value": "b""#), &[]);
    let root = &annotated.expect("a build").objects[0].root;
    assert_eq!(root.at(&["metadata", "annotations", "a"]).and_then(|value| value.as_str()), Some("b"));
    let removed = built(&operated(r#""op": "remove", "path": "/metadata/annotations""#), &[]);
    assert!(removed.expect("a build").objects[0].root.at(&["metadata", "annotations"]).is_none());
}

#[test]
fn operations_are_those_of_the_library_that_kustomize_uses() {
    for (operation, part) in [
        (r#""op": "replace", "path": "/spec/new", "value": 1"#, r#""new":1"#),
        (r#""op": "add", "path": "/spec/list/-", "value": 3"#, r#""list":[1,2,3]"#),
        (r#""op": "add", "path": "/spec/list/0", "value": 0"#, r#""list":[0,1,2]"#),
        (r#""op": "move", "from": "/spec/a", "path": "/spec/c""#, r#""c":"base""#),
        (r#""op": "copy", "from": "/spec/map/x", "path": "/spec/c""#, r#""c":1"#),
        (r#""op": "remove", "path": "/spec/none""#, "fails at `/spec/none`"),
        (r#""op": "add", "path": "/spec/list/-1", "value": 3"#, r#""list":[1,2,3]"#),
        (r#""op": "remove", "path": "/spec/list/-1""#, r#""list":[1]"#),
        (r#""op": "replace", "path": "/spec/list/-1", "value": 3"#, "no such item"),
        (r#""op": "test", "path": "/spec/a", "value": "other""#, "the value is another one"),
        (r#""op": "add", "path": "/spec/none/x", "value": 1"#, "nothing that could hold it"),
        (r#""op": "replace", "path": "/spec/list/7", "value": 1"#, "no such item"),
    ] {
        let found = spec(&operated(operation));
        assert!(found.contains(part), "{operation}: {found}");
    }
}

#[test]
fn each_value_has_the_place_that_wrote_it() {
    let kustomization = "resources: [../base]\nnamespace: ours\ncommonAnnotations: {team: virt}\nnamePrefix: my-\n\
                         patches: [{path: p.yaml}]\n";
    let patch = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: hc}\nspec:\n  b: over\n";
    let built = built(kustomization, &[("over/p.yaml", patch)]).expect("built");
    let printed = emitted(&built.objects);
    let tree = Memory::from_iter([("over/kustomization.yaml", kustomization)]);
    let whole = Kustomizations::new(&tree).at(Utf8Path::new("over")).expect("one").first_line();
    let origins = origins(Utf8Path::new("built"), &printed, &built.objects, &whole);
    let file = SourceFile::from_bytes("built", printed);
    file.set_origins(Arc::new(origins));
    let document = &yaml::parse_yaml(&file).documents[0];
    for (path, place) in [
        ("spec.a", "base/hc.yaml:6 base"),
        ("spec.b", "over/p.yaml:5 over"),
        ("metadata.namespace", "over/kustomization.yaml:2 ours"),
        ("metadata.annotations.team", "over/kustomization.yaml:3 virt"),
        ("metadata.name", "over/kustomization.yaml:4 my-"),
    ] {
        let node = document.root.at(&Path::dotted(path)).expect(path);
        let found = document.location(node.span).origin().expect(path);
        assert_eq!(format!("{}:{} {}", found.file.path(), found.start().line, found.text()), place, "{path}");
    }
}

#[test]
fn operations_are_read_by_way_of_json() {
    let patch = |value: &str| {
        format!(
            "patches:\n- target: {{kind: HyperConverged}}\n  patch: |-\n    - op: add\n      path: /spec/x\n      value: {value}\n"
        )
    };
    for (value, read) in [("no", "false"), ("'no'", "\"no\""), ("3", "3")] {
        let built = built(&format!("resources: [../base]\n{}", patch(value)), &[]).expect("built");
        let found = built.objects[0].root.at(&["spec", "x"]).expect("set").to_json();
        assert_eq!(found.to_string(), read, "{value}");
    }
}

#[test]
fn refuses_what_kustomize_refuses() {
    for (kustomization, why) in [
        ("resources: [../base, ../base]\n", "is declared twice"),
        (
            "resources: [none.yaml]\n",
            "over/kustomization.yaml:1 there is neither a file nor a kustomization `none.yaml`",
        ),
        ("resources: [../base/hc.yaml]\n", "loads no file from outside"),
        ("resources: [../over]\n", "builds on itself"),
        (
            "resources: [../base]\nconfigMapGenerator:\n- {name: a, files: [key=gone.txt]}\n",
            "over/kustomization.yaml:3 `gone.txt` can't be read: no such file",
        ),
        ("resources: [../base]\nfields: [x]\n", "over/kustomization.yaml:2 its field `fields` is unknown"),
        (
            "resources: [../base]\npatches: [{patch: '[{\"op\": \"add\", \"path\": \"/a\", \"value\": 1}]'}]\n",
            "needs a `target`",
        ),
        ("resources: [../base]\npatches: [{path: p.yaml, patch: x}]\n", "neither"),
    ] {
        let found = built(kustomization, &[]).map(|_| "built").unwrap_or_else(|why| why.leak());
        assert!(found.contains(why), "{kustomization}: {found}");
    }
    let other = merged("{}").replace("v1beta1", "v1");
    assert!(spec(&other).contains("which isn't built here"), "{}", spec(&other));
}

#[test]
fn a_hash_is_added_after_patches() {
    let kustomization = "resources: [../base]\nsecretGenerator: [{name: a, literals: [b=c]}]\npatches:\n- patch: \
                         '{apiVersion: v1, kind: Secret, metadata: {name: a}, type: x}'\n";
    let built = built(kustomization, &[]).expect("the Secret is built");
    let secret = &built.objects[1].root;
    assert_eq!([secret.text(&["metadata", "name"]), secret.text(&["type"])], ["a-$(hash)", "x"]);
}

#[test]
fn what_only_kustomize_computes_is_said() {
    for (field, what) in [
        ("replacements: [{path: r.yaml}]", "replacements"),
        ("transformers: [t.yaml]", "plugins"),
        ("vars: [{name: A}]", "variables"),
        ("configurations: [c.yaml]", "configurations of transformers"),
        ("patches: [{target: {name: '\\pL+'}, patch: '[]'}]", "a pattern of Go's"),
    ] {
        let built = built(&format!("resources: [../base]\n{field}\n"), &[]).expect(field);
        assert_eq!(built.beyond.first().map(|beyond| beyond.what), Some(what), "{field}");
    }
    let remote = built("resources: [../base, 'https://example.com/x']\n", &[]).expect("the rest");
    assert_eq!((remote.objects.len(), remote.unfetched.len()), (1, 1));
}
