#!/bin/sh
# usage: confined.sh FOLDER PROGRAM...
# Runs a program that can write into one folder, and nowhere else: all other file systems are read-only in its mount namespace.
# Where such a namespace cannot be had it ends with 75 and a reason on stderr.
set -eu
folder=$(realpath "$1")
shift
if [ "${confined:-}" != yes ]; then
    mine=""
    [ "$(id -u)" = 0 ] || mine=--map-root-user
    # shellcheck disable=SC2086
    unshare $mine --mount --propagation private true 2>/dev/null || {
        echo "mount namespaces are not permitted here" >&2
        exit 75
    }
    # shellcheck disable=SC2086
    confined=yes exec unshare $mine --mount --propagation private "$0" "$folder" "$@"
fi
mount --bind "$folder" "$folder"
while read -r _ point _; do
    case $point in
    "$folder" | /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) ;;
    *) mount -o remount,bind,ro "$(printf '%b' "$point")" 2>/dev/null || true ;;
    esac
done </proc/self/mounts
for other in / /tmp "$HOME"; do
    if touch "$other/.steward-confined" 2>/dev/null; then
        rm -f "$other/.steward-confined"
        echo "$other can still be written to" >&2
        exit 75
    fi
done
cd "$folder"
exec "$@"
