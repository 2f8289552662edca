"""Records updates (a manifest on a live object) and upgrades (a newer release on what an older one left)."""
import json, os

import yaml

from lib import recording

SERVER_SET = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


def update(session, directory, name, release, how, raw, scratch):
    """The result of submitting a case's manifest where something is: the manifest before/NAME.yaml, submitted in the same way, else
    live/RELEASE/NAME.json, as kubectl prints it. None where that one is refused."""
    case, drawn, live = f"{directory}/cases/{name}", f"{directory}/before/{name}.yaml", f"{directory}/live/{release}/{name}.json"
    if os.path.exists(drawn):
        first = drawn
        with open(drawn) as f:
            before = yaml.safe_load(f)
    else:
        with open(live) as f:
            before = json.load(f)
        before["metadata"] = {k: v for k, v in before["metadata"].items() if k not in SERVER_SET}
        before.pop("status", None)
        first = f"{scratch}/first.json"
        with open(first, "w") as f:
            json.dump(before, f)
    plain = f"{scratch}/plain.json"
    with open(plain, "w") as f:
        json.dump({k: before[k] for k in ("apiVersion", "kind")} | {"metadata": {k: before["metadata"][k] for k in ("name", "namespace")}, "spec": {}}, f)
    steps = [{"manifest": plain}, {"manifest": first, "how": "put"}] if raw else [{"manifest": first, "how": how if first == drawn else "replace"}]
    results = session.run(case, [*steps, {"manifest": f"{case}/hyperconverged.yaml", "how": how}])["results"]
    return results[-1] if results[-1]["live"] else None


def update_line(name, release, how, raw, r):
    v = r["verdict"]
    return {"id": name, "release": release, "how": how, "raw": raw,
            "admission": {"accepted": v["accepted"], "stage": v["stage"] or None, "message": v["message"], "warnings": sorted(set(v["warnings"] or []))},
            "hyperconverged": recording.bare(v["object"]) if v["accepted"] else None}


def upgrades(sessions, case):
    """What each release but the first makes of what the one before it left, where the first one is given a case: none where that
    refuses it."""
    answer = sessions[0].run(case, [{"manifest": f"{case}/hyperconverged.yaml"}])
    if not answer["results"][0]["verdict"]["accepted"]:
        return
    for session in sessions[1:]:
        answer = session.run(case, [{}], state=answer["state"])
        yield answer
        # The release has come up before the next one takes over: nothing in this cluster says that it has.
        status = answer["state"]["stored"].setdefault("status", {})
        status["versions"] = [{"name": "operator", "version": session.version(case)}]
        # Each process counts resource versions anew. In a cluster, an object that the release updates gets a new one.
        for related in status.get("relatedObjects") or []:
            related["resourceVersion"] = "0"


def upgrade_line(name, older, newer, answer, out):
    r = answer["results"][0]
    stored = recording.bare(answer["state"]["stored"])
    stored["metadata"].pop("finalizers", None)
    status = (answer["state"]["stored"].get("status")) or {}
    conditions = {c["type"]: c for c in status.get("conditions") or []}
    rows = out.keep(r["objects"])
    return {"case": name, "from": older, "to": newer, "hyperconverged": stored,
            "status": {"nodeInfo": status.get("nodeInfo"), "dataImportCronTemplates": recording.without_times(status.get("dataImportCronTemplates"))},
            "reconcileErrors": recording.reconcile_errors(conditions, r), "objects": sorted(row[0] for row in rows)}


def write_lines(path, lines, key, value):
    """Writes lines; those that are there and don't have this value stay."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path) as f:
            lines = [r for r in map(json.loads, f) if r[key] != value] + lines
    with open(path, "w") as f:
        for line in lines:
            f.write(recording.dump(line) + "\n")
