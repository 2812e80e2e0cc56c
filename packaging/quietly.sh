#!/usr/bin/env bash
# Runs a command with its output in a log, and shows its progress in one line: the log's last line, redrawn each second on
# a terminal and printed each minute elsewhere. If the command fails, the end of the log is shown.
#
#   quietly.sh WHAT LOG COMMAND...    quietly.sh building .build/build.log swift build
#
# Exits with the command's code.
set -euo pipefail
what=$1 log=$2
shift 2
mkdir -p "$(dirname "$log")"
echo "$what; its output is in $log"
pause=60 end=$'\n' clear=
if [[ -t 1 ]]; then pause=1 end=$'\r' clear=$'\e[K'; fi

time_taken() { printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60)); }
progress() {
    local columns line silence
    exec {silence}<> <(:)
    until read -rt "$pause" -u "$silence"; do
        columns=$(tput cols 2>/dev/null || echo 80)
        line="$(time_taken) $(tail -n 1 "$log")"
        printf '%s' "${line:0:columns - 1}$clear$end"
    done
}

progress &
trap "kill $! 2>/dev/null || true" EXIT
disown
status=0
"$@" >"$log" 2>&1 || status=$?
if ((status)); then
    echo "$what failed after $(time_taken); the end of $log:$clear" >&2
    tail -n 40 "$log" >&2
else
    echo "$what: done in $(time_taken)$clear"
fi
exit "$status"
