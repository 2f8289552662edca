"""Repositories with random damage, through every command.

MUTATED=N tries N repositories (60 unless told), MUTATED_SEED another series of them, MUTATED_KEEP=DIR keeps
a repository that broke a promise there.
"""

import os
import random
import resource
import shutil
import subprocess

# Read-only commands with variants, one of which is drawn for each repository.
READING = [
    (["lint"], [[], ["--format", "json"], ["--format", "sarif"], ["--pedantic"], ["--statistics"], ["--format", "github"]]),
    (["plan"], [[], ["--format", "json"], ["--force"], ["--format", "markdown"]]),
    (["render"], [[], ["--force"], ["--show", "stored"], ["--out", "rendered", "--check"], ["--upgrade-to", "1.19"]]),
    (["diff"], [["--release", "1.18..1.19"], [".", "."], ["--format", "json", ".", "."]]),
    (["fix"], [[], ["--unsafe"], ["--format", "json"], ["--migrate", "v1"]]),
    (["matrix"], [[], ["--format", "json"]]),
    (["report"], [["--format", "html=/dev/null"], []]),
    (["why", ".", "KubeVirt"], [[], ["spec"], ["--format", "json"]]),
    (["why", ".", "SSP"], [[], ["spec.commonTemplates"]]),
    (["argocd"], [[], ["--format", "json"]]),

    (["cmp", "generate"], [[]]),
    (["cmp", "discover"], [[]]),
    (["init", "--dry-run"], [[], ["--ci", "github"]]),
    (["inventory", "check", "inventory.yaml", "."], [[], ["--format", "json"]]),
    (["import", "."], [[]]),
    (["explain", "spec.featureGates"], [[]]),
]
WRITING = [["fix", "--write"], ["fix", "--write", "--unsafe"], ["render"], ["plan"], ["lint", "--baseline", "b.json", "--update-baseline"]]
# Limits of CPU and waiting time: a busy machine takes longer, and a waiting process uses no CPU.
SECONDS, PATIENCE = 10, 300
# Success, findings, an error with a message, nothing found, an operator's rejection: docs/exit-codes.md.
CODES = range(5)

WORDS = [b"null", b"~", b"[]", b"{}", b"-", b":", b"'", b'"', b"&a", b"*a", b"!!binary ", b"|\n", b"? ", b"---\n", b"...\n", b"\t",
         b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\r\n", b"1e999", b"0x7f", b"9223372036854775808", b"-0", b"<<: *a\n", b"%YAML 1.1\n",
         b"#", b"\xe2\x80\xae", b"${X}", b"{{ x }}", b"yes", b"kind: List\nitems:\n- ", b"  ", b"\n"]


def damage(dice, data):
    """The bytes with one to four things changed."""
    for _ in range(dice.randint(1, 4)):
        at, to = sorted(dice.randrange(len(data) + 1) for _ in range(2))
        lines = data.splitlines(keepends=True)
        what = dice.randrange(8)
        if what == 0:
            data = data[:at] + dice.choice(WORDS) + data[at:]
        elif what == 1:
            data = data[:at] + bytes([dice.randrange(256)]) + data[at + 1:]
        elif what == 2:
            data = data[:at] + data[min(to, at + 40):]
        elif what == 3:
            data = data[:to]
        elif lines and what == 4:
            del lines[dice.randrange(len(lines))]
            data = b"".join(lines)
        elif lines and what == 5:
            lines.insert(dice.randrange(len(lines) + 1), dice.choice(lines))
            data = b"".join(lines)
        elif lines and what == 6:
            n = dice.randrange(len(lines))
            lines[n] = b" " * dice.randrange(5) + lines[n].lstrip(b" ")
            data = b"".join(lines)
        elif lines:
            n = dice.randrange(len(lines))
            key, colon, _ = lines[n].partition(b":")
            lines[n] = key + colon + b" " + dice.choice(WORDS).strip(b"\n") + b"\n"
            data = b"".join(lines)
    return data


def seeds(lab):
    """Directories that are damaged: the examples, and each fixture of a rule, without annotations."""
    out = [os.path.join(lab.root, "examples", name) for name in sorted(os.listdir(os.path.join(lab.root, "examples")))]
    lint = os.path.join(lab.scratch, "lint")
    copy = ["cargo", "run", "--quiet", "--profile", "quick", "--package", "hcoplan-testing", "testdata/lint", lint]
    subprocess.run(copy, cwd=lab.root, check=True)
    for rule in sorted(os.listdir(lint)):
        below = os.path.join(lint, rule)
        cases = [os.path.join(below, case) for case in sorted(os.listdir(below))] if os.path.isdir(below) else []
        out += filter(os.path.isdir, cases)
    return out


def state(directory):
    """Every file of a directory with its bytes."""
    out = {}
    for at, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                out[os.path.relpath(path, directory)] = file.read()
    return out


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(lab, words, directory):
    """Runs a command in a repository; fails where it panics, hangs or ends as none does."""
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": lab.scratch}
    try:
        done = subprocess.run([lab.binary, *words], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        raise Broken(f"{' '.join(words)} isn't done after {PATIENCE} s") from None
    said = done.stderr[-2000:].decode(errors="replace")
    lab.expect(done.returncode in CODES, f"{' '.join(words)} ends with {done.returncode}: {said}")
    lab.expect("Usage: hcoplan" not in said, f"{' '.join(words)} isn't a command: {said}")
    lab.expect("panicked" not in said and "bug in hcoplan" not in said, f"{' '.join(words)} panics: {said}")
    lab.expect(done.returncode != 2 or done.stderr or done.stdout, f"{' '.join(words)} fails without a word")


def attack_random_damage(lab):
    """Whatever is wrong in a repository, each command ends in time with a code of its own, and one that reads changes nothing."""
    number, series = int(os.environ.get("MUTATED", 60 // lab.share)), os.environ.get("MUTATED_SEED", "1")
    all_seeds = seeds(lab)
    for n in range(number):
        dice = random.Random(f"{series}/{n}")
        directory = os.path.join(lab.scratch, "repository")
        shutil.copytree(dice.choice(all_seeds), directory)
        files = sorted(name for name in state(directory) if os.path.basename(name) != "README.md")
        for name in dice.sample(files, min(len(files), dice.randint(1, 3))):
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                data = file.read()
            with open(path, "wb") as file:
                file.write(damage(dice, data))
        before = state(directory)
        try:
            for command, ways in READING:
                words = command + dice.choice(ways)
                run(lab, words, directory)
                lab.expect(state(directory) == before, f"{' '.join(words)} writes")
            run(lab, dice.choice(WRITING), directory)
        except Broken as why:
            if keep := os.environ.get("MUTATED_KEEP"):
                shutil.copytree(directory, os.path.join(keep, f"{series}-{n}"))
            raise Broken(f"repository {series}/{n}: {why}") from None
        shutil.rmtree(directory)
    lab.measured(f"{number} repositories, {number * (len(READING) + 1)} runs")
