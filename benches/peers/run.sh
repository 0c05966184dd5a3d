#!/bin/bash
# Compares nonsmooth with packaged Siconos in one run: see README.md beside this file.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
python=/usr/bin/python3
fail() { echo "run.sh: $*" >&2; exit 1; }

if ! "$python" -c 'import siconos.kernel' 2>/dev/null; then
    command -v apt-get >/dev/null || fail "needs the Debian package python3-siconos, and this system has no apt-get"
    [ "$(id -u)" = 0 ] || fail "python3-siconos is missing; as root: apt-get update && apt-get install python3-siconos"
    { apt-get update && apt-get install -y python3-siconos; } >&2 || fail "apt-get could not install python3-siconos"
fi

cargo build --release --example peers -p nonsmooth >&2
cargo build --release --example bar -p nonsmooth-multibody >&2

# Alternate, so that a slow spell of a shared machine meets both sides.
for _ in 1 2 3; do
    "$python" "$here/siconos_peer.py"
    "$python" "$here/siconos_bar.py" --runs 2 --budget 2
    cargo run --quiet --release --example peers -p nonsmooth
    cargo run --quiet --release --example bar -p nonsmooth-multibody -- peers
done | "$python" "$here/table.py"
