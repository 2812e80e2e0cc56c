#!/bin/sh
# Makes a Python environment for mcp_client.py, once, and prints its folder.
# usage: mcp-peers.sh FOLDER
set -eu
. "$(dirname "$0")/../TKCoreTests/Peers/environment.sh"
environment "$1" mcp==1.30.0
echo "$folder/venv"
