"""Compares what hcoplan prints with a recording."""
import collections, json, os, re, subprocess, sys


# What the API machinery calls a label's key, since 1.35 and before.
NEW_LABEL_KEY, LABEL_KEY = "a valid label key must", "a qualified name must"


class Outcome:
    def __init__(self, release):
        self.release, self.total, self.equal = release, 0, 0
        self.different = []  # (length of the manifest, case, differences)


def compare(recording, directories, release, binary, only=None):
    objects = load_objects(recording)
    with open(f"{recording}/expected/{release}.jsonl") as f:
        wanted = {r["case"]: r for r in map(json.loads, f) if not only or r["case"] == only}
    outcome = Outcome(release)
    for directory in directories:
        got = render(binary, directory, release)
        for case in sorted(os.listdir(directory)):
            if case not in wanted:
                continue
            outcome.total += 1
            want, have = expected(wanted[case], objects), printed(got.get(case))
            if "metrics" in have and not wanted[case].get("metrics"):
                have["metrics"] = None  # a cluster's recording has none
            differences = list(paths(want, have))
            if differences:
                length = os.path.getsize(f"{directory}/{case}/hyperconverged.yaml")
                outcome.different.append((length, case, differences))
            else:
                outcome.equal += 1
    return outcome


def binary(named):
    built = [b for b in ("target/release/hcoplan", "target/quick/hcoplan", "target/debug/hcoplan") if os.path.exists(b)]
    return named or max(built, key=os.path.getmtime, default=None) or sys.exit("conformance: no hcoplan binary: build it, or name it with --bin")


def show_case(release, case, differences):
    print(f"--- {release} {case}" if differences else f"    {release} {case}: equal")
    for path, want, have in differences:
        print(f"  {path}\n      hcoplan expected {brief_json(have)}\n      the cluster has  {brief_json(want)}", flush=True)


def verdict_paths(line, expected):
    """What differs in the verdict, the admitted object and the conditions; a part that the line lacks isn't compared."""
    want, have = ({"admission": v["admission"], "hyperconverged": v.get("hyperconverged"), "conditions": (v.get("status") or {}).get("conditions")}
                  for v in (line, expected))
    want["admission"], have["admission"] = ({k: v for k, v in admission(a["admission"]).items() if k != "stage"} for a in (line, expected))
    shared = [k for k in want if want[k] is not None]
    return list(paths({k: want[k] for k in shared}, {k: have[k] for k in shared}))


def show(outcome, brief):
    print(f"{outcome.release}: {outcome.equal} of {outcome.total} equal")
    causes = collections.Counter()
    for _, case, differences in sorted(outcome.different):
        causes.update({re.sub(r"\[\d+\]", "[]", path) for path, _, _ in differences})
        if not brief:
            print(f"--- {outcome.release} {case}")
            for path, want, have in differences:
                print(f"  {path}\n      want {brief_json(want)}\n      got  {brief_json(have)}")
    if brief:
        for path, n in causes.most_common(25):
            print(f"{n:6}  {path}")


def brief_json(value):
    return json.dumps(value, ensure_ascii=False)[:600]


def load_objects(recording):
    objects = {}
    for name in os.listdir(f"{recording}/objects"):
        with open(f"{recording}/objects/{name}") as f:
            objects.update((r["digest"], r["object"]) for r in map(json.loads, f))
    return objects


def render(binary, directory, release):
    """What hcoplan prints for every case of a directory, by the case's name."""
    run = subprocess.run([binary, "render", directory, "--release", release, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = {}
    for line in run.stdout.decode("utf-8", "replace").splitlines():
        r = json.loads(line)
        found[os.path.basename(str(r["cluster"]).rstrip("/"))] = r
    return found


def expected(r, objects):
    """A line of a recording in the form that is compared."""
    ssp = r.get("ssp")
    rows = (r.get("objects") or []) + ((ssp or {}).get("objects") or [])
    return form(r, {tuple(row[1:]): objects[row[0]] for row in rows}, ssp)


def printed(r):
    if r is None:
        return {"case": "not printed"}
    made = {}
    for o in r.get("objects") or []:
        m = o.get("metadata") or {}
        made[(o.get("apiVersion"), o.get("kind"), m.get("namespace") or "", m.get("name"))] = o
    return form(r, made, r.get("ssp"))


def admission(a):
    # In what order errors are listed is chance: a Go map's.
    message = sorted((a.get("message") or "").strip(" []").replace(NEW_LABEL_KEY, LABEL_KEY).split(", "))
    return {"accepted": a["accepted"], "stage": a.get("stage"), "message": ", ".join(message), "warnings": sorted(set(a.get("warnings") or []))}


def form(r, objects, ssp):
    compared = {"admission": admission(r["admission"])}
    if not r["admission"]["accepted"]:
        return compared
    status = r.get("status") or {}
    compared.update({
        "hyperconverged": r.get("hyperconverged"),
        "status": {k: status.get(k) or None for k in ("conditions", "dataImportCronTemplates", "dataImportSchedule", "nodeInfo")},
        "metrics": r.get("metrics"),
        "reconcileErrors": r.get("reconcileErrors") or [],
        "ssp": {k: (ssp.get("admission") or {}).get(k) or "" for k in ("accepted", "message")} if ssp else None,
        "objects": {f"{kind}/{namespace}/{name}": normal(o) for (_, kind, namespace, name), o in objects.items()},
    })
    return compared


def normal(o):
    """Layout and comments of nginx.conf don't count, its directives do."""
    text = (o.get("data") or {}).get("nginx.conf") if o.get("kind") == "ConfigMap" else None
    if text is None:
        return o
    return dict(o, data=dict(o["data"], **{"nginx.conf": " ".join(re.sub(r"(?m)^\s*#.*$", "", text).split())}))


def paths(want, have, at=""):
    """Every path at which two values differ; numbers are equal where JSON's are."""
    if isinstance(want, dict) and isinstance(have, dict):
        for key in sorted(set(want) | set(have)):
            yield from paths(want.get(key, Absent), have.get(key, Absent), f"{at}.{key}" if at else key)
    elif isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        for i, (x, y) in enumerate(zip(want, have)):
            yield from paths(x, y, f"{at}[{i}]")
    elif want is Absent or have is Absent or isinstance(want, bool) != isinstance(have, bool) or want != have:
        yield at, None if want is Absent else want, None if have is Absent else have


class Absent:
    """Stands for a key that one side doesn't have."""
