#!/usr/bin/env bash
# Touching discs in a drum at a fixed number of Gauss-Seidel sweeps per step, from 10^3 to 10^5 discs: time and memory with 50 and with 150
# sweeps (their difference is the cost of a sweep alone), and instructions per step with 10 sweeps, with their growth as an exponent.
# Instructions are differences of runs of 3 steps and of 1, so that building cancels. Takes some minutes.
# Usage: benches/discs.sh [N]..   (1000 10000 100000)
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "discs.sh: valgrind is missing (Debian: apt-get install valgrind)" >&2; exit 1; }
cargo build --release --quiet -p nonsmooth-multibody --example discs
discs=target/release/examples/discs
out=$(mktemp)
trap 'rm -f "$out"' EXIT
sizes=("$@")
[ $# -gt 0 ] || sizes=(1000 10000 100000)
for n in "${sizes[@]}"; do
  "$discs" fixed "$n" 50 5
  "$discs" fixed "$n" 150 5
done
"$discs" bandwidth
count() { # instructions of N discs and STEPS steps
  valgrind --tool=callgrind --callgrind-out-file="$out" "$discs" fixed "$1" 10 "$2" >/dev/null 2>&1
  callgrind_annotate "$out" | awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }'
}
last=
for n in "${sizes[@]}"; do
  per=$(( ($(count "$n" 3) - $(count "$n" 1)) / 2 ))
  printf '%d discs: %d instructions per step' "$n" "$per"
  [ -z "$last" ] || awk -v a="$last" -v b="$per" -v m="$before" -v n="$n" 'BEGIN { printf ", exponent %.3f", log(b / a) / log(n / m) }'
  echo
  last=$per
  before=$n
done
