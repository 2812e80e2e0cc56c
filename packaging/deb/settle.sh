#!/bin/sh
# settle.sh SOURCES PACKAGE: adapts the output of `make install` in PACKAGE to Debian.
set -eu

sources=$1 package=$2
docs=$package/usr/share/doc/steward

# The default configuration is the output of `steward init`; its places are those of tmpfiles.d/steward.conf.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
HOME=$home "$package/usr/bin/steward" init --config "$home/etc/steward.yaml" --base "$home/base" > "$home/said" ||
    { cat "$home/said" >&2; exit 1; }
mkdir -p "$package/etc/steward/rules.d"
sed "s|$home/base|/srv/steward|g" "$home/etc/steward.yaml" > "$package/etc/steward/steward.yaml"
if grep -F "$home" "$package/etc/steward/steward.yaml"; then
    echo "settle: the configuration names a folder of the build" >&2
    exit 1
fi
chmod 644 "$package/etc/steward/steward.yaml"

# The licences go into `copyright`, which Debian's tools read.
{
    cat "$sources/packaging/deb/copyright"
    sed '1,/^$/d; s/^$/./; s/^/ /' "$sources/LICENSE-MIT"
} > "$docs/copyright"
rm "$docs/LICENSE" "$docs/LICENSE-APACHE" "$docs/LICENSE-MIT"
mv "$docs/CHANGELOG.md" "$docs/changelog"
gzip -9n "$docs/changelog"
gzip -9nc debian/changelog > "$docs/changelog.Debian.gz"

# Debian's folder for zsh completions.
mv "$package/usr/share/zsh/site-functions" "$package/usr/share/zsh/vendor-completions"

install -D -m 644 debian/lintian-overrides "$package/usr/share/lintian/overrides/steward"
