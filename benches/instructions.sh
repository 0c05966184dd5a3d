#!/usr/bin/env bash
# Instructions per step of the peer cases, counted by callgrind: they repeat exactly, whatever else the machine does.
# Usage: benches/instructions.sh [CASE]..   (ball block block-friction)
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing (Debian: apt-get install valgrind)" >&2; exit 1; }
cargo build --release --quiet -p nonsmooth --example peers
steps=21100 # one early run of 1,100 steps and one of 20,000; building the model is under 0.5 %
out=$(mktemp)
trap 'rm -f "$out"' EXIT
printf '%-16s %s\n' case 'instructions per step'
for case in "${@:-ball}" ; do cases+=("$case"); done
[ $# -gt 0 ] || cases=(ball block block-friction)
for case in "${cases[@]}"; do
  valgrind --tool=callgrind --callgrind-out-file="$out" target/release/examples/peers 1 "$case" >/dev/null 2>&1
  total=$(callgrind_annotate "$out" | awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }')
  printf '%-16s %d\n' "$case" $((total / steps))
done
