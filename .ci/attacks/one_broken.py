"""A repository with 49 good clusters and one whose HyperConverged is rejected: each way to run hcoplan reports the one."""

import json
import os
import re
import shutil
import xml.etree.ElementTree as ET

BAD = "clusters/c17"


def repository(lab):
    """Fifty clusters, the good ones committed to `main`."""
    directory = lab.dir()
    for n in range(50):
        shutil.copytree(f"{lab.root}/examples/fleet/clusters/edge-oslo", f"{directory}/clusters/c{n}")
    done = lab.run("plan", cwd=directory)
    lab.expect(done.code == 0 and "warning" not in done.out, "the good ones are good", done)
    lab.commit(directory)
    with open(f"{directory}/{BAD}/hyperconverged.yaml") as file:
        text = file.read()
    lab.write(directory, f"{BAD}/hyperconverged.yaml", text.replace("\nspec:", "\nspec:\n  evictionStrategy: Sometimes", 1))
    return directory


def only(lab, text, done):
    """The one is named and no other cluster is."""
    lab.expect(set(re.findall(r"clusters/c\d+", text)) == {BAD}, "it names the one", done)


def failed_cases(junit):
    """The cases of a JUnit document that failed; each cluster has one."""
    return "\n".join(ET.tostring(case, "unicode") for case in ET.fromstring(junit).iter("testcase") if len(case))


# Number of errors in a report; None for formats that only people read.
ERRORS = {
    "human": None,
    "concise": None,
    "markdown": None,
    "json": lambda text: json.loads(text)["summary"]["errors"],
    "json-lines": lambda text: sum(json.loads(line)["severity"] == "error" for line in text.splitlines()),
    "sarif": lambda text: sum(r["level"] == "error" for r in json.loads(text)["runs"][0]["results"]),
    "github": lambda text: text.count("::error "),
    "gitlab": lambda text: sum(f["severity"] in ("critical", "blocker") for f in json.loads(text)),
    "junit": lambda text: int(ET.fromstring(text).get("failures")),
}


def attack_formats(lab):
    """Each format of lint has one error, of the one cluster; plan fails, and render leaves out nothing else."""
    directory = repository(lab)
    for name, count in ERRORS.items():
        done = lab.run("lint", "--format", name, cwd=directory)
        lab.expect(done.code == 1 and (count or "error" in done.out), f"{name} ends with 1 and an error", done)
        only(lab, failed_cases(done.out) if name == "junit" else done.out, done)
        lab.expect(count is None or count(done.out) == 1, f"{name} has one error", done)
    for name in ("human", "markdown", "json"):
        done = lab.run("plan", "--format", name, cwd=directory)
        lab.expect(done.code == 1 and "error" in done.out, f"plan --format {name} ends with 1 and an error", done)
    done = lab.run("render", "--out", "tree", cwd=directory)
    lab.expect(done.code == 1, "render ends with 1", done)
    only(lab, done.err, done)
    lab.expect(len(os.listdir(f"{directory}/tree/clusters")) == 49, "render writes the good ones", done)


def attack_flux(lab):
    """What is rejected is never pushed as an artifact of Flux."""
    directory = repository(lab)
    lab.git(directory, "remote", "add", "origin", "https://git.example.com/fleet.git")
    binaries, pushed = lab.dir(), f"{lab.scratch}/pushed"
    os.symlink(lab.binary, f"{binaries}/hcoplan")
    os.chmod(lab.write(binaries, "flux", f'#!/bin/sh\necho "$@" >>{pushed}\n'), 0o755)
    environment = {"PATH": f"{binaries}:{os.environ['PATH']}"}
    script = f"{lab.root}/examples/flux/artifact.sh"
    done = lab.program(script, BAD, "oci://registry.example.com/x:main", cwd=directory, env=environment)
    lab.expect(done.code == 1 and not os.path.exists(pushed), "a rejected manifest isn't pushed", done)
    done = lab.program(script, "clusters/c0", "oci://registry.example.com/x:main", cwd=directory, env=environment)
    with open(pushed) as file:
        said = file.read()
    lab.expect(re.match(r"push artifact oci://\S+ --path clusters/c0 --source \S+ --revision main@sha1:[0-9a-f]{40}$", said), said, done)
