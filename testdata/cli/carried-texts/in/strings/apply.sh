echo '{"apiVersion":"hco.kubevirt.io/v1beta1","kind":"HyperConverged","metadata":{"name":"a"}}' | oc apply -f -
oc apply -f - <<< "
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
"
HCO='{"kind": "HyperConverged", "apiVersion": "hco.kubevirt.io/v1beta1"}'
echo "$HCO" | kubectl apply -f -
