#!/usr/bin/env bash
# Runs the tests that `swift build --build-tests` has built, apart from what the machine happens to hold.
#
#   Tests/run.sh             all of them, as `make test` does
#   Tests/run.sh all again   all of them, and where they were those that work on files, shuffled, as `.ci/run` does
#   Tests/run.sh all all     all of them, and again where the first run was
#   Tests/run.sh shuffled    all of them, by groups of suites in an order by chance, on one core
#   Tests/run.sh only NAME   those whose names begin so: EndToEnd.WatchTests
#
# STEWARD_TEST_SEED repeats an order, and what the tests draw by chance: without it one is drawn, for the whole run.
#
# A few tests that fail are run once more, by themselves and with the same seed: what fails again has failed. What passes
# then failed for want of a processor or a disk that others had, and is named at the end, to be mended all the same.
#
# They get a home, a folder for temporary files, shared memory, a locale and no services' keys: empty folders, mounted over
# /tmp and /dev/shm where the kernel lets this user (root, in most containers too), else named by the environment alone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
if (($# == 0)); then set -- all; fi
tests=$here/.build/debug/stewardPackageTests.xctest
apart=$here/.build/apart

# All at once would have thousands of files open: Foundation's `Process` reads past its buffer beyond some 1,350
# (swift-corelibs-foundation#5472).
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-16}

# The first runs wait for editors, events and servers most of the time, and go side by side: a test that waits keeps one of
# the few threads that its process has for tests. After them one attacks the agent at full speed or boots a machine of its
# own, one keeps every core busy for minutes, and in the last a real language model does. Those that watch folders go with
# suites that have few files open: libinotifytools copes with no descriptor above 1,023.
agents='^EndToEnd\.'
drafts='^(TKCore|TKCommand|A4Core|A4GoldenParity|DotLife|RonAppSdk|Watching)'
attacks='^EndToEnd\.(SwapCampaign|PowerCut|SwappedFolder|BecomesPipe|SparseFile|SystemCall|ForeignFile|Unit)Tests'
busy='^Comic(Archive|Vault)Tests\.'
files='^(A4Core|AgentKit|DotLife|Ledger|PeopleFiles|Platform|RuleActions|Rules|Watching)'
model='^TKCoreTests\.ProviderRealModel'

# A user's login often allows 1,024 open files, which suites that go side by side need more than.
most=$(ulimit -H -n)
if [[ $most == unlimited ]] || ((most > 20000)); then most=20000; fi
ulimit -S -n "$most"

one_core=
first_core=$(taskset --cpu-list --pid $$ | sed -E 's/.*: *([0-9]+).*/\1/')

# What the caller ignores (nohup, some CI) would be ignored by all that the tests start.
run() {
    local report=() failed=0
    # What failed is read from this; where a run ends by a signal it is not written.
    if [[ -n ${reports:-} ]]; then report=(--xunit-output "$(mktemp -u "$reports/XXXXXX")"); fi
    ${one_core:+taskset --cpu-list "$first_core"} \
        env --default-signal "$tests" --testing-library swift-testing "${report[@]}" "$@" || failed=1
    # Not by a pipe that is closed after the first of several.
    if ((failed)) && [[ -n ${reports:-} && -z $(failures "${report[1]}") ]]; then touch "$reports/lost"; fi
    return $failed
}

# The tests that a report says failed, as `--filter` knows them: Module.Suite/Suite/name().
failures() {
    if [[ ! -s $1 ]]; then return; fi
    python3 - "$1" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).iter("testcase"):
    if case.find("failure") is not None or case.find("error") is not None:
        module, _, suites = case.get("classname").partition(".")
        print(module + "." + suites.replace(".", "/") + "/" + case.get("name"))
PYTHON
}

# Runs each of some lines side by side, and shows them one after the other.
together() {
    local log failed=0 number=0
    log=$(mktemp -d)
    for line in "$@"; do
        number=$((number + 1))
        (eval "run $line" >"$log/$number" 2>&1 || touch "$log/failed") &
    done
    wait
    cat "$log"/[0-9]*
    if [[ -e $log/failed ]]; then failed=1; fi
    rm -rf "$log"
    return $failed
}

# All of them, also where one fails.
all() {
    local failed=0
    together "--filter '${agents}[A-E]' --skip '$attacks'" "--filter '${agents}[F-Z]' --skip '$attacks'" \
        "--filter '$drafts' --skip '$model'" "--skip '$agents' --skip '$drafts' --skip '$busy'" || failed=1
    for some in "$attacks" "$busy" "$model"; do run --filter "$some" || failed=1; done
    return $failed
}

# Says at the very end what failed: of a long output often no more than the end is kept.
telling() {
    local output failed=0 report folder
    output=$(mktemp)
    folder=$(mktemp -d)
    reports=$folder
    "$@" 2>&1 | tee "$output" || failed=1
    if ((failed)); then
        printf '\n== what failed\n'
        grep -hE '^.{0,5}✘|^.{0,200}error:|Fatal error|unexpected signal' "$output" | cut -c 1-600 || true
        for report in "$reports"/*; do failures "$report"; done | sort -u >"$output"
        if [[ ! -e $reports/lost && -s $output ]] && (($(wc -l <"$output") <= 5)); then
            reports=
            alone "$output" && failed=0
        fi
    fi
    rm -rf "$output" "$folder"
    return $failed
}

# Whether all tests of a list pass, each by itself.
alone() {
    local name failed=0
    printf '\n== once more, each by itself\n'
    while read -r name; do
        run --filter "^$(sed 's/[][().*+?^$|\\]/\\&/g' <<<"$name")" </dev/null || failed=1
    done <"$1"
    if ((!failed)); then
        printf '\n== failed beside others, passed alone (STEWARD_TEST_SEED=%s)\n' "$STEWARD_TEST_SEED"
        cat "$1"
    fi
    return $failed
}

# Those whose names match, by groups of twenty suites: within a group they run side by side.
shuffled() {
    local seed=$STEWARD_TEST_SEED group failed=0
    while read -r group; do
        run --filter "^(${group// /|})(/|\$)" </dev/null || failed=1
    done < <(
        run --list-tests | grep -E "$1" | sed -E 's/[/(].*//' | sort -u |
            shuf --random-source=<(openssl enc -aes-128-ctr -nosalt -pass "pass:$seed" -pbkdf2 </dev/zero 2>/dev/null) |
            xargs -n 20
    )
    return $failed
}

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
    export HOME=$apart/home LANG=C.UTF-8 STEWARD_TEST_APART=yes
    mounts='mount --bind "$0" /tmp && { ! mountpoint --quiet /dev/shm || mount -t tmpfs steward-tests /dev/shm; }'
    if [[ $(id -u) == 0 ]] && unshare --mount --propagation private sh -c "$mounts" "$apart/tmp" 2>/dev/null; then
        # A checkout below /tmp stays where it is.
        exec unshare --mount --propagation private bash -euc '
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
        all) telling all ;;
        again) one_core=yes telling shuffled "$files" ;;
        shuffled) one_core=yes telling shuffled . ;;
        only) shift && run --filter "^${1//./\\.}" ;;
        *) sed -n '2,11s/^# \?//p' "${BASH_SOURCE[0]}" && exit 2 ;;
    esac
    shift
done
