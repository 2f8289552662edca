"""What a change could do to loosen the gate that checks it: a baseline of its own, which hcoplan records."""

import os

from _inputs import HEAD, INVENTORY

GOOD = HEAD + "spec: {}\n"
# An error that isn't a rejection: the API server drops the field.
BAD = """apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
spec:
  unknownField: 1
"""


def repository(lab, manifest=BAD):
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    lab.write(directory, "hyperconverged.yaml", manifest)
    return directory


def attack_trusted_baseline(lab):
    """A baseline of the change's own doesn't count with --trust-base."""
    directory = repository(lab, GOOD)
    lab.commit(directory)
    lab.write(directory, "hyperconverged.yaml", BAD)
    lab.run("lint", "--baseline", "known.json", "--update-baseline", cwd=directory)
    lab.expect(os.path.exists(os.path.join(directory, "known.json")), "it is recorded")
    done = lab.run("lint", "--baseline", "known.json", cwd=directory)
    lab.expect(done.code == 0, "it counts without --trust-base", done)
    done = lab.run("lint", "--baseline", "known.json", "--trust-base", "HEAD", cwd=directory)
    lab.expect(done.code == 2 and "known.json" in done.err, "the base has none", done)
    lab.commit(directory)
    done = lab.run("lint", "--baseline", "known.json", "--trust-base", "HEAD", cwd=directory)
    lab.expect(done.code == 0, "once merged, it counts", done)


def attack_missing_baseline(lab):
    """A baseline that isn't there is an error that names it, and nothing is written."""
    directory = repository(lab)
    for words in [("lint",), ("plan",)]:
        done = lab.run(*words, "--baseline", "known.json", cwd=directory)
        lab.expect(done.code == 2 and "known.json" in done.err, f"{words}", done)
        lab.expect(not os.path.exists(os.path.join(directory, "known.json")), f"{words} wrote it", done)
    os.mkfifo(os.path.join(directory, "known.json"))
    done = lab.run("lint", "--baseline", "known.json", cwd=directory, timeout=10)
    lab.expect(done.code == 2, "a pipe is none", done)
