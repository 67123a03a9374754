#!/usr/bin/env bash
# The one test command: installs what the tests need beyond cargo, then formatting, lints, documentation,
# doctests and every test. Works from nothing on a Debian machine with cargo; run it as a user who may
# install packages, or have ffmpeg and python3-venv installed already.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

install_packages() {
  [ "$#" -eq 0 ] && return
  step "installing $*"
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

missing=()
command -v ffprobe >/dev/null || missing+=(ffmpeg)
# jemalloc is built by make
{ command -v c++ && command -v make; } >/dev/null || missing+=(build-essential)
command -v python3 >/dev/null || missing+=(python3)
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
command -v pgrep >/dev/null || missing+=(procps)
command -v openssl >/dev/null || missing+=(openssl)
command -v chromium >/dev/null || missing+=(chromium)
command -v chromedriver >/dev/null || missing+=(chromium-driver)
# Slurm on loopback, with accounting; tests start and stop it by tests/slurm
for program in slurmctld:slurm-wlm munged:munge slurmdbd:slurmdbd mariadbd:mariadb-server; do
  PATH=$PATH:/usr/sbin command -v "${program%%:*}" >/dev/null || missing+=("${program##*:}")
done
install_packages "${missing[@]}"

step "Python environment with the openai client and the OpenMetrics parser"
venv=target/test-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import openai, prometheus_client' 2>/dev/null ||
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'openai>=2,<4' 'prometheus_client>=0.20,<1'
export OMNI_BENCH_TEST_PYTHON="$PWD/$venv/bin/python"

step "draws of CPython's random.Random"
mkdir -p target
python3 tests/fixtures/cpython_draws.py >target/test-draws.json
export OMNI_BENCH_TEST_DRAWS="$PWD/target/test-draws.json"
# here nothing may be skipped: what `cargo test` alone would name as not run is a failure
export OMNI_BENCH_TEST_ALL=1

step "formatting"
cargo fmt --check

step "lints"
cargo clippy --locked --all-targets -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items --quiet

step "licences, bans and sources of the dependencies"
command -v cargo-deny >/dev/null || cargo install cargo-deny --locked --quiet
# also the crates of other platforms, without which nothing can be judged offline
cargo fetch --locked --quiet
cargo deny --offline check licenses bans sources

step "doctests"
cargo test --locked --doc --quiet

step "fuzzing, for a bounded time"
bash tests/fuzz.sh

step "tests"
heavy=(crash:: faults:: cluster::)
skipped=()
for area in "${heavy[@]}"; do skipped+=(--skip "$area"); done
cargo test --locked --lib --bins
cargo test --locked --test it -- "${skipped[@]}"

# these load the machine so much that the timing of others would suffer beside them
step "tests that kill, break and queue"
cargo test --locked --test it -- "${heavy[@]}"
