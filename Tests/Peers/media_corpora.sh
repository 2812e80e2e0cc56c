#!/bin/sh
# Unpacks files that other projects test their readers with, once, and prints the folder: sound, pictures, PDF, office
# documents, archives, many of them damaged on purpose. They stay where they are: nothing of them is kept here.
# usage: media_corpora.sh FOLDER
set -eu
. "$(dirname "$0")/../TKCoreTests/Peers/environment.sh"
environment "$1" setuptools==80.9.0 wheel==0.45.1 poetry-core==2.2.1 flit_core==3.12.0
if [ ! -e "$folder/unpacked" ]; then
    rm -rf "$folder/sources" "$folder/files"
    mkdir -p "$folder/sources" "$folder/files"
    for package in mutagen==1.48.1 pypdf==7.1.0 python-docx==1.2.0 python-pptx==1.0.2 odfpy==1.4.1 rarfile==4.5; do
        pip download --no-deps --no-binary :all: --no-build-isolation --dest "$folder/sources" "$package" ||
            fail "pip cannot download the source of $package; see $folder/log"
    done
    for archive in "$folder/sources"/*.tar.gz; do tar -xzf "$archive" --no-same-owner -C "$folder/files"; done
    touch "$folder/unpacked"
fi
echo "$folder/files"
