#!/bin/sh
# Makes a Python environment for lsp_session.py, once, and prints its folder.
# usage: lsp-peers.sh FOLDER
set -eu
. "$(dirname "$0")/../TKCoreTests/Peers/environment.sh"
environment "$1" pytest-lsp==1.0.1 pygls==2.1.1 lsprotocol==2025.0.0 pytest==9.2.0 pytest-asyncio==1.5.0
echo "$folder/venv"
