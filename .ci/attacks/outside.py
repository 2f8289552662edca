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
    for words in [("lint", "--select", "jsonpatch-layered"), ("lint", "--pedantic", "--format", "json"), ("plan",)]:
        done = lab.run(*words, cwd=directory)
        lab.expect("outside-word" not in done.out + done.err, f"{words} read it", done)


def attack_inventory_behind_a_linked_directory(lab):
    """An inventory that hcoplan.yaml names through a linked directory is not read."""
    directory, _ = linked(lab, {"inventory.yaml": INVENTORY.replace("n0", "outside-word")})
    os.remove(os.path.join(directory, "inventory.yaml"))
    lab.write(directory, "hcoplan.yaml", "inventory: [lnk/inventory.yaml]\n")
    done = lab.run("render", cwd=directory)
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


def tree(lab):
    """A repository with one cluster, committed; and a file and a directory outside of it."""
    directory, outside = lab.dir(), lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    lab.write(directory, "hyperconverged.yaml", MANIFEST)
    lab.write(outside, "secret", "outside-word: 1\n")
    lab.commit(directory)
    return directory, outside


def attack_named_files(lab):
    """A file of the tree that the command line names is followed no further than the tree."""
    directory, outside = tree(lab)
    os.symlink(os.path.join(outside, "secret"), os.path.join(directory, "link.yaml"))
    os.symlink(outside, os.path.join(directory, "conf"))
    os.mkdir(os.path.join(outside, ".git"))
    for name in ["link.yaml", "conf/secret", os.path.join(directory, "link.yaml"), "./conf/../conf/secret"]:
        for words in [("lint", "--config", name), ("plan", "--config", name), ("lint", "--baseline", name),
                      ("render", "--live", name), ("diff", "--against", "HEAD...", "--config", name),
                      ("inventory", "check", name, "inventory.yaml")]:
            done = lab.run(*words, cwd=directory)
            lab.expect(done.code not in (0, 1, 70), f"{words} passes", done)
            lab.expect("outside-word" not in done.out + done.err, f"{words} read it", done)
            lab.expect("outside the directory" in done.err or "the target of the link" in done.err, f"{words} doesn't say why", done)
    # So is a directory.
    lab.write(outside, "hc.yaml", MANIFEST.replace("spec: {}", "spec: {defaultCPUModel: outside-word}"))
    lab.write(outside, "nodes.json", '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "outside-word"}}')
    for name in ["conf", "conf/", "./conf", os.path.join(directory, "conf")]:
        for words in [("lint", name), ("plan", name), ("matrix", name), ("report", name), ("render", name), ("diff", ".", name), ("diff", name, "."),
                      ("plan", "--live", name), ("render", "--live", name), ("plan", "--against", name), ("lint", "--against", name),
                      ("import", name), ("import", name + "/nodes.json"), ("inventory", "check", name, "inventory.yaml"),
                      ("init", name), ("fix", name), ("import", "inventory.yaml", "--cluster", name)]:
            done = lab.run(*words, cwd=directory)
            lab.expect(done.code == 2, f"{words} passes", done)
            lab.expect("outside-word" not in done.out + done.err, f"{words} read it", done)
    # A file outside that the user names may be read.
    lab.write(outside, "hcoplan.yaml", "lint: {failOn: never}\n")
    done = lab.run("lint", "--config", os.path.join(outside, "hcoplan.yaml"), cwd=directory)
    lab.expect(done.code == 0, "a file outside can't be named", done)


def attack_written_files(lab):
    """Nothing is written through a link of the tree: not by `init`, not with `--out`, not to a report's file."""
    directory, outside = tree(lab)
    for name in [".hcoplan", ".github", "rendered", "out"]:
        os.symlink(outside, os.path.join(directory, name))
    os.symlink(os.path.join(outside, "new"), os.path.join(directory, "hcoplan.yaml"))
    fifo = os.path.join(outside, "fifo")
    os.mkfifo(fifo)
    os.symlink(fifo, os.path.join(directory, "page.html"))
    before = sorted(os.listdir(outside))
    for words in [("init",), ("init", "--ci", "github"), ("plan",), ("render",), ("plan", "--out", "out/a/b"),
                  ("render", "--out", os.path.join(directory, "out", "a")), ("lint", "--format", "html=out/page.html"),
                  ("lint", "--format", "json=out/x/report.json"), ("lint", "--baseline", "out/b.json", "--update-baseline"),
                  ("import", "inventory.yaml", "--out", "out/i.yaml"), ("plan", "--out", "/proc/self/cwd/out/x"), ("plan", "--out", "./out/../out/x"), ("report", "--format", "html=page.html")]:
        done = lab.run(*words, cwd=directory)
        lab.expect(done.code not in (0, 1, 70), f"{words} passes", done)
        lab.expect(sorted(os.listdir(outside)) == before, f"{words} wrote outside: {os.listdir(outside)}", done)
    # Write all files or none.
    lab.expect(not os.path.lexists(os.path.join(directory, ".pre-commit-config.yaml")), "init wrote a part")
    # A link above the tree is allowed.
    above = os.path.join(lab.dir(), "above")
    fine, _ = tree(lab)
    os.symlink(fine, above)
    done = lab.run("plan", "--out", os.path.join(above, "rendered"), above, cwd=lab.dir())
    lab.expect(done.code == 0 and os.path.isdir(os.path.join(fine, "rendered")), "a link above is rejected", done)
