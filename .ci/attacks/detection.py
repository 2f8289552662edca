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


def indented(text, first="- ", rest="  "):
    lines = text.splitlines()
    return "".join(f"{first if i == 0 else rest}{line}\n" for i, line in enumerate(lines))


def escaped(text):
    return "".join(f"\\u{ord(c):04x}" for c in text)


# The object with its group and its kind in escapes.
ESCAPED = f'apiVersion: "{escaped("hco.kubevirt.io")}/v1beta1"\nkind: "\\u0048yperConverged"\n' + REST


def lint(lab, files, *words):
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    for path, text in files.items():
        lab.write(directory, path, text)
    return directory, lab.run("lint", *words, cwd=directory)


def attack_utf_16(lab):
    """A HyperConverged in UTF-16 is one."""
    for name in ["a.yaml", "a.json"]:
        _, done = lint(lab, {name: ("\ufeff" + PLAIN).encode("utf-16-le")})
        lab.expect(done.code == 1, name, done)


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
        "escapes in a template": {"c/templates/a.yaml": "{{ if .Values.a }}\n" + ESCAPED + "{{ end }}\n"},
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
        "UTF-16 without a mark, with escapes": ESCAPED.encode("utf-16-le"),
        "encrypted by git-crypt": b"\0GITCRYPT\0" + bytes(range(256)),
        "encrypted by age": b"age-encryption.org/v1\n" + bytes(range(256)),
        "a packed archive": b"PK\x03\x04" + bytes(range(256)),
        "compressed by zlib": zlib.compress(PLAIN.encode()),
        "encrypted by age, in letters": "-----BEGIN AGE ENCRYPTED FILE-----\nYQ==\n-----END AGE ENCRYPTED FILE-----\n",
    }.items():
        _, done = lint(lab, {"good/hc.yaml": GOOD, "x.yaml": data})
        lab.expect(done.code == 4 and "x.yaml" in done.out, what, done)
    large = "#" * (64 << 20) + "\n" + ESCAPED
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
