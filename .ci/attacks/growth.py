"""Inputs that are twice as large take about twice as long: instructions, counted by valgrind, grow at most 2.4 times a step.

.ci/run takes small inputs, .ci/nightly larger ones. By hand: `.ci/attack --verbose target/quick/hcoplan growth`.
"""

import json
import os

from _inputs import grows

INVENTORY = """apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: one}
spec:
  release: "1.18"
  platform: OpenShift
  nodes:
    - {name: cp1, architecture: amd64, roles: [control-plane]}
    - {name: w1, architecture: amd64, roles: [worker]}
    - {name: w2, architecture: arm64, roles: [worker]}
"""
HEAD = """apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
"""


def one_cluster(lab, spec, inventory=INVENTORY, annotations="", others=None):
    """A builder of a repository with one cluster whose spec `spec(n)` writes."""

    def build(directory, n):
        text = lambda part: part(n) if callable(part) else part
        lab.write(directory, "inventory.yaml", text(inventory))
        lab.write(directory, "hyperconverged.yaml", HEAD + text(annotations) + "spec:\n" + text(spec))
        for name, part in (others or {}).items():
            lab.write(directory, name, text(part))

    return build


def images(n, architectures=None):
    """Golden images."""
    out = ["  featureGates: {enableMultiArchBootImageImport: true}\n  dataImportCronTemplates:\n"]
    annotations = f"\n        annotations: {{ssp.kubevirt.io/dict.architectures: \"{architectures}\"}}" if architectures else ""
    for i in range(n):
        out.append(
            f"""    - metadata:
        name: image-{i}{annotations}
      spec:
        schedule: "0 */12 * * *"
        managedDataSource: source-{i}
        template: {{spec: {{source: {{registry: {{url: "docker://registry.example.com/image-{i}:1"}}}}}}}}
"""
        )
    return "".join(out)


def machines(n):
    """Virtual machines in one stream, each with a boot disk of a golden image."""
    machine = """---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {{name: web-{i}, namespace: team-a}}
spec:
  runStrategy: Always
  dataVolumeTemplates:
  - metadata: {{name: root-{i}}}
    spec:
      sourceRef: {{kind: DataSource, name: fedora, namespace: openshift-virtualization-os-images}}
      storage: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 30Gi}}}}}}
  template:
    spec:
      evictionStrategy: LiveMigrate
      domain: {{devices: {{interfaces: [{{name: default, bridge: {{}}}}]}}}}
      networks: [{{name: default, pod: {{}}}}]
      volumes:
      - {{name: root, dataVolume: {{name: root-{i}}}}}
"""
    return "".join(machine.format(i=i) for i in range(n))


def unknown_fields(n):
    """Fields that the HyperConverged's schema doesn't have."""
    return "".join(f"  noSuchField{i}: 1\n" for i in range(n))


def patches(n, operation):
    """An annotation with n operations."""
    rows = ",\n".join(f"        {operation(i)}" for i in range(n))
    return f"  annotations:\n    kubevirt.kubevirt.io/jsonpatch: |-\n      [\n{rows}\n      ]\n"


def nodes(n):
    rows = "".join(
        f"    - {{name: n{i}, architecture: {'amd64' if i % 2 else 'arm64'}, roles: [worker], labels: {{zone: z{i}}}}}\n" for i in range(n)
    )
    return INVENTORY + rows


def attack_golden_images(lab):
    """Golden images without architectures: lint."""
    grows(lab, 31, one_cluster(lab, images), "lint")


def attack_why(lab):
    """Golden images: why."""
    build = one_cluster(lab, lambda n: images(n, "amd64,arm64"))
    grows(lab, 25, build, "why", ".", "DataImportCron/image-0-amd64", "spec.schedule")


def attack_virtual_machines(lab):
    """Virtual machines in one file: lint."""
    grows(lab, 31, one_cluster(lab, lambda n: images(20, "amd64"), others={"vms.yaml": machines}), "lint")


def attack_unknown_fields(lab):
    """Unknown fields: lint."""
    grows(lab, 62, one_cluster(lab, unknown_fields), "lint")


def attack_patch_operations(lab):
    """jsonpatch operations that add feature gates: lint."""
    add = lambda i: json.dumps({"op": "add", "path": "/spec/configuration/developerConfiguration/featureGates/-", "value": f"Gate{i}"})
    # Each of up to 250 operations is compared with those before it.
    grows(lab, 250 * lab.share, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, add)), "lint")


def attack_findings_that_differ(lab):
    """Entries that say nothing, each of which is found under a path of its own: lint."""
    grows(lab, 500, one_cluster(lab, lambda n: "  dataImportCronTemplates: [" + "{}," * n + "]\n"), "lint")


def attack_nodes(lab):
    """Nodes: lint."""
    grows(lab, 250, one_cluster(lab, lambda n: images(5, "amd64,arm64"), inventory=nodes), "lint")


def attack_documents(lab):
    """Documents in one file: lint."""
    other = lambda n: "".join(f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\ndata: {{a: b}}\n" for i in range(n))
    grows(lab, 500, one_cluster(lab, "  {}\n", others={"other.yaml": other}), "lint")


def attack_suppressions_idle(lab):
    """Suppressions of other rules beside as many findings: lint."""
    spec = lambda n: "".join(f"  noSuchField{i}: 1 # hcoplan: ignore[few-kvm-nodes] it is meant\n" for i in range(n))
    grows(lab, 62, one_cluster(lab, spec), "lint")


def attack_suppressions_stacked(lab):
    """Suppressions one below the other: lint."""
    spec = lambda n: "".join(f"  # hcoplan: ignore[hco-unknown-field] reason {i}\n" for i in range(n)) + "  noSuchField: 1\n"
    grows(lab, 250, one_cluster(lab, spec), "lint")


def attack_baseline(lab):
    """Findings that a baseline knows: lint."""
    build = one_cluster(lab, unknown_fields)

    def recorded(directory, n):
        build(directory, n)
        done = lab.run("lint", "--baseline", "baseline.json", "--update-baseline", cwd=directory)
        lab.expect(os.path.exists(os.path.join(directory, "baseline.json")), "no baseline was written", done)

    grows(lab, 62, recorded, "lint", "--baseline", "baseline.json")


def attack_clusters(lab):
    """Clusters that share an inventory: lint."""

    def build(directory, n):
        lab.write(directory, "inventory.yaml", nodes(200))
        for i in range(n):
            lab.write(directory, f"clusters/c{i}/hyperconverged.yaml", HEAD + f"spec:\n  defaultCPUModel: m{i}\n")

    grows(lab, 12, build, "lint")


def attack_clusters_in_one_file(lab):
    """Clusters whose inventories are in one file: lint."""

    def build(directory, n):
        lab.write(directory, "inventories.yaml", "---\n".join(INVENTORY.replace("name: one", f"name: c{i}") for i in range(n)))
        for i in range(n):
            lab.write(directory, f"clusters/c{i}/hyperconverged.yaml", HEAD + "spec: {}\n")

    grows(lab, 12, build, "lint", codes=(0, 1, 2, 4))


def attack_cmp_files(lab):
    """Files that are handed on: cmp generate."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        for i in range(n):
            lab.write(directory, f"apps/a{i}.yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\n")

    grows(lab, 187, build, "cmp", "generate")


def kustomization(resources, extra=""):
    rows = "".join(f"  - {r}\n" for r in resources) or "  []\n"
    return f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{rows}{extra}"


def attack_kustomizations_circle(lab):
    """Kustomizations of which each names the next, and the last the first: lint."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        for i in range(n):
            lab.write(directory, f"k{i}/kustomization.yaml", kustomization([f"../k{(i + 1) % n}", "../hyperconverged.yaml"]))

    grows(lab, 62, build, "lint", codes=(0, 1, 2, 4))


def attack_report_page(lab):
    """Findings of one file: report."""
    grows(lab, 62, one_cluster(lab, unknown_fields), "report")


def attack_fix(lab):
    """Fixes of one file: fix."""
    spec = lambda n: "  featureGates:\n" + "".join(f"    noSuchGate{i}: true\n" for i in range(n))
    grows(lab, 31, one_cluster(lab, spec), "fix")


def attack_diff(lab):
    """Objects that changed: diff of two directories."""
    left, right = one_cluster(lab, lambda n: images(n, "amd64")), one_cluster(lab, lambda n: images(n, "arm64").replace("*/12", "*/6"))

    def build(directory, n):
        left(directory + "/a", n)
        right(directory + "/b", n)

    grows(lab, 100, build, "diff", "a", "b")


def attack_aliases(lab):
    """Aliases: lint."""

    def spec(n):
        return "  noSuchField: &a [1, 2, 3, 4]\n" + "".join(f"  other{i}: *a\n" for i in range(n))

    grows(lab, 62, one_cluster(lab, spec), "lint")


def attack_machines_planned(lab):
    """Virtual machines with boot disks: plan --against."""

    def build(directory, n):
        one_cluster(lab, lambda n: images(20, "amd64"), others={"vms.yaml": machines})(directory, n)
        lab.commit(directory)
        lab.write(directory, "hyperconverged.yaml", HEAD + "spec:\n" + images(20, "arm64"))

    grows(lab, 31, build, "plan", "--against", "HEAD")


def attack_machines_of_images(lab):
    """Golden images with a virtual machine each, and as many that clone what nobody makes: lint."""

    def vms(n):
        text = "".join(part.replace("name: fedora", f"name: source-{i}") for i, part in enumerate(machines(n).split("---\n")[1:]))
        named = text.replace("apiVersion: kubevirt.io/v1", "---\napiVersion: kubevirt.io/v1").replace("openshift-virtualization-os-images", "kubevirt-os-images")
        return named + machines(n).replace("name: fedora", "name: nobody").replace("name: web", "name: more")

    grows(lab, 31, one_cluster(lab, lambda n: images(n, "amd64"), others={"vms.yaml": vms}), "lint")


def attack_machines_preferences(lab):
    """Virtual machines with a preference each: lint."""

    def other(n):
        vms = [part.replace("spec:\n", f"spec:\n  preference: {{name: p{i}, kind: VirtualMachinePreference}}\n", 1) for i, part in enumerate(machines(n).split("---\n")[1:])]
        rows = "".join(f"---\napiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachinePreference\nmetadata: {{name: p{i}, namespace: team-a}}\n"
                       "spec: {preferredArchitecture: amd64}\n" for i in range(n))
        return "---\n" + "---\n".join(vms) + rows

    grows(lab, 31, one_cluster(lab, lambda n: images(5, "amd64"), others={"vms.yaml": other}), "lint")


def attack_placeholders(lab):
    """Placeholders that nobody filled in: lint."""
    spec = lambda n: "  defaultCPUModel: x\n" + "".join(f"  noSuchField{i}: <fill-{i}>\n" for i in range(n))
    grows(lab, 62, one_cluster(lab, spec), "lint")


def attack_placeholders_open(lab):
    """Placeholders in one text that are opened, and closed once: lint."""
    grows(lab, 2000, one_cluster(lab, lambda n: f"  defaultCPUModel: '{'<-' * n}>'\n"), "lint")


def attack_suppressions_configured(lab):
    """Suppressions of the configuration, and as many findings: lint."""
    config = lambda n: "suppress:\n" + "".join(f"- {{rules: [hco-unknown-field], object: HyperConverged/h{i}, reason: x}}\n" for i in range(n))
    grows(lab, 62, one_cluster(lab, unknown_fields, others={"hcoplan.yaml": config}), "lint")


def attack_deep_directories(lab):
    """Directories in directories, as deep as a path can be: lint takes at most 5 seconds of CPU. Twice the depth is four times the text of the paths."""
    directory = lab.dir()
    one_cluster(lab, "  {}\n")(directory, 0)
    here = os.open(directory, os.O_RDONLY)
    for _ in range(1900):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    done = lab.run("lint", cwd=directory)
    # Python can't remove directories of this depth.
    lab.program("rm", "-rf", "d", cwd=directory)
    lab.expect(done.code == 0, "not judged", done)
    lab.expect(done.cpu < 5, "too slow", done)


def attack_escapes(lab):
    """Escapes of one text in quotes, whose places are asked for: lint."""
    value = lambda n: "  annotations:\n    kubevirt.kubevirt.io/jsonpatch: " + json.dumps(json.dumps(
        [{"op": "add", "path": "/spec/x", "value": "\"" * (8 * n)}])) + "\n"
    grows(lab, 250, one_cluster(lab, "  {}\n", annotations=value), "lint")


def attack_template_conditions(lab):
    """Conditions of a template, one in the other: lint."""
    text = lambda n: "{% if a %}" * n + "\n" + HEAD + "spec: {}\n" + "{% endif %}" * n + "\n"
    grows(lab, 500, one_cluster(lab, "  {}\n", others={"hc.yaml.j2": text}), "lint", codes=(0, 1, 2, 4))


def attack_clusters_moved(lab):
    """Clusters whose directories were renamed: diff of two directories."""

    def build(directory, n):
        for side, prefix in (("a", "old"), ("b", "new")):
            for i in range(n):
                lab.write(directory, f"{side}/{prefix}{i}/inventory.yaml", INVENTORY.replace("name: one", f"name: c{i}"))
                lab.write(directory, f"{side}/{prefix}{i}/hyperconverged.yaml", HEAD + f"spec: {{defaultCPUModel: m{i}}}\n")

    grows(lab, 12, build, "diff", "a", "b")
