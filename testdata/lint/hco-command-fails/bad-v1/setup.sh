#!/bin/sh
# oc patch hco kubevirt-hyperconverged -p '{}'
oc patch hyperconverged kubevirt-hyperconverged -n openshift-cnv --type=merge \
#~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (columns 1 to 79) (ends 1 line below, before column 48) on 1.18
#~ warning 2: `oc patch` has no effect: v1 has no `spec.defaultCPUModel`
#~ help: the same in v1: patch hyperconvergeds.v1.hco.kubevirt.io … --type merge -p '{"spec":{"virtualization":{"virtualMachineOptions":{"defaultCPUModel":"Haswell"}}}}'
  -p '{"spec": {"defaultCPUModel": "Haswell"}}'
oc patch hco kubevirt-hyperconverged --type json \
#~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (columns 1 to 50) (ends 1 line below, before column 88) on 1.18
#~ warning 3: `oc patch` fails: operation 1: path is invalid at `/spec/featureGates/downwardMetrics`
#~ help: the same in v1: patch hyperconvergeds.v1.hco.kubevirt.io … --type merge -p '{"spec":{"featureGates":[{"name":"downwardMetrics","state":"Enabled"}]}}'
  -p '[{"op": "replace", "path": "/spec/featureGates/downwardMetrics", "value": true}]'
# 1.19 drops the profile: there is nothing that would do the same.
oc patch hco kubevirt-hyperconverged --type json \
#~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (columns 1 to 50) (ends 1 line below, before column 75) on 1.18
#~ warning 4: `oc patch` has no effect: v1 has no `spec.tuningPolicy`
#~ help: declare it in the HyperConverged, where it is checked
  -p '[{"op": "add", "path": "/spec/tuningPolicy", "value": "highBurst"}]'
oc patch hco kubevirt-hyperconverged --type merge \
#~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (columns 1 to 51) (ends 1 line below, before column 68) on 1.18
#~ warning 5: `oc patch` is refused: failed to parse the HyperConverged
#~ help: the same in v1: patch hyperconvergeds.v1.hco.kubevirt.io … --type merge -p '{"spec":{"featureGates":[{"name":"deployKubeSecondaryDNS","state":"Enabled"}]}}'
  -p '{"spec": {"featureGates": {"deployKubeSecondaryDNS": true}}}'
