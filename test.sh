#!/usr/bin/env bash
# Everything that must hold before a change lands: format, lints, docs, tests. Installs nothing: a Rust
# toolchain with rustfmt and clippy is all it needs.
set -euo pipefail
cd "$(dirname "$0")"
step() { printf '\n== %s\n' "$*"; }

for component in rustfmt clippy; do
  if ! cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1; then
    echo "test.sh: cargo ${component/rustfmt/fmt} is missing: rustup component add $component" >&2
    exit 1
  fi
done

step "format";  cargo fmt --all --check
step "lints";   cargo clippy --workspace --all-targets --quiet -- -D warnings
step "docs";    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
step "tests";   cargo test --workspace --quiet
step "example"; cargo run --quiet --profile test --example bouncing_ball >/dev/null
echo; echo "all good"
