#!/bin/sh
docker pull registry.example.com/operator:1
#~^^^^^^^^^ (columns 1 to 11) takes one image out of a manifest list
#~ warning: registry.example.com/operator:1 is copied only for the architecture of the machine that copies it
#~ help: copy the whole list between the registries: skopeo copy --all
docker tag registry.example.com/operator:1 mirror.example.com/operator:1
docker push mirror.example.com/operator:1
