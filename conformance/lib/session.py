"""Runs the compiled parts: one API server and one SSP for a session, an operator and a webhook for each case."""
import itertools, json, os, subprocess, threading

import yaml

TIME_LIMIT = 120  # seconds for one case


class RecorderError(Exception):
    """The recorder itself failed: never a verdict of the operators."""


class Session:
    def __init__(self, parts, scratch):
        self.parts, self.scratch = parts, scratch
        self.numbers = itertools.count(1)
        self.ssp_lock = threading.Lock()
        self.environment = {openshift: environments(parts.hco, openshift) for openshift in (True, False)}
        self.kubeconfig = f"{scratch}/kubeconfig"
        with open(self.kubeconfig, "w") as f:
            f.write("apiVersion: v1\nkind: Config\ncurrent-context: none\nclusters:\n- name: none\n  cluster: {server: 'http://127.0.0.1:1'}\n"
                    "contexts:\n- name: none\n  context: {cluster: none, user: none}\nusers:\n- name: none\n")
        for name in ("apiserver.crt", "apiserver.key"):
            open(f"{scratch}/{name}", "w").close()

    def __enter__(self):
        socket = f"{self.scratch}/apiserver.sock"
        self.apiserver = self.start("apiserver", [
            self.parts.apiserver, "-socket", socket, "-crds", f"{self.parts.hco}/deploy/crds/hco00.crd.yaml",
            "-webhooks", f"{self.parts.hco}/deploy/webhooks.yaml"], {}, self.scratch)
        self.apiserver_socket = socket
        self.ssp = self.parts.ssp and subprocess.Popen([self.parts.ssp_stage], cwd=self.parts.ssp, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=open(f"{self.scratch}/ssp.log", "w"))
        return self

    def __exit__(self, *_):
        for p in filter(None, (self.apiserver, self.ssp)):
            p.stdin.close()
            p.wait()

    def start(self, name, command, env, cwd):
        """Starts a part and waits until it says that it is ready."""
        log = f"{self.scratch}/{name}.log"
        p = subprocess.Popen(command, cwd=cwd, env=dict(os.environ, **env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(log, "w"))
        if p.stdout.readline().strip() != b"ready":
            p.stdin.close()
            raise RecorderError(f"{name} doesn't start: {tail(log)}")
        return p

    def create(self, case):
        """Records a create: the result of the only step, with SSP's stage."""
        inventory = f"{case}/inventory.yaml"
        a = self.run(case, [{"manifest": f"{case}/hyperconverged.yaml"}])
        r = a["results"][0]
        r["ssp"] = self.ssp_stage(case, r)
        r["openshift"] = is_openshift(inventory)
        return r

    def version(self, case):
        """The operator's version on the case's platform."""
        return self.environment[is_openshift(f"{case}/inventory.yaml")][0]["HCO_KV_IO_VERSION"]

    def types(self, case):
        """The Go types of the operator's scheme; the case only says on what cluster it starts."""
        file = f"{self.scratch}/types.json"
        self.run(case, [], types=file)
        with open(file) as f:
            return json.load(f)

    def run(self, case, steps, state=None, types="", env=None):
        """Runs an operator and its webhook on a cluster, from `state` (what another release left) or from nothing.
        What `env` has stands in the place of the release's own variables."""
        case = os.path.abspath(case)
        number = next(self.numbers)
        at = f"{self.scratch}/{number}"
        os.makedirs(at)
        inventory, nodes = f"{case}/inventory.yaml", f"{case}/nodes.yaml"
        of_operator, of_webhook = (e | (env or {}) for e in self.environment[is_openshift(inventory)])
        env = dict(KUBECONFIG=self.kubeconfig, OPERATOR_NAMESPACE=namespace_of(inventory), OSDK_FORCE_RUN_MODE="local", WATCH_NAMESPACE="",
                   RECORDER_INVENTORY=inventory, RECORDER_NODES=nodes, RECORDER_WEBHOOK=f"{at}/w", WEBHOOK_CERT_DIR=self.scratch,
                   RECORDER_REQUEST=f"{at}/request.json", RECORDER_SCHEDULE=spec_of(inventory).get("dataImportSchedule") or "", HOME=self.scratch,
                   GOGC="off")  # a process lives for a moment: collecting its garbage costs a quarter of that
        request = {"apiServer": self.apiserver_socket, "webhook": f"{at}/w", "inventory": inventory, "nodes": nodes, "answer": f"{at}/answer.json",
                   "state": "", "types": types, "steps": [dict(s, manifest=os.path.abspath(s["manifest"]) if s.get("manifest") else "") for s in steps]}
        if state is not None:
            request["state"] = f"{at}/state.json"
            with open(request["state"], "w") as f:
                json.dump(state, f)
        with open(f"{at}/request.json", "w") as f:
            json.dump(request, f)
        assets = f"{self.parts.hco}/assets"
        webhook = self.start(f"{number}/webhook", [self.parts.webhook], of_webhook | env | {"APP": "WEBHOOK"}, assets)
        try:
            with open(f"{at}/operator.log", "w") as log:
                r = subprocess.run([self.parts.operator], cwd=assets, env=os.environ | of_operator | env, stdout=log, stderr=log, timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            raise RecorderError(f"the operator takes longer than {TIME_LIMIT} s ({at})")
        finally:
            webhook.stdin.close()
            webhook.wait()
        if not os.path.exists(f"{at}/answer.json"):
            raise RecorderError(f"the operator ends with {r.returncode}: {tail(f'{at}/operator.log')} {tail(f'{at}/webhook.log')}")
        with open(f"{at}/answer.json") as f:
            return json.load(f)

    def ssp_stage(self, case, result):
        """SSP's answer to the SSP that HCO wrote, or None where there is none."""
        written = [o for o in result.get("objects") or [] if o["kind"] == "SSP"]
        if not written:
            return None
        case = os.path.abspath(case)
        question = {"inventory": f"{case}/inventory.yaml", "nodes": f"{case}/nodes.yaml", "ssp": written[0]}
        with self.ssp_lock:
            self.ssp.stdin.write(json.dumps(question).encode() + b"\n")
            self.ssp.stdin.flush()
            line = self.ssp.stdout.readline()
        if not line:
            raise RecorderError(f"SSP's part ended: {tail(f'{self.scratch}/ssp.log')}")
        return json.loads(line)


def tail(path):
    return open(path, errors="replace").read()[-600:].strip()


def spec_of(inventory):
    with open(inventory) as f:
        return (yaml.safe_load(f) or {}).get("spec") or {}


def is_openshift(inventory):
    return spec_of(inventory).get("platform") != "Kubernetes"


def namespace_of(inventory):
    return spec_of(inventory).get("namespace") or "kubevirt-hyperconverged"


def environments(hco, openshift):
    """The variables of the operator and of its webhook: on OpenShift from the newest ClusterServiceVersion, elsewhere from
    deploy/operator.yaml."""
    if not openshift:
        with open(f"{hco}/deploy/operator.yaml") as f:
            found = [d for d in yaml.safe_load_all(f) if d and d.get("kind") == "Deployment"]
        deployments = {d["metadata"]["name"]: d["spec"] for d in found}
        names = ("hyperconverged-cluster-operator", "hyperconverged-cluster-webhook")
    else:
        bundles = f"{hco}/deploy/olm-catalog/community-kubevirt-hyperconverged"
        versions = sorted((tuple(map(int, v.split("."))), v) for v in os.listdir(bundles) if os.path.isdir(f"{bundles}/{v}"))
        manifests = f"{bundles}/{versions[-1][1]}/manifests"
        name = next(n for n in os.listdir(manifests) if n.endswith("clusterserviceversion.yaml"))
        with open(f"{manifests}/{name}") as f:
            csv = yaml.load(f, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        deployments = {d["name"]: d["spec"] for d in csv["spec"]["install"]["spec"]["deployments"]}
        names = ("hco-operator", "hco-webhook")
    return [variables(deployments[name]) for name in names]


def variables(deployment):
    container = deployment["template"]["spec"]["containers"][0]
    return {e["name"]: str(e.get("value") or "") for e in container.get("env") or [] if "valueFrom" not in e}
