"""Draws clusters: what an inventory says, and nodes with the oddities that real ones have."""

ARCHITECTURES = ("amd64", "amd64", "amd64", "arm64", "s390x", "ppc64le")
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
BY_HCO = "set-to-allow-kubevirt-deployment"


def inventory(r):
    spec = {"platform": "Kubernetes" if r.random() < 0.2 else "OpenShift", "namespace": "kubevirt-hyperconverged",
            "baseDomain": r.choice(("example.com", "example.com", "lab.local"))}
    if r.random() < 0.15:
        spec["ipFamilies"] = r.choice((["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"]))
    if r.random() < 0.15:
        spec["hostedControlPlane"] = True
    if r.random() < 0.1:
        spec["monitoring"] = r.random() < 0.5
    if r.random() < 0.1:
        spec["networkAttachmentDefinitions"] = r.random() < 0.5
    if r.random() < 0.3 and spec["platform"] == "OpenShift":
        spec["tlsSecurityProfile"] = tls_profile(r)
    spec["dataImportSchedule"] = "42 3/12 * * *"
    return spec


def tls_profile(r):
    """A profile as users write them, now and then without a type, or with a type that doesn't fit."""
    custom = {"ciphers": r.choice(([], ["ECDHE-RSA-AES128-GCM-SHA256"], ["AES128-SHA", "TLS_AES_128_GCM_SHA256"], ["NO-SUCH-CIPHER"])),
              "minTLSVersion": r.choice(("VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"))}
    shapes = ({"type": "Old", "old": {}}, {"type": "Intermediate", "intermediate": {}}, {"type": "Modern", "modern": {}},
              {"type": "Custom", "custom": custom}, {"type": "Custom", "custom": custom}, {"type": "Old"}, {"type": "Modern", "old": {}})
    odd = ({}, {"old": {}}, {"custom": custom}, {"type": "Custom"}, {"type": "Custom", "custom": None})
    return r.choice(odd) if r.random() < 0.12 else r.choice(shapes)


def nodes(r):
    made = []
    one = r.choice(ARCHITECTURES) if r.random() < 0.75 else None
    for i in range(r.choice((0, 1, 3, 3, 3))):
        made.append(node(f"cp-{i}", one or r.choice(ARCHITECTURES), {CONTROL_PLANE: "", "node-role.kubernetes.io/master": ""}, r))
    compact = r.random() < 0.1
    for i in range(r.choice((0, 1, 2, 2, 3, 4))):
        labels = {"node-role.kubernetes.io/worker": "", "zone": f"z{i % 2}"}
        if r.random() < 0.08:
            labels[CONTROL_PLANE] = r.choice((BY_HCO, "", "true"))
        if r.random() < 0.06:
            labels["node-role.kubevirt.io/control-plane"] = BY_HCO
        if r.random() < 0.1:
            labels["node-role.kubernetes.io/infra"] = ""
        made.append(node(f"worker-{i}", one or r.choice(ARCHITECTURES), labels, r))
    if compact:
        for n in made:
            n["metadata"]["labels"]["node-role.kubernetes.io/worker"] = ""
    return made


def node(name, architecture, labels, r):
    made = {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": dict({"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": architecture}, **labels)},
            "status": {"nodeInfo": {"architecture": architecture}}}
    if r.random() < 0.03:
        made["status"]["nodeInfo"]["architecture"] = ""
    if r.random() < 0.05:
        made["spec"] = {"unschedulable": True}
    return made
