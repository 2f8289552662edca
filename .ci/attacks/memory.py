"""Memory is bounded by the size of the input, whatever stands in it."""

import json

# Maximum MiB of memory per MiB of input, in addition to an empty repository's. SECURITY.md names it.
LIMIT = 1000
# Return freed memory at once: otherwise timing changed one input's result from 650 to 1,050 bytes per byte.
IN_USE = {"MIMALLOC_PURGE_DELAY": "0"}
SIZE = 128 << 10

INVENTORY = """apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: one}
spec:
  release: "1.18"
  platform: OpenShift
"""
NODES = "  nodes: [{name: cp1, architecture: amd64, roles: [control-plane]}, {name: w1, architecture: amd64, roles: [worker]}]\n"
HEAD = """apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
"""


def many(text):
    """A text as often as it fits; `{}` is each time's number."""
    out, size = [], 0
    while size < SIZE:
        out.append(text.replace("{}", f"{len(out):x}"))
        size += len(out[-1])
    return "".join(out)


def bounded(lab, spec="  {}\n", head=HEAD, inventory=INVENTORY + NODES, other=""):
    """Broken where a run takes more memory than its input allows."""
    files = {"hyperconverged.yaml": head + "spec:\n" + spec, "inventory.yaml": inventory, "other.yaml": other}

    def peak(files):
        directory = lab.dir()
        for path, text in files.items():
            lab.write(directory, path, text)
        words = ["lint", "--format", "concise"]
        return lab.run(*words, cwd=directory, timeout=120, env=IN_USE)

    empty = peak({"hyperconverged.yaml": HEAD + "spec: {}\n", "inventory.yaml": INVENTORY + NODES})
    done = peak(files)
    lab.expect(done.code in (0, 1, 2, 4), "the run ends", done)
    size = sum(len(text) for text in files.values()) / (1 << 20)
    ratio = (done.memory - empty.memory) / size
    lab.measured(f"{ratio:.0f} bytes for each byte of {size:.2f} MiB, {done.cpu:.2f} s")
    lab.expect(ratio < LIMIT, f"{ratio:.0f} bytes of memory for each byte of input")


def attack_lists(lab):
    """Empty lists in an unknown field."""
    bounded(lab, "  noSuchField: [" + many("[],") + "]\n")


def attack_numbers(lab):
    """Numbers in an unknown field."""
    bounded(lab, "  noSuchField: [" + many("0,") + "]\n")


def attack_mapping(lab):
    """Keys without values."""
    bounded(lab, "  noSuchField: {" + many("a{}: ,") + "}\n")


def attack_tolerations(lab):
    """Tolerations, which are copied to operands."""
    bounded(lab, "  workloads:\n    nodePlacement:\n      tolerations:\n" + "".join(f"      - {{key: k{i}}}\n" for i in range(SIZE // 20)))


def attack_empty_tolerations(lab):
    """Tolerations that say nothing."""
    bounded(lab, "  workloads: {nodePlacement: {tolerations: [" + "{}," * (SIZE // 3) + "]}}\n")


def attack_empty_images(lab):
    """Golden images that say nothing, each of which is found."""
    bounded(lab, "  dataImportCronTemplates: [" + "{}," * (SIZE // 3) + "]\n")


def attack_empty_nodes(lab):
    """Nodes that say nothing, each of which is found."""
    bounded(lab, inventory=INVENTORY + "  nodes: [" + "{}," * (SIZE // 3) + "]\n")


def attack_gates(lab):
    """Feature gates that say nothing."""
    bounded(lab, "  featureGates: [" + "{}," * (SIZE // 3) + "]\n", head=HEAD.replace("v1beta1", "v1"))


def attack_labels(lab):
    """Labels."""
    bounded(lab, head=HEAD + "  labels: {" + many("a{}: b,") + "}\n")


def attack_documents(lab):
    """Documents with nothing in them, and with a word in each."""
    bounded(lab, other=many("---\n"))
    bounded(lab, other=many("---\na\n"))


def attack_neighbour(lab):
    """Numbers in another object."""
    bounded(lab, other="kind: VirtualMachine\napiVersion: kubevirt.io/v1\nmetadata: {name: x}\nspec: [" + many("0,") + "]\n")


def attack_aliases(lab):
    """Aliases, up to the limit of what they may add."""
    aliases = "  a: &a [" + "0," * 1000 + "]\n  b: [" + "*a," * 390 + "]\n"
    bounded(lab, aliases + "#" * SIZE + "\n")


def attack_unknown_fields(lab):
    """Fields that nobody knows, each of which is found."""
    bounded(lab, many("  f{}: 1\n"))


def attack_one_string(lab):
    """One long string."""
    bounded(lab, "  noSuchField: " + "a" * SIZE + "\n")


def patched(lab, operations, mib):
    """Broken where lint, plan, render or why of a cluster with this patch takes more memory, or more than 10 s."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY + NODES)
    annotations = "  annotations:\n" + "".join(
        f"    {name}/jsonpatch: '{json.dumps(operations)}'\n"
        for name in ["kubevirt.kubevirt.io", "containerizeddataimporter.kubevirt.io", "ssp.kubevirt.io"])
    lab.write(directory, "hyperconverged.yaml", HEAD + annotations + "spec: {}\n")
    for words in [["lint"], ["plan"], ["render"], ["why", ".", "KubeVirt"], ["why", ".", "SSP"]]:
        done = lab.run(*words, cwd=directory, timeout=60, env=IN_USE)
        lab.measured(f"{' '.join(words)}: {done.memory:.0f} MiB, {done.cpu:.2f} s")
        lab.expect(done.code in (0, 1, 2, 4), "the run ends", done)
        lab.expect(done.memory < mib and done.cpu < 10, f"{' '.join(words)}: memory or time", done)


def attack_patch_doubles(lab):
    """A patch that doubles a list with a long string."""
    double = {"op": "copy", "from": "/spec/x", "path": "/spec/x/-"}
    patched(lab, [{"op": "add", "path": "/spec/x", "value": ["x" * 50_000]}, *[double] * 18], 250)


def attack_patch_doubles_keys(lab):
    """A patch that doubles a mapping with a long key."""
    double = [{"op": "copy", "from": "/spec/x", "path": f"/spec/x/{i}"} for i in range(18)]
    patched(lab, [{"op": "add", "path": "/spec/x", "value": {"k" * 50_000: 1}}, *double], 250)


def attack_patch_doubles_elsewhere(lab):
    """A patch that doubles the document as RFC 6902 reads it, and not as the operator's library does."""
    patched(lab, [{"op": "copy", "from": "", "path": f"/spec/a{i}"} for i in range(60)], 250)


def attack_patch_moves(lab):
    """A patch of operations each of which needs the one before it."""
    moves = [{"op": "move", "from": f"/spec/{a}", "path": f"/spec/{b}"} for a, b in ("ab", "ba")]
    patched(lab, [{"op": "add", "path": "/spec/a", "value": "x" * 5_000}, *moves * 1_000], 250)
    patched(lab, [{"op": "add", "path": "/spec/a", "value": "x" * 5_000}, *moves * 120], 250)


def attack_patch_of_long_list(lab):
    """A patch that appends to a long list, which is another one after each operation."""
    append = {"op": "add", "path": "/spec/x/-", "value": 1}
    patched(lab, [{"op": "add", "path": "/spec/x", "value": [1] * 3_000}, *[append] * 240], 250)


def attack_patch_others(lab):
    """Patches that copy the root, longer and longer keys, and what is in a longer and longer list."""
    text = "x" * 50_000
    for operations in [
        [{"op": "copy", "from": "/spec", "path": "/spec/a"}] * 200,
        [{"op": "add", "path": "/spec/x", "value": [[[text]]]}, *[{"op": "copy", "from": "/spec/x", "path": "/spec/x/0/0/-"}, {"op": "copy", "from": "/spec/x/0", "path": "/spec/x/-"}] * 12],
        [{"op": "add", "path": "/spec/" + "~1" * 30_000, "value": 1}, *[{"op": "copy", "from": "/spec", "path": f"/spec/z{i}"} for i in range(16)]],
        [{"op": "add", "path": "/spec/x", "value": [text]}, *[{"op": "copy", "from": "/spec/x", "path": "/spec/x/-"}] * 14, *[{"op": "test", "path": "/spec/x", "value": [1]}] * 50],
        [{"op": "add", "path": "/spec/x", "value": [0] * 20_000}, *[{"op": "add", "path": "/spec/x/0", "value": 1}] * 240],
    ]:
        patched(lab, operations, 250)


def attack_template_parameters(lab):
    """A Template of OpenShift whose parameter is put in 20,000 times: it takes less than 250 MiB and 5 s."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY + NODES)
    one = HEAD.replace("\n", "\n  ") + "spec: {defaultCPUModel: '" + "${P}" * 20_000 + "'}\n"
    text = f"apiVersion: template.openshift.io/v1\nkind: Template\nparameters: [{{name: P, value: {'x' * 50_000}}}]\nobjects:\n- {one}"
    lab.write(directory, "template.yaml", text)
    for words in [["lint"], ["plan"]]:
        done = lab.run(*words, cwd=directory, env=IN_USE)
        lab.expect(done.code in (0, 1), "the run ends", done)
        lab.expect(done.memory < 250 and done.cpu < 5, f"{' '.join(words)}: memory or time", done)
