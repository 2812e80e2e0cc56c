#!/bin/sh
# check-built.sh FOLDER COMMIT [for-own-use]: whether the programs in FOLDER are what `make release` makes of COMMIT, and not
# what another build has left there. Run by `make install` and `make deb` before anything is copied.
#
# COMMIT is what `--version` has to name, with `+changes` for a tree that differs from it; empty where there is no git: then
# nobody can tell. `for-own-use` allows libinotifytools, which whoever gets the program from somebody else must not find in
# it: see NOTICE. Ends with 1 where a program is another one, and says how to get the right one.
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
        wrong "$program is not there, or no program"
        continue
    fi
    path=$(printf '%s\n' "$dynamic" | sed -n 's/.*(R[UN]*PATH).*\[\(.*\)\].*/\1/p')
    if [ -n "$path" ]; then
        wrong "$program looks for libraries in $path, a folder of the machine that built it (RUNPATH)"
    fi
    if ! printf '%s\n' "$dynamic" | grep -qE '\((FLAGS|BIND_NOW)\).*BIND_NOW|\(FLAGS_1\).*NOW|\(BIND_NOW\)'; then
        wrong "$program finds functions of libraries while it runs (no BIND_NOW), so their addresses can be written"
    fi
    if [ "$use" != for-own-use ] && printf '%s\n' "$dynamic" | grep -q 'NEEDED.*libinotifytools'; then
        wrong "$program needs libinotifytools, which is under the GPL-2: it may be used, and not be given away as ours"
    fi
done

if [ "$failures" = 0 ] && [ -n "$commit" ]; then
    said=$("$folder/steward" --version | sed -n 's/.*(\(.*\))$/\1/p')
    if [ -z "$said" ]; then
        wrong "$folder/steward names no commit, so \`make release\` has not built it"
    elif [ "$said" = "${commit%+changes}" ]; then
        [ "$said" = "$commit" ] ||
            echo "check-built: the tree has changed since $said was built; its documents and rules are taken as they are" >&2
    elif [ "$said" != "$commit" ]; then
        wrong "$folder/steward was built of $said, and this is $commit"
    fi
fi

if [ "$failures" != 0 ]; then
    echo "check-built: nothing was installed or packed; \`make release\` builds these programs anew" >&2
    exit 1
fi
