#!/usr/bin/env bash
# Instructions per step of the peer cases, and per node and step of the impacting bar, counted by callgrind: they repeat exactly,
# whatever else the machine does.
# Usage: benches/instructions.sh [CASE]..   (ball block block-friction bar-1000 bar-10000 bar-100000; also rattle-bar-N)
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing (Debian: apt-get install valgrind)" >&2; exit 1; }
cargo build --release --quiet -p nonsmooth --example peers
cargo build --release --quiet -p nonsmooth-multibody --example bar
examples=${CARGO_TARGET_DIR:-target}/release/examples
steps=21100 # one early run of 1,100 steps and one of 20,000; building the model is under 0.5 %
out=$(mktemp)
trap 'rm -f "$out"' EXIT
# glibc copies long vectors by one string instruction, which callgrind counts once per byte: have it copy by a loop.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000

count() { # PROGRAM ARGUMENT..
  valgrind --tool=callgrind --callgrind-out-file="$out" "$@" >/dev/null 2>&1
  callgrind_annotate "$out" | awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }'
}

printf '%-16s %s\n' case 'instructions per step (of a bar: per node and step)'
cases=("$@")
[ $# -gt 0 ] || cases=(ball block block-friction bar-1000 bar-10000 bar-100000)
for case in "${cases[@]}"; do
  case $case in
    bar-* | rattle-bar-*)
      n=${case##*-}
      scheme=()
      [ "$case" = "bar-$n" ] || scheme=(rattle)
      # Of two numbers of steps, all in contact: what building the model costs cancels.
      few=$(count "$examples/bar" count "$n" 5 "${scheme[@]}")
      more=$(count "$examples/bar" count "$n" 15 "${scheme[@]}")
      printf '%-16s %s\n' "$case" "$(awk "BEGIN { printf \"%.1f\", ($more - $few) / 10 / ($n + 1) }")" ;;
    *) printf '%-16s %d\n' "$case" $(($(count "$examples/peers" 1 "$case") / steps)) ;;
  esac
done
