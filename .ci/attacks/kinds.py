"""Kinds of input that growth.py and pairs.py don't double, one row each: twice as many take about twice as long.

As in growth.py, instructions are counted. By hand: `.ci/attack --verbose target/quick/hcoplan kinds`.
"""

import base64
import gzip
import json
import os

from _inputs import grows
from growth import HEAD, INVENTORY, kustomization, machines, nodes, one_cluster
from pairs import ARGO, fleet, stream

FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: a{i}}}\nspec: {{path: ./d{i}, patches: [{{target: {{kind: HyperConverged}}, patch: '[]'}}]}}\n"
RELEASE = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: a{i}}}\nspec: {{chart: {{spec: {{chart: ./c{i}}}}}, values: {{a: {i}}}}}\n"
SET = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {{name: a{i}}}\nspec: {{resources: [{{apiVersion: v1, kind: << inputs.k{i} >>, metadata: {{name: a}}}}]}}\n"
REPOSITORY = "apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {{name: a{i}}}\nspec: {{repo: x, paths: [d{i}], targetNamespace: b}}\n"
TEMPLATE = "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a{i}}}}}"
POLICY = "apiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: {{name: a{i}, namespace: b}}\nspec: {{policy-templates: [{{objectDefinition: {{apiVersion: policy.open-cluster-management.io/v1, " \
         f"kind: ConfigurationPolicy, metadata: {{{{name: a}}}}, spec: {{{{object-templates: [{{{{complianceType: musthave, objectDefinition: {TEMPLATE}}}}}]}}}}}}}}}}}}]}}}}\n"
WORK = f"apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {{{{name: a{{i}}, namespace: c}}}}\nspec: {{{{workload: {{{{manifests: [{TEMPLATE}]}}}}}}}}\n"
PATCHES = "apiVersion: hive.openshift.io/v1\nkind: SyncSet\nmetadata: {{name: a{i}}}\nspec: {{patches: [{{apiVersion: hco.kubevirt.io/v1beta1, kind: HyperConverged, name: a, patch: '{{}}'}}]}}\n"
NODE = "apiVersion: v1\nkind: Node\nmetadata: {{name: m{i}, labels: {{kubernetes.io/arch: amd64, zone: z{i}}}}}\nstatus: {{nodeInfo: {{architecture: amd64}}}}\n"
MACHINES = "apiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\nmetadata: {{name: m{i}, namespace: openshift-machine-api}}\nspec: {{replicas: 2, template: {{spec: {{metadata: {{labels: {{zone: z{i}}}}}}}}}}}\n"
POD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a{i}, namespace: b}}\nspec: {{template: {{spec: {{nodeSelector: {{zone: z{i}}}, containers: [{{name: a, image: 'example.com/a{i}:1'}}]}}}}}}\n"
VOLUME = "apiVersion: cdi.kubevirt.io/v1beta1\nkind: DataVolume\nmetadata: {{name: v{i}, namespace: a}}\nspec: {{source: {{pvc: {{name: v{j}, namespace: a}}}}, storage: {{resources: {{requests: {{storage: 1Gi}}}}}}}}\n"
USER = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {{name: w{i}, namespace: a}}\nspec:\n  runStrategy: Always\n{more}  template:\n    spec:\n      domain: {{devices: {{gpus: [{{name: g, deviceName: 'v.com/g{i}'}}]}}}}\n" \
       "      volumes: [{{name: d, persistentVolumeClaim: {{claimName: v{i}}}}}]\n"
TYPE = "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterInstancetype\nmetadata: {{name: t{i}}}\nspec: {{cpu: {{guest: 1}}, memory: {{guest: 1Gi}}}}\n"
PACKED = base64.b64encode(gzip.compress(b"kind: ConfigMap\n")).decode()
SECRET = f"apiVersion: v1\nkind: Secret\nmetadata: {{{{name: a{{i}}}}}}\ndata: {{{{a: {PACKED}}}}}\n"
BUNDLE = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {{name: kubevirt-hyperconverged-operator.v1.{i}.0}}\nspec: {{relatedImages: [{{name: a, image: 'example.com/a{i}'}}]}}\n"
OBJECTS = {
    "Flux's Kustomizations": (60, FLUX), "HelmReleases": (60, RELEASE), "ResourceSets": (60, SET), "Fleet's GitRepos": (60, REPOSITORY), "policies": (60, POLICY),
    "ManifestWorks": (60, WORK), "SyncSets": (60, PATCHES), "Nodes": (60, NODE), "MachineSets": (60, MACHINES), "Deployments": (60, POD),
    "DataVolumes that clone each other, and machines": (30, VOLUME + "---\n" + USER), "instance types, and machines": (30, TYPE + "---\n" + USER),
    "compressed secrets": (60, SECRET), "ClusterServiceVersions": (60, BUNDLE),
}


def attack_objects(lab):
    """Objects of each kind that hcoplan reads, in one file: lint."""
    for what, (n, text) in OBJECTS.items():
        more = "  instancetype: {{name: t{i}}}\n" if "types" in what else ""
        one = lambda i: text.replace("{more}", more).format(i=i, j=i + 1)
        lab.measured(what)
        grows(lab, n, one_cluster(lab, "  {}\n", inventory=nodes, others={"more.yaml": lambda n: stream(n, one)}), "lint", codes=(0, 1, 2, 4))


PARTS = {
    "devices that are permitted, and machines with one each": (30, {
        "hyperconverged.yaml": lambda n: HEAD + "spec:\n  permittedHostDevices: {pciHostDevices: [" + ", ".join(f"{{pciDeviceSelector: '10DE:{i:04X}', resourceName: v.com/g{i}}}" for i in range(n)) + "]}\n",
        "vms.yaml": lambda n: stream(n, lambda i: USER.replace("{more}", "").format(i=i)),
    }),
    "pools of nodes": (60, {"inventory.yaml": lambda n: INVENTORY.split("  nodes:")[0] + "  nodePools:\n" + "".join(f"  - {{name: p{i}, count: 1, architecture: amd64, roles: [worker]}}\n" for i in range(n))}),
    "rules of a configuration": (250, {"hcoplan.yaml": lambda n: "rules:\n" + "".join(f"  no-such-rule-{i}: off\n" for i in range(n))}),
    "comments": (500, {"hyperconverged.yaml": lambda n: HEAD + "".join(f"# hcoplan: a comment {i}\n" for i in range(n)) + "spec: {}\n"}),
    "characters of a key": (500, {"hyperconverged.yaml": lambda n: HEAD + f"spec: {{{'k' * 16 * n}: 1}}\n"}),
    "characters of a value": (500, {"hyperconverged.yaml": lambda n: HEAD + f"spec: {{defaultCPUModel: {'k' * 16 * n}}}\n"}),
    "levels of a value": (40, {"hyperconverged.yaml": lambda n: HEAD + "spec: {noSuch: " + "[" * n + "]" * n + "}\n"}),
    "patches of a kustomization": (12, {"kustomization.yaml": lambda n: kustomization(["hyperconverged.yaml"], "patches:\n" + "".join(f"- {{target: {{kind: HyperConverged}}, patch: '[{{\"op\": \"add\", \"path\": \"/spec/x{i}\", \"value\": 1}}]'}}\n" for i in range(n)))}),
    "replacements of a kustomization": (12, {"kustomization.yaml": lambda n: kustomization(["hyperconverged.yaml"], "replacements:\n" + "".join(
        f"- {{source: {{kind: HyperConverged, fieldPath: metadata.name}}, targets: [{{select: {{kind: HyperConverged}}, fieldPaths: [spec.x{i}], options: {{create: true}}}}]}}\n" for i in range(n)))}),
}


def attack_parts(lab):
    """Parts of one file each: lint."""
    for what, (n, files) in PARTS.items():
        lab.measured(what)
        grows(lab, n, one_cluster(lab, "  {}\n", others=files), "lint", codes=(0, 1, 2, 4))


def attack_files(lab):
    """Files of each kind that name others: lint."""
    chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n"
    for what, n, one, whole in [
        ("Jsonnets that each import the next", 30, lambda i, n: {f"d/a{i}.jsonnet": f"import 'a{i + 1}.jsonnet' + import 'lib{i}.libsonnet'\n", f"l/lib{i}.libsonnet": "{}\n"},
         {"app.yaml": ARGO.format("Application", 0, "{source: {repoURL: x, path: d}}")}),
        ("components", 12, lambda i, n: {f"c{i}/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n" + f"commonAnnotations: {{a{i}: b}}\n"},
         {"kustomization.yaml": lambda n: kustomization(["hyperconverged.yaml"], "components: [" + ", ".join(f"c{i}" for i in range(n)) + "]\n")}),
        ("charts", 30, lambda i, n: {f"c{i}/Chart.yaml": chart, f"c{i}/values.yaml": "a: HyperConverged\n", f"c{i}/templates/a.yaml": "kind: {{ .Values.a }}\n"}, {}),
        ("templates of a chart", 60, lambda i, n: {f"c/templates/a{i}.yaml": "kind: {{ .Values.a }}\napiVersion: {{ .Values.b }}\n"}, {"c/Chart.yaml": chart}),
        ("subcharts", 30, lambda i, n: {f"c/charts/s{i}/Chart.yaml": chart, f"c/charts/s{i}/templates/a.yaml": "kind: {{ .Values.a }}\n"}, {"c/Chart.yaml": chart}),
        ("links", 60, lambda i, n: {f"d/l{i}.yaml": None}, {"d/a.yaml": "kind: ConfigMap\n"}),
    ]:
        def build(directory, n):
            one_cluster(lab, "  {}\n", others=whole)(directory, n)
            for i in range(n):
                for path, text in one(i, n).items():
                    if text is None:
                        os.symlink("../hyperconverged.yaml" if i % 2 else "nowhere", os.path.join(directory, path))
                    else:
                        lab.write(directory, path, text)

        lab.measured(what)
        grows(lab, n, build, "lint", codes=(0, 1, 2, 4))


def attack_other_commands(lab):
    """Clusters, and machines: matrix, argocd, report and import."""
    dump = lambda n: json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}", "labels": {"zone": f"z{i}"}}, "status": {"nodeInfo": {"architecture": "amd64"}}} for i in range(n)]})
    for n, build, words in [
        (12, lambda directory, n: fleet(lab, n, directory), ["matrix"]),
        (12, lambda directory, n: fleet(lab, n, directory), ["argocd"]),
        (12, lambda directory, n: fleet(lab, n, directory), ["report"]),
        (30, one_cluster(lab, "  {}\n", others={"vms.yaml": machines}), ["matrix"]),
        (60, one_cluster(lab, "  {}\n", others={"nodes.json": dump}), ["import", "nodes.json"]),
        (60, one_cluster(lab, "  {}\n", inventory=nodes, others={"nodes.json": dump}), ["inventory", "check", "nodes.json", "inventory.yaml"]),
    ]:
        grows(lab, n, build, *words, codes=(0, 1, 2, 4))
