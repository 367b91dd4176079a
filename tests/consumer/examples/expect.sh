#!/usr/bin/env bash
# expect.sh FOLDER ROOT: what the programs of examples/ in FOLDER print about the sample of the repository.
set -uo pipefail
folder=$1 root=$2
sample=$root/samples/quicksort
failures=0

# expect TEXT COMMAND...: the command succeeds, and its output has this text.
expect() {
  local text=$1 output
  shift
  if ! output=$("$@" 2>&1) || [[ $output != *"$text"* ]]; then
    printf 'FAILED: %s\nexpected: %s\noutput:\n%s\n' "$*" "$text" "$output"
    failures=$((failures + 1))
  fi
}

expect 'ID 0x10: 9086 bytes' "$folder/count_frames" "$sample/trace.bin"
expect '34713 instructions' "$folder/count_from" "$sample" 4096
expect ' I_ATOM_F1' "$folder/count_packets" "$sample"
expect '44901 instructions' "$folder/hot_code" "$sample"
expect 'ID 0x10  exception 2, returns to 0x400548' "$folder/exception_sink" "$sample"
# A synchronisation packet, and four bytes through port 0, as two and two.
expect 'Hi!.' "$folder/live_console" - < <(printf '\000\000\000\000\000\200\002Hi\002!.')

# Each example is short.
for file in "$root"/examples/{count_frames,count_from,count_packets,count_instructions,hot_code,exception_sink,live_console}.cc; do
  lines=$(wc -l <"$file")
  [ "$lines" -lt 60 ] || { echo "FAILED: $file has $lines lines; an example has less than 60."; failures=$((failures + 1)); }
done
exit $((failures > 0))
