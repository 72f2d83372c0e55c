#!/bin/sh
# install.sh DIR NODE_DIR: the packages of the lockfile beside this script into DIR, for that Node. Its hash is the
# stamp: an unchanged one costs nothing. No package's own scripts are run: those we need bring their binaries.
set -eu
here=$(dirname "$(readlink -f "$0")")
dir=$1
want=$(sha256sum "$here/package-lock.json" | cut -d' ' -f1)
[ -f "$dir/.installed" ] && [ "$(cat "$dir/.installed")" = "$want" ] && exit 0
command -v npm >/dev/null || { echo "there is no npm (Debian: npm)"; exit 1; }
mkdir -p "$dir"
cp "$here/package.json" "$here/package-lock.json" "$dir/"
cd "$dir"
if ! PATH="$2/bin:$PATH" timeout 300 npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 \
  --fetch-timeout=30000 --loglevel=error > npm.log 2>&1; then
  grep -v 'complete log' npm.log | head -3 | sed 's/^npm error//' | tr -d '\n'
  exit 1
fi
printf '%s\n' "$want" > .installed
