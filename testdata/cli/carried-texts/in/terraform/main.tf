resource "kubectl_manifest" "virt" {
  yaml_body = <<YAML
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
spec:
  defaultCPUModel: ${var.cpu}
  nonsense: 5
YAML
}
