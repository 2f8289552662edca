"""Comments that are cheap to send and dear to search."""

from _inputs import HEAD, INVENTORY

MANIFEST = HEAD + "spec: {evictionStrategy: Sometimes} # "


def attack_overlapping_secrets(lab):
    """160 KB of text in which every place begins something like a secret needs less than 200 MiB."""
    directory = lab.dir()
    lab.write(directory, "inventory.yaml", INVENTORY)
    lab.write(directory, "hyperconverged.yaml", MANIFEST + "ghp_" * 40_000 + "\n")
    done = lab.run("lint", cwd=directory)
    lab.expect(done.code == 1, "the manifest is refused", done)
    lab.expect(done.memory < 200, f"{done.memory:.0f} MiB for 160 KB")
