"""HyperConvergeds that other tools read, written so that a search doesn't see them."""

import base64
import gzip
import io
import json
import os
import shutil
import tarfile
import zlib

from _inputs import INVENTORY

# A rejected HyperConverged.
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
        # 4: a cluster that kustomize has to build first isn't planned, and is reported.
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
        "a kind that isn't text": {"a.yaml": other.replace("ConfigMap", "1")},
        "no kind": {"a.yaml": other.replace("kind: ConfigMap\n", "")},
        "no YAML": {"a.yaml": other + "x: [\n"},
    }.items():
        directory, _ = lint(lab, {"hc.yaml": GOOD, **files})
        done = lab.run("cmp", "generate", cwd=directory)
        lab.expect(done.code != 0 or "settings" in done.out, what, done)
        lab.expect(done.code == 0 or not done.out, f"{what}: part of the application", done)
    # A well-formed tree can name any file: omitted objects are reported.
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


SOUND = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\ndata: {a: b}\n"


def attack_made_by_kustomize(lab):
    """What a kustomization makes of something else is planned, or named as not planned."""
    if not shutil.which("kustomize") and not shutil.which("kubectl"):
        return
    kind = "- {op: replace, path: /kind, value: HyperConverged}\n- {op: replace, path: /apiVersion, value: hco.kubevirt.io/v1beta1}\n" \
           "- {op: remove, path: /data}\n- {op: add, path: /spec, value: {evictionStrategy: Sometimes}}\n"
    indent = kind.replace("\n", "\n    ")
    for what, files in {
        "an inline patch": {"kustomization.yaml": f"resources: [a.yaml]\npatches:\n- target: {{kind: ConfigMap}}\n  patch: |-\n    {indent}\n"},
        "a patch in a file": {"kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}, options: {allowKindChange: true}}]\n",
                              "p.yaml": kind},
        "a component": {"kustomization.yaml": "resources: [a.yaml]\ncomponents: [c]\n",
                        "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]\n",
                        "c/p.yaml": kind},
        "a transformer": {"kustomization.yaml": "resources: [a.yaml]\ntransformers: [t.yaml]\n",
                          "t.yaml": f"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: t}}\ntarget: {{kind: ConfigMap}}\npatch: |-\n    {indent}\n"},
        "escapes": {"kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]\n",
                    "p.yaml": kind.replace("HyperConverged", '"\\x48y\\x70erConverged"').replace("hco.", '"h\\x63o.').replace("v1beta1}", 'v1beta1"}')},
    }.items():
        _, done = lint(lab, {"x/a.yaml": SOUND, **{f"x/{path}": text for path, text in files.items()}})
        lab.expect(done.code not in (0, 3, 70), what, done)


APPLICATION_SET = """apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: a}
spec:
  generators: [{list: {elements: []}}]
  template: {spec: {source: {repoURL: x, path: hc}}}
  %s
"""


def attack_changed_by_controllers(lab):
    """Each field of a controller's object that can change what it applies is named."""
    patch = "[{target: {kind: HyperConverged}, patch: '[]'}]"
    argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source: {repoURL: x, path: hc, kustomize: {%s}}\n"
    flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: ./hc, %s}\n"
    annotation = "{kubevirt.kubevirt.io/jsonpatch: '[]'}"
    for what, text in {
        "patches of Argo CD": argo % f"patches: {patch}",
        "components of Argo CD": argo % "components: [../c]",
        "annotations of Argo CD": argo % f"commonAnnotations: {annotation}",
        "a field of Argo CD that nobody knows": argo % "newField: a",
        "a patch over an ApplicationSet's template": APPLICATION_SET % "templatePatch: '{spec: {source: {kustomize: {patches: []}}}}'",
        "a template of an ApplicationSet's generator": APPLICATION_SET.replace(
            "elements: []", "elements: [], template: {spec: {source: {kustomize: {components: [../c]}}}}") % "goTemplate: true",
        "renderers of a HelmRelease": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
                                      "spec: {chart: {spec: {chart: ./hc}}, postRenderers: [{kustomize: {patches: []}}]}\n",
        "a field of a HelmRelease that nobody knows": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
                                                      "spec: {chart: {spec: {chart: ./hc}}, newField: a}\n",
        "a field of an Application that nobody knows": (argo % "").replace("spec:\n", "spec:\n  newField: a\n"),
        "a hydrated source": (argo % f"patches: {patch}").replace("  source:", "  sourceHydrator:\n    drySource:"),
        "an annotation without kubevirt.io": argo % "commonAnnotations: {deployOVS: 'true'}",
        "a patch over a template that a generator fills in": APPLICATION_SET % "templatePatch: '{{ .patch }}'",
        "a patch over a template with escapes": APPLICATION_SET % "templatePatch: '{\"spec\": {\"sou\\u0072ce\": {\"kustomize\": {\"patches\": []}}}}'",
        "an Application in a list": "apiVersion: v1\nkind: List\nitems:\n" + indented(argo % f"patches: {patch}"),
        "an Application of an escaped group": (argo % f"patches: {patch}").replace("argoproj.io/v1alpha1", '"argoproj\\x2eio/v1alpha1"'),
        "a namespace of Fleet": "apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {name: a}\nspec: {paths: [hc], targetNamespace: b}\n",
        "parameters of a chart of elsewhere": (argo % "").replace("path: hc", "chart: c").replace("kustomize: {}",
            "helm: {parameters: [{name: 'o[0].kind', value: HyperConverged}]}"),
        "JSON": json.dumps({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a"},
                            "spec": {"source": {"path": "hc", "kustomize": {"components": ["c"]}}}}),
    }.items():
        _, done = lint(lab, {"hc/hc.yaml": GOOD, "apps/a.json" if text.startswith("{") else "apps/a.yaml": text})
        lab.expect("hco-not-planned" in done.out, what, done)
    # What Flux changes is built, and so judged where it is written.
    bad = "'[{op: add, path: /spec/nope}]'"
    for what, text in {
        "patches of Flux": "patches: [{target: {kind: HyperConverged}, patch: '[{op: add, path: /spec/nope, value: 1}]'}]",
        "components of Flux": "components: [../c]",
        "annotations of Flux": f"commonMetadata: {{annotations: {{kubevirt.kubevirt.io/jsonpatch: {bad}}}}}",
    }.items():
        _, done = lint(lab, {"hc/hc.yaml": GOOD, "apps/a.yaml": flux % text})
        lab.expect(done.code != 0 and "apps/a.yaml:4:" in done.out, what, done)
    for pointer, value in [("/spec/source/kustomize/components", "[../c]"), ("/spec/source/kustomize", f"{{patches: {patch}}}")]:
        change = f"patches:\n- target: {{kind: Application}}\n  patch: |-\n    [{{op: add, path: {pointer}, value: {value}}}]\n"
        _, done = lint(lab, {"hc/hc.yaml": GOOD, "apps/kustomization.yaml": "resources: [a.yaml]\n" + change, "apps/a.yaml": argo % ""})
        lab.expect("hco-not-planned" in done.out, f"a JSON patch of an Application: {pointer}", done)
    _, done = lint(lab, {"hc/hc.yaml": GOOD, "hc/fleet.yaml": "yaml: {overlays: [b]}\n"})
    lab.expect("hco-not-planned" in done.out, "an overlay of Fleet", done)
    harmless = APPLICATION_SET % "templatePatch: '{spec: {syncPolicy: {automated: {prune: true}}}}'"
    _, done = lint(lab, {"hc/hc.yaml": GOOD, "apps/a.yaml": harmless})
    lab.expect("hco-not-planned" not in done.out, "a patch over a template that changes no source", done)
    _, done = lint(lab, {"hc/a.yaml": SOUND, "apps/a.yaml": flux % "patches: [{target: {kind: ConfigMap}, patch: 'kind: HyperConverged'}]"})
    # kustomize keeps the kind, as the patch doesn't allow its change.
    lab.expect(done.code == 3, "a patch that would make one", done)
    escaped = "[{target: {kind: ConfigMap}, options: {allowKindChange: true}, patch: '[{op: replace, path: /kind, value: \"H\\x79perC\\x6fnverged\"}]'}]"
    _, done = lint(lab, {"hc/a.yaml": SOUND, "apps/a.yaml": argo % f"patches: {escaped}"})
    lab.expect("hco-not-planned" in done.out, "a patch that may change kinds", done)


def attack_templates_of_charts(lab):
    """Helm renders every file of a chart's templates, whatever it is called, and any action may be the kind."""
    chart = {"c/Chart.yaml": "{apiVersion: v2, name: c, version: 0.1.0}\n", "c/values.yaml": "{a: HyperConverged, b: hco.kubevirt.io/v1beta1}\n"}
    template = "{{ if true }}\n" + PLAIN + "{{ end }}\n"
    for name in ["hco", "a.txt", "a.gotmpl", "a.json.tmpl", "a.yaml.disabled", "sub/a.tpl", "_a.tpl"]:
        _, done = lint(lab, {**chart, f"c/templates/{name}": template})
        lab.expect(done.code != 0 and "helm-chart-not-rendered" in done.out, name, done)
    for what, text in {
        "the kind": template.replace("HyperConverged", "{{ .Values.a }}"),
        "the kind, as valid YAML": PLAIN.replace("HyperConverged", "'{{ .Values.a }}'"),
        "the version": template.replace("hco.kubevirt.io/v1beta1", "{{ .Values.b }}"),
    }.items():
        _, done = lint(lab, {**chart, "c/templates/a.yaml": text})
        lab.expect(done.code != 0 and "helm-chart-not-rendered" in done.out, what, done)
    _, done = lint(lab, {**chart, "c/templates/a.yaml": "{{ .Files.Get \"x/y\" }}\n", "c/x/y": PLAIN})
    lab.expect(done.code != 0 and "helm-chart-not-rendered" in done.out, "a file that a template takes in", done)


def archive(text):
    """A chart with one template, packed as Helm does."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, content in {"s/Chart.yaml": "apiVersion: v2\nname: s\nversion: 1.0.0\n", "s/templates/a.yaml": text}.items():
            info = tarfile.TarInfo(path)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content.encode()))
    return out.getvalue()


def attack_hidden_in_charts(lab):
    """A chart is named whatever hides its HyperConverged: an action before a key, base64, an archive of a subchart."""
    chart = {"good/hc.yaml": GOOD, "c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "c/values.yaml": "a: b\n"}
    include = {"c/templates/a.yaml": "{{ include \"h\" . }}\n"}
    encoded = base64.b64encode(PLAIN.encode()).decode()
    for what, files in {
        "an action before the key": {**include, "c/templates/_h.tpl": f"{{{{ define \"h\" }}}}{PLAIN}{{{{ end }}}}"},
        "a library": {**include, "c/charts/s/Chart.yaml": "apiVersion: v2\nname: s\nversion: 1.0.0\ntype: library\n",
                      "c/charts/s/templates/_h.tpl": f"{{{{ define \"h\" }}}}{PLAIN}{{{{ end }}}}"},
        "no action and no suffix": {"c/templates/a": PLAIN},
        "values in base64": {"c/templates/a.yaml": "{{ .Values.o | b64dec }}\n", "c/values.yaml": f"o: {encoded}\n"},
        "base64 in a template": {"c/templates/a.yaml": f"{{{{ \"{encoded}\" | b64dec }}}}\n"},
        "base64 in a file": {"c/templates/a.yaml": "{{ .Files.Get \"x\" | b64dec }}\n", "c/x": encoded},
        "an object that an action makes": {"c/templates/a.yaml": "{{ dict \"kind\" \"HyperConverged\" \"apiVersion\" \"hco.kubevirt.io/v1\" | toJson }}\n"},
        "an action as the key": {"c/templates/a.yaml": "{{ \"kind\" }}: HyperConverged\n{{ \"apiVersion\" }}: hco.kubevirt.io/v1beta1\n"},
        "escapes in a template": {"c/templates/a.yaml": "{{ if .Values.a }}\n" + WRITTEN["an escaped group"] + "{{ end }}\n"},
        "values as the kind": {"c/templates/a.yaml": "kind: {{ .Values.k }}\napiVersion: {{ .Values.g }}/v1\n", "c/values.yaml": "{k: HyperConverged, g: hco.kubevirt.io}\n"},
        "a text of values": {"c/templates/a.yaml": "{{ tpl .Values.o . }}\n", "c/values.yaml": "o: |\n" + indented(PLAIN.replace("HyperConverged", "{{ .Values.k }}"), "  ")},
        "an archive": {"c/charts/s-1.0.0.tgz": archive(PLAIN)},
        "an archive that is none": {"c/charts/s-1.0.0.tgz": b"\x1f\x8bbroken"},
        "an archive that is too large": {"c/charts/s-1.0.0.tgz": gzip.compress(b"\0" * (65 << 20))},
    }.items():
        _, done = lint(lab, {**chart, **files})
        lab.expect("helm-chart-not-rendered" in done.out, what, done)
    _, done = lint(lab, {**chart, "c/charts/s-1.0.0.tgz": archive("apiVersion: v1\nkind: ConfigMap\n")})
    lab.expect("helm-chart-not-rendered" not in done.out, "an archive without one", done)


def attack_encoded(lab):
    """A HyperConverged in base64 is named, wherever a Secret or a ConfigMap has it."""
    for before in ["", " ", "  "]:
        encoded = base64.b64encode((before + PLAIN).encode()).decode()
        for text in [f"kind: Secret\nmetadata: {{name: a}}\ndata: {{hc.yaml: {encoded}}}\n",
                     f"kind: ConfigMap\nmetadata: {{name: a}}\nbinaryData:\n  hc.yaml: {encoded}\n"]:
            _, done = lint(lab, {"good/hc.yaml": GOOD, "a.yaml": "apiVersion: v1\n" + text})
            lab.expect("hco-not-planned" in done.out, text[:20], done)
    packed = base64.b64encode(gzip.compress(PLAIN.encode())).decode()
    lines = "".join(f"    {encoded[at:at + 10]}\n" for at in range(0, len(encoded), 10))
    for what, text in {
        "a Bundle of Fleet": f"apiVersion: fleet.cattle.io/v1alpha1\nkind: Bundle\nmetadata: {{name: a}}\nspec: {{resources: [{{name: a, encoding: base64+gz, content: {packed}}}]}}\n",
        "a Bundle's content": f"apiVersion: fleet.cattle.io/v1alpha1\nkind: Content\nmetadata: {{name: a}}\ncontent: {packed}\n",
        "a compressed bomb": "kind: Content\ncontent: " + base64.b64encode(gzip.compress(b"\0" * (17 << 20))).decode() + "\n",
        "lines": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\ndata:\n  a: |\n{lines}",
        "a patch of Hive": "apiVersion: hive.openshift.io/v1\nkind: SyncSet\nmetadata: {name: a}\nspec: {patches: [{apiVersion: hco.kubevirt.io/v1beta1, kind: HyperConverged, name: a, patch: '{}'}]}\n",
    }.items():
        _, done = lint(lab, {"good/hc.yaml": GOOD, "a.yaml": text})
        lab.expect("hco-not-planned" in done.out, what, done)
    other = base64.b64encode(gzip.compress(b"kind: ConfigMap\n")).decode()
    _, done = lint(lab, {"good/hc.yaml": GOOD, "a.yaml": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\ndata: {{a: {other}}}\n"})
    lab.expect("hco-not-planned" not in done.out, "something else that is compressed", done)


def attack_kinds_filled_in_later(lab):
    """An object that becomes a HyperConverged once its kind is filled in is as severe as a manifest that can't be read."""
    for kind, version in [("${KIND}", "${API}"), ("${KIND:=a}", "${G}.kubevirt.io/v1beta1"), ("Hyper${KIND}", "${API}/v1"),
                          ("$KIND", "$API"), ("$(KIND)", "$(API)"), ("'{{ kind }}'", "'{{ group }}/v1'"), ('"\\x24{KIND}"', '"\\x24{API}"')]:
        one = PLAIN.replace("HyperConverged", kind).replace("hco.kubevirt.io/v1beta1", version)
        for text in [one, listed("List", one)]:
            _, done = lint(lab, {"good/hc.yaml": GOOD, "a.yaml": text})
            lab.expect(done.code == 4 and "a.yaml" in done.out, f"{kind} of {version}", done)
    for version in ["hco.kubevirt.io/v1beta1", "<< inputs.group >>/v1beta1"]:
        one = PLAIN.replace("HyperConverged", "<< inputs.kind >>").replace("hco.kubevirt.io/v1beta1", version)
        head = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a}\nspec:\n  "
        for what, inside in {
            "an object": "resources:\n" + indented(one, "  - ", "    "),
            "a list": "resources:\n" + indented(listed("List", one), "  - ", "    "),
            "a text": "resourcesTemplate: |\n" + indented(one, "    ", "    "),
        }.items():
            _, done = lint(lab, {"good/hc.yaml": GOOD, "a.yaml": head + inside})
            lab.expect("hco-not-planned" in done.out, f"{what} that a ResourceSet fills in, of {version}", done)
    for kind, version in [("${KIND}", "v1"), ("Thing${KIND}", "${API}"), ("${KIND}Set", "hco${API}")]:
        other = PLAIN.replace("HyperConverged", kind).replace("hco.kubevirt.io/v1beta1", version)
        _, done = lint(lab, {"good/hc.yaml": GOOD, "a.yaml": other})
        lab.expect(done.code == 0, f"{kind} of {version} is none", done)


def attack_made_by_controllers(lab):
    """A HyperConverged that a controller makes of something else is an error: no plan has it."""
    other = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: kubevirt-hyperconverged, annotations: {k: HyperConverged}}\n"
    copy = "- {op: copy, from: /metadata/annotations/k, path: /kind}"
    flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  path: ./x\n"
    patch = f"patches: [{{target: {{kind: Thing}}, patch: '{copy}'}}]\n"
    component = {"c/kustomization.yaml": "kind: Component\npatches: [{path: p, target: {kind: Thing}}]\n",
                 "c/p": "- {op: replace, path: /kind, value: HyperConverged}\n", "c/q.yaml": "kind: HyperConverged\n"}
    argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {path: x, kustomize: {%s}}}\n"
    for what, files in {
        "a copied kind of Flux": {"app.yaml": f"{flux}  {patch}"},
        "a copied kind of Argo CD": {"app.yaml": argo % patch.strip()},
        "allowKindChange": {"app.yaml": argo % "patches: [{target: {kind: Thing}, options: {allowKindChange: true}, patch: 'kind: X'}]"},
        "a component": {"app.yaml": f"{flux}  components: [../c]\n", **component},
    }.items():
        _, done = lint(lab, {"good/hc.yaml": GOOD, "x/a.yaml": other, **files})
        named = "error[hco-not-planned]" in done.out or "error[hco-not-recognized]" in done.out
        lab.expect(done.code == 1 and named, what, done)
    # A patch of an Application doesn't contain its path.
    part = (argo % "components: [../c]").replace("path: x, ", "")
    _, done = lint(lab, {"good/hc.yaml": GOOD, "apps/kustomization.yaml": "patches: [{path: p.yaml}]\n", "apps/p.yaml": part})
    lab.expect("hco-not-planned" in done.out, "a patch of an Application", done)


def attack_tracked_and_ignored(lab):
    """A file that git tracks is looked at, whatever the change's .gitignore says."""
    for what, path in {"a file": "hc.yaml", "in a directory": "x/hc.yaml"}.items():
        directory, _ = lint(lab, {path: PLAIN})
        lab.commit(directory)
        lab.write(directory, ".gitignore", "hc.yaml\nx/\n")
        for words in [("lint",), ("lint", "--trust-base", "HEAD"), ("lint", "--against", "HEAD")]:
            done = lab.run(*words, cwd=directory)
            # With --against, HEAD has the error, too: it is counted but doesn't fail the run.
            found = done.code == 1 or ("--against" in words and "1 error" in done.out)
            lab.expect(found, f"{what}: {words}", done)
    directory, _ = lint(lab, {"hc.yaml": PLAIN})
    lab.commit(directory)
    lab.write(directory, ".gitignore", "hc.yaml\n")
    lab.write(directory, ".git/index", "damaged")
    done = lab.run("lint", cwd=directory)
    lab.expect(done.code == 1, "an index that git can't read", done)
    directory, _ = lint(lab, {"hc.yaml": GOOD})
    lab.commit(directory)
    lab.write(directory, ".gitignore", "y/\n")
    lab.write(directory, "y/hc.yaml", PLAIN)
    done = lab.run("lint", cwd=directory)
    lab.expect(done.code == 0, "what git doesn't track is left out", done)


def attack_files_that_cannot_be_read(lab):
    """What can't be read and may hold a HyperConverged is as severe as a manifest that can't be read."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 100\n"
    for what, data in {
        "a pointer of Git LFS": pointer,
        "UTF-32": ("\ufeff" + PLAIN).encode("utf-32-le"),
        "UTF-32 without a mark": PLAIN.encode("utf-32-be"),
        "compressed": gzip.compress(PLAIN.encode()),
        "UTF-16 without a mark, with escapes": WRITTEN["an escaped group"].encode("utf-16-le"),
        "encrypted by git-crypt": b"\0GITCRYPT\0" + bytes(range(256)),
        "encrypted by age": b"age-encryption.org/v1\n" + bytes(range(256)),
        "a packed archive": b"PK\x03\x04" + bytes(range(256)),
        "compressed by zlib": zlib.compress(PLAIN.encode()),
        "encrypted by age, in letters": "-----BEGIN AGE ENCRYPTED FILE-----\nYQ==\n-----END AGE ENCRYPTED FILE-----\n",
    }.items():
        _, done = lint(lab, {"good/hc.yaml": GOOD, "x.yaml": data})
        lab.expect(done.code == 4 and "x.yaml" in done.out, what, done)
    large = "#" * (64 << 20) + "\n" + WRITTEN["an escaped group"]
    _, done = lint(lab, {"good/hc.yaml": GOOD, "x.yaml": large})
    lab.expect(done.code == 4 and "x.yaml" in done.out, "a large file with escapes", done)
    modules = '[submodule "fleet"]\n\tpath = fleet\n\turl = https://example.com/fleet.git\n'
    argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {repoURL: x, path: fleet/virt}}\n"
    _, done = lint(lab, {"good/hc.yaml": GOOD, ".gitmodules": modules, "app.yaml": argo})
    lab.expect(done.code == 4 and "fleet" in done.out, "a submodule that is applied", done)
    quoted = modules.replace("path = fleet", 'Path = "fleet"')
    _, done = lint(lab, {"good/hc.yaml": GOOD, ".gitmodules": quoted, "app.yaml": argo})
    lab.expect(done.code == 4 and "fleet" in done.out, "a submodule in another spelling", done)
    argo = argo.replace("fleet/virt", "jn")
    for what, files in {
        "pieces": {"jn/a.jsonnet": "{apiVersion: 'hco.kube' + 'virt.io/v1', kind: 'Hyper' + 'Converged'}\n"},
        "an import": {"jn/a.jsonnet": "import '../lib/a.libsonnet'\n", "lib/a.libsonnet": "import 'b.libsonnet'\n",
                      "lib/b.libsonnet": "{kind: 'HyperConverged'}\n"},
        "escapes": {"jn/a.jsonnet": "{kind: 'H\\u0079perC\\u006fnverged'}\n"},
        "a library": {"jn/a.jsonnet": "import 'a.libsonnet'\n", "vendor/a.libsonnet": "import '../lib/b.libsonnet'\n", "lib/b.libsonnet": "{kind: 'HyperConverged'}\n"},
        "a text": {"jn/a.jsonnet": "std.parseYaml(importstr 'a.txt')\n", "jn/a.txt": PLAIN},
    }.items():
        _, done = lint(lab, {"good/hc.yaml": GOOD, "app.yaml": argo, **files})
        lab.expect(done.code == 4 and "jn/a.jsonnet" in done.out, f"Jsonnet with {what}", done)
    _, done = lint(lab, {"good/hc.yaml": GOOD, "app.yaml": argo, "jn/a.jsonnet": "{kind: 'ConfigMap'}\n"})
    lab.expect(done.code == 0, "Jsonnet of something else", done)
    _, done = lint(lab, {"good/hc.yaml": GOOD, ".gitmodules": modules, "o/kustomization.yaml": "resources: [../fleet/virt]\n"})
    lab.expect(done.code == 4 and "fleet" in done.out, "a submodule that a kustomization builds on", done)


def attack_deployed_and_not_here(lab):
    """What is deployed and can't be read is named: an Application of a chart's template, a patch in a file, charts of elsewhere, packed charts, lost links."""
    chart = {"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n"}
    argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source: {repoURL: x, %s}\n"
    patch = "kustomize: {patches: [{target: {kind: HyperConverged}, patch: '[]'}]}"
    apps = {"apps/a.yaml": argo % "path: hc"}
    operations = "[{op: add, path: /spec/source/kustomize, value: {components: [../c]}}]"
    target = "target: {kind: Application}"
    flux = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec: {%s}\n"
    dependency = "dependencies: [{name: %s, version: 1.x, repository: 'https://charts.example.com'}]\n"
    for what, files in {
        "an Application in a chart": {**chart, "c/templates/a.yaml": "{{ if .Values.a }}\n" + argo % f"path: hc, {patch}" + "{{ end }}\n"},
        "an Application of an unknown path in a chart": {**chart, "c/templates/a.yaml": argo % ("path: {{ .Values.p }}, " + patch)},
        "a Kustomization in a chart": {**chart, "c/templates/a.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
                                       "metadata: {name: '{{ .Release.Name }}'}\nspec: {path: ./hc, targetNamespace: b}\n"},
        "operations in a file": {**apps, "apps/kustomization.yaml": f"resources: [a.yaml]\npatches: [{{path: p.yaml, {target}}}]\n", "apps/p.yaml": operations},
        "operations in a JSON file": {**apps, "apps/kustomization.yaml": "resources: [a.yaml]\npatchesJson6902:\n- path: p.json\n  target: {group: argoproj.io, version: v1alpha1, kind: Application, name: a}\n",
                                      "apps/p.json": '[{"op": "add", "path": "/spec/source/kustomize", "value": {"components": ["../c"]}}]'},
        "an inline merge patch": {**apps, "apps/kustomization.yaml": "resources: [a.yaml]\npatches:\n- patch: |-\n    " + (argo % "path: hc, kustomize: {components: [../c]}").replace("\n", "\n    ") + "\n"},
        "a merge patch of another kind": {**apps, "apps/kustomization.yaml": f"resources: [a.yaml]\npatches: [{{path: p.yaml, {target}}}]\n",
                                          "apps/p.yaml": "kind: any\nspec: {source: {path: hc, plugin: {name: a}}}\n"},
        "a replacement": {**apps, "apps/kustomization.yaml": "resources: [a.yaml]\nreplacements:\n- source: {kind: Application}\n  targets:\n"
                          "  - {select: {kind: Application}, fieldPaths: [spec.source.plugin.name], options: {create: true}}\n"},
        "a link to the directory": {"virt": None, "apps/a.yaml": argo % f"path: virt, {patch}"},
    }.items():
        directory, _ = lint(lab, {"hc/hc.yaml": GOOD, **{path: text for path, text in files.items() if text is not None}})
        for path in [path for path, text in files.items() if text is None]:
            os.symlink("hc", os.path.join(directory, path))
        done = lab.run("lint", cwd=directory)
        lab.expect("hco-not-planned" in done.out, what, done)
    for what, files in {
        "a chart of elsewhere": {"apps/a.yaml": argo % "chart: kubevirt-hyperconverged, targetRevision: 1.0.0"},
        "a chart of elsewhere with one in its values": {"apps/a.yaml": argo % "chart: any, helm: {valuesObject: {objects: [{kind: HyperConverged}]}}"},
        "a chart of a HelmRepository": {"apps/a.yaml": flux % "chart: {spec: {chart: hco, sourceRef: {kind: HelmRepository, name: a}}}"},
        "a chart of an OCIRepository": {"apps/a.yaml": flux % "chartRef: {kind: OCIRepository, name: hyperconverged}"},
        "a chart that kustomize inflates": {"x/kustomization.yaml": "helmCharts: [{name: hyperconverged, repo: 'https://charts.example.com'}]\n"},
        "a dependency": {"c/Chart.yaml": chart["c/Chart.yaml"] + dependency % "kubevirt-hco"},
        "a dependency with one in its values": {"c/Chart.yaml": chart["c/Chart.yaml"] + dependency % "raw", "c/values.yaml": "raw: {resources: [{kind: HyperConverged}]}\n"},
        "a dependency of a chart of version 1": {"c/Chart.yaml": chart["c/Chart.yaml"], "c/requirements.yaml": dependency % "hyperconverged"},
    }.items():
        _, done = lint(lab, {"hc/hc.yaml": GOOD, **files})
        lab.expect(done.code == 1 and "error[hco-not-planned]" in done.out, what, done)
    for what, files in {
        "a chart of something else": {"apps/a.yaml": argo % "chart: cert-manager, helm: {values: 'crds: {enabled: true}'}"},
        "a dependency on something else": {"c/Chart.yaml": chart["c/Chart.yaml"] + dependency % "common", "c/values.yaml": "a: HyperConverged\n"},
        "a dependency that is here": {"c/Chart.yaml": chart["c/Chart.yaml"] + dependency % "hco", "c/charts/hco-1.0.0.tgz": archive("kind: ConfigMap\n")},
        "an Application of something else in a chart": {**chart, "c/templates/a.yaml": argo % ("path: '{{ .Values.p }}', kustomize: {patches: [{target: {kind: Deployment}, patch: '[]'}]}")},
        "operations on something else": {"apps/kustomization.yaml": "patches: [{path: p.yaml, target: {kind: Deployment}}]\n", "apps/p.yaml": operations},
    }.items():
        _, done = lint(lab, {"hc/hc.yaml": GOOD, **files})
        lab.expect(done.code == 0 and "hco-not-planned" not in done.out, what, done)
    packed = flux % "chart: {spec: {chart: ./packed/s-1.0.0.tgz, sourceRef: {kind: GitRepository, name: a}}}"
    for what, data in {"with one": archive(PLAIN), "that can't be unpacked": b"\x1f\x8bbroken"}.items():
        _, done = lint(lab, {"hc/hc.yaml": GOOD, "apps/a.yaml": packed, "packed/s-1.0.0.tgz": data})
        lab.expect(done.code == 1 and "error[helm-chart-not-rendered]" in done.out, f"a packed chart {what}", done)
    _, done = lint(lab, {"hc/hc.yaml": GOOD, "apps/a.yaml": packed, "packed/s-1.0.0.tgz": archive("kind: ConfigMap\n")})
    lab.expect(done.code == 0, "a packed chart without one", done)


def attack_deployed_links(lab):
    """A link that leads nowhere, a pipe or a socket is an error where something is deployed from it."""
    argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {repoURL: x, path: virt}}\n"
    for what, (path, make) in {
        "a link to nowhere": ("virt/a.yaml", lambda path: os.symlink("nowhere", path)),
        "a link out of the tree": ("virt/a.yaml", lambda path: os.symlink("/etc/passwd", path)),
        "a pipe": ("virt/a.yaml", os.mkfifo),
        "a directory that leads nowhere": ("virt", lambda path: os.symlink("nowhere", path)),
        "a directory out of the tree": ("virt", lambda path: os.symlink("/usr", path)),
    }.items():
        for by, text in {"app/a.yaml": argo, "app/kustomization.yaml": f"resources: [../{path}]\n"}.items():
            directory, _ = lint(lab, {"good/hc.yaml": GOOD, by: text})
            os.makedirs(os.path.join(directory, os.path.dirname(path)), exist_ok=True)
            make(os.path.join(directory, path))
            done = lab.run("lint", cwd=directory)
            lab.expect(done.code == 4 and path in done.out, f"{what}, by {by}", done)
        directory, _ = lint(lab, {"good/hc.yaml": GOOD})
        os.makedirs(os.path.join(directory, os.path.dirname(path)), exist_ok=True)
        make(os.path.join(directory, path))
        done = lab.run("lint", cwd=directory)
        lab.expect(done.code == 0, f"{what} that nothing deploys", done)
