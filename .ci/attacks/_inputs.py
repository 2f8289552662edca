"""What the attacks have in common: a cluster's inventory, its HyperConverged, and how growth is measured."""

# One node, so that nothing else of a cluster matters.
INVENTORY = """apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: one}
spec:
  release: "1.18"
  nodes: [{name: n0, architecture: amd64, roles: [control-plane, worker]}]
"""

# A HyperConverged as far as its spec.
HEAD = """apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}
"""

# So many times may twice the input cost what the input does.
LIMIT = 2.4
# Below this, in seconds of CPU, start-up and noise are more than what is measured.
ENOUGH = 0.05
ATTEMPTS = 6


# Pages that were freed are kept for a second: whether a run gets them back from the system while it works
# depends on how long it takes, so that the shortest one cost half as much in some runs.
KEEPS_PAGES = {"MIMALLOC_PURGE_DELAY": "1000"}


def grows(lab, n, build, *words, codes=(0, 1)):
    """Runs hcoplan on what `build(directory, size)` writes for n, 2n and 4n; Broken where a step costs too much.

    Of each size the least of some runs counts, and a step that is too large is measured again: a busy machine
    only ever adds. Returns a run of each size.
    """
    sizes = (0, n, 2 * n, 4 * n)
    places = {size: lab.dir() for size in sizes}
    for size, directory in places.items():
        build(directory, size or 1)
    cpu, runs = dict.fromkeys(sizes, float("inf")), {}

    def steps():
        """How many times each size costs what the one before did, without what the smallest input costs."""
        net = [max(cpu[size] - cpu[0], ENOUGH / 4) for size in sizes[1:]]
        return [after / before for before, after in zip(net, net[1:]) if after != float("inf")]

    def told():
        return ", ".join(f"{size}: {cpu[size] - cpu[0]:.2f} s" for size in sizes[1:])

    for attempt in range(ATTEMPTS):
        for size, directory in places.items():
            done = lab.run(*words, cwd=directory, timeout=60, env=KEEPS_PAGES)
            lab.expect(done.code in codes, f"{size}: exit {done.code}", done)
            cpu[size], runs[size] = min(cpu[size], done.cpu), done
            if steps() and max(steps()) > 2 * LIMIT or done.cpu > 10:
                break
        worst = max(steps(), default=LIMIT * 2)
        if attempt and (worst <= LIMIT or worst > 1.5 * LIMIT):
            break
    lab.measured(f"{told()}; {' and '.join(f'{step:.2f}' for step in steps())} times")
    lab.expect(worst <= LIMIT and max(cpu.values()) < 10, f"{' '.join(words)}: CPU {told()}")
    return runs
