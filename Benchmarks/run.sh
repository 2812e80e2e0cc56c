#!/bin/sh
# Builds what `make release` builds and measures it; arguments go to bench.py: names of benchmarks (`comics` is all of
# `comics-...`, so `vault`, `dots`, `ron` and `tk`), --quick, --json FILE.
set -eu
cd "$(dirname "$0")/.."
sh packaging/install-packages.sh build bench
# Functions in sections of their own, laid in the order of a release: see docs/design/release.md.
build() {
    swift build -c release --static-swift-stdlib --disable-default-traits \
        -Xswiftc -Xfrontend -Xswiftc -function-sections "$@"
}
order=packaging/link/order.txt
for product in steward steward-worker tk; do
    # Nothing but this tells that another order is another program.
    if [ "$order" -nt ".build/release/$product" ]; then rm -f ".build/release/$product"; fi
    build --product "$product" -Xlinker "--symbol-ordering-file=$PWD/$order" -Xlinker --no-warn-symbol-ordering
done
build --product ron-mock-plane
# The vault's store alone: a package of its own, so that nothing of it is in what is shipped.
swift build -c release --static-swift-stdlib --package-path Benchmarks/vault --scratch-path .build/bench-vault
# The dot store alone, for the same reason.
swift build -c release --static-swift-stdlib --package-path Benchmarks/dots --scratch-path .build/bench-dots
# RON's SDK beside the client that it is built on.
swift build -c release --static-swift-stdlib --package-path Benchmarks/ron --scratch-path .build/bench-ron
# Debian's python3-pil belongs to Debian's own Python, which need not be the first one on the PATH.
python=python3
"$python" -c 'import PIL' 2>/dev/null || python=/usr/bin/python3
exec "$python" Benchmarks/bench.py --binary .build/release/steward "$@"
