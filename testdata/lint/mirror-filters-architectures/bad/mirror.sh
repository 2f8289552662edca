#!/bin/sh
# skopeo copy docker://quay.io/x:1 docker://mirror.example.com/x:1
skopeo copy docker://quay.io/x:1 docker://mirror.example.com/x:1
skopeo copy --src-tls-verify=false \
  "docker://quay.io/$image" \
  "docker://mirror.example.com/$image" | tee log
oc image mirror --filter-by-os=linux/amd64 quay.io/x:1 mirror.example.com/x:1
