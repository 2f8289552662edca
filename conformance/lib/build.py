"""Compiles the recorder's parts inside the operators' trees, by overlay: the trees themselves stay as they are."""
import glob, json, os, re, shutil, subprocess, sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNTIME = "vendor/sigs.k8s.io/controller-runtime/pkg"


class Parts:
    """The compiled parts, and the files of the trees that a recording reads."""

    def __init__(self, hco, ssp, apiserver, operator, webhook, ssp_stage):
        self.hco, self.ssp = hco, ssp
        self.apiserver, self.operator, self.webhook, self.ssp_stage = apiserver, operator, webhook, ssp_stage


def build(hco, ssp, libraries, out):
    """Compiles every part; SSP's where there is a checkout of it."""
    if not shutil.which("go"):
        sys.exit("conformance/record: go isn't in PATH")
    out = os.path.abspath(out)
    os.makedirs(out, exist_ok=True)
    shared = go_files("operator", only=("recorder_manager.go", "recorder_cluster.go", "recorder_socket.go"))
    operator = go_files("operator")
    webhook = shared + go_files("webhook")
    return Parts(
        hco, ssp,
        compile_part(libraries, "cmd/recorder-apiserver", go_files("apiserver"), out, "apiserver", hooks=False),
        compile_part(hco, "cmd/hyperconverged-cluster-operator", operator, out, "operator"),
        compile_part(hco, "cmd/hyperconverged-cluster-webhook", webhook, out, "webhook"),
        ssp and compile_part(ssp, "cmd/recorder-ssp", shared + go_files("ssp"), out, "ssp", hooks=False),
    )


def go_files(part, only=None):
    files = sorted(glob.glob(f"{HERE}/{part}/*.go"))
    return [f for f in files if only is None or os.path.basename(f) in only]


def compile_part(tree, package, files, out, name, hooks=True):
    """Builds `package` of `tree` with our files laid over it."""
    runtime = f"{tree}/{RUNTIME}"
    registry = os.path.exists(f"{runtime}/manager/manager.go") and "GetConverterRegistry" in open(f"{runtime}/manager/manager.go").read()
    if registry and any(f.endswith("recorder_manager.go") for f in files):
        files = sorted(set(files) | {f"{HERE}/operator/recorder_converter.go"})
    elif not registry:
        files = [f for f in files if not f.endswith("recorder_converter.go")]
    replace = {f"{tree}/{package}/{os.path.basename(f)}": f for f in files}
    if hooks:
        for hook in ("client", "manager"):
            replace[f"{runtime}/{hook}/recorder_hook.go"] = f"{HERE}/hooks/{hook}.go"
            replace[f"{runtime}/{hook}/{hook}.go"] = renamed(f"{runtime}/{hook}/{hook}.go", "New", f"{out}/{name}-{hook}.go")
        schedule = f"{tree}/controllers/hyperconverged"
        replace[f"{schedule}/recorder_hook.go"] = f"{HERE}/hooks/schedule.go"
        replace[f"{schedule}/dataimportschedule.go"] = renamed(f"{schedule}/dataimportschedule.go", "generateSchedule", f"{out}/{name}-schedule.go")
    overlay = f"{out}/{name}-overlay.json"
    with open(overlay, "w") as f:
        json.dump({"Replace": replace}, f)
    binary = f"{out}/{name}"
    print(f"compiling {name} in {tree}", file=sys.stderr, flush=True)
    # encoding/json has to be version 1, as in the operators' images.
    env = dict(os.environ, GOEXPERIMENT="nojsonv2", GOTOOLCHAIN="local", GOPROXY="off", CGO_ENABLED="0")
    r = subprocess.run(["go", "build", "-mod=vendor", "-overlay", overlay, "-o", binary, f"./{package}"], cwd=tree, env=env,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if r.returncode:
        sys.exit(f"conformance/record: {name} doesn't compile in {tree}:\n{r.stdout}")
    return binary


def renamed(source, function, to):
    """A file of the tree with a function under another name, so that the hook's stands in its place."""
    text, n = re.subn(rf"(?m)^func {function}\(", f"func {function}OfTree(", open(source).read())
    if n != 1:
        sys.exit(f"conformance/record: {source} has {n} functions {function}, expected one")
    with open(to, "w") as f:
        f.write(text)
    return to
