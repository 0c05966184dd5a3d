#!/usr/bin/env bash
# Everything that must hold before a change lands: format, lints, docs, tests. Needs a Rust toolchain with rustfmt and
# clippy, a Python 3, and Node.js with npm (for the report page alone; a user needs none of these but Rust); installs numpy into an
# environment of its own, target/python, packages of npm into viewer/node_modules, and Chromium, where it is missing and apt-get may.
set -euo pipefail
cd "$(dirname "$0")"

# Names a step, and remembers how long the one before it took.
times="" name="" since=$SECONDS
step() {
  [ -z "$name" ] || times+=$(printf ' %s %ds,' "${name%%:*}" $((SECONDS - since)))
  name=$* since=$SECONDS
  [ -z "$name" ] || printf '\n== %s\n' "$name"
}

for component in rustfmt clippy; do
  if ! cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1; then
    echo "test.sh: cargo ${component/rustfmt/fmt} is missing: rustup component add $component" >&2
    exit 1
  fi
done

if ! target/python/bin/python3 -c 'import numpy' 2>/dev/null; then
  step "python: numpy into target/python"
  mkdir -p target
  if ! { python3 -m venv target/python && target/python/bin/python3 -m pip install --quiet numpy; }; then
    # Debian without python3-venv: the system's own numpy will do.
    rm -rf target/python
    python3 -c 'import numpy' || /usr/bin/python3 -c 'import numpy' || {
      command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq python3-numpy
    } || { echo "test.sh: no Python with numpy; install python3-numpy" >&2; exit 1; }
  fi
fi

if ! command -v npm >/dev/null; then
  echo "test.sh: npm is missing: install Node.js 20 or later with npm (the tests of the report page need it)" >&2
  exit 1
fi
if ! [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
  step "browser: chromium"
  if ! { command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }; then
    echo "test.sh: Chromium is missing and could not be installed: apt-get install chromium, or set CHROMIUM to its path" >&2
    exit 1
  fi
fi

step "format";  cargo fmt --all --check
step "lints";   cargo clippy --workspace --all-targets --quiet -- -D warnings
step "docs";    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
step "tests to build"; cargo test --workspace --quiet --no-run
step "tests";   cargo test --workspace --quiet
# The command that the tests have built: `cargo run` would build it anew, without the features that the tests add.
step "example"; "${CARGO_TARGET_DIR:-target}/debug/nonsmooth" run woodpecker >/dev/null
step "page";    ( cd viewer && npm ci --no-audit --no-fund --silent && npm run --silent build )
if ! cmp -s viewer/dist/template.html crates/scene/src/report/template.html; then
  echo "test.sh: the template of the report is not that of viewer/: cp viewer/dist/template.html crates/scene/src/report/template.html" >&2
  exit 1
fi
program="$(realpath "${CARGO_TARGET_DIR:-target}")/debug/nonsmooth"
step "browser"; ( cd viewer && npm test --silent && node test/reports.mjs "$program" )
step ""
echo; echo "time:${times%,}"
echo "all good"
