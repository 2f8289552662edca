"""Hostile text in every place that input can come from: no output takes it for anything but text."""

import json
import os
import re
import subprocess
import xml.etree.ElementTree as ET

from _inputs import HEAD

INVENTORY = """apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: one}
spec:
  release: "1.19"
  nodes:
  - {name: n0, architecture: amd64, roles: [control-plane, worker]}
  - {name: %s, architecture: %s, roles: [worker], labels: {%s: %s}}
"""
HC = """apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
  annotations:
    %s: %s
    containerizeddataimporter.kubevirt.io/jsonpatch: %s
spec:
  %s: %s
  defaultCPUModel: %s
  evictionStrategy: %s
  dataImportCronTemplates:
  - metadata: {name: %s, annotations: {ssp.kubevirt.io/dict.architectures: %s}}
    spec:
      schedule: "0 1 * * *"
      managedDataSource: %s
      template: {spec: {source: {registry: {url: %s}}}}
"""
ESC = "\x1b[31mRED\x1b]0;title\x07"
BIDI = "\u202eTRO\u2066J\u200b\u2060\u3164\ufe0f"
MARK = "@octocat #1 https://evil.example/x www.evil.example ![i](https://evil.example/i.png) [c](command:evil) `b` <img src=x>"
LINES = "\n::error file=pwn.yaml::pwned\n##[error]pwned\n---\napiVersion: v1\nkind: Pwned\nx: \u2028y\u0085z"
HOSTILE = f"::warning::start {ESC} {BIDI} {MARK} {LINES}"
NAME = "::error::d\n---\nkind: Pwned\n\x1b[31m \u202e @octocat #1 `x` www.evil.example [c](command:evil)<b>"


def quoted(text):
    return json.dumps(text)


def repository(lab):
    """A repository in which everything is hostile, with a revision before it."""
    directory = lab.dir()
    where = os.path.join(NAME)
    h = quoted(HOSTILE)
    lab.write(directory, f"{where}/inventory.yaml", INVENTORY % (h, h, h, h))
    template = HC % (h, h, h, "notAField", h, h, "LiveMigrate", h, h, h, h)
    good = HC % ('"a/b"', h, "'[]'", "defaultCPUModel", '"Haswell"', '"Haswell"', "LiveMigrate", '"own"', '"amd64"', '"own"', '"docker://quay.io/x:1"')
    good = good.replace('  defaultCPUModel: "Haswell"\n', "", 1)
    lab.write(directory, f"{where}/::error::hc\n@octocat.yaml", good)
    lab.write(directory, f"good/inventory.yaml", INVENTORY % ('"n1"', '"arm64"', '"a/b"', '"c"'))
    lab.write(directory, "good/hc.yaml", good)
    lab.commit(directory)
    lab.write(directory, f"{where}/::error::hc\n@octocat.yaml", template)
    patch = json.dumps([{"op": "add", "path": "/metadata/annotations", "value": {"x": HOSTILE}},
                        {"op": "add", "path": "/spec/config/importProxy", "value": {"HTTPProxy": HOSTILE}}])
    lab.write(directory, "good/hc.yaml", good.replace("'[]'", quoted(patch)))
    lab.write(directory, f"{NAME}.yaml", "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nspec: [\n")
    lab.write(directory, "ok/hc.yaml", good)
    lab.write(directory, "ok/inventory.yaml", INVENTORY % ('"n1"', '"arm64"', '"a/b"', '"c"'))
    return directory


# --- Text that each destination must not contain ---

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]")


def check_log(lab, what, text):
    """A log of GitHub Actions, which a terminal may show."""
    found = STEERS.search(text)
    lab.expect(not found, f"{what}: {found and text[max(0, found.start() - 60):found.end() + 20]!r}")
    for line in text.splitlines():
        lab.expect(not line.strip().startswith("::"), f"{what}: a command: {line[:200]!r}")
        lab.expect("##[" not in line, f"{what}: a command: {line[:200]!r}")


def check_markdown(lab, what, text):
    fences = re.sub(r"(?ms)^(`{3,})diff\n.*?^\1$", "", text)
    # Remove code between equal numbers of backticks; a backslash escapes a backtick.
    plain = re.sub(r"(\\.)|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", lambda m: m[1] or "", fences)
    found = STEERS.search(text)
    lab.expect(not found, f"{what}: {found and text[max(0, found.start() - 60):found.end() + 20]!r}")
    for pattern in [r"@octocat", r"(^|[^&\\\w])#1\b", r"https://evil", r"www\.evil", r"(?<!\\)!\[", r"(?<!\\)\]\(command", r"(?<!\\)<(img|b)\b"]:
        found = re.search(pattern, plain)
        lab.expect(not found, f"{what}: {pattern}: {found and plain[max(0, found.start() - 80):found.end() + 40]!r}")


def check_github(lab, what, text):
    for line in text.splitlines():
        lab.expect(re.match(r"::(error|warning|notice) (file=[^:]*,)?title=[a-z0-9-]+::", line), f"{what}: {line[:200]!r}")
        lab.expect(not STEERS.search(line), f"{what}: {line[:200]!r}")


def check_junit(lab, what, text):
    ET.fromstring(text)
    lab.expect(not STEERS.search(text), f"{what}: {text[:500]!r}")


def messages(value, keys):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str):
                yield inner
            yield from messages(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from messages(inner, keys)


def check_json(lab, what, text):
    json.loads(text)
    found = STEERS.search(text)
    lab.expect(not found, f"{what}: {found and text[max(0, found.start() - 60):found.end() + 20]!r}")


def check_messages(lab, what, text, keys=("message", "description")):
    check_json(lab, what, text)
    for message in messages(json.loads(text), keys):
        lab.expect(not STEERS.search(message), f"{what}: {message!r}")


def check_sarif(lab, what, text):
    check_json(lab, what, text)
    for message in messages(json.loads(text), ("text",)):
        lab.expect(not STEERS.search(message), f"{what}: {message!r}")
        lab.expect(not re.search(r"(?<!\\)\]\(command", message), f"{what}: a link: {message!r}")


def check_html(lab, what, text):
    found = STEERS.search(text)
    lab.expect(not found, f"{what}: {found and text[max(0, found.start() - 60):found.end() + 20]!r}")
    lab.expect("<img src=x" not in text and "href=\"command" not in text, what)


CHECKS = {
    "human": check_log, "concise": check_log, "json": check_json, "sarif": check_sarif, "github": check_github,
    "gitlab": check_messages, "junit": check_junit, "markdown": check_markdown,
    "html": check_html,
}


def check(lab, directory, words, check, code=(0, 1, 3, 4)):
    done = lab.run(*words, cwd=directory)
    what = " ".join(words)
    lab.expect(done.code != 70, what, done)
    check_log(lab, f"{what} (standard error)", done.err)
    check(lab, what, done.out) if done.out or check is not check_json else None
    return done


def attack_findings(lab):
    """`lint` in every format: hostile text is text."""
    directory = repository(lab)
    for format in ["human", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown"]:
        done = check(lab, directory, ["lint", "--pedantic", "--format", format], CHECKS[format])
        lab.expect("notAField" in done.out, format, done)
    check(lab, directory, ["lint", "--show-files"], check_log)


def attack_excerpts(lab):
    """A line of a file isn't a workflow command where an excerpt or a preview shows it."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY % ("n1", "amd64", "a", "b"))
    lab.write(directory, "hyperconverged.yaml", HEAD + "spec:\n  noSuchField: 1 # ##[error]pwned\n  featureGates: {noSuchGate: true} # ##[x]pwned\n")
    for words in [["lint", "--pedantic"], ["lint", "--pedantic", "--format", "markdown"], ["fix"], ["plan"]]:
        done = check(lab, directory, words, check_log)
        lab.expect(words[0] == "plan" or "pwned" in done.out or "noSuch" in done.out, " ".join(words), done)


def attack_views(lab):
    """`plan`, `diff`, `matrix`, `why`, `report`: hostile text is text."""
    directory = repository(lab)
    os.remove(os.path.join(directory, f"{NAME}.yaml"))
    for format in ["human", "markdown", "html", "json"]:
        done = check(lab, directory, ["diff", "--against", "main", "--format", format], CHECKS[format])
        lab.expect("octocat" in done.out, format, done)
    check(lab, directory, ["plan", "--out", "rendered", "--force"], check_log)
    for words, kind in [
        (["matrix"], "human"), (["matrix", "--format", "json"], "json"), (["matrix", "--format", "html"], "html"),
        (["why", "good", "CDI", "spec.config"], "human"), (["why", "good", "CDI", "spec.config", "--format", "json"], "json"),
        (["why", NAME, "CDI", "spec.config"], "human"), (["why", NAME, HOSTILE, HOSTILE], "human"),
        (["report", "--format", "html"], "html"), (["fix"], "human"),
        (["inventory", "check", f"{NAME}/inventory.yaml", "good/inventory.yaml"], "human"),
        (["lint", "--release", HOSTILE], "human"), (["lint", HOSTILE], "human"), (["lint", "--only", HOSTILE], "human"),
    ]:
        check(lab, directory, words, CHECKS.get(kind, lambda *_: None))


def attack_comments_of_streams(lab):
    """A directory's name ends no comment in YAML that hcoplan writes."""
    directory = lab.dir()
    name = "a\n---\napiVersion: v1\nkind: Pwned\u2028kind: Pwned\u0085kind: Pwned\rkind: Pwned"
    lab.write(directory, f"{name}/inventory.yaml", INVENTORY % ('"n1"', '"amd64"', '"a/b"', '"c"'))
    text = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\nspec: {}\n"
    lab.write(directory, f"{name}/hc.yaml", text)
    for words in [["render"], ["render", "--show", "stored"], ["inventory", "from", f"{name}/inventory.yaml"]]:
        done = lab.run(*words, cwd=directory)
        for line in re.split("[\r\n\u0085\u2028\u2029]", done.out):
            lab.expect(not line.startswith("kind: Pwned"), " ".join(words), done)
        check_log(lab, f"{words} (standard error)", done.err)
    lab.expect("kind: CDI" in lab.run("render", cwd=directory).out, "it renders")


def attack_cmp(lab):
    """Argo CD is told of hostile names without being steered."""
    directory = repository(lab)
    for words in [["cmp", "generate"], ["cmp", "discover"]]:
        check(lab, directory, words, check_log if words[1] == "discover" else lambda *_: None)


def attack_hovers(lab):
    """An editor's hover over hostile text shows text, and no link of its."""
    directory = repository(lab)
    path = f"{NAME}/::error::hc\n@octocat.yaml"
    with open(os.path.join(directory, path), encoding="utf-8", newline="") as file:
        text = file.read()
    root = "file://" + os.path.realpath(directory)
    from urllib.parse import quote
    uri = f"{root}/{quote(path)}"
    sent = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}, "workspaceFolders": [{"uri": root, "name": "w"}]}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}}},
    ]
    count = 0
    for number, line in enumerate(text.split("\n")):
        for character in {len(line) - len(line.lstrip()) + 1, max(0, len(line) - 3)}:
            count += 1
            sent.append({"id": 1 + count, "method": "textDocument/hover", "params": {"textDocument": {"uri": uri}, "position": {"line": number, "character": character}}})
    server = subprocess.Popen([lab.binary, "lsp"], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for message in sent:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()
    answers = {}
    while len(answers) < count + 1:
        head = server.stdout.readline()
        lab.expect(head, "the server ends")
        if head.startswith(b"Content-Length:"):
            server.stdout.readline()
            answer = json.loads(server.stdout.read(int(head.split(b":")[1])))
            if "id" in answer and "method" not in answer:
                answers[answer["id"]] = answer
    server.stdin.close()
    server.wait()
    hovers = [a["result"]["contents"]["value"] for a in answers.values() if (a.get("result") or {}).get("contents")]
    lab.expect(hovers, "there are hovers")
    for hover in hovers:
        plain = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", hover)
        lab.expect(not re.search(r"(?<!\\)\]\(command|(?<!\\)!\[|https://evil", plain), f"hover: {hover!r}")
        lab.expect(not STEERS.search(hover.replace("\n", "")), f"hover: {hover!r}")


def attack_import(lab):
    """No name and no value of a dump becomes a key, an element or a line of the inventory."""
    evil = "x\n  injected: true\n# \u202e\u200b"
    flow = "a}, {injected: b, key: c"
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
        "kubernetes.io/arch": "amd64", "rack": name, f"node-role.kubernetes.io/{role}": "", "topology.kubernetes.io/zone": role}},
        "spec": {"taints": [{"key": taint, "value": taint, "effect": "NoSchedule"}]},
        "status": {"nodeInfo": {"architecture": arch}}}
        for name, role, taint, arch in [(evil, "worker", evil, "amd64"), ("n1", flow, flow, "arm64"), ("n2", "a, injected", flow, evil)]]
    directory = lab.dir()
    lab.write(directory, "hc.yaml", HEAD + f"spec: {{workloads: {{nodePlacement: {{nodeSelector: {{rack: {json.dumps(evil)}}}}}}}}}\n")
    dump = lab.write(directory, "nodes.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    for words in [["import", dump], ["import", dump, "--out", "inventory.yaml"], ["import", dump, "--out", "inventory.yaml"]]:
        done = lab.run(*words, cwd=directory)
        lab.expect(done.code in (0, 1, 2), f"{words}", done)
        made = os.path.join(directory, "inventory.yaml")
        text = done.out if len(words) == 2 else open(made).read()
        lab.expect(not re.search("[\u200b\u202e]", text), "a character that nobody sees", done)
        for line in text.splitlines():
            lab.expect(not re.match(r"\s*(- )?\{?injected\s*:", line), f"a key: {line}", done)
        lab.expect(not re.search(r"[{,] *injected", re.sub(r'"(\\.|[^"\\])*"', '""', text)), "an element", text)


def attack_import_of_other_values(lab):
    """What YAML reads as something else than text is text in an inventory, as a name, a label, a key and a taint."""
    values = ["a: b", "# c", "- x", "? y", "*a", "&a", "!x", "|", "> z", "%d", "@at", "`t", "'q", '"q', "[f", "{f", "}", "]", ",", "x #c", "tab\tx", "\tx", "nel\u0085injected: v",
              "ls\u2028injected: v", "ps\u2029injected: v", "cr\rinjected: v", "---", "...", "--- x", "true", "null", "~", "1e3", "0x1f", "012", "1:30", ".inf", "<<", "2001-01-01",
              " x ", "", "\U000e0041", "\ufe0f", "\u3164", "\u2800", "\U0001d173", "\ufffe"]
    for value in values:
        directory = lab.dir()
        labels = {"kubernetes.io/arch": "amd64", "rack": value, value: "v"}
        items = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {"taints": [{"key": value, "value": value, "effect": "NoSchedule"}]},
                  "status": {"nodeInfo": {"architecture": "amd64"}}} for name in ["n1", value]]
        lab.write(directory, "nodes.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        # YAML has no surrogates.
        selector = json.dumps({"rack": value, value: "v"}, ensure_ascii=max(value, default="") <= "\uffff")
        lab.write(directory, "hyperconverged.yaml", HEAD + f"spec: {{workloads: {{nodePlacement: {{nodeSelector: {selector}}}}}}}\n")
        done = lab.run("import", "nodes.json", "--out", "inventory.yaml", cwd=directory)
        lab.expect(done.code in (0, 1, 2), f"{value!r}: it ends", done)
        check_log(lab, f"{value!r}", done.out + done.err)
        made = os.path.join(directory, "inventory.yaml")
        if os.path.exists(made):
            with open(made, newline="") as file:
                text = file.read()
            lab.expect(not STEERS.search(text), f"{value!r}: a raw character in {text!r}")
            lab.expect(not re.search(r"(?m)^\s*(- )?injected", text), f"{value!r}: a key in {text!r}")
            again = lab.run("lint", cwd=directory)
            lab.expect(again.code in (0, 1), f"{value!r}: what was written can't be read: {text!r}", again)


def attack_names_in_init(lab):
    """No name of a file is a line, a command or a control sequence of what `init` prints and writes."""
    directory = lab.dir()
    name = "c\u202e\x1b[31m\n::error::x"
    lab.write(directory, f"{name}/hyperconverged.yaml", HEAD + "spec: {}\n")
    lab.write(directory, f"{name}/nodes.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\n")
    done = lab.run("init", cwd=directory)
    lab.expect(not re.search("[\u202e\x1b]", done.out + done.err), "raw characters", done)
    lab.expect(not re.search("^::", done.out + done.err, re.M), "a command", done)
    for path, _, files in os.walk(directory):
        for file in files:
            if file in ("inventory.yaml", "hcoplan.yaml") or ".hcoplan" in path:
                text = open(os.path.join(path, file)).read()
                lab.expect(not re.search("^::", text, re.M), f"a line of {file}", text)


def attack_revisions(lab):
    """The name of a revision is text, too."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY % ("n1", "amd64", "a", "b"))
    lab.write(directory, "hyperconverged.yaml", HEAD + "spec: {noSuchField: 1}\n")
    lab.commit(directory)
    name = "a\u202eb\u200bc"
    lab.git(directory, "branch", name)
    for format in ["human", "concise", "markdown"]:
        done = lab.run("lint", "--against", name, "--pedantic", "--format", format, cwd=directory)
        lab.expect(not re.search("[\u202e\u200b]", done.out + done.err), f"raw characters in {format}", done)


def attack_overlapping_secrets(lab):
    """160 KB of text in which every place begins something like a secret needs less than 200 MiB."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY % ("n1", "arm64", "a/b", "c"))
    head = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\n"
    lab.write(directory, "hyperconverged.yaml", head + "spec: {evictionStrategy: Sometimes} # " + "ghp_" * 40_000 + "\n")
    done = lab.run("lint", cwd=directory)
    lab.expect(done.code == 1, "the manifest is rejected", done)
    lab.expect(done.memory < 200, f"{done.memory:.0f} MiB for 160 KB")
