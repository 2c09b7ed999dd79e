#!/usr/bin/env bash
# Prints the versions of the programs that tests start, one a line, and what else tests are skipped without; with
# `control-plane` or `telemetry` also what that target of make has built. nx has it in the key of each target that
# starts one of them, so that a cached result is of the same versions, and one with skips is not that of a machine that
# can run them.
set -uo pipefail

version() { printf '%s: %s\n' "$1" "$(command -v "$1" >/dev/null && "$@" 2>/dev/null | head -n 1)"; }

version node --version
# The Node that a user has: under make and nx the workspace's own is before it on the PATH.
own_path=$(tr : '\n' <<<"$PATH" | grep -v node_modules | paste -sd:)
printf "the machine's node: %s\n" "$(PATH=$own_path node --version 2>/dev/null)"
version chromium --version
version go version
version ip -V
version jq --version
version nft --version
version openssl version
version prometheus --version
version python3 --version
version redis-server --version
version runc --version
version unshare --version
for postgres in /usr/lib/postgresql/*/bin/postgres; do version "$postgres" --version; done
printf 'network plugins: %s\n' "$(ls -d /usr/lib/cni/bridge /opt/cni/bin/bridge 2>/dev/null | xargs)"
printf 'root: %s\n' "$([ "$(id -u)" -eq 0 ] && echo yes || echo no)"
uname -sr
if [ -n "${1:-}" ] && cd "${XDG_CACHE_HOME:-$HOME/.cache}/evenkeel/$1" 2>/dev/null; then
  printf 'built: %s\n' */bin/*
fi
exit 0
