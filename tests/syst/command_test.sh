#!/usr/bin/env bash
# `waymark syst` and `waymark decode --syst` from the command line: filters, times and frequencies,
# several trace IDs, standard input, --strict.
# shellcheck source-path=SCRIPTDIR disable=SC2001,SC2015,SC2034,SC2046,SC2086,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"

expect_lines() { [ "$(wc -l <out)" -eq "$1" ] || complain "$(wc -l <out) lines, expected $1"; }
expect_texts() { # The last words of the lines.
  local got
  got=$(sed 's/.* //' out | tr '\n' ' ')
  [ "$got" = "${1:+$1 }" ] || complain "got '$got', expected '$1'"
}

# nibbles BYTES: of STP; the first nibble of a byte is the low one.
nibbles() {
  local all=${1// /}
  ((${#all} % 2 == 0)) || all+=0
  sed 's/\(.\)\(.\)/\2\1 /g' <<<"$all"
}
# begin TIME VALUE: D32TS with a 64-bit timestamp.  then_ VALUE...: D32.
begin() { printf 'F6%sE%016X' "$2" "$1"; }
then_() { printf '6%s' "$@"; }
# at MASTER CHANNEL: two digits each.
at() { printf '1%s3%s' "$1" "$2"; }
sync() { printf 'FFFFFFFFFFFFFFFFFFFFF0F003F08%08X' "$1"; }
readonly flag=FE

# Each text is two characters: D8 would do, but D16 and its NUL are told apart more easily.
# said TIME HEADER TEXT: a text of four bytes with its NUL.
said() { printf '%s%s%s' "$(begin "$1" "$2")" "$(then_ "$3")" "$flag"; }

# From 129:4 at 1000 an INFO of module 0x41 and unit 5; at 2000 an ERROR of unit 6; from 130:1 at
# 3000 a DEBUG of module 0x42; at 4000 a short message; at 5000 one that makes no sense.
stream="$(sync 1000000)$(at 81 04)$(said 1000 01415042 00656E6F)$(said 2000 01416022 006F7774)"
stream+="$(at 82 01)$(said 3000 01425072 00333333)A12345671E$(printf '%016X' 4000)"
stream+="$(said 5000 0141504F 00353535)"
put_bytes all.stp $(nibbles "$stream")

case=everything
run syst all.stp
expect_code 0
expect_lines 5
expect_out '0.001000000  129:4        INFO    module 65:5  one'
expect_out '0.005000000  130:1        BAD'

# filter EXPECTED OPTIONS...: the texts that are left; the bad one is always there.
filter() {
  case="filter ${*:2}"
  run syst all.stp "${@:2}"
  expect_code 0
  sed -i 's/.*BAD.*/bad/' out
  expect_texts "$1"
}
# Short messages have none.
filter 'two 0x01234567 bad' --severity error
filter 'one two 0x01234567 bad' --severity info
filter 'one two bad' --type string --origin 65
filter '0x01234567 bad' --type short32
filter '333 bad' --origin 0x42
filter 'two bad' --unit 6
filter 'one 333 bad' --unit 5 --type string
filter 'one two' --master 129
filter '333 0x01234567 bad' --channel 1
filter 'one 333 bad' --channel 4 --channel 1 --unit 5 --type string
filter 'two 333' --from 2000 --to 3000
filter '0x01234567 bad' --from 0xFA0
filter 'bad' --only-bad
filter 'bad' --guid '{494E5443-8A9C-4014-A65A-2F36A36D96E4}'

for option in '--severity loud' '--type text' '--origin x' '--guid 5' '--from now' '--frequency 1M'; do
  case="refused $option"
  run syst all.stp $option
  expect_code 2
  expect_one_sentence
  expect_err "${option% *}"
done

case=clients_and_guids
readonly short='{494E5443-8A9C-4014-A65A-2F36A36D96E4}'
cat >names.xml <<END
<s:Collateral><s:Client Name="pump"><s:Guids>
<s:Guid ID="{00000000-0000-0000-4100-000000000000}" Mask="{00000000-0000-0000-FF00-000000000000}">g</s:Guid>
</s:Guids><s:Modules><s:Module ID="65">valve</s:Module></s:Modules></s:Client>
<s:Client Name="short"><s:Guids><s:Guid ID="$short">g</s:Guid></s:Guids>
<s:Short32><s:Format ID="0x1234567">short one</s:Format></s:Short32></s:Client></s:Collateral>
END
run syst all.stp -c names.xml --short-guid "$short"
expect_code 0
expect_out 'INFO    pump/valve:5  one'
expect_out 'short  short short one'
filter 'one two bad' -c names.xml --client pump
printf 'SYS-T RAW DATA: 423080014%s4100\n' 94E54438A9C4014A65A2F36A36D96E4 >guid.txt
printf 'SYS-T RAW DATA: 425041014200\n' >>guid.txt
case=guid
run syst guid.txt --guid "$short"
expect_texts A

case=csv_and_json
run syst all.stp --format csv
expect_code 0
expect_lines 6
expect_out '129,4,1000,1000000,of_transport,OK,STRING:GENERIC,INFO,,,,65,5,,one,,8,,,'
run syst all.stp --format json --master 129 --to 1000
expect_lines 1
expect_out '"master":129,"channel":4,"status":"OK","transport_time":1000,"time":1000,"nanoseconds":1000000,'

case=stopped_by_strict
put_bytes strict.stp $(nibbles "$(sync 1000000)$(at 81 04)$(said 1 0141504F 00353535)$(said 2 01415042 00656E6F)")
run syst strict.stp --strict
expect_code 1
expect_lines 1
expect_err '--strict: the message at byte'
run syst strict.stp
expect_lines 2

# The trace names 1 MHz, or nothing.
case=the_frequency_that_the_trace_says_counts
run syst all.stp --frequency 500000 --master 129 --to 1000
expect_out '0.001000000'
put_bytes none.stp $(nibbles "$(sync 0)$(at 81 04)$(said 1000 01415042 00656E6F)")
run syst none.stp
expect_out '              1000  129:4'
run syst none.stp --frequency 500000
expect_out '0.002000000  129:4'

case=messages_without_a_time
make_snapshot two coresight
sed -i 's/^b=.*/b=stm0.ini\nc=stm1.ini/; /^a=/d' two/snapshot.ini
sed -i '/core_trace_sources/,$d; s/^ETM_0=.*/STM_0=ETB_0\nSTM_1=ETB_0/' two/trace.ini
for i in 0 1; do
  printf '[device]\nname=STM_%s\nclass=trace_source\ntype=STM\n[regs]\nSTMTCSR(0x3A0)=0x002%s000B\n' $i $i \
    >two/stm$i.ini
done
put_frames two/trace.bin 0x20 $(nibbles "$(sync 1000000)$(at 81 04)$(said 1000 01415042 00656E6F)")
put_frames two/trace.bin 0x21 $(nibbles "$(sync 2000000)$(at 81 04)$(said 1000 01415042 006F7774)")
run syst two
expect_code 0
expect_out '0.001000000  0x20  129:4        INFO    module 65:5  one'
expect_out '0.000500000  0x21  129:4        INFO    module 65:5  two'
run syst two --id 0x21
expect_lines 1

case=times_and_masters_of_text_are_refused
for option in '--from 5' '--to 5' '--master 1' '--channel 1'; do
  for input in guid.txt -; do
    "$WAYMARK" syst $input $option <guid.txt >out 2>err
    code=$?
    expect_code 2
    expect_one_sentence
    expect_err "${option% *}: text and plain messages have no"
  done
done

case=a_guessed_end_is_no_damage
put_bytes plain.bin 42 50 41 01 61 61 00 42 52 41 01 03 00 61 61 00 42 52 41 01 03 00 62 62 00
run syst plain.bin --as plain
expect_code 0
expect_lines 3
expect_err 'note: 1 message has no length field'
run syst plain.bin --as plain --only-bad
expect_lines 0

case=standard_input
for options in '' '--as lines'; do
  "$WAYMARK" syst - $options <guid.txt >out 2>err
  code=$?
  expect_code 0
  expect_texts 'A B'
done
put_bytes many.bin $(yes 42 52 41 01 03 00 62 62 00 | head -900)
"$WAYMARK" syst - <many.bin >out 2>err
expect_lines 900
expect_no_err

case=trace_on_standard_input_is_told_at_once
# A few frames look like nothing in particular.
for input in 'all.stp 3' 'two/trace.bin 1'; do
  "$WAYMARK" syst - <"${input% *}" >out 2>err
  code=$?
  expect_code "${input#* }"
  expect_lines 0
  expect_one_sentence
  expect_err 'trace is read from files only, so save it and name the file'
done
for ((i = 0; i < 100; ++i)); do cat all.stp; done >many.stp
timeout 8 "$WAYMARK" syst - < <(cat many.stp && exec sleep 10 2>/dev/null) >out 2>err
code=$?
expect_code 3 # Before its end.
"$WAYMARK" syst - --as lines <all.stp >out 2>err
code=$?
expect_code 1
expect_err 'no SyS-T message was found'

case=synchronisation_within_a_message_is_no_part_of_it
put_bytes async.stp $(nibbles "$(sync 1000000)$(at 81 04)$(begin 1 01415042)$(sync 1000000)$(at 81 04)$(then_ 00656E6F)$flag")
run syst async.stp
expect_lines 1
expect_out '129:4        INFO    module 65:5  one'

case=what_is_open_at_the_end_is_shown
put_bytes open.stp $(nibbles "$(sync 0)$(at 81 04)$(said 1 01415042 00656E6F)$(begin 2 01415042)$(then_ 006F7774)")
run syst open.stp
expect_lines 2
expect_out 'two  !! the capture ends before it'

case=decode_shows_messages_in_place_of_packets
run decode all.stp --syst
expect_code 0
expect_out '129:4  INFO    module 65:5  one'
expect_out '130:1  BAD'
grep -q 'D32' out && complain 'packets of messages are left'
run decode all.stp --collateral names.xml --short-guid "$short" --format json
expect_code 0
expect_out '"text":"short one"'
expect_out '"module":"valve"'
run decode all.stp --syst --format csv
expect_code 2
expect_err '--syst: the columns of --format csv have no place for messages'
run decode two --syst --merge time --format json
expect_code 0
expect_out '"id":33,"master":129,"channel":4,"status":"OK","transport_time":1000,"time":1000,"nanoseconds":500000'

finish
