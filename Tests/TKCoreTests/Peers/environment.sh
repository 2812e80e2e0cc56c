# Read by the scripts beside it: makes Python environments, once each.
# Where that cannot be done (no Python, no network) a script ends with 75 and a reason on stderr: the tests that want it
# are then skipped.

fail() {
    echo "the peers are not there: $1" >&2
    exit 75
}

# environment FOLDER PACKAGE...: installs the packages into FOLDER/venv; FOLDER stays locked until the script ends.
environment() {
    folder=$1
    shift
    wanted="$*"
    mkdir -p "$folder"
    exec 9>"$folder/lock"
    flock 9
    if [ "$(cat "$folder/made" 2>/dev/null || true)" = "$wanted" ]; then return 0; fi
    python=""
    for candidate in python3 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || fail "Python 3.10 or later with its venv module is wanted (Debian: python3-venv)"
    rm -rf "$folder/venv" "$folder/made"
    "$python" -m venv "$folder/venv" >"$folder/log" 2>&1 || fail "python3 -m venv failed; see $folder/log"
    pip install "$@" || fail "pip cannot install $wanted; see $folder/log"
    echo "$wanted" >"$folder/made"
}

# The environment's pip, with little patience.
pip() {
    timeout 300 "$folder/venv/bin/python" -m pip "$@" --disable-pip-version-check --quiet --retries 1 --timeout 20 \
        >>"$folder/log" 2>&1 9>&-
}
