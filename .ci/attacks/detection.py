"""HyperConvergeds that other tools read, written so that a search doesn't see them."""

import base64
import json
import os

from _inputs import INVENTORY

# What the API server refuses.
REST = "metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\nspec: {evictionStrategy: Sometimes}\n"
PLAIN = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n" + REST
GOOD = PLAIN.replace("Sometimes", "LiveMigrate")
OBJECT = {
    "apiVersion": "hco.kubevirt.io/v1beta1",
    "kind": "HyperConverged",
    "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
    "spec": {"evictionStrategy": "Sometimes"},
}


def indented(text, first="- ", rest="  "):
    lines = text.splitlines()
    return "".join(f"{first if i == 0 else rest}{line}\n" for i, line in enumerate(lines))


def listed(kind, text, version="v1"):
    return f"apiVersion: {version}\nkind: {kind}\nitems:\n" + indented(text)


def escaped(text):
    return "".join(f"\\u{ord(c):04x}" for c in text)


WRITTEN = {
    "an escaped point": 'apiVersion: "hco\\x2ekubevirt.io/v1beta1"\nkind: HyperConverged\n' + REST,
    "an escaped group": f'apiVersion: "{escaped("hco.kubevirt.io")}/v1beta1"\nkind: "\\u0048yperConverged"\n' + REST,
    "long escapes": 'apiVersion: "\\U00000068co.kubevirt.io/v1beta1"\nkind: HyperConverged\n' + REST,
    "a broken line": 'apiVersion: "hco.kube\\\n    virt.io/v1beta1"\nkind: HyperConverged\n' + REST,
    "escaped keys": '"api\\x56ersion": "hco\\u002ekubevirt.io/v1beta1"\n"\\x6bind": HyperConverged\n' + REST,
    "base64": f"apiVersion: !!binary {base64.b64encode(b'hco.kubevirt.io/v1beta1').decode()}\nkind: HyperConverged\n" + REST,
    "base64 by a verbatim tag": "apiVersion: !<tag:yaml.org,2002:binary> "
    + f"{base64.b64encode(b'hco.kubevirt.io/v1beta1').decode()}\nkind: HyperConverged\n" + REST,
    "a folded scalar": "apiVersion: >-\n  hco.kubevirt.io/v1beta1\nkind: |-\n  HyperConverged\n" + REST,
    "an alias": "metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged, "
    + 'annotations: {a: &v "hco\\x2ekubevirt.io/v1beta1"}}\napiVersion: *v\nkind: HyperConverged\nspec: {evictionStrategy: Sometimes}\n',
    "a merge key": 'x: &x {apiVersion: "hco\\x2ekubevirt.io/v1beta1", kind: HyperConverged}\n<<: *x\n' + REST,
    "JSON with escapes": json.dumps(OBJECT).replace("hco.", "\\u0068co\\u002e"),
    "a list": listed("List", PLAIN),
    "a list of another kind": listed("ThingList", PLAIN, "example.com/v1"),
    "any kind with items": listed("Things", PLAIN, "example.com/v1"),
    "a list in a list": listed("List", listed("List", PLAIN)),
    "a typed list": listed("HyperConvergedList", REST, "hco.kubevirt.io/v1beta1"),
    "a list in JSON": json.dumps({"apiVersion": "v1", "kind": "List", "items": [{"kind": "List", "apiVersion": "v1", "items": [OBJECT]}]}),
    "items in an object": PLAIN + "items: []\n",
    "UTF-16": ("\ufeff" + PLAIN).encode("utf-16-le"),
}


def lint(lab, files, *words):
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    for path, text in files.items():
        lab.write(directory, path, text)
    return directory, lab.run("lint", *words, cwd=directory)


def attack_other_spellings(lab):
    """What YAML and JSON can spell as a HyperConverged is one."""
    for what, text in WRITTEN.items():
        for name in ["a.yaml", "a.json"]:
            _, done = lint(lab, {name: text})
            lab.expect(done.code == 1, f"{what} in {name}", done)


def attack_names_of_files(lab):
    """A HyperConverged is found in every file that kubectl, kustomize or Argo CD read."""
    for name in [".yaml", "a.YAML", "a.yml", "sub/.json", "kustomization.json"]:
        _, done = lint(lab, {name: PLAIN if not name.endswith("json") else json.dumps(OBJECT)})
        lab.expect(done.code == 1, name, done)
    for name in ["hc.txt", "hc"]:
        _, done = lint(lab, {"kustomization.yaml": f"resources: [{name}]\n", name: PLAIN})
        lab.expect(done.code == 1, f"a kustomization's resource {name}", done)


def attack_names_that_are_no_text(lab):
    """A manifest whose name isn't UTF-8 isn't passed over."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    lab.write(directory, "hyperconverged.yaml", GOOD)
    with open(os.path.join(directory.encode(), b"\xff.yaml"), "w") as file:
        file.write(PLAIN)
    done = lab.run("lint", cwd=directory)
    lab.expect(done.code not in (0, 70), "lint", done)
    done = lab.run("cmp", "generate", cwd=directory)
    lab.expect(done.code != 0 and not done.out, "cmp generate", done)


def attack_patches_of_others(lab):
    """A kustomization that is none of the file's hides nothing by calling it a patch."""
    for what, files in {
        "beside": {
            "a/kustomization.yaml": "resources: [hc.yaml]\npatches: [{path: ../b/hc.yaml}]\n",
            "a/hc.yaml": GOOD,
            "b/hc.yaml": PLAIN,
        },
        "above, with nothing to patch": {
            "kustomization.yaml": "patches: [{path: b/hc.yaml}]\n",
            "b/hc.yaml": PLAIN,
        },
        "above a cluster of its own": {
            "kustomization.yaml": "resources: [hc.yaml]\npatches: [{path: b/hc.yaml}]\n",
            "hc.yaml": GOOD,
            "b/inventory.yaml": INVENTORY,
            "b/hc.yaml": PLAIN,
        },
        "and a resource at once": {
            "kustomization.yaml": "resources: [b/hc.yaml]\npatchesStrategicMerge: [b/hc.yaml]\n",
            "b/hc.yaml": PLAIN,
        },
    }.items():
        _, done = lint(lab, files)
        # 4: a cluster that kustomize would have to build first is not planned, which is said.
        lab.expect(done.code in (1, 4) and "b/hc.yaml" in done.out, what, done)


def attack_forged_trees(lab):
    """No manifest of a rendered tree hides a HyperConverged or anything that it doesn't name."""
    cluster = json.dumps({
        "schemaVersion": 1, "cluster": "x", "hcoplan": "0", "release": "1.19", "version": "1.19.0", "inputs": [],
        "objects": [{"file": "hc.yaml", "operand": "x", "apiVersion": "v1", "kind": "X", "name": "x"}],
    })
    for what, files in {
        "empty": {"x/hcoplan-manifest.json": ""},
        "an object": {"x/hcoplan-manifest.json": "{}"},
        "of no cluster": {"x/hcoplan-manifest.json": '{"schemaVersion": 1, "clusters": []}'},
        "that names it": {
            "x/hcoplan-manifest.json": '{"schemaVersion": 1, "clusters": ["x"]}',
            "x/hcoplan-cluster.json": cluster,
        },
        "at the top": {"hcoplan-manifest.json": "{}"},
    }.items():
        directory, done = lint(lab, {**files, "x/hc.yaml": PLAIN})
        lab.expect(done.code == 1, f"lint: {what}", done)
        done = lab.run("cmp", "generate", cwd=directory)
        lab.expect(done.code != 0 and not done.out, f"cmp: {what}", done)


def attack_cmp_leaves_nothing_out(lab):
    """`cmp generate` passes on every object, or fails."""
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
    for name in [".yaml", "kustomization.json", "a.YML", "x/hcoplan-manifest.json/a.yaml"]:
        directory, _ = lint(lab, {"hc.yaml": GOOD, name: other})
        done = lab.run("cmp", "generate", cwd=directory)
        lab.expect(done.code != 0 or "settings" in done.out, name, done)
    for what, files in {
        "an empty tree": {"x/hcoplan-manifest.json": "", "x/a.yaml": other},
        "a forged tree": {"x/hcoplan-manifest.json": "{}", "x/a.yaml": other},
        "a tree of nothing": {"hcoplan-manifest.json": '{"schemaVersion": 1, "clusters": []}', "a.yaml": other},
        "a patch": {"kustomization.yaml": "resources: [hc.yaml]\npatches: [{path: a.yaml}]\n", "a.yaml": other},
        "in a kustomization": {"x/kustomization.yaml": other},
        "ignored by git": {".gitignore": "*\n", "a.yaml": other},
        "a kind that is no text": {"a.yaml": other.replace("ConfigMap", "1")},
        "no kind": {"a.yaml": other.replace("kind: ConfigMap\n", "")},
        "no YAML": {"a.yaml": other + "x: [\n"},
    }.items():
        directory, _ = lint(lab, {"hc.yaml": GOOD, **files})
        done = lab.run("cmp", "generate", cwd=directory)
        lab.expect(done.code != 0 or "settings" in done.out, what, done)
        lab.expect(done.code == 0 or not done.out, f"{what}: part of the application", done)
    # A well-formed tree can name anything: what is left out for it is said.
    top = {"schemaVersion": 1, "clusters": ["c"]}
    cluster = {"schemaVersion": 1, "cluster": "c", "objects": [{"file": "a.yaml"}]}
    tree = {"x/hcoplan-manifest.json": json.dumps(top), "x/hcoplan-cluster.json": json.dumps(cluster), "x/a.yaml": other}
    directory, _ = lint(lab, {"hc.yaml": GOOD, **tree})
    done = lab.run("cmp", "generate", cwd=directory)
    lab.expect(done.code != 0 or "settings" in done.out or "`x`" in done.err, "a forged tree that is well-formed", done)
    for what, target in {"a broken link": "nowhere", "a circle": "a.yaml", "a link to a directory": "d"}.items():
        directory, _ = lint(lab, {"hc.yaml": GOOD, "d/a.txt": ""})
        os.symlink(target, os.path.join(directory, "a.yaml"))
        done = lab.run("cmp", "generate", cwd=directory)
        lab.expect(done.code != 0 and not done.out, what, done)
