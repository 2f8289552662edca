"""Records objects with names in the place of what a cluster or a build decides: the namespace, the domain, images, the version."""
import json, os

from lib import recording

NAMESPACE, DOMAIN, VERSION = "recorder-namespace", "recorder.domain", "1.987.654"
ANNOTATIONS = {"hco.kubevirt.io/deployAIE": "true", "hco.kubevirt.io/deployPasstNetworkBinding": "true"}
# HyperConvergeds that ask for everything which there is once. A release that doesn't serve v1 refuses the second one.
SPECS = {
    "v1beta1": {"higherWorkloadDensity": {"memoryOvercommitPercentage": 150}},
    "v1": {"featureGates": [{"name": "deployObservabilityController", "state": "Enabled"}],
           "virtualization": {"higherWorkloadDensity": {"memoryOvercommitPercentage": 150}}},
}


def record(s, scratch):
    """What the operator makes of these on both platforms, and the environment that it has meanwhile."""
    found = {"env": {}, "probes": []}
    for platform in ("OpenShift", "Kubernetes"):
        real, _ = s.environment[platform == "OpenShift"]
        # An image is its placeholder from the start: the operators don't look into it.
        env = {k: "{{env." + k + "}}" for k, v in real.items() if "@sha256:" in v} | {"HCO_KV_IO_VERSION": VERSION}
        found["env"][platform] = env
        for version, spec in SPECS.items():
            case = f"{scratch}/constants-{platform}-{version}"
            probe = write(case, platform, version, spec)
            r = s.run(case, [{"manifest": f"{case}/hyperconverged.yaml"}], env=env)["results"][0]
            if r["verdict"]["accepted"]:
                made = [recording.bare(o) for o in r["objects"] if recording.of_hyperconverged(o)]
                of_ssp = [recording.bare(o) for o in (s.ssp_stage(case, r) or {}).get("objects") or []]
                found["probes"].append(probe | {"objects": made, "sspObjects": of_ssp})
    return found


def write(case, platform, version, spec):
    os.makedirs(case)
    probe = {
        "hyperconverged": {"apiVersion": f"hco.kubevirt.io/{version}", "kind": "HyperConverged",
                           "metadata": {"name": "kubevirt-hyperconverged", "namespace": NAMESPACE, "annotations": ANNOTATIONS}, "spec": spec},
        "inventory": {"apiVersion": "hcoplan.dev/v1alpha1", "kind": "ClusterInventory", "metadata": {"name": "constants"},
                      "spec": {"platform": platform, "namespace": NAMESPACE, "baseDomain": DOMAIN, "monitoring": True, "networkAttachmentDefinitions": True,
                               "dataImportSchedule": "42 3/12 * * *"}},
        "nodes": {"apiVersion": "v1", "kind": "List", "items": [node(f"{role}-{i}", role) for role in ("control-plane", "worker") for i in range(3)]},
    }
    for name, document in probe.items():
        with open(f"{case}/{name}.yaml", "w") as f:
            json.dump(document, f)
    return probe


def node(name, role):
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", f"node-role.kubernetes.io/{role}": ""}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"nodeInfo": {"architecture": "amd64"}}}
