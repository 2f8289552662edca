"""Inputs of which each part could be looked up in each other one: twice of both takes about twice as long.

As in growth.py, instructions are counted. By hand: `.ci/attack --verbose target/quick/hcoplan pairs`.
"""

import json

from _inputs import grows
from growth import HEAD, INVENTORY, images, kustomization, machines, nodes, one_cluster, patches, unknown_fields

ARGO = "apiVersion: argoproj.io/v1alpha1\nkind: {}\nmetadata: {{name: a{}}}\nspec: {}\n"


def fleet(lab, n, directory):
    for i in range(n):
        lab.write(directory, f"clusters/c{i}/inventory.yaml", INVENTORY.replace("name: one", f"name: c{i}"))
        lab.write(directory, f"clusters/c{i}/hyperconverged.yaml", HEAD + f"spec:\n  defaultCPUModel: m{i}\n")


def stream(n, text):
    """Documents of which `text(i)` writes each."""
    return "".join(f"---\n{text(i)}" for i in range(n))


def attack_hyperconvergeds(lab):
    """HyperConvergeds in one file: lint."""
    other = lambda n: stream(n, lambda i: HEAD + f"spec: {{defaultCPUModel: m{i}}}\n")
    grows(lab, 12, one_cluster(lab, "  {}\n", others={"more.yaml": other}), "lint", codes=(0, 1, 2, 4))


def attack_overlays(lab):
    """Overlays of one base: lint."""

    def build(directory, n):
        lab.write(directory, "base/hyperconverged.yaml", HEAD + "spec: {}\n")
        lab.write(directory, "base/kustomization.yaml", kustomization(["hyperconverged.yaml"]))
        for i in range(n):
            lab.write(directory, f"o{i}/inventory.yaml", INVENTORY)
            patch = f"patches:\n- patch: '[{{op: add, path: /spec/defaultCPUModel, value: m{i}}}]'\n  target: {{kind: HyperConverged}}\n"
            lab.write(directory, f"o{i}/kustomization.yaml", kustomization(["../base"], patch))

    grows(lab, 6, build, "lint", codes=(0, 1, 2, 4))


def attack_bases(lab):
    """Bases of which each builds on the next, with a file of patches each: lint."""

    def build(directory, n):
        lab.write(directory, "inventory.yaml", INVENTORY)
        lab.write(directory, f"b{n}/hyperconverged.yaml", HEAD + "spec: {}\n")
        lab.write(directory, f"b{n}/kustomization.yaml", kustomization(["hyperconverged.yaml"]))
        for i in range(n):
            lab.write(directory, f"b{i}/p.yaml", HEAD + f"spec: {{defaultCPUModel: m{i}}}\n")
            lab.write(directory, f"b{i}/kustomization.yaml", kustomization([f"../b{i + 1}"], "patches: [{path: p.yaml}]\n"))

    grows(lab, 12, build, "lint", codes=(0, 1, 2, 4))


def attack_labels(lab):
    """Labels of a node, and as many that a placement asks for: lint."""
    labels = lambda n: ", ".join(f"l{i}: v{i}" for i in range(n))
    inventory = lambda n: INVENTORY + f"    - {{name: n, architecture: amd64, roles: [worker], labels: {{{labels(n)}}}}}\n"
    grows(lab, 500, one_cluster(lab, lambda n: f"  workloads: {{nodePlacement: {{nodeSelector: {{{labels(n)}}}}}}}\n", inventory=inventory), "lint")


def attack_affinity(lab):
    """Nodes, and as many terms of an affinity that each ask for one: lint."""

    def spec(n):
        terms = ", ".join(f"{{matchExpressions: [{{key: zone, operator: In, values: [z{i}]}}]}}" for i in range(n))
        rule = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}"
        return f"  workloads: {{nodePlacement: {{affinity: {{nodeAffinity: {{{rule}}}}}}}}}\n"

    grows(lab, 100, one_cluster(lab, spec, inventory=nodes), "lint")


def attack_tolerations(lab):
    """Nodes with a taint each, and as many tolerations: lint."""
    inventory = lambda n: nodes(n).replace("labels: {zone: z", "taints: [{key: t, effect: NoSchedule, value: v").replace("}}\n", "}]}\n")
    spec = lambda n: "  workloads: {nodePlacement: {tolerations: [" + ", ".join(f"{{key: t, value: v{i}}}" for i in range(n)) + "]}}\n"
    grows(lab, 100, one_cluster(lab, spec, inventory=inventory), "lint")


def attack_machines_on_nodes(lab):
    """Nodes, and as many virtual machines: with no placement, with one's name each, and with a toleration each: lint."""
    taints = lambda n: nodes(n).replace("labels: {zone: z", "taints: [{key: t, effect: NoSchedule, value: v").replace("}}\n", "}]}\n")
    tolerations = lambda i: f"tolerations: [{{key: t, value: v{i}}}]"
    for what, inventory, placed in [
        ("any", nodes, lambda i: "nodeSelector: {}"), ("one each", nodes, lambda i: f"nodeSelector: {{zone: z{i}}}"), ("taints", taints, tolerations),
    ]:
        rows = lambda n: "".join(part + (placed(i) + "\n      " if i < n else "") for i, part in enumerate(machines(n).split("evictionStrategy: LiveMigrate\n      ")))
        lab.measured(what)
        grows(lab, 100, one_cluster(lab, "  {}\n", inventory=inventory, others={"vms.yaml": rows}), "lint")


def attack_crons(lab):
    """Declared DataImportCrons, and as many virtual machines that clone what they import: lint."""

    def other(n):
        crons = stream(n, lambda i: f"""apiVersion: cdi.kubevirt.io/v1beta1
kind: DataImportCron
metadata: {{name: c{i}, namespace: team-a}}
spec:
  schedule: "0 1 * * *"
  managedDataSource: s{i}
  template: {{spec: {{source: {{registry: {{url: "docker://registry.example.com/i{i}:1"}}}}, storage: {{resources: {{requests: {{storage: 9Gi}}}}}}}}}}
""")
        vms = machines(n).replace("openshift-virtualization-os-images", "team-a").split("name: fedora")
        return crons + "".join(part + (f"name: s{i}" if i < n else "") for i, part in enumerate(vms))

    grows(lab, 25, one_cluster(lab, "  {}\n", others={"vms.yaml": other}), "lint")


def attack_storage_classes(lab):
    """Storage classes, and as many virtual machines with a disk of each: lint."""

    def other(n):
        classes = stream(n, lambda i: f"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: c{i}}}\nprovisioner: p{i}.example.com\n")
        profiles = stream(n, lambda i: f"apiVersion: cdi.kubevirt.io/v1beta1\nkind: StorageProfile\nmetadata: {{name: c{i}}}\nspec: {{}}\n")
        vms = machines(n).split("storage: {accessModes")
        return classes + profiles + "".join(part + (f"storage: {{storageClassName: c{i}, accessModes" if i < n else "") for i, part in enumerate(vms))

    grows(lab, 25, one_cluster(lab, lambda n: images(5, "amd64"), others={"vms.yaml": other}), "lint")


def attack_disks(lab):
    """Disks of one virtual machine: lint."""

    def other(n):
        rows = lambda text: "".join(text.format(i=i) for i in range(n))
        return (
            "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: v, namespace: a}\nspec:\n  runStrategy: Always\n  dataVolumeTemplates:\n"
            + rows("  - {{metadata: {{name: d{i}}}, spec: {{source: {{blank: {{}}}}, storage: {{resources: {{requests: {{storage: 1Gi}}}}}}}}}}\n")
            + "  template:\n    spec:\n      domain:\n        devices:\n          disks:\n" + rows("          - {{name: d{i}, disk: {{bus: virtio}}}}\n")
            + "      volumes:\n" + rows("      - {{name: d{i}, dataVolume: {{name: d{i}}}}}\n")
        )

    grows(lab, 60, one_cluster(lab, "  {}\n", others={"vm.yaml": other}), "lint")


def attack_gates(lab):
    """Feature gates in the list of v1: lint."""

    def build(directory, n):
        lab.write(directory, "inventory.yaml", INVENTORY)
        gates = "".join(f"  - {{name: gate{i}}}\n" for i in range(n))
        lab.write(directory, "hyperconverged.yaml", HEAD.replace("v1beta1", "v1") + "spec:\n  featureGates:\n" + gates)

    grows(lab, 60, build, "lint")


def attack_patch_tests(lab):
    """Operations of a jsonpatch that test, and as many that add and remove: lint."""
    gates = "/spec/configuration/developerConfiguration/featureGates"

    def operation(i):
        if i % 3 == 0:
            return json.dumps({"op": "test", "path": f"{gates}/0", "value": "CPUManager"})
        return json.dumps({"op": "add", "path": f"/spec/configuration/x{i - 1}", "value": i} if i % 3 == 1 else
                          {"op": "remove", "path": f"/spec/configuration/x{i - 2}"})

    # Each of up to 250 operations is compared with those before it.
    grows(lab, 252 * lab.share, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, operation)), "lint")


def attack_patch_moves(lab):
    """Operations of a jsonpatch that move and copy: plan."""
    operation = lambda i: json.dumps({"op": "move" if i % 2 else "copy", "from": "/spec/configuration", "path": "/spec/configuration"})
    # A patch with fewer is applied before it is too big.
    grows(lab, 240 * lab.share, one_cluster(lab, "  {}\n", annotations=lambda n: patches(n, operation)), "plan")


def attack_generators(lab):
    """Elements of an ApplicationSet's generator, and as many clusters: lint."""

    def build(directory, n):
        fleet(lab, n, directory)
        elements = ", ".join(f"{{name: c{i}}}" for i in range(n))
        spec = f"{{generators: [{{list: {{elements: [{elements}]}}}}], template: {{spec: {{source: {{path: 'clusters/{{{{name}}}}', kustomize: {{patches: [a]}}}}}}}}}}"
        lab.write(directory, "apps/set.yaml", ARGO.format("ApplicationSet", "", spec))

    grows(lab, 12, build, "lint", codes=(0, 1, 2, 4))


def attack_applications(lab):
    """Applications, and as many clusters that each applies: lint."""

    def build(directory, n):
        fleet(lab, n, directory)
        one = lambda i: ARGO.format("Application", i, f"{{source: {{path: clusters/c{i}, kustomize: {{patches: [a]}}}}}}")
        lab.write(directory, "apps/all.yaml", stream(n, one))

    grows(lab, 12, build, "lint", codes=(0, 1, 2, 4))


def attack_inventories(lab):
    """Inventories without a HyperConverged: lint."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        for i in range(n):
            lab.write(directory, f"i{i}/inventory.yaml", INVENTORY.replace("name: one", f"name: i{i}"))

    grows(lab, 60, build, "lint", codes=(0, 1, 2, 4))


def attack_ignored_paths(lab):
    """Patterns of hcoplan.yaml and of .gitignore, and as many files: lint."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        lab.write(directory, "hcoplan.yaml", "ignore:\n" + "".join(f"- 'x{i}/*.txt'\n" for i in range(n)))
        lab.write(directory, ".gitignore", "".join(f"y{i}/**/z\n" for i in range(n)))
        for i in range(n):
            lab.write(directory, f"apps/a{i}.yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\n")

    grows(lab, 120, build, "lint")


def attack_submodules(lab):
    """Submodules that aren't checked out, and as many Applications: lint."""

    def build(directory, n):
        one_cluster(lab, "  {}\n")(directory, n)
        lab.write(directory, ".gitmodules", "".join(f'[submodule "s{i}"]\n\tpath = s{i}\n\turl = x\n' for i in range(n)))
        lab.write(directory, "apps/all.yaml", stream(n, lambda i: ARGO.format("Application", i, f"{{source: {{path: s{i}/a}}}}")))

    grows(lab, 30, build, "lint", codes=(0, 1, 2, 4))


def attack_clusters_configured(lab):
    """Clusters that hcoplan.yaml names, with a directory beside each: lint."""

    def build(directory, n):
        fleet(lab, n, directory)
        rows = "".join(f"- {{name: k{i}, path: clusters/c{i}/hyperconverged.yaml, also: [vms/v{i}]}}\n" for i in range(n))
        lab.write(directory, "hcoplan.yaml", "clusters:\n" + rows)
        for i in range(n):
            lab.write(directory, f"vms/v{i}/vm.yaml", machines(1).replace("name: web", f"name: w{i}"))

    grows(lab, 12, build, "lint", codes=(0, 1, 2, 4))


def attack_merge_keys(lab):
    """Anchors, and as many merge keys: lint."""
    anchors = lambda n: "".join(f"x{i}: &x{i} {{k{i}: 1}}\n" for i in range(n)) + "all:\n" + "".join(f"- <<: *x{i}\n" for i in range(n))
    other = lambda n: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hco.kubevirt.io}\n" + anchors(n)
    grows(lab, 250, one_cluster(lab, "  {}\n", others={"other.yaml": other}), "lint")


def attack_one_line(lab):
    """Findings on one line: lint."""
    # Of few findings each has a fix.
    grows(lab, 60 * lab.share, one_cluster(lab, lambda n: "  {" + ", ".join(f"noSuchField{i}: 1" for i in range(n)) + "}\n"), "lint")


def attack_embedded(lab):
    """Manifests in texts of ConfigMaps: lint."""
    text = lambda i: f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\ndata:\n  a: |\n" + "".join(f"    {line}\n" for line in HEAD.splitlines())
    grows(lab, 30, one_cluster(lab, "  {}\n", others={"other.yaml": lambda n: stream(n, text)}), "lint", codes=(0, 1, 2, 4))


def attack_formats(lab):
    """Findings in each format: lint."""
    for format in ["json", "sarif", "gitlab", "junit", "markdown", "github", "concise"]:
        grows(lab, 60, one_cluster(lab, unknown_fields), "lint", "--format", format)


def attack_against(lab):
    """Clusters that a change moves and changes: plan --against."""

    def build(directory, n):
        fleet(lab, n, directory)
        lab.commit(directory)
        for i in range(n):
            lab.write(directory, f"clusters/c{i}/hyperconverged.yaml", HEAD + f"spec:\n  defaultCPUModel: x{i}\n")

    grows(lab, 12, build, "plan", "--against", "HEAD")


def attack_secrets(lab):
    """Secrets, and as many findings whose words could be theirs: lint."""
    spec = lambda n: "".join(f"  noSuchField{i}: secret-word-{i}X\n" for i in range(n)) + "  password:\n" + "".join(f"    k{i}: Secret-Word-{i}\n" for i in range(n))
    grows(lab, 60, one_cluster(lab, spec), "lint")


def attack_commands(lab):
    """Commands that build and copy, each of which goes on into the next: lint."""
    text = lambda n: "docker build --platform linux/amd64 \\\n" * n + "skopeo copy \\\n" * n + "RUN GOARCH=amd64 \\\n" * n
    grows(lab, 250, one_cluster(lab, "  {}\n", others={"Makefile": text, "Dockerfile": text}), "lint")


def attack_loops(lab):
    """Values of a loop, which a word has four times: lint."""
    names = lambda n: " ".join(f"x{i}" for i in range(n))
    text = lambda n: f"for a in {names(n)}; do docker build --platform linux/amd64 -t example.com/$a$a$a$a .; done\n"
    grows(lab, 60, one_cluster(lab, "  {}\n", others={"build.sh": text}), "lint")


def attack_targets(lab):
    """Targets of a bake file, each in the line of the one before, and lists that never end: lint."""
    text = lambda n: "target " * n + "\n" + "target \"a\" { platforms = [ \n" * n
    grows(lab, 250, one_cluster(lab, "  {}\n", others={"docker-bake.hcl": text}), "lint")


def attack_scripts(lab):
    """HyperConvergeds of one directory, and as many lines of a script beside them: lint."""
    more = lambda n: stream(n, lambda i: HEAD + f"spec: {{defaultCPUModel: m{i}}}\n")
    script = lambda n: "echo kind: StorageClass hcoplan GOARCH\n" * 20 * n
    grows(lab, 12, one_cluster(lab, "  {}\n", others={"more.yaml": more, "a.sh": script}), "lint", codes=(0, 1, 2, 4))
