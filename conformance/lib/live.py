"""Runs cases on a cluster: compares each with hcoplan, and records it in the layout of the golden recordings."""
import json, os, shutil, subprocess

from lib import cluster, comparison, recording


class Run:
    def __init__(self, target, binary, release, out, prefix):
        self.cluster, self.binary, self.release, self.out, self.prefix = target, binary, release, out, prefix
        self.recording = recording.Recording(out, release)
        self.total = self.equal = 0

    def case(self, name, manifest):
        """What differs: (path, what the cluster has, what hcoplan expected)."""
        self.total += 1
        name = f"{self.prefix}-{name}"
        case, dump = f"{self.out}/cases/{name}", f"{self.out}/dumps/{name}.json"
        write(f"{case}/nodes.yaml", items([]))  # its nodes are in its inventory
        shutil.copy(manifest, f"{case}/hyperconverged.yaml")
        self.cluster.delete()
        admitted = self.cluster.admitted(manifest)
        why, warnings = self.cluster.apply(manifest)
        line = {"case": name, "admission": {"accepted": why is None, "message": why or "", "warnings": sorted(warnings)}}
        self.import_facts(case, name)
        if why is None:
            kinds = {(o["kind"], group(o["apiVersion"])) for o in self.render(case)["objects"]}
            try:
                found = self.cluster.rest(lambda live: [live] + [o for kind in sorted(kinds | related(live)) for o in self.cluster.get(".".join(kind).rstrip("."))])
            except cluster.NotAtRest as e:
                return [("status", str(e), "HCO at rest")]
            write(dump, items(found))
            self.import_facts(case, name)
            line |= {"hyperconverged": admitted and recording.bare(admitted), "status": recording.status(found[0])}
        expected = self.render(case)
        differences = comparison.verdict_paths(line, expected)
        if why is None and expected["admission"]["accepted"]:
            objects, others = self.objects(case, dump, found, expected)
            differences += others
            line |= self.recording.parts(objects)
        if all(comparison.admission(line["admission"])[k] == comparison.admission(expected["admission"])[k] for k in ("accepted", "message")):
            line["admission"]["stage"] = expected["admission"].get("stage")  # kubectl doesn't print it
        self.recording.lines[name] = line
        self.equal += not differences
        return differences

    def objects(self, case, dump, found, expected):
        """The cluster's objects as the operators wrote them, and what differs from hcoplan's."""
        clusters = json.loads(self.hcoplan("plan", case, "--release", self.release, "--live", dump, "--format", "json"))["clusters"]
        check = (clusters[0].get("liveCheck") if clusters else None) or {"notCompared": "the cluster has no object of an operator", "differences": []}
        differences = [("objects", check["notCompared"], "objects to compare")] if check["notCompared"] else []
        rendered, live = ({key(o): o for o in objects} for objects in (expected["objects"], found))
        written = {k: reduced(live[k], o) for k, o in rendered.items() if k in live}
        differences += [("/".join(k), None, "an object") for k in rendered if k not in live]
        for d in check["differences"]:
            k = (group(d["apiVersion"]), d["kind"], d["namespace"] or "", d["name"])
            differences += [(f"{'/'.join(k)} {f['path']}", f["cluster"], f["expected"]) for f in d["fields"]]
            if k in live and d["kind"] != "HyperConverged" and (not d["fields"] or any(f["expected"] is None for f in d["fields"])):
                written[k] = recording.bare(live[k])  # with what hcoplan doesn't expect
                differences += [] if d["fields"] else [("/".join(k), "an object", None)]
        return list(written.values()), differences

    def import_facts(self, case, name):
        facts = f"{self.out}/dumps/{name}.facts.json"
        write(facts, items(self.cluster.facts()))
        with open(f"{case}/inventory.yaml", "w") as f:
            f.write(self.hcoplan("import", facts, "--name", name, "--release", self.release))

    def render(self, case):
        return json.loads(self.hcoplan("render", case, "--release", self.release, "--format", "json"))

    def hcoplan(self, *arguments):
        r = subprocess.run([self.binary, *arguments], capture_output=True, text=True)
        if not r.stdout:
            raise cluster.ClusterError(f"hcoplan {arguments[0]}: {r.stderr.strip()}")
        return r.stdout


def items(objects):
    return {"apiVersion": "v1", "kind": "List", "items": objects}


def write(path, document):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump(document, f)


def related(live):
    """The kinds of the objects that HCO names."""
    objects = (live.get("status") or {}).get("relatedObjects") or []
    return {(o["kind"], group(o.get("apiVersion") or "")) for o in objects if o.get("kind")}


def group(api_version):
    return api_version.rpartition("/")[0]


def key(o):
    m = o["metadata"]
    return group(o["apiVersion"]), o["kind"], m.get("namespace") or "", m["name"]


def reduced(live, rendered):
    """A live value without keys that the rendered one lacks: a server's defaults, where hcoplan reports no difference."""
    if isinstance(live, dict) and isinstance(rendered, dict):
        return {k: reduced(v, rendered[k]) for k, v in live.items() if k in rendered}
    if isinstance(live, list) and isinstance(rendered, list) and len(live) == len(rendered):
        return [reduced(v, w) for v, w in zip(live, rendered)]
    return live
