"""Writes results in the layout of the golden recordings: a line for each case, objects by digest."""
import hashlib, json, os

CONDITIONS = ("TaintedConfiguration", "ReconcileComplete")


def find_cases(directories, only=None):
    """(name, directory) of each case, sorted."""
    found = {}
    for d in directories:
        for name in sorted(os.listdir(d)):
            if os.path.exists(f"{d}/{name}/hyperconverged.yaml") and (not only or name in only):
                found[name] = f"{d}/{name}"
    return sorted(found.items())


class Recording:
    def __init__(self, out, release):
        self.out, self.release = out, release
        self.lines, self.objects = {}, {}

    def parts(self, objects):
        """A line's objects and the verdict on the SSP: one that exists was accepted."""
        has_ssp = any(o["kind"] == "SSP" for o in objects)
        return {"objects": self.keep(objects), "ssp": {"admission": {"accepted": True, "message": "", "stage": None}, "objects": []} if has_ssp else None}

    def keep(self, objects):
        """References to the objects, which are kept by digest."""
        rows = []
        for o in map(bare, objects):
            m = o["metadata"]
            digest = hashlib.sha256(json.dumps(o, sort_keys=True).encode()).hexdigest()[:16]
            self.objects.setdefault(o["kind"], {})[digest] = o
            rows.append([digest, o["apiVersion"], o["kind"], m.get("namespace") or "", m["name"]])
        return sorted(rows)

    def write(self):
        write_lines(self.out, self.release, self.lines)
        write_objects(self.out, self.objects)


def write_lines(directory, release, lines):
    os.makedirs(f"{directory}/expected", exist_ok=True)
    with open(f"{directory}/expected/{release}.jsonl", "w") as f:
        f.writelines(dump(lines[name]) + "\n" for name in sorted(lines))


def write_objects(directory, kinds):
    """Objects by digest, by kind."""
    os.makedirs(f"{directory}/objects", exist_ok=True)
    for kind, objects in kinds.items():
        with open(f"{directory}/objects/{kind}.jsonl", "w") as f:
            f.writelines(dump({"digest": digest, "object": objects[digest]}) + "\n" for digest in sorted(objects))


def dump(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def status(live):
    """The parts of a HyperConverged's status that a manifest and a cluster determine."""
    found = live.get("status") or {}
    return {
        "conditions": {c["type"]: {k: c.get(k) for k in ("status", "reason", "message")} for c in found.get("conditions") or [] if c["type"] in CONDITIONS},
        "dataImportCronTemplates": without_times(found.get("dataImportCronTemplates")),
        "dataImportSchedule": found.get("dataImportSchedule"),
        "nodeInfo": found.get("nodeInfo"),
    }


def bare(o):
    """An object without status and what only a server sets."""
    o = json.loads(json.dumps(o))
    o.pop("status", None)
    m = o["metadata"]
    for k in ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"):
        m.pop(k, None)
    for owner in m.get("ownerReferences") or []:
        if o["kind"] != "HyperConverged":  # a manifest names the owner's uid
            owner.pop("uid", None)
    annotations = m.get("annotations") or {}
    annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    if not annotations:
        m.pop("annotations", None)
    drop_empty_times(o)
    return o


def drop_empty_times(value):
    """Older API machinery writes `creationTimestamp: null` into every metadata, templates' included."""
    if isinstance(value, dict):
        if value.get("creationTimestamp", 0) is None:
            del value["creationTimestamp"]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            drop_empty_times(inner)


def without_times(templates):
    for t in templates or []:
        for c in (t.get("status") or {}).get("conditions") or []:
            c.pop("lastTransitionTime", None)
    return templates
