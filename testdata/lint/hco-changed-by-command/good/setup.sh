#!/bin/sh
echo "oc patch hco kubevirt-hyperconverged -p x"
oc get hco kubevirt-hyperconverged -o yaml
oc patch kubevirt kubevirt --type merge -p '{}'
