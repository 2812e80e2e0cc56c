#!/bin/sh
# Makes a Python environment with the peers that the providers are tested against, once, and prints its folder.
# usage: peers.sh FOLDER
set -eu
. "$(dirname "$0")/environment.sh"
environment "$1" llmock==0.2.2 anthropic==2.11.0 openai==3.52.0 ollama==0.6.3
echo "$folder/venv"
