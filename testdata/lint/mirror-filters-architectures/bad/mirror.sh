#!/bin/sh
# skopeo copy docker://quay.io/x:1 docker://mirror.example.com/x:1
skopeo copy docker://quay.io/x:1 docker://mirror.example.com/x:1
#~^^^^^^^^^ (columns 1 to 11) takes one image out of a manifest list
#~ warning 1: quay.io/x:1 is copied only for the architecture of the machine that copies it
#~ help: add --all, which copies the whole list
#~ fix (suggestion): add --all, which copies the whole list
skopeo copy --src-tls-verify=false \
#~^^^^^^^^^ (columns 1 to 11) takes one image out of a manifest list
#~ warning 2: quay.io/$image is copied only for the architecture of the machine that copies it
#~ help: add --all, which copies the whole list
#~ fix (suggestion): add --all, which copies the whole list
  "docker://quay.io/$image" \
  "docker://mirror.example.com/$image" | tee log
oc image mirror --filter-by-os=linux/amd64 quay.io/x:1 mirror.example.com/x:1
#~              ^^^^^^^^^^^^^^^^^^^^^^^^^^ the rest of each manifest list is left out
#~ warning 3: images are mirrored for some of their architectures only
#~ help: add --keep-manifest-list=true
#~ fix (suggestion): add --keep-manifest-list=true
