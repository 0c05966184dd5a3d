#!/usr/bin/env bash
# Touching discs in a drum at a fixed number of Gauss-Seidel sweeps per step: time, instructions and memory from 10^3 to 10^5 discs, and the growth
# of time and instructions as exponents. Instructions are differences of two runs, so that building and settling cancel.
# Usage: benches/discs.sh [SWEEPS]   (50)
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "discs.sh: valgrind is missing (Debian: apt-get install valgrind)" >&2; exit 1; }
cargo build --release --quiet -p nonsmooth-multibody --example discs
sweeps=${1:-50}
discs=target/release/examples/discs
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for n in 1000 10000 100000; do
  "$discs" fixed "$n" "$sweeps" 20
done
count() { # instructions of N discs and STEPS steps
  valgrind --tool=callgrind --callgrind-out-file="$out" "$discs" fixed "$1" "$sweeps" "$2" >/dev/null 2>&1
  callgrind_annotate "$out" | awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }'
}
last=
for n in 1000 10000 100000; do
  per=$(( ($(count "$n" 4) - $(count "$n" 2)) / 2 ))
  printf '%d discs: %d instructions per step' "$n" "$per"
  [ -z "$last" ] || awk -v a="$last" -v b="$per" 'BEGIN { printf ", exponent %.3f", log(b / a) / log(10) }'
  echo
  last=$per
done
