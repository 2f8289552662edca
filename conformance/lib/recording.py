"""Writes results in the layout of the golden recordings: a line for each case, objects by digest."""
import hashlib, json, os

# What the operator makes for itself and not for a HyperConverged.
OWN_KINDS = {"PrometheusRule", "ServiceMonitor", "Secret", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "HyperConverged", "Node",
             "PersesDashboard", "PersesDatasource"}
OWN_NAMES = {"kubevirt-hyperconverged-operator-metrics", "kubevirt-hyperconverged-webhook-metrics", "hyperconverged-cluster-operator-metrics"}
GAUGES = ("cr_exists", "memory_overcommit_percentage", "misconfigured_descheduler", "single_stack_ipv6", "unsafe_modifications", "multi_arch_boot_images_enabled",
          "dataimportcrontemplate_with_architecture_annotation", "dataimportcrontemplate_with_supported_architectures")
CONDITIONS = ("TaintedConfiguration", "ReconcileComplete")
OPERANDS = ("KubeVirt", "CDI", "NetworkAddonsConfig", "SSP")  # those that can fail to render, in the order of work


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

    def add(self, name, r):
        self.lines[name] = self.line(name, r)

    def line(self, name, r):
        v = r["verdict"]
        line = {"case": name, "admission": {"accepted": v["accepted"], "stage": v["stage"] or None, "message": v["message"], "warnings": sorted(v["warnings"] or [])}}
        if not v["accepted"]:
            return line
        seen = r["hyperConverged"] or {}
        status = seen.get("status") or {}
        line["hyperconverged"] = stored(v["object"])
        line["status"] = {
            "conditions": {c["type"]: {k: c.get(k) for k in ("status", "reason", "message")} for c in status.get("conditions") or [] if c["type"] in CONDITIONS},
            "dataImportCronTemplates": without_times(status.get("dataImportCronTemplates")),
            "dataImportSchedule": status.get("dataImportSchedule"),
            "nodeInfo": status.get("nodeInfo"),
        }
        line["metrics"] = gauges(r["metrics"])
        line["objects"] = self.keep(r["objects"])
        errors = reconcile_errors(line["status"]["conditions"], r)
        if errors:
            line["reconcileErrors"] = errors
        if not r["settled"]:
            line["unsettled"] = r["rounds"]
        if r.get("ssp"):
            s = r["ssp"]
            line["ssp"] = {"admission": {"accepted": s["accepted"], "message": s["message"], "stage": None if s["accepted"] else "validating"},
                           "errors": s["errors"], "objects": self.keep(s["objects"])}
        return line

    def keep(self, objects):
        """References to the objects, which are kept by digest."""
        rows = []
        for o in objects:
            m = o["metadata"]
            if not of_hyperconverged(o):
                continue
            o = bare(o)
            digest = hashlib.sha256(json.dumps(o, sort_keys=True).encode()).hexdigest()[:16]
            self.objects.setdefault(o["kind"], {})[digest] = o
            rows.append([digest, o["apiVersion"], o["kind"], m.get("namespace") or "", m["name"]])
        return sorted(rows)

    def write(self, keep_others=False):
        os.makedirs(f"{self.out}/expected", exist_ok=True)
        path = f"{self.out}/expected/{self.release}.jsonl"
        lines = dict(self.lines)
        if keep_others and os.path.exists(path):
            with open(path) as f:
                lines = {r["case"]: r for r in map(json.loads, f)} | lines
        with open(path, "w") as f:
            for name in sorted(lines):
                f.write(dump(lines[name]) + "\n")
        self.write_objects()

    def write_part(self, part, found):
        """What a release has once: its types, its constant objects."""
        os.makedirs(f"{self.out}/{part}", exist_ok=True)
        with open(f"{self.out}/{part}/{self.release}.json", "w") as f:
            f.write(dump(found) + "\n")

    def write_objects(self):
        os.makedirs(f"{self.out}/objects", exist_ok=True)
        for kind, objects in self.objects.items():
            path = f"{self.out}/objects/{kind}.jsonl"
            if os.path.exists(path):
                with open(path) as f:
                    objects = dict(objects, **{r["digest"]: r["object"] for r in map(json.loads, f)})
            with open(path, "w") as f:
                for digest in sorted(objects):
                    f.write(dump({"digest": digest, "object": objects[digest]}) + "\n")


def dump(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def of_hyperconverged(o):
    """Whether the operator makes it for a HyperConverged and not for itself."""
    return o["kind"] not in OWN_KINDS and not own_metrics(o)


def own_metrics(o):
    name = o["metadata"]["name"]
    return name in OWN_NAMES or name.endswith("-prometheus-rule")


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
    if o["kind"] == "Namespace" and o.get("spec") == {}:
        del o["spec"]
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


def stored(o):
    """The HyperConverged as admitted, without status and what only a server sets."""
    return bare(o)


def without_times(templates):
    for t in templates or []:
        for c in (t.get("status") or {}).get("conditions") or []:
            c.pop("lastTransitionTime", None)
    return templates


def gauges(samples):
    found = {}
    for s in samples:
        short = s["name"].removeprefix("kubevirt_hco_").removeprefix("hyperconverged_")
        if not s["name"].startswith("kubevirt_hco_") or short not in GAUGES:
            continue
        found.setdefault(s["name"], []).append({"labels": s["labels"], "value": whole(s["value"])})
    return {name: rows[0]["value"] if len(rows) == 1 and not rows[0]["labels"] else sorted(rows, key=lambda r: sorted(r["labels"].items()))
            for name, rows in sorted(found.items())}


def whole(number):
    return int(number) if float(number).is_integer() else number


def reconcile_errors(conditions, r):
    """The operand whose error ends the reconcile: the first that wasn't looked for. A panic names none."""
    if r["error"].startswith("panic: "):
        return [{"operand": "", "message": r["error"]}]
    c = conditions.get("ReconcileComplete") or {}
    if c.get("status") != "False" or c.get("reason") != "ReconcileFailed":
        return []
    operand = next((kind for kind in OPERANDS if kind not in r["asked"]), OPERANDS[-1])
    return [{"operand": operand, "message": c["message"].removeprefix("Error while reconciling: ")}]
