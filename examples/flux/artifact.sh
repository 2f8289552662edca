#!/usr/bin/env bash
# Checks a cluster's manifests and pushes them as an OCI artifact, for the OCIRepository beside this
# file. Nothing is pushed when hcoplan finds an error.
#
#   artifact.sh DIRECTORY oci://REGISTRY/REPOSITORY:TAG
set -euo pipefail
directory=$1
artifact=$2
hcoplan lint "$directory"
flux push artifact "$artifact" --path "$directory" \
  --source "$(git -C "$directory" config --get remote.origin.url)" \
  --revision "$(git -C "$directory" branch --show-current)@sha1:$(git -C "$directory" rev-parse HEAD)"
