#!/bin/bash
# Races our solvers against those of packaged Siconos on files: see README.md beside this file.
#   run.sh DIR [--tol 1e-8] [--time-limit 30] [--only NAME] [--json FILE] [--verbose]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=/usr/bin/python3
fail() { echo "run.sh: $*" >&2; exit 1; }

packages=(python3-siconos python3-h5py python3-scipy)
if ! "$python" -c 'import siconos.numerics, h5py, scipy' 2>/dev/null; then
    command -v apt-get >/dev/null || fail "needs the Debian packages ${packages[*]}, and this system has no apt-get"
    [ "$(id -u)" = 0 ] || fail "a package is missing; as root: apt-get update && apt-get install ${packages[*]}"
    { apt-get update && apt-get install -y "${packages[@]}"; } >&2 || fail "apt-get could not install ${packages[*]}"
fi

# NONSMOOTH=path takes a command that is built already.
if [ -z "${NONSMOOTH:-}" ]; then
    (cd "$here/../.." && cargo build --release -p nonsmooth-cli >&2)
    NONSMOOTH=$here/../../target/release/nonsmooth
fi
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 RAYON_NUM_THREADS=1
export PYTHONDONTWRITEBYTECODE=1
exec "$python" "$here/race.py" --command "$NONSMOOTH" "$@"
