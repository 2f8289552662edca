#!/bin/bash
set -euo pipefail
oc apply -f - <<END
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: ${NAMESPACE:-kubevirt-hyperconverged}
spec:
  featureGate: {}
END
