"""A change that brings its own configuration, baseline or suppression, with --trust-base."""

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


def attack_configuration_below(lab):
    """A configuration of the change in the directory that hcoplan runs in is none."""
    other = {"sub/hyperconverged.yaml": BAD, "sub/inventory.yaml": INVENTORY}
    directory = change(lab, {"hcoplan.yaml": STRICT}, {**other, "sub/hcoplan.yaml": OFF})
    judged(lab, directory, "lint", ".", cwd=os.path.join(directory, "sub"))


def attack_ignored_is_not_removed(lab):
    """A cluster that the change ignores is neither removed nor unseen with --trust-base; without it, it is called ignored."""
    directory = change(lab, {"hcoplan.yaml": STRICT}, {"hcoplan.yaml": STRICT + "ignore: ['hyperconverged.yaml']\n"})
    for words in [("diff", "--against", "base"), ("plan", "--against", "base"), ("report", "--against", "base", "--format", "html")]:
        done = lab.run(*words, "--trust-base", "base", cwd=directory)
        lab.expect(done.code in (0, 1) and "removed" not in done.out, f"{words} with --trust-base", done)
        done = lab.run(*words, cwd=directory)
        lab.expect("removed from the repository" not in done.out, f"{words} says removed", done)


def attack_named_baseline(lab):
    """A baseline is that of the trusted revision, whatever links lead to it."""
    directory = change(lab, {"b/known.json": '{"schemaVersion": 1, "findings": {}}', "hcoplan.yaml": STRICT}, {})
    lab.run("lint", "--baseline", "all.json", "--update-baseline", cwd=directory)
    text = open(os.path.join(directory, "all.json")).read()
    lab.expect("hco-unknown-field" in text, "a baseline")
    for after in [{"b/known.json": text}, {"b": "-> c", "c/known.json": text}, {"b/known.json": "-> ../c.json", "c.json": text}]:
        directory = change(lab, {"b/known.json": '{"schemaVersion": 1, "findings": {}}', "hcoplan.yaml": STRICT}, after)
        judged(lab, directory, "lint", "--baseline", "b/known.json")
