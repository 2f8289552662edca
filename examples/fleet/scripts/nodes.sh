#!/bin/sh
# What is really in a cluster, to hold against its inventory: scripts/nodes.sh prod-east
exec oc --context "$1" get nodes -L kubernetes.io/arch
