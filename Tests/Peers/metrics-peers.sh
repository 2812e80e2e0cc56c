#!/bin/sh
# Makes a Python environment for metrics_reader.py, once, and prints its folder.
# usage: metrics-peers.sh FOLDER
set -eu
. "$(dirname "$0")/../TKCoreTests/Peers/environment.sh"
environment "$1" prometheus-client==0.26.0
echo "$folder/venv"
