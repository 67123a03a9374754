#!/usr/bin/env bash
# Fuzzes every target of fuzz/ for a bounded time, starting from its corpus. Finds are left in target/fuzz;
# one that crashes, hangs or takes too much memory fails the run. SECONDS_EACH=600 tests/fuzz.sh [TARGET…] looks longer.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${SECONDS_EACH:-11}"
out="$PWD/target/fuzz"
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked --quiet

# libFuzzer's hooks alone work on a stable compiler; a sanitizer would find nothing in safe code
host="$(rustc -vV | sed -n 's/^host: //p')"
mkdir -p "$out"
# several codegen units build in half the time, which bounded runs need more than speed
RUSTC_BOOTSTRAP=1 cargo fuzz build --sanitizer none --debug-assertions --codegen-units 4 --target-dir "$out" \
  2>"$out.log" || {
  tail -n 50 "$out.log" >&2
  exit 1
}

targets=("$@")
[ "$#" -gt 0 ] || for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done

inputs=0
for target in "${targets[@]}"; do
  mkdir -p "$out/found/$target"
  dictionary="fuzz/dictionaries/$target.dict"
  log="$out/$target.log"
  # the first folder takes what is found, so that the repository's corpus stays as it is
  "$out/$host/release/$target" "$out/found/$target" "fuzz/corpus/$target" \
    -artifact_prefix="$out/found/$target-" -dict="$dictionary" -max_total_time="$seconds" \
    -max_len=65536 -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 -print_final_stats=1 2>"$log" || {
    tail -n 40 "$log" >&2
    echo "fuzzing $target failed; the input is named above" >&2
    exit 1
  }
  count="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  peak="$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")"
  [ "$count" -gt 0 ]
  printf '%-16s %9s inputs, at most %s MB\n' "$target" "$count" "$peak"
  inputs=$((inputs + count))
done
echo "inputs fuzzed: $inputs, panics: 0"
