#!/bin/sh
skopeo copy --all docker://quay.io/x:1 docker://mirror.example.com/x:1
skopeo copy -a docker://quay.io/x:1 docker://mirror.example.com/x:1
skopeo copy --multi-arch=all docker://quay.io/x:1 docker://mirror.example.com/x:1
skopeo copy docker://quay.io/x:1 dir:/tmp/x
skopeo copy docker://quay.io/single:1 docker://mirror.example.com/single:1
skopeo inspect docker://quay.io/x:1
echo "we use skopeo copy everywhere"
oc image mirror --filter-by-os='.*' quay.io/x:1 mirror.example.com/x:1
oc image mirror --keep-manifest-list=true --filter-by-os=linux/amd64 quay.io/x:1 mirror.example.com/x:1
