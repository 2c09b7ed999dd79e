#!/usr/bin/env bash
# Builds the image of each service, with docker or buildah, or without a container engine from this machine's Node.
# Writes each as an archive to apps/<service>/dist/image.tar, which `make deploy` loads. Usage: images.sh [service]...
# REGISTRY is put before the name; TAG replaces the version that the chart installs.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ $# -eq 0 ]; then
  set -- apps/*/
  set -- "${@%/}"
  set -- "${@#apps/}"
fi

if docker info >/dev/null 2>&1; then
  engine=docker
elif command -v buildah >/dev/null; then
  engine=buildah
else
  echo "Building without a container engine: neither a docker daemon nor buildah was found"
  nx run-many --projects "$(IFS=,; echo "$*")" --target bundle dashboard --output-style static
  exec node tools/real-node/src/main.ts images "$@" --registry "${REGISTRY:-}" --tag "${TAG:-}"
fi

for service in "$@"; do
  version=$(sed -n 's/^appVersion: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "charts/$service/Chart.yaml")
  image="${REGISTRY:+$REGISTRY/}evenkeel/$service:${TAG:-$version}"
  archive="apps/$service/dist/image.tar"
  echo "Building $image with $engine"
  "$engine" build --build-arg "SERVICE=$service" --file infra/docker/Dockerfile --tag "$image" .
  mkdir -p "apps/$service/dist"
  rm -f "$archive"
  case $engine in
    docker) docker save --output "$archive" "$image" ;;
    buildah) buildah push "$image" "docker-archive:$archive:$image" ;;
  esac
done
