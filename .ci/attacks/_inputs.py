"""What the attacks have in common: a cluster's inventory, its HyperConverged, and how growth is measured."""

import os
from concurrent.futures import ThreadPoolExecutor

# Only one node, to keep other costs low.
INVENTORY = """apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
metadata: {name: one}
spec:
  release: "1.18"
  nodes: [{name: n0, architecture: amd64, roles: [control-plane, worker]}]
"""

# A HyperConverged without its spec.
HEAD = """apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}
"""

# Maximum ratio of the cost of the second half of twice the input to that of the first: 2 is linear, 4 quadratic.
LIMIT = 2.4
# With fewer instructions, start-up dominates the measurement.
ENOUGH = 1_000_000
# Maximum instructions of a run, about ten seconds.
MOST = 30_000_000_000


def grows(lab, n, build, *words, codes=(0, 1)):
    """Counts what hcoplan does with what `build(directory, size)` writes for n, 2n and 4n; Broken where it grows too fast.

    Instructions are counted and not seconds: a step of a tenth of a second takes half as long again, or twice,
    on a machine that does something else beside. So what is held is the algorithm, and n needn't be large.
    """

    def count(size):
        directory = os.path.join(places, str(size))
        os.makedirs(directory)
        build(directory, size)
        return lab.instructions(*words, cwd=directory, codes=codes)

    def on_one_core():
        os.sched_setaffinity(0, {cores.pop()})

    n = max(n // lab.share, 4)
    places, cores = lab.dir(), os.sched_getaffinity(0)
    # Each run uses one core: waiting threads would add instructions.
    with ThreadPoolExecutor(len(cores), initializer=on_one_core) as pool:
        counts = list(pool.map(count, (4 * n, 2 * n, n)))[::-1]
    # Differences exclude the fixed cost of a run.
    less, more = (max(after - before, ENOUGH) for before, after in zip(counts, counts[1:]))
    told = f"{' '.join(words)}: {n} more cost {less / 1e6:.0f} M instructions, {2 * n} more {more / 1e6:.0f} M, {more / less:.2f} times"
    lab.measured(told)
    lab.expect(more <= LIMIT * less and max(counts) < MOST, told)
