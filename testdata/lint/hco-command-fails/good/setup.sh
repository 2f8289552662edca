#!/bin/sh
oc patch hyperconvergeds.v1beta1.hco.kubevirt.io kubevirt-hyperconverged --type=merge \
  -p '{"spec": {"defaultCPUModel": "Haswell"}}'
oc get hco kubevirt-hyperconverged
