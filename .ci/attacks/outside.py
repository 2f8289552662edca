"""Files outside the directory, reached through links that input names."""

import os

from _inputs import HEAD, INVENTORY

MANIFEST = HEAD + "spec: {}\n"
PATCH = """apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  annotations: {kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/outside-word", "value": 1}]'}
"""


def linked(lab, files):
    """A repository in which `lnk` leads to a directory outside that holds files."""
    directory, outside = lab.dir(), lab.dir()
    for path, text in files.items():
        lab.write(outside, path, text)
    lab.write(directory, "inventory.yaml", INVENTORY)
    lab.write(directory, "hyperconverged.yaml", MANIFEST)
    os.symlink(outside, os.path.join(directory, "lnk"))
    return directory, outside


def attack_patch_behind_a_linked_directory(lab):
    """A patch that a kustomization names through a linked directory is not read."""
    directory, _ = linked(lab, {"patch.yaml": PATCH})
    lab.write(directory, "kustomization.yaml", "resources: [hyperconverged.yaml]\npatches: [{path: lnk/patch.yaml}]\n")
    annotated = MANIFEST.replace("namespace: kubevirt-hyperconverged}", "namespace: kubevirt-hyperconverged, annotations: "
                                 "{kubevirt.kubevirt.io/jsonpatch: '[{\"op\": \"add\", \"path\": \"/spec/x\", \"value\": 1}]'}}")
    lab.write(directory, "hyperconverged.yaml", annotated)
    for words in [("lint", "--select", "jsonpatch-layered"), ("lint", "--pedantic", "--format", "json"), ("plan", "--check")]:
        done = lab.run(*words, cwd=directory)
        lab.expect("outside-word" not in done.out + done.err and "lnk/patch" not in done.out, f"{words} read it", done)


def attack_inventory_behind_a_linked_directory(lab):
    """An inventory that hcoplan.yaml names through a linked directory is not read."""
    directory, _ = linked(lab, {"inventory.yaml": INVENTORY.replace("n0", "outside-word")})
    os.remove(os.path.join(directory, "inventory.yaml"))
    lab.write(directory, "hcoplan.yaml", "inventory: [lnk/inventory.yaml]\n")
    done = lab.run("render", "--stdout", cwd=directory)
    lab.expect(done.code != 0 and "outside-word" not in done.out + done.err, "it was read", done)


def attack_release_directory(lab):
    """A release that an inventory or hcoplan.yaml names is not read through a link."""
    directory, _ = linked(lab, {"release.json": '{"outside-word": 1}'})
    lab.write(directory, "inventory.yaml", INVENTORY.replace('"1.18"', "./lnk"))
    done = lab.run("lint", cwd=directory)
    lab.expect(done.code != 0 and "outside-word" not in done.out + done.err, "it was read", done)


def attack_gitignore_that_never_ends(lab):
    """A `.gitignore` that is a pipe, a device or huge hangs nothing, and is told."""
    for make in ["pipe", "device", "outside", "huge"]:
        directory, outside = linked(lab, {"patterns": "hyperconverged.yaml\n"})
        path = os.path.join(directory, ".gitignore")
        if make == "pipe":
            os.mkfifo(path)
        elif make == "device":
            os.symlink("/dev/zero", path)
        elif make == "outside":
            os.symlink(os.path.join(outside, "patterns"), path)
        else:
            lab.write(directory, ".gitignore", "*.a*b*c\n" * 4_000_000)
        done = lab.run("lint", cwd=directory, timeout=20)
        lab.expect(done.code in (0, 4), f"{make}: the run ends well", done)
        lab.expect(".gitignore" in done.out + done.err, f"{make}: it is told", done)
        lab.expect("hco-api-v1beta1" in done.out, f"{make}: the manifest is looked at", done)
        lab.expect(done.memory < 200, f"{make}: {done.memory:.0f} MiB", done)
