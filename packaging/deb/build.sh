#!/bin/bash
# build.sh BUILT TARGET: packages the output of `make release` for Debian, in the folder TARGET, and prints the path.
#
# BUILT: the folder of the programs, for their version; `make install` copies them from there.
# STEWARD_DEB_VERSION: overrides the program's version, to test an upgrade.
# Reproducible: the timestamp is the commit's (or SOURCE_DATE_EPOCH).
set -euo pipefail

sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
built=$(cd "$1" && pwd)
target=$(mkdir -p "$2" && cd "$2" && pwd)
cd "$sources"

version=${STEWARD_DEB_VERSION:-$("$built/steward" --version | cut -d ' ' -f 1)}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH STEWARD_SOURCE=$sources
maintainer=$(sed -n 's/^Maintainer: //p' packaging/deb/control)

tree=$target/steward-$version
rm -rf "$tree"
mkdir -p "$tree/debian"
cp -a packaging/deb/. "$tree/debian/"
# Files copied with their time would carry that of this checkout.
find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
rm "$tree/debian/build.sh" "$tree/debian/settle.sh" "$tree/debian/copyright"
cat > "$tree/debian/changelog" << END
steward ($version) unstable; urgency=medium

  * For the changes see /usr/share/doc/steward/changelog.gz.

 -- $maintainer  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END
# Build dependencies are checked by install-packages.sh; Swift is not in Debian.
(cd "$tree" && DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage --build=binary --no-check-builddeps --unsigned-changes \
    --unsigned-buildinfo > "$target/build.log" 2>&1) || { cat "$target/build.log" >&2; exit 1; }
rm -rf "$tree"
ls "$target/steward_${version}_"*.deb
