"""Adds to a manifest what few people write: metadata and a status that only a server sets, empty and null values, numbers as text, quantities and
durations in unusual forms, long names."""
import string

QUANTITIES = ("1E", "0.1m", "+1", "1e-3", ".5", "1.", "9999999999999", "1Ki", "5 Gi", "-1", "1000m", "1024Mi", "2000000u", "1e400", "0x10", "1_000", "٣", "")
DURATIONS = ("1.5h", "1d", "-1h", "2562048h", "100us", "100µs", "0", "+1h", ".5h", "1h 30m", "3600", "1H", "90m0.5s", "")
NUMBERS = (-1, 0, 1.0, 1.5, 1e2, 1e19, 2**31, 2**31 - 1, 2**63 - 1, 2**63, 101, "5", "", True)
TEXTS = ("x" * 64, "x" * 254, "X.Y", "a b", "ü", "null", "true", "1", "-", "a/b/c", " x ", "x\n", 5, 1.5, True)
LABELS = ({}, None, {"a": ""}, {"a": "x" * 63}, {"a": "x" * 64}, {"x" * 64: "a"}, {"example.com/" + "x" * 63: "a"}, {"a/b/c": "d"}, {"": "x"}, {"a": None},
          {"a": "-x"}, {"a": "x."}, {"A_b.c": "D_e.f"}, {"a": 1}, {"UPPER.io/a": "b"}, {"app": "kubevirt-hyperconverged", "app.kubernetes.io/part-of": "x"},
          {"app.kubernetes.io/managed-by": "Helm"}, {"app.kubernetes.io/version": "1.2"})
ANNOTATIONS = ({}, None, {"a": None}, {"a": 1}, {"bad key": "x"}, {"x" * 64: "a"}, {"": "x"}, {"a": "x" * 3000}, {"hco.kubevirt.io/tuningPolicy": ""},
               {"hco.kubevirt.io/tuningPolicy": '{"qps": 100, "burst": 200}'}, {"hco.kubevirt.io/tuningPolicy": '{"qps":-1,"burst":2}'},
               {"hco.kubevirt.io/tuningPolicy": '{"qps":"100","burst":200}'}, {"hco.kubevirt.io/tuningPolicy": '{"qps":1e3,"burst":5,"more":1}'},
               {"hco.kubevirt.io/tuningPolicy": "null"}, {"hco.kubevirt.io/tuningPolicy": "[]"}, {"hco.kubevirt.io/tuningPolicy": '{"QPS":100,"Burst":200}'},
               {"hco.kubevirt.io/tuningPolicy": '{"qps":100}'}, {"hco.kubevirt.io/tuningPolicy": '{"burst":100}'})
METADATA = {
    "ownerReferences": ([], [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1"}], [{"apiVersion": "v1", "kind": "Event", "name": "x", "uid": "1"}],
                        [{"apiVersion": "", "kind": "X", "name": "", "uid": ""}], [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1", "controller": True},
                         {"apiVersion": "v1", "kind": "ConfigMap", "name": "y", "uid": "2", "controller": True}], None),
    "finalizers": ([], None, [""], ["a"], ["kubevirt.io/hyperconverged", "kubevirt.io/hyperconverged"], ["example.com/a", "example.com/b"], ["no domain"], ["kubernetes"]),
    "creationTimestamp": (None, "2024-01-01T00:00:00Z", "yesterday"), "generation": (0, 5, -1, "1"), "uid": ("", "x"), "deletionGracePeriodSeconds": (0, 30),
    "generateName": ("x-", ""), "selfLink": ("/x",), "managedFields": ([], None), "unknownField": (1, None), "clusterName": ("x",),
}
STATUS = (None, {}, {"nodeInfo": {}}, {"nodeInfo": None}, {"nodeInfo": {"workloadsArchitectures": ["arm64"]}}, {"conditions": []}, {"conditions": None},
          {"dataImportSchedule": "1 1/12 * * *"}, {"versions": []}, {"observedGeneration": 5}, {"systemHealthStatus": "healthy"}, {"noSuchField": 1}, {"dataImportCronTemplates": []}, "x", [])
SPECS = (None, {}, [], "", "x")


def add(manifest, r):
    for _ in range(r.choice((1, 1, 2))):
        r.choice((metadata, metadata, labels, annotations, status, value, value, value, value, container, container, image, image, spec))(manifest, r)


def metadata(manifest, r):
    name = r.choice(sorted(METADATA))
    manifest["metadata"][name] = r.choice(METADATA[name])


def labels(manifest, r):
    manifest["metadata"]["labels"] = r.choice(LABELS)


def annotations(manifest, r):
    given = r.choice(ANNOTATIONS)
    manifest["metadata"]["annotations"] = dict(manifest["metadata"].get("annotations") or {}, **given) if given else given


def status(manifest, r):
    manifest["status"] = r.choice(STATUS)


def spec(manifest, r):
    if r.random() < 0.3:
        manifest["spec"] = r.choice(SPECS)


def value(manifest, r):
    """Another form of a scalar of the same kind, as far as its form shows the kind."""
    holder, key, v = pick(manifest, r, lambda v: not isinstance(v, (dict, list)))
    if holder is None:
        return
    if isinstance(v, bool):
        holder[key] = r.choice(("true", "false", 0, 1, "yes", None, "True"))
    elif isinstance(v, (int, float)):
        holder[key] = r.choice(NUMBERS)
    elif isinstance(v, str) and v[-1:] in ("h", "m", "s") and v[:1] in string.digits and v[:1]:
        holder[key] = r.choice(DURATIONS + QUANTITIES)
    elif isinstance(v, str) and v[:1] in string.digits and v[:1]:
        holder[key] = r.choice(QUANTITIES)
    else:
        holder[key] = r.choice(TEXTS)


def container(manifest, r):
    """A map or list that is null, empty, or has an empty element."""
    holder, key, v = pick(manifest, r, lambda v: isinstance(v, (dict, list)))
    if holder is not None:
        holder[key] = r.choice((None, {}, [], None, type(v)()) + (([*v, None], [*v, {}], [*v, ""], v + v) if isinstance(v, list) else (dict(v, unknown=1), dict(v, unknown=None))))


def image(manifest, r):
    """A golden image with unusual metadata or contents."""
    templates = [t for _, key, v in places(manifest.get("spec")) if key == "dataImportCronTemplates" and isinstance(v, list) for t in v if isinstance(t, dict)]
    if not templates:
        return value(manifest, r)
    t = r.choice(templates)
    spec = t.get("spec")
    how = r.choice(("labels", "annotations", "name", "namespace", "metadata", "none", "schedule", "data source", "keep", "collect"))
    if how == "metadata":
        t["metadata"] = r.choice((None, {}, {"name": None}, {"name": "x", "generateName": "y"}))
    elif how == "none":
        t["spec"] = r.choice((None, {}))
    elif how in ("labels", "annotations", "name", "namespace"):
        if isinstance(t.get("metadata"), dict):
            t["metadata"][how] = r.choice({"labels": LABELS + ({"instancetype.kubevirt.io/default-preference": "x"}, {"template.kubevirt.io/architecture": "arm64"}),
                                           "annotations": ANNOTATIONS[:8] + ({"cdi.kubevirt.io/storage.bind.immediate.requested": "true"}, {"ssp.kubevirt.io/dict.architectures": "amd64,,arm64"},
                                                                             {"ssp.kubevirt.io/dict.architectures": "AMD64"}, {"dataimportcrontemplate.kubevirt.io/enable": ""}),
                                           "name": ("x" * 60, "x" * 254, "Upper", "a_b", "", None), "namespace": ("kubevirt-os-images", "x", "")}[how])
    elif isinstance(spec, dict):
        name, values = {"schedule": ("schedule", ("@daily", "* * * * * *", "x", None, "0 0 31 2 *")), "data source": ("managedDataSource", ("", None, "x" * 70, "A")),
                        "keep": ("importsToKeep", (-1, None, "3", 2**31)), "collect": ("garbageCollect", ("Never", "Outdated", "x", "", None))}[how]
        spec[name] = r.choice(values)


def pick(manifest, r, wanted):
    found = [p for p in places(manifest.get("spec")) if wanted(p[2])]
    return r.choice(found) if found else (None, None, None)


def places(value):
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()):
        yield value, key, inner
        yield from places(inner)
