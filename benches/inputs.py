"""What the benchmarks are run on: made from the example fleet, the same every time."""

import pathlib
import shutil

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples/fleet/clusters/prod-east"


def example(scratch):
    """One cluster in a directory of its own: in this repository, its whole is read for what is applied from it."""
    directory = scratch / "example"
    if not directory.exists():
        shutil.copytree(EXAMPLE, directory)
    return directory


def fleet(directory, count):
    """Clusters like those of the example fleet, no two the same."""
    examples = sorted((ROOT / "examples/fleet/clusters").iterdir())
    for number in range(count):
        example = examples[number % len(examples)]
        target = directory / f"clusters/c{number:05}"
        target.mkdir(parents=True)
        for file in example.iterdir():
            text = file.read_text()
            if file.name == "hyperconverged.yaml":
                text = text.replace("spec:\n", f"spec:\n  defaultCPUModel: model-{number}\n", 1)
            (target / file.name).write_text(text)


def random_cases(directory, release, copies=1):
    """The recorded random cases as clusters of one release; false where they aren't at hand."""
    cases = ROOT.parent / "shared/golden/random/cases"
    for copy in range(copies):
        for case in sorted(cases.iterdir()) if cases.is_dir() else ():
            target = directory / f"clusters/{case.name}-{copy}"
            target.mkdir(parents=True)
            for file in case.iterdir():
                text = file.read_text()
                if file.name == "inventory.yaml":
                    text = text.replace("spec:\n", f'spec:\n  release: "{release}"\n', 1)
                (target / file.name).write_text(text)
    return directory.is_dir()


def change(directory):
    """Another value of one setting in each HyperConverged of a directory."""
    for file in sorted(directory.glob("clusters/*/*.yaml")):
        documents = list(yaml.safe_load_all(file.read_text()))
        for document in documents:
            if document and document.get("kind") == "HyperConverged":
                document["spec"] = spec = document.get("spec") or {}
                if not document["apiVersion"].endswith("v1beta1"):
                    document["spec"]["virtualization"] = spec = spec.get("virtualization") or {}
                spec["liveMigrationConfig"] = {**(spec.get("liveMigrationConfig") or {}), "parallelMigrationsPerCluster": 7}
                file.write_text(yaml.safe_dump_all(documents))


def overlays(directory, count):
    """A base, and an overlay with a patch and an inventory for each of `count` clusters."""
    base = directory / "base"
    base.mkdir(parents=True)
    shutil.copy(EXAMPLE / "hyperconverged.yaml", base)
    (base / "kustomization.yaml").write_text("resources: [hyperconverged.yaml]\n")
    for i in range(count):
        cluster = directory / "clusters" / f"c{i}"
        cluster.mkdir(parents=True)
        patch = f'[{{"op": "add", "path": "/metadata/labels", "value": {{"cluster": "c{i}"}}}}]'
        (cluster / "kustomization.yaml").write_text(
            f"resources: [../../base]\npatches:\n- patch: '{patch}'\n  target: {{kind: HyperConverged}}\n")
        shutil.copy(EXAMPLE / "inventory.yaml", cluster)


def without_hyperconverged(directory, count):
    """YAML files, and no HyperConverged among them."""
    manifest = (EXAMPLE / "inventory.yaml").read_text()
    manifest = manifest.replace("hcoplan.dev/v1alpha1", "v1").replace("ClusterInventory", "Inventory")
    for number in range(count):
        if number % 100 == 0:
            below = directory / f"d{number // 10_000}/e{number // 100}"
            below.mkdir(parents=True)
        (below / f"f{number}.yaml").write_text(manifest)
