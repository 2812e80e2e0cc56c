#!/bin/sh
# Makes a Python environment for vault_reader.py, once, and prints its folder.
# usage: vault-peers.sh FOLDER
set -eu
. "$(dirname "$0")/../TKCoreTests/Peers/environment.sh"
environment "$1" cryptography==50.0.2
echo "$folder/venv"
