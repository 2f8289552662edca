"""What a change could make hcoplan's kustomize run, fetch or read."""

import os
import shutil
import signal
import subprocess
import time

from _inputs import HEAD, INVENTORY

MANIFEST = HEAD + "spec: {}\n"


def fake(lab, script):
    """A directory for the PATH in which kustomize is a shell script."""
    directory = lab.dir()
    program = lab.write(directory, "kustomize", f"#!/bin/sh\n{script}\n")
    os.chmod(program, 0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


def noting(lab, script="cat \"$2/hyperconverged.yaml\""):
    """A kustomize that notes that it ran, and the note."""
    note = os.path.join(lab.dir(), "ran")
    return fake(lab, f"echo ran >> {note}\n{script}"), note


def repository(lab, kustomization="resources: [hyperconverged.yaml]\n", **files):
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    lab.write(directory, "hyperconverged.yaml", MANIFEST)
    lab.write(directory, "kustomization.yaml", kustomization)
    for path, text in files.items():
        lab.write(directory, path, text)
    return directory


def attack_own_configuration(lab):
    """`kustomize: off` of the change's own hcoplan.yaml builds nothing, and hides nothing."""
    environment, note = noting(lab)
    patch = "- {op: add, path: /spec/evictionStrategy, value: None}"
    directory = repository(lab, f"resources: [hyperconverged.yaml]\npatches:\n- target: {{kind: HyperConverged}}\n  patch: '{patch}'\n")
    lab.commit(directory)
    for words in [("lint",), ("plan",), ("lint", "--trust-base", "HEAD")]:
        done = lab.run(*words, cwd=directory, env=environment)
        lab.expect(os.path.exists(note) and done.code == 0, f"{words} builds", done)
        os.remove(note)
    lab.write(directory, "hcoplan.yaml", "kustomize: off\n")
    done = lab.run("lint", cwd=directory, env=environment)
    lab.expect(not os.path.exists(note) and done.code not in (0, 70) and "kustomize-not-built" in done.out + done.err, "off is reported", done)
    done = lab.run("lint", "--trust-base", "HEAD", cwd=directory, env=environment)
    lab.expect(os.path.exists(note), "off of the change doesn't count", done)


def attack_remote_resources(lab):
    """Nothing that kustomize would fetch reaches it: every form of a repository or URL, under keys of any case."""
    environment, note = noting(lab)
    names = [
        "https://example.com/a.yaml", "HTTPS://example.com/a.yaml", "https:/example.com/a.yaml", "http://x/y", "ssh://git@example.com/org/repo",
        "git::https://example.com/org/repo", "git@github.com:org/repo.git", "u@example.com:org/repo", "github.com/org/repo",
        "GitHub.com/org/repo//x?ref=main", "gh:org/repo", "example.com:org/repo", "org/repo.git", "org/repo.git//x", "base?ref=main",
        "org_git/repo", "s3::https://s3.amazonaws.com/b/k", "file:///etc", "bitbucket.org/org/repo",
    ]
    keys = ["resources", "Resources", "RESOURCES", "re\u017fources", '"re\\x73ources"', "bases", "Components", "crds", "configurations",
            "patchesStrategicMerge", "PatchesStrategicMerge", "generators", "Transformers", "validators"]
    texts = [f"{key}: ['{name}']\n" for key in keys for name in names[:1] + names[8:9]]
    texts += [f"resources: ['{name}']\n" for name in names]
    texts += [f"resources: [&a '{names[0]}', *a]\n", f"resources:\n- >-\n  {names[0]}\n", f'resources: ["https\\x3a//example.com/a"]\n',
              f"x: &x ['{names[0]}']\nresources: *x\n"]
    for item in ["patches: [{path: '%s'}]", "patchesJson6902: [{PATH: '%s'}]", "replacements: [{Path: '%s'}]", "openapi: {path: '%s'}",
                 "configMapGenerator: [{name: x, files: ['a=%s']}]", "ConfigMapGenerator: [{name: x, Envs: ['%s']}]",
                 "secretGenerator: [{name: x, env: '%s'}]", "patchesStrategicMerge: ['%s: x']", "transformers: ['%s: x']"]:
        texts.append(item % names[0] + "\n")
    for text in texts:
        directory = repository(lab, text if "resources: [" in text.lower() else "resources: [hyperconverged.yaml]\n" + text)
        for name in ["github.com/org/repo", "bitbucket.org/org/repo", "org_git/repo", "org/repo.git"]:
            lab.write(directory, f"{name}/kustomization.yaml", "resources: []\n")
        done = lab.run("lint", cwd=directory, env=environment)
        lab.expect(not os.path.exists(note), f"kustomize was given {text!r}", done)
        lab.expect(done.code in (2, 4) and "kustomization.yaml" in done.out + done.err, f"{text!r} is rejected with its file", done)
        shutil.rmtree(directory)


def attack_remote_things_further_down(lab):
    """The same in a base, in a file called kustomization.yml or Kustomization, and behind a linked directory."""
    environment, note = noting(lab)
    remote = "Resources: ['https://example.com/a.yaml']\n"
    for name in ["kustomization.yaml", "kustomization.yml", "Kustomization"]:
        directory = repository(lab, "resources: [hyperconverged.yaml, base]\n")
        lab.write(directory, f"base/{name}", remote)
        lab.write(directory, ".gitignore", "base\n")
        done = lab.run("lint", cwd=directory, env=environment)
        lab.expect(not os.path.exists(note) and done.code == 4, f"{name} in an ignored base", done)
    outside = lab.dir()
    lab.write(outside, "kustomization.yaml", "resources: []\n")
    lab.write(outside, "patch.yaml", "x")
    for text in ["resources: [hyperconverged.yaml, lnk]\n", "resources: [hyperconverged.yaml]\npatches: [{path: lnk/patch.yaml}]\n",
                 "resources: [hyperconverged.yaml]\nconfigMapGenerator: [{name: x, files: [lnk/patch.yaml]}]\n"]:
        directory = repository(lab, text)
        os.symlink(outside, os.path.join(directory, "lnk"))
        done = lab.run("lint", cwd=directory, env=environment)
        lab.expect(not os.path.exists(note) and done.code in (2, 4), f"{text!r} leads outside", done)


def attack_plugins_and_charts(lab):
    """Programs, containers and Helm charts are rejected before kustomize starts."""
    environment, note = noting(lab)
    function = "metadata: {name: x, annotations: {config.kubernetes.io/function: 'exec: {path: ./run}'}}"
    plugins = [
        f"{{apiVersion: example.com/v1, kind: Mine, {function}}}",
        f"{{apiVersion: builtin, kind: LabelTransformer, {function}}}",
        "{apiVersion: example.com/v1, kind: Mine, metadata: {name: x}}",
        "{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: x}, repo: x}",
        "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: x}, Path: 'https://example.com/p'}",
        "{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: x}, FILES: ['https://example.com/p']}",
    ]
    for plugin in plugins:
        for key in ["generators", "Transformers", "VALIDATORS"]:
            for way in ["file", "inline", "directory"]:
                value = {"file": "p.yaml", "inline": plugin, "directory": "plugins"}[way]
                directory = repository(lab, f'resources: [hyperconverged.yaml]\n{key}:\n- "{value}"\n')
                lab.write(directory, "p.yaml", plugin + "\n")
                lab.write(directory, "plugins/kustomization.yaml", "resources: [p.yaml]\n")
                lab.write(directory, "plugins/p.yaml", plugin + "\n")
                done = lab.run("lint", cwd=directory, env=environment)
                lab.expect(not os.path.exists(note) and done.code == 4, f"{key} with {plugin} ({way})", done)
                shutil.rmtree(directory)
    for text in ["helmCharts: [{name: x, repo: 'https://example.com'}]\n", "HelmCharts: []\n", "helmChartInflationGenerator: [{chartName: x}]\n",
                 "helmGlobals: {chartHome: x}\n", "fetchFrom: [x]\n"]:
        directory = repository(lab, "resources: [hyperconverged.yaml]\n" + text)
        done = lab.run("lint", cwd=directory, env=environment)
        lab.expect(not os.path.exists(note) and done.code in (2, 4), f"{text!r} is rejected", done)


def attack_program_of_the_checkout(lab):
    """A kustomize that lies in the checkout is not run, although a relative entry of the PATH leads to it."""
    directory = repository(lab)
    note = os.path.join(lab.dir(), "ran")
    program = lab.write(directory, "kustomize", f"#!/bin/sh\ntouch {note}\ncat hyperconverged.yaml\n")
    os.chmod(program, 0o755)
    lab.run("lint", cwd=directory, env={"PATH": f".:{os.environ['PATH']}"})
    lab.expect(not os.path.exists(note), "it was run")


def attack_endless_build(lab):
    """A build that prints without end is ended, without taking memory."""
    directory = repository(lab)
    done = lab.run("lint", cwd=directory, env=fake(lab, "yes 'a: b'"), timeout=60)
    lab.expect(done.code == 4 and "was stopped" in done.out + done.err, "it is an error", done)
    lab.expect(done.memory < 400, f"{done.memory:.0f} MiB", done)


def attack_slow_build(lab):
    """A build that never ends is ended with the run, and everything that it started with it."""
    directory, mark = repository(lab), f"7{os.getpid()}"
    words = ["timeout", "0.5", lab.binary, "lint"]
    env = {**os.environ, **fake(lab, f"sleep {mark} & sleep {mark}")}
    done = subprocess.run(words, cwd=directory, env=env, capture_output=True, timeout=30)
    lab.expect(done.returncode == 124, f"it is ended: {done.returncode}")
    time.sleep(0.3)
    lab.expect(not alive(mark), "what it started is still there")


def attack_interrupted_build(lab):
    """A build ends with hcoplan, whichever signal that gets, and its private directory is gone."""
    directory, temporary = repository(lab), lab.dir()
    for number, name in enumerate([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]):
        mark = f"8{number}{os.getpid()}"
        environment = {"HOME": lab.scratch, "TMPDIR": temporary, **fake(lab, f"sleep {mark} & sleep {mark}")}
        run = subprocess.Popen([lab.binary, "lint"], cwd=directory, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(200):
            if alive(mark):
                break
            time.sleep(0.05)
        lab.expect(alive(mark), "the build has begun")
        lab.expect(os.listdir(temporary), "it is built in a private directory")
        run.send_signal(name)
        try:
            run.wait(10)
        except subprocess.TimeoutExpired:
            run.kill()
            lab.expect(False, f"{name.name} doesn't end it")
        time.sleep(0.3)
        left = alive(mark)
        for process in left:
            os.kill(process, signal.SIGKILL)
        lab.expect(not left, f"{name.name}: what the build started is still there")
        lab.expect(not os.listdir(temporary), f"{name.name}: {os.listdir(temporary)} is left")


def alive(mark):
    """The processes whose argument is a number that nobody else has."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            found.append(int(process))
    return found


def attack_network(lab):
    """The build has no network where the system can make a namespace without one."""
    if subprocess.run(["unshare", "-U", "-n", "--", "true"], capture_output=True).returncode != 0:
        raise Skipped("no namespaces here")
    directory, note = repository(lab), os.path.join(lab.dir(), "devices")
    done = lab.run("lint", cwd=directory, env=fake(lab, f"grep -c : /proc/net/dev > {note}; env >> {note}; cat hyperconverged.yaml"))
    lab.expect(done.code == 0, "it is built", done)
    with open(note) as file:
        lines = file.read().split("\n")
    lab.expect(lines[0] == "1", f"there are {lines[0]} network devices, not the loopback alone")
    lab.expect("GIT_ALLOW_PROTOCOL=" in lines and not any("TOKEN" in line for line in lines), "its environment is its own")
