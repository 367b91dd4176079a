#!/usr/bin/env bash
# Formats, files, closed pipes, full disks and Ctrl-C.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

make_good good
make_snapshot long source_data
put_bytes long/trace.bin "${stream_start[@]}"
head -c 1000000 /dev/zero | tr '\0' '\367' >>long/trace.bin

case=json_is_one_object_a_line
run decode good --format json
expect_code 0
python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <out || complain 'no JSON'
expect_out '"kind":"range","start":"0x80000","end":"0x80008"'

case=packets_have_their_fields_in_json
run packets good --format json
python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <out || complain 'no JSON'
expect_out '"fields":{"atoms":"E"}'

case=info_as_json
run info good --format json
python3 -c 'import json, sys; assert json.load(sys.stdin)["sources"][0]["sync_points"] == 1' <out ||
  complain 'no JSON, or not one synchronisation point'

case=csv_has_a_header
run decode good --format csv
expect_out 'record,index,id,kind'
expect_out 'range,0x80000,0x80008,2,A64,branch'
run packets good --format csv
expect_out 'index,id,protocol,name,bytes,text,fields'

case=packets_use_the_names_of_the_listing
run packets good
expect_out $'Idx:26; ID:10; [0xf7 ];\tI_ATOM_F1 : Atom format 1.; E'

case=functions_are_named
sample=$(dirname "${BASH_SOURCE[0]}")/../../samples/quicksort
run decode "$sample" --functions
expect_code 0
expect_out '0x00000000004000f8      +3  insns  → branch 0x0000000000400504  in _start'
expect_out '  in run+0x44'
run decode "$sample" --functions --format json
expect_code 2
expect_one_sentence
run decode good --functions
expect_code 3
expect_err '--symbols FILE'
cp "$sample/quicksort.elf" program.elf
run decode good --functions --symbols program.elf -o program.elf
expect_code 2
cmp -s program.elf "$sample/quicksort.elf" || complain 'the program is gone'

case=output_file
run decode good -o result.txt
expect_code 0
[ ! -s out ] || complain 'standard output is not empty'
grep -q '+2  insns' result.txt || complain 'the file lacks the ranges'

case=output_file_that_cannot_be_made
run decode good -o no/such/folder/result.txt
expect_code 4
expect_one_sentence
expect_err no/such/folder/result.txt

case=output_file_that_is_an_input
make_good same
ln same/trace.bin hard_link
ln -s same/program.bin soft_link
printf 'D_P1_F1 fixed=2\n' >layouts
cp layouts layouts_before
for target in same/trace.bin hard_link soft_link same/./program.bin same/snapshot.ini same/cpu.ini \
  same/trace.ini layouts; do
  cp -r same before
  for command in decode packets info; do
    run "$command" same --data-layouts layouts -o "$target"
    expect_code 2
    expect_one_sentence
    expect_err "-o $target"
  done
  { diff -r before same && cmp layouts layouts_before; } || complain "$target was changed"
  rm -r before
done
run decode same/trace.bin --framing none --protocol etmv4 --reg TRCCONFIGR=0x1 --reg TRCIDR2=0x488 \
  --reg TRCIDR0=0x28000EA1 --image 0x80000=good/program.bin -o good/program.bin
expect_code 2
cmp -s good/program.bin same/program.bin || complain 'the image was changed'

case=full_disk
if [ -w /dev/full ]; then
  run decode good -o /dev/full
  expect_code 4
  expect_one_sentence
  expect_err 'the disk is full'
fi

case=file_that_may_not_grow_keeps_whole_lines
(
  ulimit -f 400
  exec "$WAYMARK" decode long -o limited.txt
) >out 2>err
code=$?
expect_code 4
expect_err limited.txt
cp limited.txt out
[ -s out ] || complain 'nothing was kept'
expect_whole_lines

case=closed_pipe
"$WAYMARK" decode long 2>err | head -n 1 >out
code=${PIPESTATUS[0]}
expect_code 4
expect_one_sentence
expect_err 'went away'

case=interrupt_leaves_whole_lines
mkfifo pipe
# Monitor mode gives the program its own process group, in which SIGINT is not ignored.
set -m
"$WAYMARK" decode long >pipe 2>err &
program=$!
set +m
# The first bytes show that it runs; the pipe is full before all is written.
{
  head -c 1024
  kill -INT "$program"
  cat
} <pipe >out
code=0
wait "$program" || code=$?
rm pipe
expect_code 130
expect_whole_lines
[ "$(wc -l <out)" -gt 10 ] || complain 'what was decoded is not there'

# interrupted ARGUMENTS...: runs waymark into a pipe that nobody reads, interrupts it after a second;
# out holds what is in the pipe, tenths (of a second) how long it went on.
interrupted() {
  mkfifo pipe
  set -m
  "$WAYMARK" "$@" >pipe 2>err &
  local program=$!
  set +m
  exec 7<pipe
  sleep 1
  kill -INT "$program"
  for ((tenths = 0; tenths < 60; ++tenths)); do
    kill -0 "$program" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$program" 2>/dev/null
  code=0
  wait "$program" || code=$?
  cat <&7 >out
  exec 7<&-
  rm pipe
}

case=interrupt_while_the_pipe_is_full
interrupted decode long
expect_code 130
expect_no_err
expect_whole_lines
[ "$(wc -l <out)" -gt 10 ] || complain 'what was decoded is not there'

# Every address begins another block of 64 MiB without a branch.
case=interrupt_of_a_slow_decode
make_snapshot slow source_data
truncate -s 64M slow/nops.bin
python3 - slow/nops.bin <<'PYTHON'
import sys
with open(sys.argv[1], 'wb') as out:
    for _ in range(64):
        out.write(bytes.fromhex('1f2003d5') * (1 << 18))
PYTHON
printf '[dump2]\nfile=nops.bin\naddress=0x10000000\n' >>slow/cpu.ini
put_bytes slow/trace.bin "${stream_start[@]}"
for ((i = 0; i < 2000; ++i)); do
  # A 64-bit address of IS0 with a context; atom E.
  put_bytes slow/trace.bin 9d "$(printf '%02x' $((i & 127)))" "$(printf '%02x' $((i >> 7)))" 00 10 \
    00 00 00 00 f7
done
interrupted decode slow
expect_code 130
[ "$tenths" -le 30 ] || complain "it went on for $tenths tenths of a second"

case=no_progress_line_in_a_pipe
run decode long -o /dev/null
expect_no_err

case=statistics_go_to_standard_error
run decode good --stats
expect_code 0
expect_err 'ID 0x10 cpu_0: 31 bytes'

make_snapshot timed source_data
put_bytes timed/trace.bin "${stream_start[@]}"
# Atom, timestamp 100, atom, timestamp 110, atom.
put_bytes timed/trace.bin f7 02 64 f7 02 6e f7
case=merge_gives_every_line_a_time
run decode timed --merge time
expect_code 0
expect_out '             100<         16  0x10'
expect_out '             100          27  0x10'
expect_out '             100>         29  0x10'
expect_out '             110          30  0x10'
run decode timed --merge time --format json
python3 -c 'import json, sys; [json.loads(line)["time_is"] for line in sys.stdin]' <out ||
  complain 'no JSON, or no time'
expect_out '"time":100,"time_is":"after"'
run decode timed --merge time --format csv
expect_out 'time,time_is,record,index'
expect_out '100,exact,element,27,'

case=merge_says_what_has_no_time
run decode good --merge time
expect_code 0
expect_err 'trace ID 0x10 has no timestamps'

make_snapshot jump source_data
# Timestamps 100, 2^63 + 100, 110, 120 in all nine bytes, and an atom behind each.
put_bytes jump/trace.bin "${stream_start[@]}" f7
put_bytes jump/trace.bin 02 e4 80 80 80 80 80 80 80 00 f7 02 e4 80 80 80 80 80 80 80 80 f7
put_bytes jump/trace.bin 02 ee 80 80 80 80 80 80 80 00 f7 02 f8 80 80 80 80 80 80 80 00 f7
case=merge_says_whose_time_goes_back
run decode jump --merge time
expect_code 0
expect_out '             120          '
expect_err '2 timestamps of trace ID 0x10 are below earlier ones, the first at trace byte 49'

case=merge_knows_one_order
run decode good --merge size
expect_code 2
expect_err merge

case=help_states_exit_codes_and_examples
run --help
expect_code 0
expect_out 'Exit codes'
run decode --help
expect_code 0
expect_out 'Examples'

finish
