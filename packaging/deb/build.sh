#!/bin/bash
# build.sh BUILT TARGET: makes a Debian package of what `make release` has built, in the folder TARGET, and prints its path.
#
# BUILT: where the programs are, for the version that they say; `make install` takes them from there.
# STEWARD_DEB_VERSION: another version than the program says, for trying an upgrade out.
# The same programs and sources give the same bytes: the time in it is the commit's (or SOURCE_DATE_EPOCH).
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
# What keeps its time on the way into the package would bring that of this checkout.
find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
rm "$tree/debian/build.sh" "$tree/debian/settle.sh" "$tree/debian/copyright"
cat > "$tree/debian/changelog" << END
steward ($version) unstable; urgency=medium

  * What changed is said in /usr/share/doc/steward/changelog.gz.

 -- $maintainer  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END
# What is needed to build is checked by install-packages.sh; Swift is in no package.
(cd "$tree" && DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage --build=binary --no-check-builddeps --unsigned-changes \
    --unsigned-buildinfo > "$target/build.log" 2>&1) || { cat "$target/build.log" >&2; exit 1; }
rm -rf "$tree"
ls "$target/steward_${version}_"*.deb
