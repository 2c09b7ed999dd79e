#!/usr/bin/env bash
# Installs Debian packages that are missing, when it may; otherwise says how to, and what goes without them.
# Usage: debian-packages.sh <package>...
set -euo pipefail

declare -A purpose=(
  [chromium]="the dashboard in a browser"
  [containernetworking-plugins]="a real node: the network of its pods"
  [iproute2]="a network of the end-to-end tests' own"
  [nginx-light]="the forwarder's benchmark: its backend, and a rival"
  [nftables]="a real node: the rules of kube-proxy"
  [openssl]="certificates in tests and of the real control plane"
  [postgresql]="connections to a real PostgreSQL that sleeps"
  [prometheus]="checks of metrics and alert rules with promtool"
  [redis-server]="shared state on a real Redis"
  [runc]="a real node: its containers"
  [util-linux]="a network of the end-to-end tests' own"
  [wrk]="the forwarder's benchmark: its load"
)

missing=()
for package in "$@"; do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Debian packages: ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "These Debian packages are missing; tests that need them are skipped:" >&2
  for package in "${missing[@]}"; do echo "  $package: ${purpose[$package]:-}" >&2; done
  echo "To install them: sudo apt-get install ${missing[*]}" >&2
fi
