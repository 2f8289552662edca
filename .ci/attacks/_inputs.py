"""What the attacks' repositories have in common: a cluster's inventory, and its HyperConverged."""

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
