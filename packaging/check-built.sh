#!/bin/sh
# check-built.sh FOLDER COMMIT [for-own-use]: checks that the programs in FOLDER were built by `make release` from COMMIT, and
# not by another build. Run by `make install` and `make deb` before anything is copied.
#
# COMMIT must be printed by `--version`, with `+changes` for a tree that differs from it; empty without git: then it is not
# checked. `for-own-use` allows libinotifytools, which must not be in programs given to others: see NOTICE. Exits with 1 if
# a program does not match, and says how to build it.
set -eu

folder=$1 commit=$2 use=${3-}
failures=0

wrong() {
    echo "check-built: $*" >&2
    failures=$((failures + 1))
}

for name in steward steward-worker; do
    program=$folder/$name
    if ! dynamic=$(readelf -dW "$program" 2> /dev/null) || [ -z "$dynamic" ]; then
        wrong "$program is missing or not a program"
        continue
    fi
    path=$(printf '%s\n' "$dynamic" | sed -n 's/.*(R[UN]*PATH).*\[\(.*\)\].*/\1/p')
    if [ -n "$path" ]; then
        wrong "$program looks for libraries in $path, a folder of the machine that built it (RUNPATH)"
    fi
    if ! printf '%s\n' "$dynamic" | grep -qE '\((FLAGS|BIND_NOW)\).*BIND_NOW|\(FLAGS_1\).*NOW|\(BIND_NOW\)'; then
        wrong "$program resolves library functions while it runs (no BIND_NOW), so their addresses are writable"
    fi
    if [ "$use" != for-own-use ] && printf '%s\n' "$dynamic" | grep -q 'NEEDED.*libinotifytools'; then
        wrong "$program needs libinotifytools, which is under the GPL-2: it may be used, but not distributed"
    fi
done

if [ "$failures" = 0 ] && [ -n "$commit" ]; then
    said=$("$folder/steward" --version | sed -n 's/.*(\(.*\))$/\1/p')
    if [ -z "$said" ]; then
        wrong "$folder/steward prints no commit, so it was not built by \`make release\`"
    elif [ "$said" = "${commit%+changes}" ]; then
        [ "$said" = "$commit" ] ||
            echo "check-built: the tree has changed since $said was built; its current documents and rules are used" >&2
    elif [ "$said" != "$commit" ]; then
        wrong "$folder/steward was built from $said, but this is $commit"
    fi
fi

if [ "$failures" != 0 ]; then
    echo "check-built: nothing was installed or packed; \`make release\` rebuilds these programs" >&2
    exit 1
fi
