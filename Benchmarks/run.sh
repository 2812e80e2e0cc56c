#!/bin/sh
# Builds what `make release` builds and measures it; arguments go to bench.py: names of benchmarks (`comics` is all of
# `comics-...`, so `vault` and `tk`), --quick, --json FILE.
set -eu
cd "$(dirname "$0")/.."
sh packaging/install-packages.sh build bench
for product in steward steward-unpack tk; do
    swift build -c release --static-swift-stdlib --product "$product"
done
# The vault's store alone: a package of its own, so that nothing of it is in what is shipped.
swift build -c release --static-swift-stdlib --package-path Benchmarks/vault --scratch-path .build/bench-vault
# Debian's python3-pil belongs to Debian's own Python, which need not be the first one on the PATH.
python=python3
"$python" -c 'import PIL' 2>/dev/null || python=/usr/bin/python3
exec "$python" Benchmarks/bench.py --binary .build/release/steward "$@"
