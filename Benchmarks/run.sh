#!/bin/sh
# Builds the release binary and measures it; arguments go to bench.py (names of benchmarks, or --quick).
set -eu
cd "$(dirname "$0")/.."
sh packaging/install-packages.sh build
sh packaging/install-packages.sh bench
swift build -c release --product steward
exec python3 Benchmarks/bench.py --binary .build/release/steward "$@"
