#!/usr/bin/env bash
# waymark count: totals, blocks, branches, and what is wrong.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

make_good good
json_lines() { python3 -c 'import json, sys; print([json.loads(line) for line in sys.stdin])' <out; }

case=totals
run count good
expect_code 0
expect_no_err
grep -qE '^instructions +10$' out || complain 'not 10 instructions'
grep -qE '^branches taken +5$' out || complain 'not 5 branches'
expect_out '1 trace_on'

case=blocks
run count good --top 5
expect_out '0x0000000000080000-0x0000000000080008 A64 2'
expect_out '100.00%'

case=blocks_as_csv
run count good --format csv
expect_code 0
expect_out 'id,isa,el,security,bits,context_id,vmid,start,end,count,times,instructions,last'
expect_out '16,A64,1,non_secure,64,,,0x80000,0x80008,2,5,10,branch,,0,5,0,0,0,0x80000'

case=branches_as_csv
run count good --format csv --edges
expect_out '16,A64,1,non_secure,64,,,0x80004,0x80000,branch,,1,5'

case=json
run count good --format json --all
expect_code 0
json_lines >lines || complain 'no JSON'
grep -q "'type': 'count', 'id': 16, 'instructions': 10" lines || complain 'no totals'
grep -q "'type': 'count_block'.*'times': 5" lines || complain 'no block'
run count good --format json --edges --top 1
json_lines >lines || complain 'no JSON'
grep -q "'type': 'count_branch'.*'to': '0x80000'" lines || complain 'no branch'

case=functions
sample=$(dirname "${BASH_SOURCE[0]}")/../../samples/quicksort
run count "$sample" --functions
expect_code 0
grep -qE '^ 46\.54% +20899 +987 +986 +0  fibonacci$' out || complain 'no fibonacci'
grep -q ' by_last_digit$' out || complain 'not all of them'
run count "$sample" --functions --top 1 --by times --format csv
expect_out 'name,start,last,instructions,entered,calls,cycles'
expect_out 'fibonacci,0x400334,0x400397,20899,987,986,0'
[ "$(wc -l <out)" -eq 2 ] || complain 'more than one function'
run count "$sample" --functions --format json
json_lines >lines || complain 'no JSON'
grep -q "'type': 'count_function', 'name': 'quicksort', 'start': '0x400244'" lines || complain 'no JSON'

case=functions_of_an_image_without_names
run count good --functions
expect_code 3
expect_one_sentence
expect_err '--symbols FILE'
run count good --functions --symbols "$sample/quicksort.elf"
expect_code 0
expect_out '(no name)'
run count good --functions --symbols "$sample/quicksort.elf@0xffffffffffc7fafc"
expect_out '100.00%               10              0              0                0  run'
run count good --functions --symbols nowhere.elf
expect_code 3
expect_one_sentence
run count good --functions --edges
expect_code 2

case=an_order_or_branches_show_some_without_a_number
run count good --by times
expect_code 0
expect_out '0x0000000000080000-0x0000000000080008 A64 2'
run count good --edges
expect_code 0
expect_out '0x0000000000080004'
run count good --top 3 --all
expect_code 2
expect_one_sentence

case=statistics_know_the_frames
make_snapshot framed coresight
put_frames framed/trace.bin 0x10 "${stream_start[@]}" f7 f7
run count framed --stats
expect_code 0
expect_err 'frames: 28 bytes to sources'

case=on_any_number_of_threads
run count good --all --format json
cp out alone
run count good --all --format json -j 3
expect_code 0
cmp -s out alone || complain 'three threads count otherwise'
run count good -j 0
expect_code 2
expect_one_sentence

case=nothing_has_cycles
run count good --top 3 --by cycles
expect_code 0

case=output_file
run count good -o result.txt --stats
expect_code 0
grep -q instructions result.txt || complain 'the file lacks the totals'
expect_err '31 bytes'

case=a_number_of_none
run count good --top 0
expect_code 2
expect_one_sentence
run count good --by size
expect_code 2
expect_one_sentence

case=no_image
make_good bare
rm bare/program.bin
run count bare
expect_code 1
expect_err 'no instruction could be counted'

case=no_synchronisation
make_snapshot noise source_data
put_bytes noise/trace.bin f7 f7 f7 f7
run count noise
expect_code 1
expect_err 'no synchronisation point'

case=as_many_instructions_as_decode_shows
run decode good --format csv
shown=$(awk -F, '$4 == "range" { sum += $7 } END { print sum }' out)
run count good --format json
grep -qF "\"instructions\":$shown," out || complain "decode shows $shown instructions"

finish
