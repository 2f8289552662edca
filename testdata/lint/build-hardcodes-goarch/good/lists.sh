for arch in \
  amd64 arm64; do
  docker manifest create q/app-$arch q/base:amd64
done
