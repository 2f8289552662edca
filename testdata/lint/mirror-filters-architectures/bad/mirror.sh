#!/bin/sh
# skopeo copy docker://quay.io/x:1 docker://mirror.example.com/x:1
skopeo copy docker://quay.io/x:1 docker://mirror.example.com/x:1
#~^^^^^^^^^ (columns 1 to 11) takes one image out of a manifest list
#~ warning 1: quay.io/x:1 is copied for the architecture of the machine that copies it only
#~ help: copy the whole list with --all
#~ fix (suggestion): copy all of it
skopeo copy --src-tls-verify=false \
#~^^^^^^^^^ (columns 1 to 11) takes one image out of a manifest list
#~ warning 2: quay.io/$image is copied for the architecture of the machine that copies it only
#~ help: copy the whole list with --all
#~ fix (suggestion): copy all of it
  "docker://quay.io/$image" \
  "docker://mirror.example.com/$image" | tee log
oc image mirror --filter-by-os=linux/amd64 quay.io/x:1 mirror.example.com/x:1
#~              ^^^^^^^^^^^^^^^^^^^^^^^^^^ the rest of each manifest list is left out
#~ warning 3: images are mirrored for some of their architectures only
#~ help: mirror the whole list: --filter-by-os='.*', or add --keep-manifest-list=true
#~ fix (suggestion): keep the manifest lists
