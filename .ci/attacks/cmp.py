"""What a change could do to loosen the gate that checks it: under Argo CD, and with --trust-base."""

import json
import os
import shutil

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
WARNED = GOOD.rstrip() + " # hcoplan: ignore this, which is a warning\n"
RULE = "hco-unknown-field"


def repository(lab, manifest=BAD, **files):
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    lab.write(directory, "hyperconverged.yaml", manifest)
    for path, text in files.items():
        lab.write(directory, path.replace("__", "."), text)
    return directory


def loosened():
    """Manifests and files that ask for less, each by one means."""
    why = "nobody needs to know"
    quoted = BAD.replace("spec:\n", f"  annotations:\n    hcoplan.dev/ignore: '{RULE}: {why}'\nspec:\n")
    comment = BAD.replace("  unknown", f"  # hcoplan: ignore[{RULE}] {why}\n  unknown")
    return {
        "failOn": (BAD, "lint: {failOn: never}\n"),
        "select": (BAD, "lint: {select: [hco-name-invalid]}\n"),
        "ignore rules": (BAD, f"lint: {{ignore: [{RULE}]}}\n"),
        "severity": (BAD, f"rules: {{{RULE}: off}}\n"),
        "suppress": (BAD, f"suppress: [{{rules: [{RULE}], reason: {why}}}]\n"),
        "ignore files": (BAD, "ignore: ['/hyperconverged.yaml', '*']\n"),
        "annotation": (quoted, ""),
        "comment": (comment, ""),
    }


def attack_own_configuration(lab):
    """Under cmp no configuration and no suppression of the repository's lets an error through."""
    done = lab.run("cmp", "generate", cwd=repository(lab))
    lab.expect(done.code == 1 and not done.out, "without one it is rejected", done)
    for name, (manifest, config) in loosened().items():
        directory = repository(lab, manifest, hcoplan__yaml=config)
        done = lab.run("cmp", "generate", cwd=directory)
        lab.expect(done.code == 1 and not done.out, f"{name}: it is rejected", done)
        lab.expect("no effect" in done.err or "are ignored here" in done.err or name == "failOn", f"{name}: what is ignored is told", done)
        done = lab.run("cmp", "discover", cwd=directory)
        lab.expect(done.out, f"{name}: it is claimed", done)


def attack_own_parameters(lab):
    """Parameters, which a file of the repository can set, don't loosen the gate, and tighten it."""
    for parameters in [[{"name": "fail-on", "string": "never"}], [{"name": "hco-version", "string": "none"}]]:
        done = lab.run("cmp", "generate", cwd=repository(lab), env={"ARGOCD_APP_PARAMETERS": json.dumps(parameters)})
        lab.expect(done.code in (1, 2) and not done.out, f"{parameters}: it is rejected", done)
    warned = WARNED
    done = lab.run("cmp", "generate", cwd=repository(lab, warned))
    lab.expect(done.code == 0 and "HyperConverged" in done.out, "a warning passes", done)
    strict = {"ARGOCD_APP_PARAMETERS": json.dumps([{"name": "fail-on", "string": "warning"}])}
    done = lab.run("cmp", "generate", cwd=repository(lab, warned), env=strict)
    lab.expect(done.code == 1 and not done.out, "and not where less is asked for", done)
    done = lab.run("cmp", "generate", cwd=repository(lab, warned, hcoplan__yaml="lint: {failOn: warning}\n"))
    lab.expect(done.code == 1 and not done.out, "nor where the repository is stricter", done)


def attack_the_platform_decides(lab):
    """The plugin's own command can still loosen the gate."""
    for words in [("--fail-on", "never"), ]:
        done = lab.run("cmp", "generate", *words, cwd=repository(lab))
        lab.expect(done.code == 0 and "HyperConverged" in done.out, f"{words}", done)
    for name in ["failOn", "suppress", "annotation", "comment", "severity"]:
        manifest, config = loosened()[name]
        done = lab.run("cmp", "generate", "--trust-repository", cwd=repository(lab, manifest, hcoplan__yaml=config))
        lab.expect(done.code == 0 and "HyperConverged" in done.out, f"--trust-repository: {name}", done)


def attack_trusted_base(lab):
    """With --trust-base nothing that the change brings lets an error through, and the configuration of the base counts."""
    for name, (manifest, config) in loosened().items():
        directory = repository(lab, GOOD)
        lab.commit(directory)
        lab.write(directory, "hyperconverged.yaml", manifest)
        lab.write(directory, "hcoplan.yaml", config)
        for words in [("lint",), ("plan",)]:
            done = lab.run(*words, "--trust-base", "HEAD", cwd=directory)
            lab.expect(done.code == 1, f"{name}: {words} finds the error", done)
            lab.expect("change-not-trusted" in done.out, f"{name}: {words} says what is ignored", done)
        if name in ("ignore files", "annotation", "comment"):
            continue
        lab.commit(directory)
        done = lab.run("lint", "--trust-base", "HEAD", cwd=directory)
        lab.expect(done.code == 0 and "change-not-trusted" not in done.out, f"{name}: what was merged counts", done)
        lab.write(directory, "hcoplan.yaml", config + "ignore: ['*']\n")


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


def attack_removed(lab):
    """A HyperConverged of the base revision that isn't found any more is a finding."""
    ways = {
        "deleted": lambda d: os.remove(os.path.join(d, "one/hyperconverged.yaml")),
        "ignored by hcoplan": lambda d: lab.write(d, "hcoplan.yaml", "ignore: [one]\n"),
        "renamed": lambda d: os.rename(os.path.join(d, "one/hyperconverged.yaml"), os.path.join(d, "one/hyperconverged.txt")),
    }
    for name, change in ways.items():
        directory = lab.dir()
        for cluster in ["one", "two"]:
            lab.write(directory, f"{cluster}/inventory.yaml", INVENTORY)
            lab.write(directory, f"{cluster}/hyperconverged.yaml", GOOD)
        lab.commit(directory)
        change(directory)
        for words in [("lint", "--against", "HEAD"), ("plan", "--against", "HEAD"), ("lint", "--trust-base", "HEAD")]:
            if name == "ignored by hcoplan" and "--trust-base" in words:
                continue
            done = lab.run(*words, cwd=directory)
            lab.expect("[hco-removed]" in done.out and "one/hyperconverged.yaml:" in done.out, f"{name}: {words}", done)
            lab.expect(done.code == 1, f"{name}: {words} fails", done)
    directory = lab.dir()
    for cluster in ["one", "two"]:
        lab.write(directory, f"{cluster}/inventory.yaml", INVENTORY)
        lab.write(directory, f"{cluster}/hyperconverged.yaml", GOOD.replace("spec: {}", f"spec: {{defaultCPUModel: {cluster}}}"))
    lab.commit(directory)
    os.rename(os.path.join(directory, "one"), os.path.join(directory, "three"))
    done = lab.run("lint", "--against", "HEAD", cwd=directory)
    lab.expect("hco-removed" not in done.out, "one that was moved is not removed", done)
