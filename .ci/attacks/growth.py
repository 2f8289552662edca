"""Inputs that are twice as large take about twice as long: instructions, counted by valgrind, grow at most 2.4 times a step.

.ci/run takes a selection, one of each kind: all of them take minutes. By hand: `.ci/attack --verbose
target/quick/hcoplan growth`.
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


def attack_golden_images_planned(lab):
    """Golden images of two architectures: plan."""
    grows(lab, 31, one_cluster(lab, lambda n: images(n, "amd64,arm64")), "plan")


def attack_golden_images_matrix(lab):
    """Golden images: matrix."""
    grows(lab, 62, one_cluster(lab, lambda n: images(n, "amd64,arm64")), "matrix")


def attack_golden_images_same_source(lab):
    """Golden images that feed one DataSource, and have two names: lint."""

    def spec(n):
        text = images(n, "amd64,arm64")
        for i in range(n):
            text = text.replace(f"managedDataSource: source-{i}\n", f"managedDataSource: source-{i // 2}\n", 1) if i % 2 else text
        return text

    grows(lab, 31, one_cluster(lab, spec), "lint")


def attack_why(lab):
    """Golden images: why."""
    build = one_cluster(lab, lambda n: images(n, "amd64,arm64"))
    grows(lab, 25, build, "why", ".", "DataImportCron/image-0-amd64", "spec.schedule")


def attack_why_ssp(lab):
    """Golden images: why the SSP has its list of them."""
    build = one_cluster(lab, lambda n: images(n, "amd64,arm64"))
    grows(lab, 60, build, "why", ".", "SSP", "spec.commonTemplates.dataImportCronTemplates")


def attack_virtual_machines(lab):
    """Virtual machines in one file: lint."""
    grows(lab, 31, one_cluster(lab, lambda n: images(20, "amd64"), others={"vms.yaml": machines}), "lint")


def attack_unknown_fields(lab):
    """Unknown fields: lint."""
    grows(lab, 62, one_cluster(lab, unknown_fields), "lint")


def attack_unknown_fields_flow(lab):
    """Unknown fields in flow style on one line: lint."""

    def spec(n):
        fields = ", ".join(f"noSuchField{i}: 1" for i in range(n))
        return "  liveMigrationConfig: {" + fields + "}\n"

    grows(lab, 62, one_cluster(lab, spec), "lint")


def attack_patch_operations(lab):
    """jsonpatch operations that add feature gates: lint."""
    add = lambda i: json.dumps({"op": "add", "path": "/spec/configuration/developerConfiguration/featureGates/-", "value": f"Gate{i}"})
    grows(lab, 250, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, add)), "lint")


def attack_patch_operations_fields(lab):
    """jsonpatch operations that write the same field: lint."""
    same = lambda i: json.dumps({"op": "add", "path": "/spec/configuration/migrations/parallelMigrationsPerCluster", "value": i})
    grows(lab, 250, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, same)), "lint")


def attack_patch_operations_unknown(lab):
    """jsonpatch operations that write fields nobody knows: lint."""
    unknown = lambda i: json.dumps({"op": "add", "path": f"/spec/configuration/noSuch{i}", "value": {"a": i}})
    grows(lab, 250, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, unknown)), "lint")


def attack_patch_operations_labels(lab):
    """jsonpatch operations that are written to a map with any keys: lint."""
    label = lambda i: json.dumps({"op": "add", "path": f"/spec/workloads/nodePlacement/nodeSelector/k{i}", "value": "v"})

    def annotations(n):
        first = json.dumps({"op": "add", "path": "/spec/workloads", "value": {"nodePlacement": {"nodeSelector": {}}}})
        return patches(n + 1, lambda i: first if i == 0 else label(i))

    grows(lab, 250, one_cluster(lab, "  {}\n", annotations=annotations), "lint")


def attack_patch_operations_tests(lab):
    """jsonpatch operations that test and move: lint."""
    test = lambda i: json.dumps({"op": "test", "path": "/spec/configuration/evictionStrategy", "value": "LiveMigrate"})
    grows(lab, 250, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, test)), "lint")


def attack_why_patch(lab):
    """jsonpatch operations: why."""
    add = lambda i: json.dumps({"op": "add", "path": "/spec/configuration/developerConfiguration/featureGates/-", "value": f"Gate{i}"})
    # Operations are examined one by one up to 250 of them.
    grows(lab, 250, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, add)), "why", ".", "KubeVirt")


def attack_nodes(lab):
    """Nodes: lint."""
    grows(lab, 250, one_cluster(lab, lambda n: images(5, "amd64,arm64"), inventory=nodes), "lint")


def attack_nodes_selected(lab):
    """Nodes that a placement has to be held against, with as many taints: lint."""

    def inventory(n):
        rows = "".join(
            f"    - {{name: n{i}, architecture: amd64, roles: [worker], labels: {{zone: z}}, taints: [{{key: k{i}, effect: NoSchedule}}]}}\n"
            for i in range(n)
        )
        return INVENTORY + rows

    spec = "  workloads: {nodePlacement: {nodeSelector: {zone: z}}}\n"
    grows(lab, 125, one_cluster(lab, spec, inventory=inventory), "lint")


def attack_why_nodes(lab):
    """Nodes: why."""
    build = one_cluster(lab, lambda n: images(5, "amd64,arm64"), inventory=nodes)
    # Few nodes are looked at one by one, which costs more; from 4,000 to 8,000 they outgrow a processor's cache.
    grows(lab, 1000, build, "why", ".", "SSP", "spec.commonTemplates.dataImportCronTemplates")


def attack_node_dump(lab):
    """Nodes as kubectl prints them: lint."""

    def dump(n):
        items = [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}", "labels": {
                "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": f"n{i}", "node-role.kubernetes.io/worker": ""}},
             "status": {"nodeInfo": {"architecture": "amd64"}}}
            for i in range(n)
        ]
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)

    bare = INVENTORY.split("  nodes:")[0]
    grows(lab, 125, one_cluster(lab, "  {}\n", inventory=bare, others={"nodes.json": dump}), "lint")


def attack_documents(lab):
    """Documents in one file: lint."""
    other = lambda n: "".join(f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\ndata: {{a: b}}\n" for i in range(n))
    grows(lab, 500, one_cluster(lab, "  {}\n", others={"other.yaml": other}), "lint")


def attack_documents_known(lab):
    """Documents in the HyperConverged's file: lint."""

    def spec(n):
        return "  {}\n" + "".join(f"---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: c{i}}}\n" for i in range(n))

    grows(lab, 250, one_cluster(lab, spec), "lint")


def attack_documents_storage_classes(lab):
    """Documents that rules ask for (StorageClass, NetworkAttachmentDefinition, DataVolume): lint."""

    def other(n):
        one = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: c{i}}}\nprovisioner: p\n"
        two = "---\napiVersion: cdi.kubevirt.io/v1beta1\nkind: DataVolume\nmetadata: {{name: d{i}, namespace: n}}\nspec: {{sourceRef: {{kind: DataSource, name: fedora}}}}\n"
        return "".join((one + two).format(i=i) for i in range(n))

    spec = lambda n: images(20, "amd64,arm64")
    grows(lab, 125, one_cluster(lab, spec, others={"other.yaml": other}), "lint")


def attack_documents_empty(lab):
    """Documents with nothing in them: lint."""
    grows(lab, 2500, one_cluster(lab, "  {}\n", others={"other.yaml": lambda n: "---\n" * n}), "lint")


def attack_duplicates(lab):
    """HyperConvergeds of one name in one file: lint."""

    def spec(n):
        return "  {}\n" + "".join(f"---\n{HEAD}spec: {{}}\n" for i in range(n))

    grows(lab, 12, one_cluster(lab, spec), "lint", codes=(0, 1, 2, 4))


def attack_suppressions(lab):
    """Suppressions, each for a finding: lint."""
    spec = lambda n: "".join(f"  noSuchField{i}: 1 # hcoplan: ignore[hco-unknown-field] it is meant\n" for i in range(n))
    grows(lab, 62, one_cluster(lab, spec), "lint")


def attack_suppressions_idle(lab):
    """Suppressions of other rules beside as many findings: lint."""
    spec = lambda n: "".join(f"  noSuchField{i}: 1 # hcoplan: ignore[few-kvm-nodes] it is meant\n" for i in range(n))
    grows(lab, 62, one_cluster(lab, spec), "lint")


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


def attack_clusters_planned(lab):
    """Clusters that share an inventory: plan."""

    def build(directory, n):
        lab.write(directory, "inventory.yaml", nodes(20))
        for i in range(n):
            lab.write(directory, f"clusters/c{i}/hyperconverged.yaml", HEAD + f"spec:\n  defaultCPUModel: m{i}\n")

    grows(lab, 10, build, "plan")


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


def attack_kustomizations_named(lab):
    """Kustomizations of which each names the next: lint."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        for i in range(n):
            last = i + 1 == n
            lab.write(directory, f"k{i}/kustomization.yaml", kustomization(["../hyperconverged.yaml" if last else f"../k{i + 1}"]))

    grows(lab, 62, build, "lint", codes=(0, 1, 2, 4))


def attack_kustomizations_circle(lab):
    """Kustomizations of which each names the next, and the last the first: lint."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        for i in range(n):
            lab.write(directory, f"k{i}/kustomization.yaml", kustomization([f"../k{(i + 1) % n}", "../hyperconverged.yaml"]))

    grows(lab, 62, build, "lint", codes=(0, 1, 2, 4))


def attack_kustomizations_dense(lab):
    """Kustomizations that name all others: lint (the size is that of the text)."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        # n entries in all: a dense graph has as many places as the root of them.
        side = int(n**0.5)
        for i in range(side):
            lab.write(directory, f"k{i}/kustomization.yaml", kustomization([f"../k{j}" for j in range(side) if j != i] + ["../hyperconverged.yaml"]))

    grows(lab, 500, build, "lint", codes=(0, 1, 2, 4))


def attack_kustomizations_patches(lab):
    """Kustomizations with a patch each of one base: lint."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        lab.write(directory, "kustomization.yaml", kustomization(["hyperconverged.yaml"]))
        patch = HEAD + "  annotations:\n    kubevirt.kubevirt.io/jsonpatch: '[]'\n"
        for i in range(n):
            lab.write(directory, f"k{i}/kustomization.yaml", kustomization([".."], "patches:\n  - path: patch.yaml\n"))
            lab.write(directory, f"k{i}/patch.yaml", patch)

    grows(lab, 31, build, "lint", codes=(0, 1, 2, 4))


def attack_kustomizations_init(lab):
    """Overlays of one base, each without an inventory: init --dry-run."""

    def build(directory, n):
        lab.write(directory, "base/hyperconverged.yaml", HEAD + "spec: {}\n")
        lab.write(directory, "base/kustomization.yaml", kustomization(["hyperconverged.yaml"]))
        for i in range(n):
            lab.write(directory, f"overlays/c{i}/kustomization.yaml", kustomization(["../../base"]))

    grows(lab, 125, build, "init", "--dry-run")


FORMATS = ("human", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit", "markdown")


def report(format):
    def attack(lab):
        grows(lab, 62, one_cluster(lab, unknown_fields), "lint", "--format", format)

    attack.__doc__ = f"Findings of one file: lint --format {format}."
    return attack


for FORMAT in FORMATS:
    globals()[f"attack_report_{FORMAT.replace('-', '_')}"] = report(FORMAT)


def attack_report_page(lab):
    """Findings of one file: report."""
    grows(lab, 62, one_cluster(lab, unknown_fields), "report")


def attack_fix(lab):
    """Fixes of one file: fix."""
    spec = lambda n: "  featureGates:\n" + "".join(f"    noSuchGate{i}: true\n" for i in range(n))
    grows(lab, 31, one_cluster(lab, spec), "fix")


def attack_fix_unsafe(lab):
    """Unsafe fixes of one file: fix --unsafe."""
    grows(lab, 250, one_cluster(lab, unknown_fields), "fix", "--unsafe")


def attack_fix_images(lab):
    """Fixes of golden images: fix --unsafe."""
    # Up to a bound, each fix is shown with its lines, for which the file is read again.
    grows(lab, 25, one_cluster(lab, images), "fix", "--unsafe")


def attack_fix_patch(lab):
    """Fixes of jsonpatch operations: fix --unsafe."""
    same = lambda i: json.dumps({"op": "add", "path": "/spec/configuration/developerConfiguration/featureGates/-", "value": "DataVolumes"})
    # Operations are examined one by one up to 250 of them.
    grows(lab, 250, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, same)), "fix", "--unsafe")


def attack_migrate(lab):
    """Lines that are rewritten as another API version: fix --migrate v1."""
    grows(lab, 31, one_cluster(lab, lambda n: images(n, "amd64,arm64")), "fix", "--migrate", "v1")


def attack_diff(lab):
    """Objects that changed: diff of two directories."""
    left, right = one_cluster(lab, lambda n: images(n, "amd64")), one_cluster(lab, lambda n: images(n, "arm64").replace("*/12", "*/6"))

    def build(directory, n):
        left(directory + "/a", n)
        right(directory + "/b", n)

    grows(lab, 100, build, "diff", "a", "b")


def attack_diff_list(lab):
    """Elements of a list that changed: diff of two directories."""

    def spec(order):
        def text(n):
            rows = [f"        - {{key: k{i}, operator: Exists, effect: NoSchedule}}\n" for i in range(n)]
            return "  workloads:\n    nodePlacement:\n      tolerations:\n" + "".join(order(rows))

        return text

    left, right = one_cluster(lab, spec(list)), one_cluster(lab, spec(reversed))

    def build(directory, n):
        left(directory + "/a", n)
        right(directory + "/b", n)

    grows(lab, 100, build, "diff", "a", "b")


def attack_aliases(lab):
    """Aliases: lint."""

    def spec(n):
        return "  noSuchField: &a [1, 2, 3, 4]\n" + "".join(f"  other{i}: *a\n" for i in range(n))

    grows(lab, 62, one_cluster(lab, spec), "lint")


def attack_aliases_machines(lab):
    """Aliases in a file of virtual machines: lint."""

    def spec(n):
        return "  noSuchField: &a [1, 2, 3, 4]\n  other: [" + ", ".join("*a" for i in range(n)) + "]\n"

    grows(lab, 625, one_cluster(lab, spec), "lint")


def attack_merge_keys(lab):
    """Merge keys: lint."""

    def spec(n):
        return "  a: &a {x: 1, y: 2}\n" + "".join(f"  other{i}: {{<<: *a, z: 1}}\n" for i in range(n))

    grows(lab, 62, one_cluster(lab, spec), "lint")


def attack_anchors(lab):
    """Anchors: lint."""

    def spec(n):
        return "".join(f"  other{i}: &a{i} {i}\n  more{i}: *a{i}\n" for i in range(n))

    grows(lab, 31, one_cluster(lab, spec), "lint")


def attack_tolerations(lab):
    """Tolerations of a placement: lint."""

    def spec(n):
        rows = "".join(f"        - {{key: k{i}, operator: Exists, effect: NoSchedule}}\n" for i in range(n))
        return "  workloads:\n    nodePlacement:\n      tolerations:\n" + rows

    grows(lab, 125, one_cluster(lab, spec), "lint")


def attack_schema_violations(lab):
    """Values of a wrong type: lint."""

    def spec(n):
        rows = "".join(f"        - {{key: {i}, operator: Never, effect: [x]}}\n" for i in range(n))
        return "  workloads:\n    nodePlacement:\n      tolerations:\n" + rows

    grows(lab, 62, one_cluster(lab, spec), "lint")


def attack_bad_values_in_nodes(lab):
    """Nodes of which each is wrong: lint."""
    rows = lambda n: INVENTORY + "".join(f"    - {{name: n{i}, architecture: z80, colour: red}}\n" for i in range(n))
    grows(lab, 62, one_cluster(lab, "  {}\n", inventory=rows), "lint", codes=(0, 1, 2, 4))


def attack_duplicate_keys(lab):
    """Keys that stand twice: lint."""
    spec = lambda n: "".join(f"  defaultCPUModel: m{i}\n" for i in range(n))
    grows(lab, 62, one_cluster(lab, spec), "lint", codes=(0, 1, 2, 4))


def attack_host_devices(lab):
    """Host devices: lint."""

    def spec(n):
        rows = "".join(f"      - {{pciDeviceSelector: '10DE:{i:04X}', resourceName: a.example.com/d{i}}}\n" for i in range(n))
        return "  permittedHostDevices:\n    pciHostDevices:\n" + rows

    grows(lab, 125, one_cluster(lab, spec), "lint")


def attack_files(lab):
    """Files that rules look at (scripts and manifests): lint."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        for i in range(n):
            lab.write(directory, f"s/s{i}.sh", "oc patch hyperconverged x\nGOARCH=amd64 go build\n")

    grows(lab, 62, build, "lint")


def attack_selector(lab):
    """Labels that a placement selects by: lint."""

    def spec(n):
        return "  workloads: {nodePlacement: {nodeSelector: {" + ", ".join(f'k{i}: "v"' for i in range(n)) + "}}}\n"

    grows(lab, 500, one_cluster(lab, spec), "lint")


def attack_images_empty(lab):
    """Golden images that say nothing: lint."""

    def spec(n):
        return "  dataImportCronTemplates: [" + ", ".join("{}" for _ in range(n)) + "]\n"

    grows(lab, 250, one_cluster(lab, spec), "lint")


def attack_nodes_empty(lab):
    """Nodes that say nothing: lint."""

    def inventory(n):
        return INVENTORY.split("    - ")[0].replace("nodes:", "nodes: [") + ", ".join("{}" for _ in range(n)) + "]\n"

    grows(lab, 250, one_cluster(lab, "  {}\n", inventory=inventory), "lint", codes=(0, 1, 2, 4))


def attack_documents_scalars(lab):
    """Documents that are no objects: lint."""
    grows(lab, 1250, one_cluster(lab, "  {}\n", others={"other.yaml": lambda n: "---\na\n" * n}), "lint")


def attack_unknown_fields_many(lab):
    """Unknown fields by the ten thousand: lint --format concise."""
    grows(lab, 500, one_cluster(lab, unknown_fields), "lint", "--format", "concise")
