#!/bin/bash
# install.sh BUILT FOLDER: puts what `make install` installs for the agent into FOLDER/opt/steward, the programs from
# BUILT, and with them what those need of Swift, which is not on a machine that a release is installed on.
set -euo pipefail

built=$1 prefix=$2/opt/steward
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

make --silent install-units DESTDIR="$2" PREFIX=/opt/steward
install -D "$built/steward" "$prefix/bin/steward"
install -D "$built/steward-worker" "$prefix/libexec/steward/steward-worker"
mkdir -p "$prefix/share/steward" "$prefix/runtime"
cp -r rules.d "$prefix/share/steward/rules.d"
cp -r Sources/Core/TK/TKCore/Resources "$prefix/share/steward/tk"
ldd "$built/steward" "$built/steward-worker" | awk '$3 ~ "^/" { print $3 }' | sort -u |
    { grep -vE '^/(usr/)?lib' || true; } | while read -r library; do cp "$library" "$prefix/runtime/"; done
