#!/usr/bin/env bash
# Every bad input gets one sentence with place and remedy, the documented exit code, and keeps what
# could be decoded.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case=good_capture_decodes_without_a_word
make_good good
run decode good
expect_code 0
expect_no_err
expect_out '+2  insns  → branch 0x0000000000080000'

case=no_such_path
run decode nowhere
expect_code 3
expect_one_sentence
expect_err nowhere

case=folder_without_snapshot_ini
mkdir empty
run decode empty
expect_code 3
expect_one_sentence
expect_err snapshot.ini

case=ini_syntax_error
make_good syntax
printf '[regs]\nthis is no entry\n' >>syntax/etm.ini
run decode syntax
expect_code 3
expect_err 'syntax/etm.ini:12'

case=unknown_device
make_good unknown
printf '[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB_0\nfile=trace.bin\nformat=source_data\n[source_buffers]\nETM_7=ETB_0\n' \
  >unknown/trace.ini
run decode unknown
expect_code 3
expect_err ETM_7

case=missing_trace_ini
make_good traceless
rm traceless/trace.ini
run decode traceless
expect_code 3
expect_one_sentence
expect_err 'traceless/trace.ini` cannot be read'

case=trace_ini_not_named
make_good unnamed
sed -i /metadata/d unnamed/snapshot.ini
run decode unnamed
expect_code 3
expect_one_sentence
expect_err 'metadata'

case=missing_register
make_good register
sed -i /TRCIDR0/d register/etm.ini
run decode register
expect_code 3
expect_err 'etm.ini'
expect_err '--reg TRCIDR0=VALUE'
run decode register --reg TRCIDR0=0x28000EA1
expect_code 0
expect_out '+2  insns'

case=missing_dump_file
make_good nodump
rm nodump/program.bin
run decode nodump
expect_code 0
expect_one_sentence
expect_err program.bin
expect_out 'no image here'
run decode nodump --strict
expect_code 1
expect_err '--strict: the program image is incomplete: nodump/cpu.ini:5: '
run packets nodump --strict
expect_code 0
run decode nodump --strict --image 0x80000=good/program.bin
expect_code 0
expect_err program.bin
expect_out '+2  insns'

case=no_image_at_all
make_good imageless
sed -i '/\[dump\]/,$d' imageless/cpu.ini
run decode imageless
expect_code 0
run decode imageless --strict
expect_code 1
expect_err '--strict: there is no program image'
expect_err '--image ADDRESS=FILE'
run decode imageless --strict --image 0x80000=good/program.bin
expect_code 0
expect_no_err

case=short_dump_file
make_good short
sed -i s/length=8/length=4096/ short/cpu.ini
run decode short
expect_code 0
expect_one_sentence
expect_err 'asks for 4096 bytes'
run decode short --strict
expect_code 1
expect_err '--strict: the program image is incomplete: short/cpu.ini:5: '

case=overlapping_dumps
make_good overlap
cp overlap/program.bin overlap/other.bin
printf '[dump2]\nfile=other.bin\naddress=0x80004\nlength=8\n' >>overlap/cpu.ini
run decode overlap
expect_code 0
expect_one_sentence
expect_err other.bin
expect_out '+2  insns'
run decode overlap --strict
expect_code 0

case=dump_that_overlaps_an_image_of_the_command_line
run decode good --image 0x80004=overlap/other.bin
expect_code 0
expect_one_sentence
expect_err 'good/cpu.ini:5: The memory dump good/program.bin is left out'
expect_err 'overlap/other.bin at 0x80004..0x8000b of --image'
run decode overlap --image 0x80000=good/program.bin
expect_code 0
expect_err 'overlap/cpu.ini:5: The memory dump overlap/program.bin is left out'
expect_err 'overlap/cpu.ini:9: The memory dump overlap/other.bin is left out'
run decode good --strict --image 0x80000=overlap/other.bin
expect_code 0

case=empty_trace
make_good void
: >void/trace.bin
run decode void
expect_code 3
expect_err 'void/trace.bin'
expect_err 'empty'

case=frames_that_are_no_multiple_of_16
make_snapshot ragged coresight
put_frames ragged/trace.bin 0x10 "${stream_start[@]}" f7 f7
put_bytes ragged/trace.bin 21 f7 f7
run decode ragged
expect_code 0
expect_err 'multiple of 16'
expect_out '+2  insns'

case=all_zeros
make_snapshot zeros source_data
head -c 4096 /dev/zero >zeros/trace.bin
run decode zeros
expect_code 1
expect_err 'nothing could be decoded'

case=all_zeros_in_frames
make_snapshot zeroframes coresight
head -c 4096 /dev/zero >zeroframes/trace.bin
run decode zeroframes
expect_code 1
expect_err 'nothing could be decoded'

case=all_ones
make_snapshot ones coresight
head -c 4096 /dev/zero | tr '\0' '\377' >ones/trace.bin
run decode ones
expect_code 1
expect_err 'nothing could be decoded'

case=random_bytes
for seed in 1 2 3; do
  rm -rf random
  make_snapshot random coresight
  awk -v seed="$seed" 'BEGIN { srand(seed); for (i = 0; i < 4096; ++i) printf "%02x\n", int(rand() * 256) }' |
    while read -r byte; do printf '%b' "\\x$byte"; done >random/trace.bin
  run decode random
  [ "$code" -le 1 ] || complain "exit code $code, expected 0 or 1"
  expect_whole_lines
done

case=trace_id_without_a_device
make_snapshot stranger coresight
put_frames stranger/trace.bin 0x10 "${stream_start[@]}" f7 f7
put_frames stranger/trace.bin 0x22 01 02 03
run decode stranger
expect_code 0
expect_err 'Trace ID 0x22'
expect_out '+2  insns'

case=trace_starts_inside_a_packet
make_snapshot middle source_data
put_bytes middle/trace.bin 31 f7 f7 9a 10 "${stream_start[@]}" f7
run decode middle
expect_code 0
expect_out 'waiting for the first synchronisation point'
expect_out '+2  insns'

case=image_that_does_not_match_the_trace
make_snapshot mismatch source_data
put_bytes mismatch/trace.bin "${stream_start[@]}" f7 f7 f6 f7
run decode mismatch --strict
expect_code 1
expect_err '--strict'
expect_err 'at address 0x80004'
expect_out '+2  insns  → branch 0x0000000000080000'
run decode mismatch
expect_code 0

case=damaged_packet
make_snapshot damaged source_data
put_bytes damaged/trace.bin "${stream_start[@]}" f7 f7 23 f7 "${stream_start[@]}" f7
run decode damaged
expect_code 0
expect_out '!! damage'
[ "$(grep -c '+2  insns' out)" -eq 3 ] || complain "three ranges expected, around the damage"
run decode damaged --strict
expect_code 1
expect_err 'the trace is damaged'
expect_out '+2  insns'

case=id_that_no_source_has
run decode good --id 0x33
expect_code 3
expect_err 'use --id with one of: 0x10'

case=buffer_that_does_not_exist
run decode good --buffer ETB_9
expect_code 3
expect_err 'use --buffer with one of: ETB_0'

case=info_of_one_id_tells_nothing_of_others
make_snapshot pair coresight
sed s/ETM_0/ETM_1/ pair/etm.ini | sed s/0x10/0x12/ >pair/etm1.ini
sed -i 's/^b=/c=etm1.ini\nb=/' pair/snapshot.ini
sed -i 's/^ETM_0=ETB_0/&\nETM_1=ETB_0/; s/^cpu_0=ETM_0/&\ncpu_0=ETM_1/' pair/trace.ini
put_frames pair/trace.bin 0x10 "${stream_start[@]}" f7 f7
put_frames pair/trace.bin 0x22 01 02 03
run info pair
expect_code 0
expect_out 'Trace ID 0x12 has no bytes'
expect_out 'Trace ID 0x22 has 14 bytes but no source'
run info pair --id 0x10
expect_code 0
expect_out '  0x10  ETM_0'
if grep -q '0x12\|0x22' out; then complain 'other IDs are spoken of'; fi
expect_out '  nothing'
put_frames two.bin 0x10 "${stream_start[@]}" f7 f7
put_frames two.bin 0x12 "${stream_start[@]}" f7 f7
run info two.bin --framing mem --protocol etmv4 --reg TRCCONFIGR=0x1 --reg TRCIDR0=0x28000EA1 \
  --reg TRCIDR2=0x488 --id 0x10 --image 0x80000=good/program.bin
expect_code 0
expect_out '  nothing'

case=wrong_command_line
run decode
expect_code 2
run decode good --id banana
expect_code 2
expect_err '--id banana'
run decode good --no-such-option
expect_code 2
run frobnicate
expect_code 2
expect_one_sentence
expect_err 'frobnicate'

case=usage_errors_are_sentences_with_the_remedy
run
expect_code 2
expect_one_sentence
expect_err 'waymark: A command is missing, such as info or decode; see waymark --help.'
run decode
expect_code 2
expect_one_sentence
expect_err 'waymark: INPUT is required; see waymark decode --help.'
for form in xml 1 TEXT ''; do
  run decode good --format "$form"
  expect_code 2
  expect_one_sentence
  expect_err "waymark: --format: $form not in {text,json,csv}; see waymark decode --help."
done
run info good --format csv
expect_code 2
expect_err '{text,json}'
run decode good --merge size
expect_code 2
expect_err 'waymark: --merge: size not in {time}; see waymark decode --help.'
run decode good extra
expect_code 2
expect_err 'extra'
run --version
expect_code 0
expect_no_err
run decode --help
expect_code 0
expect_no_err
expect_out 'text|json|csv'

case=info_says_what_looks_wrong
run info zeros
expect_code 0
expect_out 'no synchronisation point'

finish
