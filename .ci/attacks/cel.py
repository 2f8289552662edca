"""Validation rules (CEL) of an own release that are large, deep or slow."""

import json
import os
import shutil

from _inputs import HEAD, grows


def read(path):
    with open(path) as file:
        return file.read()


def own_release(lab, directory, rule):
    """A release of the repository's own, HCO 1.18 with one more rule for the HyperConverged's spec."""
    own = os.path.join(directory, "own")
    shutil.copytree(f"{lab.root}/schemas/releases/1.18", own)
    written = f"{lab.root}/schemas/behaviour/1.18"
    for name in os.listdir(written):
        parts = [os.path.join(place, name) for place in (own, written)]
        parts = [json.loads(read(path)) for path in parts if os.path.exists(path)]
        lab.write(own, name, json.dumps({**parts[0], **parts[-1]} if isinstance(parts[0], dict) else parts[-1]))
    path = os.path.join(own, "crds", "hyperconverged.v1beta1.json")
    text = json.dumps(json.loads(read(path)))
    at = text.index('"spec": {') + len('"spec": {')
    rules = json.dumps([{"rule": rule, "message": "no"}])
    lab.write(own, "crds/hyperconverged.v1beta1.json", text[:at] + f'"x-kubernetes-validations": {rules}, ' + text[at:])


def judged(lab, rule, spec="spec: {}\n"):
    """Broken where lint of a cluster with this rule crashes, or takes more than 10 seconds or 500 MiB."""
    directory = lab.dir()
    own_release(lab, directory, rule)
    lab.write(directory, "hyperconverged.yaml", HEAD + spec)
    done = lab.run("lint", "--release", "./own", cwd=directory)
    lab.measured(f"exit {done.code}, {done.cpu:.2f} s, {done.memory:.0f} MiB")
    lab.expect(done.code in (0, 1, 2), "it crashes", done)
    lab.expect(done.cpu < 10 and done.memory < 500, "time or memory", done)
    return done


def attack_a_rule_that_fails(lab):
    """A rule that is small enough is evaluated: what the others are compared with."""
    done = judged(lab, "false")
    lab.expect(done.code == 1 and "no" in done.out, "the rule rejects", done)


def attack_ranges(lab):
    """Lists that are made of lists, each ten times as long."""
    ten = "[" + ",".join("0" * 10) + "]"
    loops = "".join(f"{ten}.all(a{i}, " for i in range(12))
    judged(lab, loops + "true" + ")" * 12)


def attack_brackets(lab):
    """100,000 brackets."""
    judged(lab, "(" * 100_000 + "true" + ")" * 100_000)
    judged(lab, "[" * 100_000 + "]" * 100_000 + ".size() >= 0")


def attack_operators(lab):
    """60,000 operators."""
    judged(lab, "true" + " && true" * 60_000)
    judged(lab, "!" * 60_000 + "true")


def attack_loops(lab):
    """Three loops over a list of the manifest."""
    templates = "".join(f"  - {{metadata: {{name: i{i}}}}}\n" for i in range(400))
    loop = "self.dataImportCronTemplates.all(a, self.dataImportCronTemplates.all(b, self.dataImportCronTemplates.all(c, a.metadata.name + b.metadata.name != c.metadata.name)))"
    judged(lab, loop, "spec:\n  dataImportCronTemplates:\n" + templates)


def attack_strings(lab):
    """A text that a rule doubles again and again."""
    text = "'x'"
    for _ in range(40):
        text = f"[{text}].map(a, a + a)[0]"
    judged(lab, f"{text}.size() > 0")


def attack_other_rules(lab):
    """Patterns, chains, literals, conversions and texts that are long, deep, or no number."""
    for rule in ["'" + "a" * 5_000 + "!'.matches('(a+)+$')", "'a'.matches('((a{100}){100}){100}')", "true ? " * 20_000 + "true" + " : false" * 20_000,
                 "self" + ".a" * 50_000 + " == 1", "[0]" + "[0]" * 50_000 + " == 0", "-" * 100_000 + "1 < 0", "{'a':" * 20_000 + "1" + "}" * 20_000 + ".size() > 0",
                 "['x'].map(a, a + a)" + ".map(a, a + a)" * 60 + ".size() > 0", "{" + ",".join(f"'{i}': {i}" for i in range(30_000)) + "}.size() > 0",
                 "9223372036854775807 + 1 > 0", "1 % 0 == 0", "-9223372036854775808 / -1 == 0", "duration('99999999999999999h') > duration('1s')",
                 "quantity('1e99999999999').isGreaterThan(quantity('1'))", "'%.99999999999999999999f'.format([1.0]).size() > 0", "lists.range(100000000).size() > 0",
                 "'a'" + ".replace('', 'aaaaaaaaaaaaaaaaaaaa')" * 12 + ".size() > 0", "// " + "x" * 1_000_000 + "\ntrue"]:
        judged(lab, rule)


def attack_growth(lab):
    """A rule that looks at each element of a list: twice the elements."""

    def build(directory, n):
        own_release(lab, directory, "self.dataImportCronTemplates.all(a, a.metadata.name.startsWith('i'))")
        rows = "".join(f"  - {{metadata: {{name: i{i}}}}}\n" for i in range(n))
        lab.write(directory, "hyperconverged.yaml", HEAD + "spec:\n  dataImportCronTemplates:\n" + rows)

    grows(lab, 32, build, "lint", "--release", "./own")
