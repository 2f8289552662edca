"""The GitHub Action in a hostile checkout: its steps run as action.yml has them, as a runner runs them.

HCOPLAN_ACTION names another copy of the action to attack, such as an older revision.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

from _inputs import HEAD, INVENTORY

TOKEN = "ghs_0123456789abcdefghijABCDEFGHIJ012345"
MANIFEST = HEAD + "spec: {evictionStrategy: %s}\n"
# Commands that GitHub's runner recognises in a line, with `##[` anywhere.
COMMAND = re.compile(r"\s*::([a-z-]+)( [^:]*)?::|.*?##\[([a-z-]+)")


class Runner:
    """A runner's directories, with a pull request's checkout and the action beside it."""

    def __init__(self, lab):
        self.lab = lab
        self.root = lab.dir()
        self.temp = os.path.join(self.root, "_temp")
        self.action = os.path.join(self.root, "_actions", "hcoplan", "hcoplan", "v0.1.0")
        self.workspace = os.path.join(self.root, "fleet", "fleet")
        self.bin = os.path.join(self.root, "bin")
        self.note = os.path.join(self.root, "note")
        for directory in (self.temp, self.bin, self.workspace):
            os.makedirs(directory)
        source = os.environ.get("HCOPLAN_ACTION", lab.root)
        for part in ("action.yml", "comment", ".github/action"):
            path = os.path.join(source, part)
            if os.path.isdir(path):
                shutil.copytree(path, os.path.join(self.action, part))
            elif os.path.exists(path):
                lab.write(self.action, part, open(path).read())
        # A crate that builds in a second replaces hcoplan's sources.
        lab.write(self.action, "Cargo.toml", '[package]\nname = "hcoplan"\nversion = "0.1.0"\n'
                  'edition = "2024"\nrust-version = "1.95.0"\n')
        lab.write(self.action, "Cargo.lock", 'version = 4\n\n[[package]]\nname = "hcoplan"\nversion = "0.1.0"\n')
        lab.write(self.action, "src/main.rs", "fn main() {}\n")
        lab.write(self.action, "build.rs", 'fn main() { std::fs::write("%s/built", format!("{:?}", '
                  "std::env::vars().collect::<Vec<_>>())).unwrap() }\n" % self.root)
        self.steps = {}

    def trap(self):
        """A shell command that leaves a note when it is run."""
        return f"touch {self.note}"

    def stub(self, name, text):
        """Puts a program onto the PATH, outside the checkout."""
        path = self.lab.write(self.bin, name, text)
        os.chmod(path, 0o755)

    def change(self, files=None):
        """A repository with one cluster on main, and a merge of a change to it that is checked out."""
        lab = self.lab
        lab.write(self.workspace, "clusters/hyperconverged.yaml", MANIFEST % "None")
        lab.write(self.workspace, "clusters/inventory.yaml", INVENTORY)
        lab.commit(self.workspace, "base")
        base = lab.git(self.workspace, "rev-parse", "HEAD").strip()
        lab.git(self.workspace, "checkout", "-q", "-b", "change")
        lab.write(self.workspace, "clusters/hyperconverged.yaml", MANIFEST % "LiveMigrate")
        for path, text in (files or {}).items():
            lab.write(self.workspace, path, text)
        lab.commit(self.workspace)
        lab.git(self.workspace, "checkout", "-q", "--detach", base)
        lab.git(self.workspace, "merge", "-q", "--no-ff", "-m", "merge", "change")
        self.server = os.path.join(self.root, "server")
        origin = os.path.join(self.server, "hcoplan", "fleet")
        lab.git(self.root, "clone", "-q", "--bare", self.workspace, origin)
        lab.git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
        lab.git(self.workspace, "remote", "add", "origin", origin)
        self.sha = lab.git(self.workspace, "rev-parse", "HEAD").strip()
        return base

    def step(self, name, inputs=None, env=None, action="action.yml", event=None, known=None):
        """Runs a step of the action; returns its result, its outputs and the commands that it gave the runner."""
        self.lab.expect(os.path.exists(os.path.join(self.action, action)), f"there is no {action}")
        found = next((s for s in steps(os.path.join(self.action, action)) if s["name"] == name), None)
        self.lab.expect(found is not None, f"{action} has no step {name}")
        defaults = dict(re.findall(r'^  ([a-z-]+):(?:\n    .*)*?\n    default: "?([^"\n]*)"?$',
                                   open(os.path.join(self.action, action)).read(), re.M))
        values = {"inputs." + k: v for k, v in {**defaults, "token": TOKEN, **(inputs or {})}.items()}
        values.update({
            "github.action_path": os.path.dirname(os.path.join(self.action, action)),
            "github.action_repository": "hcoplan/hcoplan", "github.base_ref": "main",
            "github.repository": "hcoplan/fleet", "github.token": TOKEN,
            "github.event.pull_request.number": "5", "runner.temp": self.temp,
        })
        values.update({f"github.event.workflow_run.{k}": v for k, v in (event or {}).items()})
        values.update(known or {})
        output, summary = os.path.join(self.root, "output"), os.path.join(self.root, "summary")
        for path in (output, summary):
            open(path, "w").close()
        environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}", "GITHUB_WORKSPACE": self.workspace, "GITHUB_OUTPUT": output,
            "GITHUB_STEP_SUMMARY": summary, "GITHUB_REPOSITORY": "hcoplan/fleet", "GITHUB_REPOSITORY_ID": "100",
            "GITHUB_SERVER_URL": "file://" + getattr(self, "server", "/nowhere"), "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_ACTION_PATH": values["github.action_path"], "GITHUB_SHA": getattr(self, "sha", ""), "GITHUB_BASE_REF": "main",
            "RUNNER_TEMP": self.temp, "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", **(env or {}),
        }
        environment.update({k: evaluate(v, values) for k, v in found["env"].items()})
        script = self.lab.write(self.temp, "step.sh", found["run"])
        cwd = evaluate(found.get("working-directory", self.workspace), values)
        result = self.lab.program("bash", "--noprofile", "--norc", "-eo", "pipefail", script, cwd=cwd,
                                  env=environment, timeout=120)
        outputs = dict(line.split("=", 1) for line in open(output).read().splitlines() if "=" in line)
        return result, outputs, given(result.out + result.err)

    def plan(self, **more):
        """Runs the steps that fetch the base and plan."""
        known = {"steps.install.outputs.hcoplan": self.lab.binary}
        if any(s["name"] == "Fetch the base" for s in steps(os.path.join(self.action, "action.yml"))):
            result, outputs, commands = self.step("Fetch the base", **more)
            if result.code != 0:
                return result, outputs, commands
            known["steps.base.outputs.base"] = outputs.get("base", "")
        return self.step("Plan", known=known, **more)

    def unharmed(self, result):
        """Nothing of the checkout was run."""
        self.lab.expect(not os.path.exists(self.note), "code of the checkout was run", result)


def steps(path):
    """The steps of an action that run a command; of YAML it knows what ours is written in."""
    found, step = [], {}
    for line in open(path).read().split("\n  steps:\n")[1].splitlines():
        if match := re.fullmatch(r"(    - |      )([a-z-]+): (.*)", line):
            if match[1] == "    - ":
                step = {"env": {}}
                found.append(step)
            step[match[2]] = match[3]
        elif match := re.fullmatch(r"        ([A-Z_]+): (.*)", line):
            step["env"][match[1]] = match[2]
    return [s for s in found if "run" in s]


def evaluate(text, values):
    """A value with its `${{ a || b }}`."""
    text = text.strip('"')
    match = re.fullmatch(r"\$\{\{ (.*) \}\}", text)
    if not match:
        return text
    for part in match[1].split(" || "):
        value = part[1:-1] if part.startswith("'") else values.get(part, "")
        if value:
            return value
    return ""


def given(text):
    """The commands that a runner takes from a step's output."""
    commands, word = [], None
    for line in text.splitlines():
        if word is not None:
            word = None if line.strip() == f"::{word}::" else word
        elif line.strip().startswith("::stop-commands::"):
            word = line.strip().split("::", 2)[2]
        elif match := COMMAND.match(line):
            commands.append(line)
    return commands


def attack_verdict(lab):
    """The job ends as hcoplan does, and the diff is that of the change: nothing hides a finding."""
    runner = Runner(lab)
    runner.change()
    manifest = os.path.join(runner.workspace, "clusters", "hyperconverged.yaml")
    for inputs, text, status, changed in (
            ({}, MANIFEST % "LiveMigrate", "0", "true"), ({"fail-on": "warning"}, MANIFEST % "LiveMigrate", "1", "true"),
            ({"check": "true"}, MANIFEST % "LiveMigrate", "1", "true"), ({}, MANIFEST % "None", "0", "false"),
            ({"args": "--select=no-such-rule"}, MANIFEST % "None", "2", None),
            ({}, MANIFEST % "Sometimes", "1", None), ({}, MANIFEST % "[", "4", None)):
        lab.write(os.path.dirname(manifest), "hyperconverged.yaml", text)
        result, outputs, commands = runner.plan(inputs={"directory": "clusters", **inputs})
        got = outputs.get("status"), outputs.get("changed")
        lab.expect(result.code == 0 and got[0] == status and changed in (None, got[1]), f"{inputs}: {got}", result)
        lab.expect(status == "2" or commands, f"{inputs}: no annotations", result)
        if changed == "true":
            said = {k: outputs.get(k, "") for k in ("verdict", "level", "summary", "added", "updated", "removed",
                                                    "clusters", "new_errors", "new_warnings", "findings")}
            lab.expect(said["verdict"] and said["level"] in ("bad", "warn", "neutral", "good"), f"{said}", result)
            lab.expect(0 < len(said["summary"]) <= 140, f"no summary in a line: {said}", result)
            lab.expect(all(said[k].isdigit() for k in list(said)[3:]) and int(said["updated"]) > 0, f"{said}", result)
        result, _, _ = runner.step("Verdict", known={"steps.run.outputs.status": status})
        lab.expect(str(result.code) == status, "the verdict is lost", result)
    result, outputs, _ = runner.plan(inputs={"directory": "nowhere"})
    lab.expect(result.code != 0, "a directory that isn't there passes", result)


def attack_kustomize(lab):
    """Overlays are built, whatever the change's hcoplan.yaml says."""
    runner = Runner(lab)
    runner.change({
        "overlays/base/hyperconverged.yaml": MANIFEST % "None",
        "overlays/base/kustomization.yaml": "resources: [hyperconverged.yaml]\n",
        "overlays/prod/kustomization.yaml": "resources: [../base]\nnamespace: kubevirt-hyperconverged\n",
        "overlays/prod/inventory.yaml": INVENTORY, "overlays/hcoplan.yaml": "kustomize: off\n",
    })
    ran = os.path.join(runner.root, "ran")
    runner.stub("kustomize", f"#!/bin/sh\ntouch {ran}\nexec cat ../base/hyperconverged.yaml\n")
    result, outputs, _ = runner.plan(inputs={"directory": "overlays"})
    lab.expect(os.path.exists(ran), "it isn't built", result)
    lab.expect((outputs.get("status"), outputs.get("clusters")) == ("0", "1"), f"the overlay isn't planned: {outputs}", result)


def attack_modules(lab):
    """No module of the checkout is imported."""
    runner = Runner(lab)
    body = f"import os\nos.system({runner.trap()!r})\nraise SystemExit\n"
    runner.change({"json.py": body, "sitecustomize.py": body, "usercustomize.py": body})
    result, outputs, _ = runner.plan(env={"PYTHONPATH": ".", "PYTHONSTARTUP": "json.py"})
    runner.unharmed(result)
    lab.expect(outputs.get("changed") == "true" and outputs.get("findings", "0") != "0", "it doesn't plan", result)


def attack_toolchain(lab):
    """Built from source, hcoplan is built by no toolchain and no configuration of the checkout, and without a token."""
    home = os.path.expanduser("~")
    if subprocess.run(["cargo", "+1.95.0", "--version"], capture_output=True).returncode != 0:
        raise Skipped("it needs rustup with Rust 1.95.0")
    runner = Runner(lab)
    for name in ("bin/cargo", "bin/rustc", "wrapper"):
        os.chmod(lab.write(runner.workspace, f"evil/{name}", f"#!/bin/sh\n{runner.trap()}\nexit 1\n"), 0o755)
    evil = os.path.join(runner.workspace, "evil")
    lab.write(runner.workspace, "rust-toolchain.toml", f'[toolchain]\npath = "{evil}"\n')
    lab.write(runner.workspace, ".cargo/config.toml", f'[build]\nrustc-wrapper = "{evil}/wrapper"\n')
    source = "source" if "`source`" in open(os.path.join(runner.action, "action.yml")).read() else ""
    env = {"HOME": home, "RUSTC_WRAPPER": f"{evil}/wrapper", "RUSTUP_TOOLCHAIN": evil, "CARGO_HOME": evil,
           "GH_TOKEN": TOKEN}
    result, outputs, _ = runner.step("Install hcoplan", {"version": source}, env)
    runner.unharmed(result)
    lab.expect(os.path.exists(outputs.get("hcoplan", "")), "nothing is built", result)
    lab.expect(TOKEN not in open(os.path.join(runner.root, "built")).read(), "the build sees the token")


def attack_source_in_the_checkout(lab):
    """An action that lies in the checkout isn't built."""
    runner = Runner(lab)
    shutil.move(runner.action, os.path.join(runner.workspace, "action"))
    runner.action = os.path.join(runner.workspace, "action")
    runner.stub("cargo", f"#!/bin/sh\n{runner.trap()}\n")
    source = "source" if "`source`" in open(os.path.join(runner.action, "action.yml")).read() else ""
    result, _, _ = runner.step("Install hcoplan", {"version": source})
    runner.unharmed(result)
    lab.expect(result.code != 0, "it is rejected", result)


def attack_path(lab):
    """No program of the checkout is run, although the PATH leads into it."""
    runner = Runner(lab)
    names = ["git", "gh", "awk", "cat", "wc", "rm", "mkdir", "python3", "sed", "od", "tr", "grep", "env", "cp"]
    runner.change({f"tools/{name}": f"#!/bin/sh\n{runner.trap()}\nexit 1\n" for name in names})
    tools = os.path.join(runner.workspace, "tools")
    for name in names:
        os.chmod(os.path.join(tools, name), 0o755)
    os.symlink(tools, os.path.join(runner.root, "link"))
    path = f"{runner.root}/link:{tools}:fleet/tools:.:{os.environ['PATH']}:"
    result, outputs, _ = runner.plan(env={"PATH": path})
    runner.unharmed(result)
    lab.expect(outputs.get("changed") == "true", "it doesn't plan", result)


def attack_shell(lab):
    """The shell reads no file and no function that the environment names."""
    runner = Runner(lab)
    runner.change({"env.sh": runner.trap() + "\n"})
    file = os.path.join(runner.workspace, "env.sh")
    env = {"BASH_ENV": file, "ENV": file, "BASH_FUNC_git%%": f"() {{ {runner.trap()}; }}",
           "BASH_FUNC_mkdir%%": f"() {{ {runner.trap()}; }}", "SHELLOPTS": "xtrace", "PS4": f"$({runner.trap()})"}
    result, outputs, _ = runner.plan(env=env)
    runner.unharmed(result)
    lab.expect(outputs.get("changed") == "true", "it doesn't plan", result)


def hostile(runner):
    """A git configuration that names a program wherever one can be named."""
    program = runner.lab.write(runner.root, "program", f"#!/bin/sh\n{runner.trap()}\nexit 1\n")
    os.chmod(program, 0o755)
    lines = ["[core]", *(f"\t{key} = {program}" for key in (
        "fsmonitor", "sshCommand", "gitProxy", "askPass", "pager", "editor", "alternateRefsCommand"))]
    lines += ['[remote "origin"]', f"\turl = ext::{program}", f"\tuploadpack = {program}", "\tvcs = ext",
              '[protocol "ext"]', "\tallow = always", "[credential]", f"\thelper = !{program}",
              f'[url "ext::{program} "]', f"\tinsteadOf = file://{runner.server}", "[diff]", f"\texternal = {program}"]
    return "\n".join(lines) + "\n"


def attack_bare_repository(lab):
    """Where a directory of the checkout looks like a bare repository, nothing that it configures is run, and the
    change is compared all the same."""
    runner = Runner(lab)
    runner.server = os.path.join(runner.root, "server")
    config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n" + hostile(runner)
    runner.change({"clusters/HEAD": "ref: refs/heads/main\n", "clusters/config": config,
                   "clusters/objects/keep": "", "clusters/refs/keep": ""})
    result, outputs, _ = runner.plan(inputs={"directory": "clusters"})
    runner.unharmed(result)
    lab.expect(outputs.get("changed") == "true", "it isn't compared", result)


def attack_git_configuration(lab):
    """No program that the checkout's git configuration or its hooks name is run."""
    runner = Runner(lab)
    runner.change()
    with open(os.path.join(runner.workspace, ".git", "config"), "a") as file:
        file.write(hostile(runner))
    for hook in ("reference-transaction", "post-index-change", "post-checkout"):
        os.chmod(lab.write(runner.workspace, f".git/hooks/{hook}", f"#!/bin/sh\n{runner.trap()}\n"), 0o755)
    names = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": runner.trap(),
             "GIT_SSH_COMMAND": runner.trap(), "GIT_EXEC_PATH": runner.workspace, "GIT_DIR": runner.root,
             "HOME": runner.workspace, "XDG_CONFIG_HOME": runner.workspace}
    for path in (".gitconfig", "git/config"):
        lab.write(runner.workspace, path, hostile(runner))
    for env in ({}, names):
        result, outputs, _ = runner.plan(env=env)
        runner.unharmed(result)
        lab.expect(outputs.get("changed") == "true", "it doesn't plan", result)
    left = os.path.join(runner.workspace, ".git", "objects", "info", "alternates")
    lab.expect(not os.path.exists(left), "the checkout's repository is left as it was")


def attack_names(lab):
    """Names in the checkout aren't commands to the runner."""
    for name in ("x##[add-mask]clusters", "::add-mask::clusters", "x\n::add-mask::clusters",
                 "x\n ::error file=README.md::forged", "x\n::stop-commands::pause"):
        runner = Runner(lab)
        runner.change({f"clusters/{name}/hyperconverged.yaml": MANIFEST % "Sometimes",
                       f"clusters/{name}/inventory.yaml": INVENTORY, f"{name}.yaml": MANIFEST % "[",
                       f"good/{name}/hyperconverged.yaml": MANIFEST % "None",
                       f"good/{name}/inventory.yaml": INVENTORY})
        result, _, commands = runner.plan(inputs={"check": "true"})
        ours = re.compile(r"::(error|warning|notice) (file=(?!README)|title=hcoplan)")
        wrong = [c for c in commands if not ours.match(c)]
        lab.expect(not wrong, f"commands that nobody gave: {wrong}", result)
        lab.expect(len(commands) > 3, "the findings are annotations", result)


def attack_link_out(lab):
    """Nothing outside the checkout is read, wherever the directory's name leads."""
    runner = Runner(lab)
    runner.change()
    outside = lab.dir()
    lab.write(outside, "hyperconverged.yaml", MANIFEST % "None")
    lab.write(outside, "inventory.yaml", INVENTORY)
    os.symlink(outside, os.path.join(runner.workspace, "deploy"))
    result, outputs, _ = runner.plan(inputs={"directory": "deploy"})
    lab.expect(result.code != 0 and "sarif-file" not in outputs, "it is rejected", result)


def release(runner, said=None, checksum=None, verified=True):
    """Stubs of what fetches and verifies a release: of the binary under attack, or of one that says another version."""
    lab = runner.lab
    assets = lab.dir()
    with open(lab.binary, "rb") as file:
        program = file.read() if said is None else f"#!/bin/sh\necho {said}\n".encode()
    name = "hcoplan-x86_64-unknown-linux-gnu.tar.gz"
    with tarfile.open(os.path.join(assets, name), "w:gz") as archive:
        entry = tarfile.TarInfo("./hcoplan")
        entry.size, entry.mode = len(program), 0o755
        archive.addfile(entry, io.BytesIO(program))
    found = subprocess.run(["sha256sum", name], cwd=assets, capture_output=True, text=True).stdout.split()[0]
    lab.write(assets, "SHA256SUMS", f"{checksum or found}  {name}\n")
    lab.write(assets, "hcoplan.intoto.jsonl", "{}\n")
    log = os.path.join(runner.root, "log")
    head = f'#!/bin/bash\n{{ echo "$(basename "$0") $*"; env; }} >>{log}\n'
    runner.stub("curl", head + f'while [ "$1" != --output ]; do shift; done\ncp "{assets}/$2" "$2"\n')
    runner.stub("gh", head + f'case "$*" in *--help*) exit 0 ;; *download*) cp {assets}/* "$7" ;; esac\n'
                + ("exit 0\n" if verified else "exit 1\n"))
    runner.stub("cargo", f"#!/bin/sh\n{runner.trap()}\nexit 1\n")
    return log


def attack_release(lab):
    """By default a released binary is installed, of the action's own version, verified, without a token."""
    runner = Runner(lab)
    log = release(runner)
    result, outputs, _ = runner.step("Install hcoplan")
    runner.unharmed(result)
    lab.expect(result.code == 0 and os.path.exists(outputs.get("hcoplan", "")), "it is installed", result)
    text = open(log).read()
    lab.expect("/releases/download/v0.1.0/" in text, "another version is fetched", text)
    lab.expect(re.search(r"gh attestation verify .*--signer-workflow", text), "the provenance isn't verified", text)
    lab.expect(TOKEN not in text, "a program that needs none sees the token")


def attack_forged_release(lab):
    """What isn't the release's binary isn't run: a wrong checksum, no provenance, another release's."""
    for what in ({"checksum": "0" * 64}, {"verified": False}, {"said": "hcoplan 0.0.9"}):
        runner = Runner(lab)
        release(runner, **what)
        result, outputs, _ = runner.step("Install hcoplan", {"version": "v0.1.0"})
        lab.expect(result.code != 0 and "hcoplan" not in outputs, f"{what} is rejected", result)


def attack_token(lab):
    """hcoplan, which reads the checkout, runs without the token."""
    runner = Runner(lab)
    runner.change()
    seen = os.path.join(runner.root, "seen")
    lab.binary = lab.write(runner.root, "hcoplan", f"#!/bin/sh\nenv >>{seen}\nexit 0\n")
    os.chmod(lab.binary, 0o755)
    names = ("INPUT_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN")
    result, _, _ = runner.plan(env={name: TOKEN for name in names})
    lab.expect(os.path.exists(seen), "it doesn't run", result)
    lab.expect(TOKEN not in open(seen).read(), "it sees the token")


GH = '''#!%s -I
import json, os, subprocess, sys
words = sys.argv[1:]
known = json.load(open(%r))
with open(%r, "a") as log:
    log.write(json.dumps(words) + "\\n")
if words[:2] == ["attestation", "verify"]:
    sys.exit(0)
method = words[words.index("--method") + 1] if "--method" in words else "GET"
path = next(w for w in words[1:] if w.startswith("repos/"))
if method != "GET":
    body = words[words.index("-F") + 1].removeprefix("body=@")
    with open(%r, "w") as file:
        file.write(open(body).read())
    sys.exit(0)
answer = known[path.split("?")[0]]
if isinstance(answer, str):
    sys.stdout.buffer.write(open(answer, "rb").read())
    sys.exit(0)
query = words[words.index("--jq") + 1]
sys.exit(subprocess.run(["jq", "-r", query], input=json.dumps(answer), text=True).returncode)
'''
EVENT = {"event": "pull_request", "id": "77", "head_sha": "c" * 40, "head_repository.id": "200"}


class Comments:
    """A run's artifact and a GitHub that has pull requests and comments."""

    def __init__(self, lab, files, size=None, pulls=None, comments=()):
        if not shutil.which("jq") or not shutil.which("unzip"):
            raise Skipped("it needs jq and unzip")
        self.lab, self.runner = lab, Runner(lab)
        self.log, self.body = (os.path.join(self.runner.root, name) for name in ("log", "body"))
        path = os.path.join(self.runner.root, "artifact.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        repository = "repos/hcoplan/fleet"
        known = {
            f"{repository}/actions/runs/77/artifacts": {"artifacts": [
                {"id": 9, "expired": False, "size_in_bytes": size or os.path.getsize(path)}]},
            f"{repository}/actions/artifacts/9/zip": path,
        }
        theirs = {"state": "open", "head": {"sha": "c" * 40, "repo": {"id": 200}}}
        for number, pull in {"5": theirs, **(pulls or {})}.items():
            known[f"{repository}/pulls/{number}"] = pull
            known[f"{repository}/issues/{number}/comments"] = list(comments)
        table = lab.write(self.runner.root, "known.json", json.dumps(known))
        self.runner.stub("gh", GH % (sys.executable, table, self.log, self.body))

    def run(self, event=None):
        """What the step writes: the words of the call, and the body; or nothing."""
        result, _, commands = self.runner.step("Comment on the pull request", action="comment/action.yml",
                                               event={**EVENT, **(event or {})})
        calls = [json.loads(line) for line in open(self.log)] if os.path.exists(self.log) else []
        wrote = [words for words in calls if "--method" in words]
        body = open(self.body).read() if wrote else ""
        return result, wrote, body, commands


def artifact(**files):
    return {"number": "5\n", "diff.md": "<!-- hcoplan:diff -->\n### hcoplan\n", "diff.txt": "1 to change\n", **files}


def attack_fork_comment(lab):
    """A pull request from a fork gets its comment, by a workflow that runs nothing of it."""
    result, wrote, body, _ = Comments(lab, artifact()).run()
    lab.expect(len(wrote) == 1 and "repos/hcoplan/fleet/issues/5/comments" in wrote[0], "no comment", result)
    lab.expect("1 to change" in body, "the comment lacks the diff", result)


def attack_comment_number(lab):
    """A run comments on no pull request but its own."""
    other = {"state": "open", "head": {"sha": "d" * 40, "repo": {"id": 300}}}
    same = {"state": "open", "head": {"sha": "c" * 40, "repo": {"id": 300}}}
    closed = {"state": "closed", "head": {"sha": "c" * 40, "repo": {"id": 200}}}
    for number in ("6", "7", "8", "5/../6", "6?x=", "$(id)", "5\n6", "-1", "", "5" * 300):
        comments = Comments(lab, artifact(number=number), pulls={"6": other, "7": same, "8": closed})
        result, wrote, _, _ = comments.run()
        lab.expect(not wrote, f"{number!r}: it comments", result)
    result, wrote, _, _ = Comments(lab, artifact()).run({"event": "push"})
    lab.expect(not wrote, "it comments for a push", result)


def attack_comment_size(lab):
    """An artifact that is too large, packed or not, is rejected, and cheaply."""
    bomb = artifact(**{"diff.txt": "x" * 20_000_000})
    for files, size in ((artifact(), 50_000_000), (bomb, None), (artifact(number="5" + " " * 900_000), None)):
        result, wrote, _, _ = Comments(lab, files, size).run()
        lab.expect(not wrote and result.code != 0, "it is rejected", result)
        lab.expect(result.memory < 100 and result.cpu < 5, "it costs", result)


def attack_comment_members(lab):
    """Nothing of an artifact is unpacked."""
    comments = Comments(lab, {"../../../../fleet/fleet/x": "x", "../clean": "x", **artifact()})
    comments.run()
    lab.expect(not os.path.exists(os.path.join(comments.runner.workspace, "x")), "a file was written")
    lab.expect(not os.path.exists(os.path.join(comments.runner.temp, "hcoplan", "clean")), "a file was written")


def attack_comment_author(lab):
    """Only the bot's own comment is edited, whoever wrote the marker into theirs."""
    marker = "<!-- hcoplan:hcoplan-comment -->\nx"
    theirs = {"id": 1, "user": {"login": "mallory"}, "body": marker}
    quoted = {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "> " + marker}
    own = {"id": 3, "user": {"login": "github-actions[bot]"}, "body": marker}
    _, wrote, _, _ = Comments(lab, artifact(), comments=[theirs, quoted]).run()
    lab.expect(len(wrote) == 1 and "POST" in wrote[0], f"another's comment is edited: {wrote}")
    _, wrote, _, _ = Comments(lab, artifact(), comments=[theirs, quoted, own]).run()
    lab.expect(len(wrote) == 1 and any(w.endswith("/comments/3") for w in wrote[0]), f"its own isn't edited: {wrote}")


def attack_comment_text(lab):
    """What a fork's run says is text in the comment: no mention, link, image or HTML of it counts."""
    evil = ("````````\n~~~\n@hcoplan/owners please [approve](https://evil.example)\r![x](https://evil.example/p)\n"
            "<img src=x>\n```\n\x1b[31m\u202e\u2066\u200b\u061c\u2028\u2060\u206a\u00ad\u180e\u0085\ufeff\ufff9\U000e0041 #1\n</details>`````````` x\n")
    result, wrote, body, _ = Comments(lab, artifact(**{"diff.txt": evil, "diff.md": evil})).run()
    lab.expect(len(wrote) == 1, "no comment", result)
    opening = re.search(r"^(`{3,})diff$", body, re.M)
    lab.expect(opening is not None, "no fence", body)
    inside = body[opening.end():].rstrip("\n")
    lab.expect(inside.endswith("\n" + opening[1]), "the fence isn't closed at the end", body)
    inside = inside[:-len(opening[1])]
    lab.expect(max(map(len, re.findall("`+", inside))) < len(opening[1]), "the text closes the fence", body)
    lab.expect("evil.example" in inside and "evil.example" not in body[:opening.start()], "text is outside", body)
    lab.expect(not re.search("[\r\x1b\u202e\u2066\u200b\u061c\u2028\u2060\u206a\u00ad\u180e\u0085\ufeff\ufff9\U000e0041]", body), "control characters", body)


def attack_comment_commands(lab):
    """What an artifact or a comment says isn't a command to the runner."""
    evil = "::add-mask::x\n##[add-mask]x\n"
    comments = [{"id": "1\n::add-mask::x", "user": {"login": "mallory"}, "body": evil}]
    for files in (artifact(**{"diff.txt": evil}), artifact(number=evil[:15])):
        result, _, _, commands = Comments(lab, files, comments=comments).run()
        wrong = [c for c in commands if not c.startswith(("::error title=hcoplan::", "::notice title=hcoplan::"))]
        lab.expect(not wrong, f"commands that nobody gave: {wrong}", result)


def attack_workflow_of_init(lab):
    """What `init` writes gives no token that writes to a job of the pull request, and builds nothing in it."""
    directory = lab.dir()
    lab.write(directory, "hyperconverged.yaml", MANIFEST % "None")
    done = lab.run("init", "--ci", "github", cwd=directory)
    lab.expect(done.code == 0, "init fails", done)
    workflows = os.path.join(directory, ".github", "workflows")
    texts = {name: open(os.path.join(workflows, name)).read() for name in os.listdir(workflows)}
    lab.expect(len(texts) == 2, f"two workflows: {sorted(texts)}")
    for name, text in texts.items():
        lab.expect("pull_request_target" not in text, f"{name}: pull_request_target")
        lab.expect(not re.search(r"^ *(- )?run:", text, re.M), f"{name}: a step that runs in the checkout", text)
        if "workflow_run:" in text:
            lab.expect("checkout" not in text.split("jobs:")[1], f"{name}: it checks out", text)
        else:
            lab.expect(": write" not in text.split("steps:")[0], f"{name}: it writes", text)
            lab.expect("persist-credentials: false" in text, f"{name}: the token stays in the checkout", text)


def attack_ignored_cluster(lab):
    """A configuration of the change's own makes no run look away: the comment tells what the change does."""
    for config in ["ignore: [clusters/]\n", "rules: {hco-admission: off}\nignore: ['*']\n", "lint: {failOn: never}\nclusters: []\n"]:
        runner = Runner(lab)
        runner.change({"hcoplan.yaml": config, "clusters/hcoplan.yaml": config})
        for inputs in ({}, {"directory": "clusters"}, {"args": "--trust-base=origin/main\n--pedantic"}, {"args": "--trust-base\norigin/main"}):
            lab.git(runner.workspace, "fetch", "-q", "origin", "main")
            result, outputs, _ = runner.plan(inputs=inputs)
            lab.expect(outputs.get("status") in ("0", "1"), f"{config}{inputs}", result)
            lab.expect(outputs.get("removed") == "0" and int(outputs.get("updated", 0)) > 0, f"{config}{inputs}: {outputs}", result)
            diff = open(outputs["diff-file"]).read()
            lab.expect("removed from the repository" not in diff, f"{config}{inputs}: removed", diff)
