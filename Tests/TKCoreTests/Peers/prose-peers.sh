#!/bin/sh
# Installs proselint and fetches its source distribution, whose tests hold sentences with known answers, once; prints a
# file with the sentences and with what proselint says to them (prose_answers.py). Nothing of it is committed.
# usage: prose-peers.sh FOLDER
set -eu
here=$(dirname "$0")
. "$here/environment.sh"
version=0.16.0
environment "$1" "proselint==$version"
answers=$folder/proselint-$version.json
if [ ! -e "$answers" ]; then
    pip download --no-deps --no-binary proselint --dest "$folder" "proselint==$version" ||
        fail "pip cannot fetch proselint's sources; see $folder/log"
    tar -xzf "$folder/proselint-$version.tar.gz" -C "$folder"
    "$folder/venv/bin/python" "$here/prose_answers.py" "$folder/venv/bin/proselint" \
        "$folder/proselint-$version/tests/examples.py" >"$answers.new" 9>&-
    mv "$answers.new" "$answers"
fi
echo "$answers"
