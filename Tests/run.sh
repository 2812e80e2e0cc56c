#!/usr/bin/env bash
# Runs the tests that `swift build --build-tests` has built, apart from what the machine happens to hold.
#
#   Tests/run.sh             all of them, as `make test` does
#   Tests/run.sh all again   all of them, and where they were, for some minutes, those that work on files, as `.ci/run` does
#   Tests/run.sh all all     all of them, and again where the first run was
#   Tests/run.sh shuffled    all of them, by groups of suites in an order by chance, on one core
#   Tests/run.sh only NAME   those whose names begin so: EndToEnd.KillTests
#
# STEWARD_TEST_SEED repeats an order, and what the tests draw by chance: without it one is drawn, for the whole run.
#
# A few tests that fail are run once more, by themselves and with the same seed: what passes then is counted as flaky, named
# at the end, and to be mended all the same.
#
# They get a home, a folder for temporary files, shared memory, a locale and no services' keys: empty folders, mounted over
# /tmp and /dev/shm where the kernel lets this user (root, in most containers too), else named by the environment alone.
# The one for temporary files is in memory, unless STEWARD_TEST_DISK is set.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
if (($# == 0)); then set -- all; fi
apart=$here/.build/apart

# All at once would have thousands of files open: Foundation's `Process` reads past its buffer beyond some 1,350
# (swift-corelibs-foundation#5472).
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-16}

# A user's login often allows 1,024 open files, which suites that go side by side need more than.
most=$(ulimit -H -n)
if [[ $most == unlimited ]] || ((most > 20000)); then most=20000; fi
ulimit -S -n "$most"

if [[ ${STEWARD_TEST_APART:-} != yes ]]; then
    # A run that was killed may have left files that nobody may remove.
    chattr -R -f -i "$apart" 2>/dev/null || true
    rm -rf "$apart"
    mkdir -p "$apart"/{tmp,home}
    chmod 1777 "$apart/tmp"
    # Python and where its packages come from may be set below the home.
    if [[ -d $HOME/.pyenv ]]; then export PYENV_ROOT=${PYENV_ROOT:-$HOME/.pyenv}; fi
    if [[ -f $HOME/.config/pip/pip.conf ]]; then export PIP_CONFIG_FILE=${PIP_CONFIG_FILE:-$HOME/.config/pip/pip.conf}; fi
    while IFS= read -r name; do unset "$name"; done < <(
        compgen -e | grep -E '^(LANG|LANGUAGE|LC_|TZ$|XDG_|TK_|A4_|OLLAMA|EDITOR$|VISUAL$|NO_COLOR|CLICOLOR|[A-Z_]*API_KEY$)' ||
            true
    )
    unset TMPDIR CREDENTIALS_DIRECTORY STATE_DIRECTORY RUNTIME_DIRECTORY NOTIFY_SOCKET
    # Without folders of dictionaries there is no spelling: the machine may have any.
    export HOME=$apart/home LANG=C.UTF-8 DICPATH= STEWARD_TEST_APART=yes
    mounts='mount --bind "$0" /tmp && { ! mountpoint --quiet /dev/shm || mount -t tmpfs steward-tests /dev/shm; }'
    if [[ $(id -u) == 0 ]] && unshare --mount --propagation private sh -c "$mounts" "$apart/tmp" 2>/dev/null; then
        # A checkout below /tmp stays where it is.
        exec unshare --mount --propagation private bash -euc '
            # An ext4 in memory, where there is enough: on a disk, tests wait for its syncs half of the time.
            image=/dev/shm/steward-tests-$$ tmp=$1/.build/apart/tmp
            memory=$(awk "/^MemAvailable/ { print \$2 }" /proc/meminfo)
            if [[ -z ${STEWARD_TEST_DISK:-} ]] && mountpoint --quiet /dev/shm && ((memory > 8 << 20)) &&
                (($(df --output=avail /dev/shm | tail -n 1) > 6 << 20)); then
                if truncate -s 6G "$image" && mkfs.ext4 -q "$image" && mount -o loop,discard "$image" "$tmp"; then
                    rmdir "$tmp/lost+found"
                    chmod 1777 "$tmp"
                fi 2>/dev/null
                rm -f "$image"
            fi
            if [[ $1 == /tmp/* ]]; then mkdir -p "$1/.build/apart$1"; mount --bind "$1" "$1/.build/apart$1"; fi
            mount --rbind "$1/.build/apart/tmp" /tmp
            if mountpoint --quiet /dev/shm; then mount -t tmpfs -o mode=1777 steward-tests /dev/shm; fi
            shift
            exec "$@"' bash "$here" "$here/Tests/run.sh" "$@"
    fi
    TMPDIR=$(mktemp -d)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi

cd "$here"
export STEWARD_TEST_SEED=${STEWARD_TEST_SEED:-$RANDOM$RANDOM}
echo "what is drawn by chance: STEWARD_TEST_SEED=$STEWARD_TEST_SEED"
while (($# > 0)); do
    case $1 in
        all | again | shuffled) Tests/runner.py "$1" ;;
        only)
            shift
            env --default-signal "$here/.build/debug/stewardPackageTests.xctest" --testing-library swift-testing \
                --filter "^${1//./\\.}"
            ;;
        *) sed -n '2,11s/^# \?//p' "${BASH_SOURCE[0]}" && exit 2 ;;
    esac
    shift
done
