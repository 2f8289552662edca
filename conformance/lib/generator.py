"""Draws a HyperConverged from the schemas of a release, and from what people write. What neither says (durations,
quantities, names of templates, ciphers) is drawn from small lists."""
import json, os

import yaml

from lib import unusual, written

DURATIONS = ("1h0m0s", "48h", "24h0m0s", "90m", "10m", "5m", "1m0s", "30s", "720h", "0s", "1h30m")
QUANTITIES = ("1", "500m", "2Gi", "64Mi", "1.5", "100k", "0", "10Gi", "1e3", "0.5Gi")
CIPHERS = ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305", "AES128-SHA", "TLS_AES_128_GCM_SHA256", "NO-SUCH-CIPHER", "DES-CBC3-SHA")
WORDS = ("", "a", "zone", "worker", "kubernetes.io/hostname", "fast", "example.com/key", "x-1", "br-ex", "10.0.0.1", "node-role.kubernetes.io/infra")
GATE_WORDS = ("downwardMetrics", "alignCPUs", "videoConfig", "incrementalBackup", "objectGraph", "deployKubeSecondaryDNS", "persistentReservation",
              "enableMultiArchBootImageImport", "declarativeHotplugVolumes", "decentralizedLiveMigration", "containerPathVolumes", "noSuchGate",
              "passtBinding", "withHostPassthroughCPU", "optOutOfVMRules", "localStorageCapacity")
# The annotation that patches an operand, and the schema that says which paths the operand has.
PATCHES = {"kubevirt.kubevirt.io/jsonpatch": "kubevirt.v1", "containerizeddataimporter.kubevirt.io/jsonpatch": "cdi.v1beta1",
           "networkaddonsconfigs.kubevirt.io/jsonpatch": "networkaddonsconfig.v1", "ssp.kubevirt.io/jsonpatch": "ssp.v1beta3"}
# Paths that an operand usually has: most patches of schemas' own paths miss.
PRESENT = {
    "kubevirt.kubevirt.io/jsonpatch": ("/spec/configuration/migrations/parallelMigrationsPerCluster", "/spec/configuration/developerConfiguration/featureGates/0",
                                       "/spec/configuration/developerConfiguration/featureGates/-", "/spec/certificateRotateStrategy/selfSigned/ca/duration", "/spec/uninstallStrategy"),
    "containerizeddataimporter.kubevirt.io/jsonpatch": ("/spec/config/featureGates/-", "/spec/certConfig/ca/duration", "/spec/certConfig/server/renewBefore", "/spec/uninstallStrategy"),
    "networkaddonsconfigs.kubevirt.io/jsonpatch": ("/spec/tlsSecurityProfile/type", "/spec/selfSignConfiguration/caRotateInterval", "/spec/multus", "/spec/ovs", "/spec/kubeMacPool"),
    "ssp.kubevirt.io/jsonpatch": ("/spec/commonTemplates/namespace", "/spec/commonTemplates/dataImportCronTemplates/0/spec/schedule", "/spec/tlsSecurityProfile/type", "/spec/featureGates"),
}


class Source:
    """What a release line's data says: `schemas/releases/1.19`."""

    def __init__(self, directory):
        spec = lambda crd: crd["openAPIV3Schema"]["properties"]["spec"]
        crds = {name.removesuffix(".json"): read(f"{directory}/crds/{name}") for name in sorted(os.listdir(f"{directory}/crds"))}
        self.versions = {crd["version"]: spec(crd) for crd in crds.values() if crd["kind"] == "HyperConverged" and crd["served"]}
        self.patched = {annotation: spec(crds[name]) for annotation, name in PATCHES.items() if name in crds}
        self.templates = [t["metadata"]["name"] for t in read(f"{directory}/golden-images.json")]


def read(path):
    with open(path) as f:
        return json.load(f)


def manifest(source, r):
    drawn = sound(source, r)
    chance = r.random()
    if chance < 0.2:
        spoil(drawn, r)
    elif chance < 0.45:
        unusual.add(drawn, r)
    return drawn


def sound(source, r):
    """A manifest that is valid as far as the schema says."""
    version = r.choice(sorted(source.versions))
    schema = source.versions[version]
    spec = written.spec(version, schema, r, lambda s, n: value(s, n, r, source, 1)) if r.random() < 0.5 else {}
    names = sorted(schema["properties"])
    for name in r.sample(names, min(len(names), r.choice((0, 0, 1) if spec else (0, 1, 1, 2, 2, 3, 4, 6)))):
        spec[name] = value(schema["properties"][name], name, r, source, 0)
    metadata = {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"}
    decorate(metadata, source, r)
    return {"apiVersion": f"hco.kubevirt.io/{version}", "kind": "HyperConverged", "metadata": metadata, "spec": spec}


def decorate(metadata, source, r):
    annotations = written.annotations(r)
    if r.random() < 0.3:
        annotation = r.choice(sorted(source.patched))
        annotations[annotation] = patch(source, annotation, r)
    for name, values in (("deployPasstNetworkBinding", ("true", "false", "TRUE")), ("hco.kubevirt.io/deployAIE", ("true", "false")),
                         ("hco.kubevirt.io/tuningPolicy", ('{"qps":100,"burst":200}', '{"qps":0}', "{", '{"qps":10.5,"burst":1}')),
                         ("platform.kubevirt.io/autopilot", ("true", "false")), ("example.com/note", ("", "x"))):
        if r.random() < 0.06:
            annotations[name] = r.choice(values)
    if annotations:
        metadata["annotations"] = annotations
    if r.random() < 0.1:
        metadata["labels"] = {"app": r.choice(("kubevirt-hyperconverged", "other", ""))}
    if r.random() < 0.1:
        metadata["finalizers"] = [r.choice(("kubevirt.io/hyperconverged", "example.com/keep"))]


def patch(source, annotation, r):
    if r.random() < 0.05:
        return r.choice(("", "[", "{}", "[{}]", '[{"op":"frobnicate","path":"/spec/x"}]'))
    operations = []
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        operation = r.random() < 0.3 and written.patch(annotation, r)
        if operation:
            operations.append(operation)
            continue
        path = r.choice(PRESENT[annotation]) if r.random() < 0.6 else schema_path(source.patched[annotation], r)
        operation = {"op": r.choice(("add", "add", "add", "replace", "replace", "remove", "test", "copy", "move")), "path": path}
        if operation["op"] in ("copy", "move"):
            operation["from"] = r.choice(PRESENT[annotation])
        elif operation["op"] != "remove":
            operation["value"] = r.choice(("x", "99h0m0s", 1, True, {}, [], None, "Intermediate", {"a": "b"}))
        operations.append(operation)
    return json.dumps(operations)


def schema_path(schema, r):
    path = "/spec"
    while schema.get("properties") and (path == "/spec" or r.random() < 0.6):
        name = r.choice(sorted(schema["properties"]))
        schema, path = schema["properties"][name], f"{path}/{name}"
    return path


def value(schema, name, r, source, depth):
    """A value that the schema allows, as far as it says."""
    if name == "dataImportCronTemplates":
        return [template(schema["items"], r, source) for _ in range(r.choice((1, 1, 2)))]
    if name == "tlsSecurityProfile":
        return tls_profile(r)
    if "enum" in schema:
        return r.choice(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return r.choice(QUANTITIES)
    kind = schema.get("type")
    if kind == "object":
        return mapping(schema, r, source, depth)
    if kind == "array":
        values = [value(schema["items"], name, r, source, depth + 1) for _ in range(r.choice((0, 1, 1, 2)))]
        return [v for i, v in enumerate(values) if v not in values[:i]]
    if kind == "boolean":
        return r.random() < 0.5
    if kind in ("integer", "number"):
        low = schema.get("minimum", 0)
        return r.choice((low, low + 1, low + r.randrange(100), min(schema.get("maximum", 1000), 1000)))
    return text(schema, name, r)


def mapping(schema, r, source, depth):
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        return {w: value(extra, "", r, source, depth + 1) for w in r.sample([w for w in WORDS if w], r.choice((0, 1, 2)))}
    properties = schema.get("properties") or {}
    wanted = set(schema.get("required") or [])
    share = 0.9 if depth == 0 and len(properties) < 4 else 0.45 if depth < 2 else 0.3
    wanted |= {n for n in sorted(properties) if r.random() < share and depth < 8}
    return {n: value(properties[n], n, r, source, depth + 1) for n in sorted(wanted) if n in properties}


def tls_profile(r):
    """A profile as users write them, now and then without a type, or with a type that doesn't fit."""
    custom = {"ciphers": r.choice(([], ["ECDHE-RSA-AES128-GCM-SHA256"], ["AES128-SHA", "TLS_AES_128_GCM_SHA256"], ["NO-SUCH-CIPHER"])),
              "minTLSVersion": r.choice(("VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"))}
    shapes = ({"type": "Old", "old": {}}, {"type": "Intermediate", "intermediate": {}}, {"type": "Modern", "modern": {}},
              {"type": "Custom", "custom": custom}, {"type": "Custom", "custom": custom}, {"type": "Old"}, {"type": "Modern", "old": {}})
    odd = ({}, {"old": {}}, {"custom": custom}, {"type": "Custom"}, {"type": "Custom", "custom": None})
    return r.choice(odd) if r.random() < 0.12 else r.choice(shapes)


def text(schema, name, r):
    lower = name.lower()
    if "duration" in lower or "renewbefore" in lower or "interval" in lower or schema.get("format") == "duration":
        return r.choice(DURATIONS)
    if lower == "name" and "A-Za-z" not in schema.get("pattern", ""):
        return r.choice(GATE_WORDS)
    if "cipher" in lower:
        return r.choice(CIPHERS)
    if "ipserver" in lower or "nameserverip" in lower:
        return r.choice(("10.0.0.10", "fd00::1", "nonsense", ""))
    if "overhead" in lower or lower == "global":
        return r.choice(("0.05", "0.1", "1", "0.001"))
    if "mac" in lower or lower in ("rangestart", "rangeend"):
        return r.choice(("02:00:00:00:00:00", "02:ff:ff:ff:ff:ff"))
    if "bandwidth" in lower:
        return r.choice(("64Mi", "1Gi", "0"))
    return r.choice(WORDS)


def template(schema, r, source):
    """An entry of dataImportCronTemplates: a common one changed or switched off, or one of the user's own."""
    common = bool(source.templates) and r.random() < 0.5
    name = r.choice(source.templates) if common else r.choice(("mine", "other-cron"))
    metadata = {"name": name}
    annotations = {}
    if r.random() < 0.3:
        annotations["ssp.kubevirt.io/dict.architectures"] = r.choice(("amd64", "arm64,amd64", "s390x", "", "ppc64le", " amd64 , arm64"))
    if common and r.random() < 0.3:
        annotations["dataimportcrontemplate.kubevirt.io/enable"] = r.choice(("false", "true", "FALSE", "no"))
        return {"metadata": dict(metadata, annotations=annotations)}
    if annotations:
        metadata["annotations"] = annotations
    storage = {"resources": {"requests": {"storage": r.choice(("5Gi", "30Gi", "0.5Gi"))}}}
    if r.random() < 0.3:
        storage["storageClassName"] = "fast"
    claim = r.choice(("storage", "storage", "pvc"))
    if r.random() < 0.2:
        storage["dataSourceRef"] = dict({"kind": "PersistentVolumeClaim", "name": "x"}, **r.choice(({}, {"apiGroup": ""}, {"apiGroup": None})))
    registry = r.choice(({"url": "docker://quay.io/containerdisks/fedora:latest"}, {"imageStream": "fedora", "pullMethod": "node"}))
    spec = {"managedDataSource": r.choice(("fedora", "mine", "rhel9")), "schedule": r.choice(("", "0 */12 * * *", "7 7 * * *")),
            "template": {"spec": {"source": {"registry": registry}, claim: storage}}}
    if r.random() < 0.2:
        spec["retentionPolicy"] = r.choice(("None", "All"))
    if r.random() < 0.2:
        spec["importsToKeep"] = r.choice((0, 1, 5))
    return {"metadata": metadata, "spec": spec}


def spoil(manifest, r):
    """Does one thing wrong."""
    places = list(leaves(manifest["spec"]))
    how = r.choice(("type", "text", "null", "unknown", "label", "name", "namespace")) if places else r.choice(("unknown", "label", "name", "namespace"))
    if how == "unknown":
        manifest["spec"]["noSuchField"] = 1
    elif how == "label":
        manifest["metadata"]["labels"] = r.choice(({"bad key!": "x"}, {"a": True}, {"a": "not valid!"}))
    elif how == "name":
        manifest["metadata"]["name"] = r.choice(("other", "kubevirt-hyperconverged-2"))
    elif how == "namespace":
        manifest["metadata"]["namespace"] = r.choice(("default", "openshift-cnv"))
    else:
        holder, key = r.choice(places)
        holder[key] = {"type": r.choice((-1, 1.5, True, [], {}, "x")), "text": r.choice(("nonsense", "", "-5", "1x")), "null": None}[how]


def leaves(value):
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        if isinstance(inner, (dict, list)) and inner:
            yield from leaves(inner)
        else:
            yield value, key


def write(path, drawn):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        yaml.dump(drawn, f, Dumper=Plain, sort_keys=False)


class Plain(yaml.SafeDumper):
    def ignore_aliases(self, _):
        return True
