"""Secrets of every make: none is printed, and looking for them is cheap."""

import base64
import json

from _inputs import HEAD, INVENTORY, grows

BODY = "0123456789abcdefghijABCDEFGHIJ012345"
TOKENS = {
    "GitHub, user": "ghu_" + BODY,
    "GitHub, refresh": "ghr_" + BODY,
    "GitHub": "ghp_" + BODY,
    "npm": "npm_" + BODY,
    "Docker": "dckr_pat_" + BODY[:27],
    "Vault": "hvs." + BODY * 3,
    "Google": "AIza" + BODY[:35],
    "AWS": "ASIAABCDEFGHIJKLMNOP",
    "Slack": "xapp-1-A0123456789-0123456789012-0123456789abcdef",
    "OpenAI": "sk-" + BODY,
    "Azure": "AccountKey=" + BODY + "==",
    "Stripe": "sk_live_" + BODY[:24],
    "a registry's user": "robot:Hunter2Hunter2@registry.example.com/a",
    "a registry's user, no domain": "robot:Hunter2Hunter2@registry:5000/a",
}
NAMED = {
    "auth": base64.b64encode(b"user:Hunter2Hunter2").decode(),
    "client-key-data": "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ==",
    "userDataBase64": base64.b64encode(b"#cloud-config\npassword: fedora\n").decode(),
}
PGP = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQHYBGHunter2Hunter2\n-----END PGP PRIVATE KEY BLOCK-----"
FORMATS = ["human", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown"]


def secret_part(token):
    """What of a planted token must not be seen."""
    for cut in ["AccountKey=", "robot:"]:
        token = token.removeprefix(cut)
    return token.split("@")[0]


def attack_tokens(lab):
    """No token, however it is called, is in what `lint` prints."""
    for what, token in {**TOKENS, **NAMED}.items():
        key = what if what in NAMED else "notAField"
        directory = lab.dir()
        lab.write(directory, "inventory.yaml", INVENTORY)
        lab.write(directory, "hyperconverged.yaml", f'{HEAD}spec:\n  {key}: "{token}" # see {key}: {token}\n')
        for format in FORMATS:
            done = lab.run("lint", "--format", format, cwd=directory)
            lab.expect(done.code == 0 or done.code == 1, what, done)
            lab.expect(secret_part(token) not in done.out + done.err, f"{what} in {format}", done)


def attack_pgp_keys(lab):
    """A PGP key is masked, on one line, too."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    lab.write(directory, "hyperconverged.yaml", f"{HEAD}spec:\n  notAField: {json.dumps(PGP)}\n")
    for format in FORMATS:
        done = lab.run("lint", "--format", format, cwd=directory)
        lab.expect("Hunter2Hunter2" not in done.out + done.err, format, done)


def attack_masked_before_escaped(lab):
    """Whatever a report escapes, a password in an address is masked: `diff`, `report`, `why` and `matrix`, too."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    patch = (
        '[{"op": "add", "path": "/spec/config/importProxy", "value": {"HTTPProxy": "http://Proxy_User:Proxy_Pass5@proxy_%s.example.com:3128"}},'
        ' {"op": "add", "path": "/spec/config/insecureRegistries", "value": ["robot:Regi_Stry7@registry.example.com"]}]'
    )
    text = HEAD.replace(
        "namespace: kubevirt-hyperconverged}",
        "namespace: kubevirt-hyperconverged, annotations: {containerizeddataimporter.kubevirt.io/jsonpatch: '%s'}}",
    )
    lab.write(directory, "hyperconverged.yaml", text % (patch % "a") + "spec: {}\n")
    lab.commit(directory)
    lab.write(directory, "hyperconverged.yaml", text % (patch % "b") + "spec: {}\n")
    commands = [["lint", "--pedantic", "--format", f] for f in FORMATS]
    commands += [["diff", "--against", "main", "--format", f] for f in ["human", "json", "markdown", "html"]]
    commands += [["why", ".", "CDI", "spec.config", "--format", f] for f in ["human", "json"]]
    commands += [["why", ".", "CDI", "spec.config.importProxy.HTTPProxy"], ["plan", "--out", "rendered"], ["matrix"]]
    commands += [["report", "--format", "html=page.html"]]
    for words in commands:
        done = lab.run(*words, cwd=directory)
        lab.expect(done.code not in (2, 70), " ".join(words), done)
        said = done.out + done.err
        if words[0] == "report":
            with open(f"{directory}/page.html", encoding="utf-8") as page:
                said += page.read()
        for secret in ["Pass5", "Stry7"]:
            lab.expect(secret not in said, f"{' '.join(words)} says {secret}", done)


def attack_named_beside(lab):
    """What a jsonpatch writes below a secret's name, and what stands behind a key with a line break, is masked."""
    directory, secret = lab.dir(), "Zq7PlantedXy9"
    lab.write(directory, "inventory.yaml", INVENTORY)
    patch = json.dumps([{"op": "add", "path": "/spec/configuration/password", "value": secret}])
    lab.write(directory, "hyperconverged.yaml", HEAD.replace(
        "namespace: kubevirt-hyperconverged}", f"namespace: kubevirt-hyperconverged, annotations: {{kubevirt.kubevirt.io/jsonpatch: '{patch}'}}}}")
        + f"spec:\n  noSuchField:\n    ? |\n      password\n    : {secret}\n")
    for words in [*(["lint", "--pedantic", "--format", f] for f in FORMATS), ["fix"], ["plan", "--force"], ["why", ".", "KubeVirt"]]:
        done = lab.run(*words, cwd=directory)
        lab.expect(secret not in done.out + done.err, " ".join(words), done)


def attack_written_otherwise(lab):
    """A secret is masked however it is written: over two lines, in base64, in YAML that can't be parsed, in a key."""
    secret, half = "Zq7PlantedXy9", "ABCDEFGHIJ012345"
    encoded = base64.b64encode(TOKENS["GitHub"].encode()).decode()
    commands = [*(["lint", "--pedantic", "--format", f] for f in FORMATS), ["fix"], ["matrix"], ["plan", "--format", "json"],
                ["lint", "--helm"], ["init"], ["report", "--format", "html"], ["argocd"], ["argocd", "--format", "json"]]
    spec = lambda text: {"hyperconverged.yaml": HEAD + "spec:\n" + text}
    patch = f"[{{op: test, path: /spec/password, value: {secret}}}]"
    for what, files, planted in [
        ("a broken line", spec(f'  noSuch: "{TOKENS["GitHub"].removesuffix(half)}\\\n    {half}"\n'), half),
        ("base64", spec(f"  noSuch: {encoded}\n"), encoded),
        ("a list that isn't closed", spec(f"  password: [{secret}\n  x: y: z\n"), secret),
        ("below, in YAML that can't be parsed", spec(f"  password:\n    a: {secret}\n  x: y: z\n"), secret),
        ("a list as a key", spec(f"  ? [password, {secret}]\n  : 1\n"), secret),
        ("a patch that isn't JSON", {"hyperconverged.yaml": HEAD.replace("namespace: kubevirt-hyperconverged}", "namespace: kubevirt-hyperconverged, annotations: "
         f"{{kubevirt.kubevirt.io/jsonpatch: '[{{\"op\": \"add\", \"path\": \"/spec/password\", \"value\": \"{secret}\" x}}]'}}}}") + "spec: {}\n"}, secret),
        ("what helm quotes", {"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "c/values.yaml": f"password: {secret}\n",
                              "c/templates/a.yaml": HEAD + "spec: {a: '{{ fail .Values.password }}'}\n"}, secret),
        ("an environment", spec(f"  noSuch: {{env: [{{name: API_TOKEN, value: {secret}}}, {{value: {secret}, name: MY_PASSWORD}}]}}\n"), secret),
        ("a token as a key", spec(f'  "gh\\x70_{BODY}": 1\n'), BODY),
        ("an alias", spec(f"  password: &p {secret}\n  noSuch: *p\n"), secret),
        ("a taint", {"inventory.yaml": INVENTORY.replace("worker]", f"worker], taints: [{{key: token, value: {secret}, effect: NoSchedule}}]")}, secret),
        ("a patch that kustomize quotes",
         {"kustomization.yaml": f"resources: [hyperconverged.yaml]\npatches: [{{target: {{kind: HyperConverged}}, patch: '{patch}'}}]\n"}, secret),
    ]:
        directory = lab.dir()
        for path, text in {"inventory.yaml": INVENTORY, **spec("  {}\n"), **files}.items():
            lab.write(directory, path, text)
        for words in commands:
            done = lab.run(*words, cwd=directory)
            lab.expect(planted not in done.out + done.err, f"{what}: {' '.join(words)}", done)


def attack_dear_searches(lab):
    """Text that begins something secret at every place is searched in linear time and in little memory."""
    begins = {
        "ghp_": "ghp_",
        "eyJ": "eyJ",
        "JWTs": "eyJhbGciOi.",
        "base64": "LS0tLS1CRUdJTi",
        "long base64": "QUJDREVGR0hJSktM",
        "PEM": "-----BEGIN PRIVATE KEY-----",
        "assignments": "password=",
        "quoted assignments": "token='",
        "addresses": "://a@",
        "users": "a:b@",
        "Bearer": "Bearer ",
        "auth": "auth:",
    }
    for what, piece in begins.items():
        def build(directory, size):
            lab.write(directory, "inventory.yaml", INVENTORY)
            lab.write(directory, "hyperconverged.yaml", f"{HEAD}spec: {{notAField: 1}} # {piece * (size // len(piece))}\n")

        lab.measured(what)
        grows(lab, 1 << 15, build, "lint", "--format", "concise")
        large = lab.dir()
        build(large, 4 << 20)
        done = lab.run("lint", "--format", "concise", cwd=large)
        lab.expect(done.code == 1 and done.memory < 400, f"{what}: 4 MiB", done)
