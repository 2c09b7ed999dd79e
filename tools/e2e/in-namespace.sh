#!/bin/sh
# Runs a command in a network namespace of its own, where packets to pods and Services have a place to go:
#   tools/e2e/in-namespace.sh <command> [argument…]
# Every address of the pods' range and of the Services' is one of this machine's own there, so that a program that
# listens on 0.0.0.0 answers for each pod. Nothing outside can be reached, so what is downloaded or built must be there
# before.
set -eu

PODS=10.200.0.0/16
SERVICES=10.96.0.0/16

if [ "${1-}" != --inside ]; then
  [ $# -gt 0 ] || { echo "usage: $0 <command> [argument…]" >&2; exit 2; }
  # Who is not root becomes it in a user namespace, which is root over the network of that namespace alone.
  [ "$(id -u)" -eq 0 ] || own_user=--map-root-user
  exec unshare --net ${own_user-} -- "$0" --inside "$@"
fi

shift
ip link set lo up
ip route add local "$PODS" dev lo
ip route add local "$SERVICES" dev lo
exec "$@"
