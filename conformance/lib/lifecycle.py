"""Records updates (a manifest on a live object) and upgrades (a newer release on what an older one left)."""
import json, os

from lib import recording

SERVER_SET = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


def update(session, case, live, how, raw, scratch):
    """The verdict of submitting a case's manifest where `live` (a file of kubectl's JSON) is what the cluster has."""
    with open(live) as f:
        before = json.load(f)
    before["metadata"] = {k: v for k, v in before["metadata"].items() if k not in SERVER_SET}
    before.pop("status", None)
    first = f"{scratch}/first.json"
    plain = f"{scratch}/plain.json"
    for path, document in ((first, before), (plain, {k: before[k] for k in ("apiVersion", "kind")} | {"metadata": {k: before["metadata"][k] for k in ("name", "namespace")}, "spec": {}})):
        with open(path, "w") as f:
            json.dump(document, f)
    steps = [{"manifest": plain}, {"manifest": first, "how": "put"}] if raw else [{"manifest": first}]
    answer = session.run(case, [*steps, {"manifest": f"{case}/hyperconverged.yaml", "how": how}])
    return answer["results"][-1]


def update_line(name, release, how, raw, r):
    v = r["verdict"]
    return {"id": name, "release": release, "how": how, "raw": raw,
            "admission": {"accepted": v["accepted"], "stage": v["stage"] or None, "message": v["message"], "warnings": sorted(set(v["warnings"] or []))},
            "hyperconverged": recording.bare(v["object"]) if v["accepted"] else None}


def upgrade(older, newer, case):
    """What the newer release makes of a case that the older one has settled, or None where the older one refuses it."""
    before = older.run(case, [{"manifest": f"{case}/hyperconverged.yaml"}])
    if not before["results"][0]["verdict"]["accepted"]:
        return None
    return newer.run(case, [{}], state=before["state"])


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


def write_lines(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        for line in lines:
            f.write(recording.dump(line) + "\n")
