"""A change that brings its own configuration, baseline, release or suppression, with --trust-base."""

import json
import os
import shutil

from _inputs import HEAD, INVENTORY

BAD = HEAD + "spec: {noSuchField: 1, evictionStrategy: LiveMigrate}\n"
OFF = "rules: {hco-unknown-field: off}\nlint: {failOn: never}\n"


def change(lab, before, after):
    """A repository whose base has some files, and whose change others."""
    directory = lab.dir()
    for path, text in {"inventory.yaml": INVENTORY, "hyperconverged.yaml": BAD, **before}.items():
        lab.write(directory, path, text)
    lab.commit(directory)
    lab.git(directory, "tag", "base")
    for path, text in after.items():
        full = os.path.join(directory, path)
        if os.path.islink(full) or os.path.isfile(full):
            os.remove(full)
        elif os.path.isdir(full):
            shutil.rmtree(full)
        if text is not None and text.startswith("-> "):
            os.symlink(text[3:], full)
        elif text is not None:
            lab.write(directory, path, text)
    lab.commit(directory)
    return directory


def judged(lab, directory, *words, codes=(1,), cwd=None):
    """Broken where a run isn't as strict as the base says."""
    done = lab.run(*words, "--trust-base", "base", cwd=cwd or directory)
    lab.expect(done.code in codes, f"{words}: exit {done.code}", done)
    return done


STRICT = "lint: {failOn: warning}\n"


def attack_named_configuration(lab):
    """A configuration that --config names is that of the trusted revision, whatever links lead to it."""
    outside = lab.dir()
    for what, before, after, name in [
        ("changed", {"ci/hcoplan.yaml": STRICT}, {"ci/hcoplan.yaml": OFF}, "ci/hcoplan.yaml"),
        ("a link", {"ci/hcoplan.yaml": STRICT}, {"ci/hcoplan.yaml": "-> ../own.yaml", "own.yaml": OFF}, "ci/hcoplan.yaml"),
        ("a linked directory", {"ci/hcoplan.yaml": STRICT}, {"ci": "-> own", "own/hcoplan.yaml": OFF}, "ci/hcoplan.yaml"),
        ("removed", {"ci/hcoplan.yaml": STRICT}, {"ci/hcoplan.yaml": None}, "ci/hcoplan.yaml"),
        ("a detour", {"ci/hcoplan.yaml": STRICT}, {"ci/hcoplan.yaml": OFF}, "./ci/../ci/hcoplan.yaml"),
    ]:
        # The change adds the finding, so that --against fails, too.
        sound = {"hyperconverged.yaml": HEAD + "spec: {}\n"}
        directory = change(lab, {**sound, **before}, {"hyperconverged.yaml": BAD, **after})
        for path in [name, os.path.join(directory, name)]:
            for words in [("lint",), ("lint", "--against", "base")]:
                judged(lab, directory, *words, "--config", path, codes=(1,))
    directory = change(lab, {"hcoplan.yaml": STRICT}, {"hcoplan.yaml": OFF})
    link = os.path.join(outside, "link.yaml")
    os.symlink(os.path.join(directory, "hcoplan.yaml"), link)
    judged(lab, directory, "lint", "--config", link)
    # A configuration that the base doesn't have is ignored.
    directory = change(lab, {}, {"own.yaml": OFF})
    done = judged(lab, directory, "lint", "--config", "own.yaml", codes=(2,))
    lab.expect("the trusted revision base has no own.yaml" in done.err, "it says why", done)


def attack_named_baseline(lab):
    """A baseline is that of the trusted revision, whatever links lead to it."""
    directory = change(lab, {"b/known.json": '{"schemaVersion": 1, "findings": {}}', "hcoplan.yaml": STRICT}, {})
    lab.run("lint", "--baseline", "all.json", "--update-baseline", cwd=directory)
    text = open(os.path.join(directory, "all.json")).read()
    lab.expect("hco-unknown-field" in text, "a baseline")
    for after in [{"b/known.json": text}, {"b": "-> c", "c/known.json": text}, {"b/known.json": "-> ../c.json", "c.json": text}]:
        directory = change(lab, {"b/known.json": '{"schemaVersion": 1, "findings": {}}', "hcoplan.yaml": STRICT}, after)
        judged(lab, directory, "lint", "--baseline", "b/known.json")


def attack_named_release(lab):
    """A release of the repository's own is that of the trusted revision, by whichever option it is named."""
    for after in [{"own/x.json": "{}"}, {"own": "-> other", "other/x.json": "{}"}]:
        directory = change(lab, {"keep": ""}, after)
        for option in ["--release", "--upgrade-to"]:
            done = lab.run("plan", option, "./own", "--trust-base", "base", cwd=directory)
            lab.expect(done.code == 2 and "x.json" not in done.err, option, done)


def attack_other_field_of_a_comment(lab):
    """An ignore comment of the base hides no other field that has the same last key."""
    one = "# hcoplan: ignore[hco-unknown-field] it is meant"
    spec = lambda a, b, more="": HEAD + f"spec:\n  infra:\n    nodePlacement:\n      noSuchField: 1 {a}\n  workloads:\n    nodePlacement:\n      noSuchField: 1 {b}\n{more}"
    for what, before, after in [
        ("moved to another", spec(one, one).replace("  infra", "  infra", 1), None),
        ("of a parent", spec(one, ""), spec("", one)),
        ("on a line with more", HEAD + f"spec: {{infra: {{noSuchField: 1}}}} {one}\n", HEAD + f"spec: {{infra: {{noSuchField: 1, other: 2}}}} {one}\n"),
        ("above", HEAD + f"spec:\n  {one}\n  noSuchField: 1\n", HEAD + f"spec:\n  infra:\n    {one}\n    noSuchField: 1\n"),
        ("of an element", HEAD + f"spec:\n  dataImportCronTemplates:\n  - metadata: {{name: a}}\n    noSuchField: 1 {one}\n  - metadata: {{name: b}}\n",
         HEAD + f"spec:\n  dataImportCronTemplates:\n  - metadata: {{name: a}}\n  - metadata: {{name: b}}\n    noSuchField: 1 {one}\n"),
    ]:
        directory = change(lab, {"hyperconverged.yaml": before, "hcoplan.yaml": STRICT}, {"hyperconverged.yaml": after} if after else {})
        done = lab.run("lint", "--select", "hco-unknown-field,change-not-trusted", "--format", "json", "--trust-base", "base", cwd=directory)
        found = [f for f in json.loads(done.out)["findings"] if f["rule"] == "hco-unknown-field"]
        lab.expect(bool(found) == (after is not None), f"{what}: {len(found)} findings", done)
