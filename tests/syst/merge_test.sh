#!/usr/bin/env bash
# Messages among the instructions of a core, in the order of time: an ETMv4 and an STM in one
# capture.
# shellcheck source-path=SCRIPTDIR disable=SC2001,SC2034,SC2046,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"

# stm_bytes NIBBLES: as arguments of put_frames; the first nibble of a byte is the low one.
stm_bytes() {
  local nibbles=${1// /}
  ((${#nibbles} % 2 == 0)) || nibbles+=0
  sed 's/\(.\)\(.\)/\2\1 /g' <<<"$nibbles"
}
# begin TIME VALUE: D32TS with a 64-bit timestamp.  then VALUE: D32.
begin() { printf 'F6%sE%016X' "$2" "$1"; }
then_() { printf '6%s' "$@"; }
readonly sync='FFFFFFFFFFFFFFFFFFFFF0F003F08000F4240' flag=FE # 1 MHz

# make_pair DIR: the folder without its trace.
make_pair() {
  make_snapshot "$1" coresight
  sed -i 's/TRCCONFIGR=0x1/TRCCONFIGR=0x801/' "$1/etm.ini"
  sed -i 's/^b=/c=stm.ini\nb=/' "$1/snapshot.ini"
  sed -i 's/^ETM_0=ETB_0/&\nSTM_0=ETB_0/' "$1/trace.ini"
  printf '[device]\nname=STM_0\nclass=trace_source\ntype=STM\n[regs]\nSTMTCSR(0x3A0)=0x0020000B\n' \
    >"$1/stm.ini"
}

# Timestamps 100, 300, 500 of the core, two instructions before each.
readonly core=("${stream_start[@]}" f7 02 64 f7 02 ac 02 f7 02 f4 03 f7)
# "one" at 200 from 129:4, "two" at 400 from 130:1; the second begins before the first ends, and
# a NULL packet with a time ends nothing.
software="$sync 181 304 $(begin 200 01415042) F01E$(printf '%016X' 200) 182 301 $(begin 400 01415042)"
software+=" 181 304 $(then_ 00656E6F)$flag 182 301 $(then_ 006F7774)$flag"

# 129:4 says at 600 that its clock of 1 MHz shows 10000; it sends "sync" of 10100, which is 700, at 900.
software+=" 181 304 $(begin 600 01000008)$(then_ 00002710 00000000 000F4240 00000000)$flag"
software+=" $(begin 900 01415842)$(then_ 00002774 00000000 636E7973)4 00 $flag"

case=messages_among_instructions
make_pair pair
put_frames pair/trace.bin 0x10 "${core[@]}"
put_frames pair/trace.bin 0x20 $(stm_bytes "$software")
run decode pair --syst --merge time
expect_code 0
expect_no_err
cut -c1-16 out | tr -d ' <>' | grep -x '[0-9]*' >ticks
sort -n ticks | cmp -s - ticks || complain 'the times go back'
line() { grep -nF -- "$1" out | head -1 | cut -d: -f1; }
in_order() {
  local at=0 next text
  for text in "$@"; do
    next=$(line "$text")
    [ "${next:-0}" -gt "$at" ] || complain "not in its place: $text"
    at=${next:-0}
  done
}
in_order 'time 100' '129:4  INFO    module 65:5  one' 'time 300' '130:1  INFO    module 65:5  two' \
  'time 500' 'sync clock 10000 frequency 1000000 Hz'
grep -qE '^ +700 +[0-9]+ +0x20 +-- 129:4  INFO    module 65:5  sync$' out || complain 'not at 700'
run decode pair --syst --merge time --format json
expect_code 0
expect_out '"status":"OK","transport_time":900,"time":700,"nanoseconds":700000,"time_is":"of_message"'
run syst pair
expect_code 0
expect_out '0.000700000  129:4        INFO    module 65:5  sync'

finish
