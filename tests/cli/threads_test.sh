#!/usr/bin/env bash
# decode -j: whatever the number of threads, the same text, counts and exit code.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Long enough for several pieces, with few instructions a byte.
"$WAYMARK" synth -o many --size 2M --protocol etmv4 --cores 2 --return-stack --timestamps 2 \
  --cycle-counts --cycle-threshold 1 --no-truth --damage 100000 >/dev/null
"$WAYMARK" synth -o raw --size 2M --protocol ptm --isa T32 --cycle-counts --timestamps 2 \
  --framing none --no-truth >/dev/null

# same CAPTURE FORMAT
same() {
  case=same_$2_of_$1
  run decode "$1" -j 1 --format "$2" --stats -o one
  expect_code 0
  cp err err.one
  run decode "$1" -j 3 --format "$2" --stats -o three
  expect_code 0
  cmp -s one three || complain "three threads wrote something else"
  cmp -s err err.one || complain "three threads counted something else"
}
same many text

case=same_with_functions
program=$(dirname "${BASH_SOURCE[0]}")/../../samples/quicksort/quicksort.elf
start=$(sed -n 's/^address=//p' many/cpu_0.ini | tail -n 1)
moved=$(printf '%s@0x%x' "$program" $((start - 0x400000)))
run decode many -j 1 --functions --symbols "$moved" -o one
grep -q '  in [a-z]' one || complain 'no function is named'
run decode many -j 3 --functions --symbols "$moved" -o three
expect_code 0
cmp -s one three || complain "three threads wrote something else"

same many json
same raw csv

case=no_threads_or_too_many_are_refused
for threads in 0 10000 -1 x; do
  run decode many -j "$threads"
  expect_code 2
done

case=closed_pipe
"$WAYMARK" decode many -j 2 2>err | head -n 3 >out
[ "$(wc -l <out)" -eq 3 ] || complain 'not three lines'

finish
