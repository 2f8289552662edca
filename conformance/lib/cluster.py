"""A cluster, by way of kubectl."""
import json, os, re, subprocess, time

from lib import recording

HYPERCONVERGED = "hyperconvergeds.hco.kubevirt.io"
# What says on what HCO runs. A cluster lacks the kinds that its platform doesn't have.
FACTS = (HYPERCONVERGED, "clusterserviceversions.operators.coreos.com", "clusterversions.config.openshift.io", "ingresses.config.openshift.io",
         "apiservers.config.openshift.io", "networks.config.openshift.io")
# What the API server answers where it doesn't judge the manifest.
NO_VERDICT = re.compile(r"\((ServiceUnavailable|Timeout|TooManyRequests|Unauthorized)\)|cannot \w+ resource|failed calling webhook|no matches for kind")
WRAPPED = (r'error when \w+ "[^"]*": ', r'admission webhook "[^"]*" denied the request: ', r'\S+ "[^"]*" is forbidden: (?=ValidatingAdmissionPolicy)',
           r"\S+ in version \S+ cannot be handled as a \S+: ")


class ClusterError(Exception):
    """kubectl or the cluster failed: never a verdict."""


class NotAtRest(Exception):
    """HCO didn't finish in time."""


class Cluster:
    def __init__(self, context, timeout, interval):
        self.context, self.timeout, self.interval = context, timeout, interval
        self.first = None  # the HyperConverged of the beginning

    def kubectl(self, *arguments):
        """(whether it succeeded, what it printed, its errors)"""
        try:
            r = subprocess.run(["kubectl", "--context", self.context, *arguments], capture_output=True, text=True, timeout=self.timeout + 60, start_new_session=True)
        except (OSError, subprocess.TimeoutExpired) as e:
            raise ClusterError(f"kubectl {arguments[0]}: {e}")
        return r.returncode == 0, r.stdout, r.stderr.strip()

    def get(self, kind):
        """All objects of a kind; none where the cluster doesn't know it."""
        done, out, errors = self.kubectl("get", kind, "--all-namespaces", "--output", "json")
        if done:
            return json.loads(out)["items"]
        if "the server doesn't have a resource type" in errors or "no matches for kind" in errors:
            return []
        raise ClusterError(f"kubectl get {kind}: {errors}")

    def machines(self):
        return self.get("virtualmachines.kubevirt.io") + self.get("virtualmachineinstances.kubevirt.io")

    def hyperconverged(self):
        found = self.get(HYPERCONVERGED)
        if len(found) > 1:
            raise ClusterError("there are several HyperConvergeds")
        return found[0] if found else None

    def facts(self):
        """Nodes, and objects from which `hcoplan import` reads the rest: the first HyperConverged where there is none."""
        found = [o for kind in FACTS for o in self.get(kind)]
        return self.get("nodes") + found + ([] if any(o["kind"] == "HyperConverged" for o in found) else [self.first])

    def delete(self):
        found = self.hyperconverged()
        if found:
            m = found["metadata"]
            done, _, errors = self.kubectl("delete", HYPERCONVERGED, m["name"], "--namespace", m["namespace"], "--wait", f"--timeout={self.timeout:.0f}s")
            if not done:
                raise ClusterError(f"kubectl delete: {errors}")

    def apply(self, path):
        """(why it is rejected or None, its warnings)"""
        done, _, errors = self.kubectl("apply", "--validate=warn", "--filename", path)
        warnings = [line.removeprefix("Warning: ") for line in errors.splitlines() if line.startswith("Warning: ")]
        return None if done else rejection(errors), warnings

    def admitted(self, path):
        """The object as it would be stored, or None where it is rejected."""
        done, out, _ = self.kubectl("create", "--dry-run=server", "--validate=warn", "--output", "json", "--filename", path)
        return json.loads(out) if done else None

    def rest(self, look=lambda live: [live]):
        """The objects that `look` returns, once HCO has finished and they are the same twice, status and metadata of the server aside."""
        end, before = time.monotonic() + self.timeout, None
        while time.monotonic() < end:
            live = self.hyperconverged()
            found = look(live) if live and has_finished(live) else None
            written = found and [recording.bare(o) for o in found]
            if written and written == before:
                return found
            before = written
            time.sleep(self.interval)
        raise NotAtRest(f"HCO is not at rest after {self.timeout:.0f} s")

    def restore(self, first):
        self.delete()
        why, _ = self.apply(first)
        if why:
            raise ClusterError(why)
        try:
            self.rest()
        except NotAtRest as e:
            raise ClusterError(e)


def has_finished(live):
    """Whether HCO has looked at the object as it is, and came to an end, be it an error."""
    status = live.get("status") or {}
    if status.get("observedGeneration", live["metadata"].get("generation")) != live["metadata"].get("generation"):
        return False
    complete = next((c for c in status.get("conditions") or [] if c["type"] == "ReconcileComplete"), {})
    return complete.get("status") == "True" or complete.get("reason") == "ReconcileFailed"


def as_written(o):
    """An object that can be applied again."""
    o = recording.bare(o)
    o["metadata"].pop("finalizers", None)
    return o


def rejection(errors):
    """The server's message in what kubectl prints of a rejection."""
    text = "\n".join(line for line in errors.splitlines() if not line.startswith("Warning: ")).strip()
    invalid = re.match(r'The \S+ "[^"]*" is invalid: *(.*)', text, re.S)
    if invalid:
        return ", ".join(line.removeprefix("* ") for line in invalid[1].strip().splitlines())
    answer = re.match(r"Error from server(?: \(\w+\))?: (.*)", text, re.S)
    if not answer or NO_VERDICT.search(text):
        raise ClusterError(f"kubectl apply: {text}")
    message = answer[1]
    for part in WRAPPED:
        message = re.sub(f"^{part}", "", message)
    return message
