#!/bin/sh
# oc patch hco kubevirt-hyperconverged -p '{}'
oc patch hyperconverged kubevirt-hyperconverged -n openshift-cnv --type=merge \
  -p '{"spec": {"defaultCPUModel": "Haswell"}}'
oc patch hco kubevirt-hyperconverged --type json \
  -p '[{"op": "replace", "path": "/spec/featureGates/downwardMetrics", "value": true}]'
# 1.19 drops the profile: there is nothing that would do the same.
oc patch hco kubevirt-hyperconverged --type json \
  -p '[{"op": "add", "path": "/spec/tuningPolicy", "value": "highBurst"}]'
oc patch hco kubevirt-hyperconverged --type merge \
  -p '{"spec": {"featureGates": {"deployKubeSecondaryDNS": true}}}'
