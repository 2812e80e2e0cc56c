#!/bin/sh
# Makes a Python environment for ron_peer.py, once, and prints its folder.
# usage: ron-peers.sh FOLDER
set -eu
. "$(dirname "$0")/../../TKCoreTests/Peers/environment.sh"
environment "$1" httpx==0.28.1
echo "$folder/venv"
