#!/bin/sh
docker pull registry.example.com/tools:1
docker run registry.example.com/tools:1 check
docker pull --platform linux/amd64 registry.example.com/operator:1
docker tag registry.example.com/operator:1 mirror.example.com/operator:1
docker push mirror.example.com/operator:1
