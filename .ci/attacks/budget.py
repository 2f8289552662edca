"""Runs that would take too long, too much, or too many words."""

import os

from _inputs import HEAD, INVENTORY

MANIFEST = HEAD + "spec:\n"


def heavy(lab, clusters=1, fields=3000):
    """Clusters with many unknown fields, each a finding."""
    directory = lab.dir()
    spec = "".join(f"  unknown{n}: {n}\n" for n in range(fields))
    for n in range(clusters):
        lab.write(directory, f"c{n}/inventory.yaml", INVENTORY)
        lab.write(directory, f"c{n}/hyperconverged.yaml", MANIFEST + spec)
    return directory


def written(directory):
    """The files of a tree that a run has left."""
    names = [os.path.join(at, name) for at, _, files in os.walk(directory) for name in files]
    return [n for n in names if not os.path.basename(n).startswith(("inventory", "hyperconverged"))]


def attack_time(lab):
    """A run that takes longer than --max-time ends with 2, in time, and leaves nothing half-written."""
    directory = heavy(lab, clusters=400, fields=200)
    for words in [("plan",), ("lint", "--format", "sarif=out.sarif"), ("render",), ("report", "--format", "html=page.html"), ("fix", "--write")]:
        done = lab.run(*words, "--max-time", "0.05", cwd=directory, timeout=20)
        lab.expect(done.code == 2 and "which --max-time allows" in done.err, f"{words} ends with a clear error", done)
        lab.expect(done.err.count("--max-time") == 1, f"{words} says it once", done)
        lab.expect(not written(directory), f"{words} left {written(directory)[:3]}", done)


def attack_time_while_waiting(lab):
    """A run that waits for something that never comes ends, too."""
    directory = heavy(lab, fields=1)
    pipe = f"sleep 5 | {lab.binary} lint - --max-time 0.2"
    done = lab.program("sh", "-c", pipe, cwd=directory, timeout=20)
    lab.expect(done.code == 2 and "which --max-time allows" in done.err, "it ends with a clear error", done)


def attack_memory(lab):
    """A run that takes more than --max-memory ends with 2 and leaves nothing half-written."""
    directory = lab.dir()
    lab.write(directory, "c/inventory.yaml", INVENTORY)
    lab.write(directory, "c/hyperconverged.yaml", MANIFEST + "  x: [" + "[]," * 1_500_000 + "]\n")
    done = lab.run("plan", "--max-memory", "64", cwd=directory)
    lab.expect(done.code == 2 and "which --max-memory allows" in done.err, "it ends with a clear error", done)
    lab.expect(not written(directory), f"it left {written(directory)[:3]}", done)


def attack_findings(lab):
    """A run with more than --max-findings ends with 2 and prints none of them."""
    directory = heavy(lab)
    for words in [("lint",), ("plan",), ("lint", "--format", "json"), ("lint", "--format", "sarif=out.sarif")]:
        done = lab.run(*words, "--max-findings", "100", cwd=directory)
        lab.expect(done.code == 2 and "which --max-findings allows" in done.err, f"{words} ends with a clear error", done)
        lab.expect("unknown1" not in done.out, f"{words} prints findings", done)
        lab.expect(not written(directory), f"{words} left {written(directory)[:3]}", done)
    done = lab.run("lint", "--max-findings", "100000", cwd=directory)
    lab.expect("unknown1" in done.out, "a budget that is kept changes nothing", done)
