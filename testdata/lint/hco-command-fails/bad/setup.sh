#!/bin/sh
# oc patch hco kubevirt-hyperconverged -p '{}'
oc patch hyperconverged kubevirt-hyperconverged -n openshift-cnv --type=merge \
#~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (columns 1 to 79) (ends 1 line below, before column 48) works on 1.17, and not on 1.18
#~ warning 1: from 1.18 on, `oc patch` has no effect: v1 has no `spec.defaultCPUModel`
#~ help: the same in v1: patch hyperconvergeds.v1.hco.kubevirt.io … --type merge -p '{"spec":{"virtualization":{"virtualMachineOptions":{"defaultCPUModel":"Haswell"}}}}'
  -p '{"spec": {"defaultCPUModel": "Haswell"}}'
oc patch hco kubevirt-hyperconverged --type json \
#~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (columns 1 to 50) (ends 1 line below, before column 88) works on 1.17, and not on 1.18
#~ warning 2: from 1.18 on, `oc patch` fails: operation 1: path is invalid at `/spec/featureGates/downwardMetrics`
#~ help: the same in v1: patch hyperconvergeds.v1.hco.kubevirt.io … --type merge -p '{"spec":{"featureGates":[{"name":"downwardMetrics","state":"Enabled"}]}}'
  -p '[{"op": "replace", "path": "/spec/featureGates/downwardMetrics", "value": true}]'
