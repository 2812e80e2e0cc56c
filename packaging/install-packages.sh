#!/bin/sh
# Installs missing Debian packages, and checks that Swift is installed.
#
#   install-packages.sh [build] [test] [bench] [deb] [prove-package] [order]      sections of system-packages.txt; `build` where none is given
#
# Does nothing, and asks for no password, if nothing is missing. Exits with 0 if everything is installed, 1 if a package
# could not be installed, 64 for a usage error.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
list=$here/system-packages.txt
swift_major=6
swift_minor=3

say() { printf '%s\n' "install-packages: $*" >&2; }

# The lines of one section, without comments.
section() {
    awk -v wanted="[$1]" '
        /^[[:space:]]*(#|$)/ { next }
        /^\[/ { inside = ($1 == wanted); next }
        inside { print $1 }' "$list"
}

is_installed() {
    state=$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) || return 1
    [ "$state" = installed ]
}

# For `a|b`: nothing if one of them is installed, else the first.
missing_of() {
    for name in $(printf '%s' "$1" | tr '|' ' '); do
        if is_installed "$name"; then return 0; fi
    done
    printf '%s ' "${1%%|*}"
}

install() {
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then return 1; fi
        if sudo -n true 2>/dev/null; then
            as_root='sudo -n'
        elif [ -t 0 ] && sudo -v; then
            as_root=sudo
        else
            return 1
        fi
    fi
    # Not in .build, which would belong to root if root runs this first.
    log=$(mktemp -t steward-apt.XXXXXX)
    # shellcheck disable=SC2086  # words are meant to be split
    apt() { "$here/quietly.sh" "apt-get $1" "$log" $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y "$@"; }
    # shellcheck disable=SC2086
    apt_install() { apt install --no-install-recommends $1; }
    updated=
    if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
        apt update
        updated=yes
    fi
    if apt_install "$1"; then return 0; fi
    if [ -n "$updated" ]; then return 1; fi
    say "trying again with fresh package lists"
    apt update && apt_install "$1"
}

check_swift() {
    if ! command -v swift >/dev/null 2>&1; then
        say "\`swift\` is not on the PATH. Install Swift $swift_major.$swift_minor or later from"
        say "https://www.swift.org/install/linux/ and add its usr/bin to the PATH."
        return 1
    fi
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
    major=${version%%.*}
    minor=${version#*.}
    if [ -z "$version" ]; then
        say "\`swift --version\` prints no version; $swift_major.$swift_minor or later is needed."
        return 1
    fi
    if [ "$major" -lt "$swift_major" ] || { [ "$major" -eq "$swift_major" ] && [ "$minor" -lt "$swift_minor" ]; }; then
        say "Swift $version ($(command -v swift)) is too old; $swift_major.$swift_minor or later is needed:"
        say "https://www.swift.org/install/linux/"
        return 1
    fi
}

[ $# -gt 0 ] || set -- build
wanted=
for name in "$@"; do
    case $name in
        build | test | bench | deb | prove-package | order) wanted="$wanted $(section "$name" | tr '\n' ' ')" ;;
        *)
            say "unknown section \`$name\`; usage: install-packages.sh [build] [test] [bench] [deb] [prove-package] [order]"
            exit 64
            ;;
    esac
done

if command -v dpkg-query >/dev/null 2>&1; then
    missing=
    for entry in $wanted; do missing="$missing$(missing_of "$entry")"; done
    missing=${missing% }
    if [ -n "$missing" ]; then
        say "installing: $missing"
        if ! install "$missing"; then
            say "these packages are missing and could not be installed: $missing"
            say "Install them yourself, then try again:"
            say "    sudo apt-get update && sudo apt-get install $missing"
            exit 1
        fi
    fi
else
    say "this is not a Debian system, so nothing is installed; these packages are needed, by their Debian names:"
    say "   $wanted"
fi

check_swift
