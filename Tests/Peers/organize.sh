#!/bin/sh
# Makes a Python environment with organize, once, and prints its program.
# usage: organize.sh FOLDER
set -eu
. "$(dirname "$0")/../TKCoreTests/Peers/environment.sh"
environment "$1" organize-tool==3.3.0
echo "$folder/venv/bin/organize"
