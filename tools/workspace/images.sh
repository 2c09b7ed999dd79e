#!/usr/bin/env bash
# Builds the image of each service, with docker or buildah. Usage: images.sh [service]...
# REGISTRY is put before the name; TAG replaces the version that the chart installs.
set -euo pipefail
cd "$(dirname "$0")/../.."

if docker info >/dev/null 2>&1; then
  build=(docker build)
elif command -v buildah >/dev/null; then
  build=(buildah build)
else
  echo "make images needs a running docker daemon, or buildah: neither was found" >&2
  exit 1
fi

if [ $# -eq 0 ]; then
  set -- apps/*/
  set -- "${@%/}"
  set -- "${@#apps/}"
fi
for service in "$@"; do
  version=$(sed -n 's/^appVersion: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "charts/$service/Chart.yaml")
  image="${REGISTRY:+$REGISTRY/}evenkeel/$service:${TAG:-$version}"
  echo "Building $image with ${build[0]}"
  "${build[@]}" --build-arg "SERVICE=$service" --file infra/docker/Dockerfile --tag "$image" .
done
