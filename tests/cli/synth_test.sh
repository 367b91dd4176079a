#!/usr/bin/env bash
# Synthetic captures: made, read by every reader, compared with their truth.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for protocol in etmv4 ete ptm etmv3 stm itm; do
  case=${protocol}_is_made_and_as_it_happened
  run synth -o "$protocol" --protocol "$protocol" --isa A32 --size 100000 --timestamps 100
  expect_code 0
  expect_no_err
  run synth --check "$protocol"
  expect_code 0
  expect_out 'as it happened'
  run decode "$protocol" --strict
  expect_code 0

  case=${protocol}_is_read_by_the_lister
  "$LISTER" -ss_dir "$protocol" -decode -logfilename "$protocol.ppl" >/dev/null 2>&1 ||
    complain "the lister failed"
  grep -qE 'OCSD_ERR|BAD_SEQUENCE|RESERVED' "$protocol.ppl" && complain "the lister found errors"
  grep -q 'ID:10' "$protocol.ppl" || complain "the lister found nothing"
done

case=several_sources_with_everything_on
run synth -o many --protocol etmv4,ete --cores 2 --size 1M --return-stack --cycle-counts \
  --timestamps 50 --events 100 --context-ids 3 --vmids 2 --speculation 16 --overflows 3000 \
  --discards 3000 --filter 1000 --q 500 --exceptions 200 --framing fsync
expect_code 0
expect_out '4 sources'
run synth --check many
expect_code 0

case=the_same_seed_gives_the_same_bytes
run synth -o again --protocol etmv4 --isa A32 --size 100000 --timestamps 100
expect_code 0
cmp -s again/trace.bin etmv4/trace.bin || complain "the bytes differ"
run synth -o another --protocol etmv4 --isa A32 --size 100000 --timestamps 100 --seed 2
cmp -s another/trace.bin etmv4/trace.bin && complain "the bytes are equal"

case=damage_is_a_difference
run synth -o harmed --size 100000 --damage 1000 --drop 10000 --cut
expect_code 0
run synth --check harmed
expect_code 1

case=bad_options_are_refused
run synth
expect_code 2
expect_err '--output DIR'
run synth -o x --protocol ptm
expect_code 2
expect_err 'A64'
run synth -o x --protocol nonsense
expect_code 2
expect_err nonsense
run synth -o x --framing none --cores 2
expect_code 2
run synth -o x --elf missing.elf
expect_code 3
expect_err missing.elf
printf 'function f\n jump\nend\n' >wrong.graph
run synth -o x --graph wrong.graph
expect_code 3
expect_err 'wrong.graph: line 2'
run synth --check etmv4/none
expect_code 3
printf 'a file' >taken
run synth -o taken/loop
expect_code 4
expect_one_sentence

finish
