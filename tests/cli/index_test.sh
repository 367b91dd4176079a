#!/usr/bin/env bash
# waymark index, find, --from and --to, on a small capture and on broken indexes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A-sync and trace info, address 0x80000, 20 times; between them timestamps 100, 200 …,
# an event and atoms.
make_long() {
  local dir=$1 count=${2:-20} i
  make_snapshot "$dir" source_data
  sed -i 's/TRCCONFIGR=0x1$/TRCCONFIGR=0x801/' "$dir/etm.ini"
  for ((i = 1; i <= count; ++i)); do
    put_bytes "$dir/trace.bin" 00 00 00 00 00 00 00 00 00 00 00 80 01 01 00 04 \
      85 00 00 08 00 00 00 00 00 31 f7 f7 02 "$(printf '%02x' $((i * 100 & 0x7f | 0x80)))" \
      "$(printf '%02x' $((i * 100 >> 7 & 0x7f)))" 72 f7 f7 f7
  done
}

# rows_from X [Y]: of JSON lines, those with an index of X or more, and below Y.
rows_between() {
  awk -v from="$1" -v to="${2:-999999999}" \
    'match($0, /"index":[0-9]+/) { i = substr($0, RSTART + 8, RLENGTH - 8) + 0; if (i >= from && i < to) print }'
}

make_long long
size=$(stat -c %s long/trace.bin)

case="an index is built, and found complete the next time"
run index long
expect_code 0
expect_out "sparse index of $size of $size bytes"
[ -s long/trace.bin.waymark-index ] || complain "no index was written"
run index long
expect_code 0
expect_out "$size of them before"

case="info says the same with the index and without"
run info long
grep -v '^index ' out >with
rm long/trace.bin.waymark-index
run info long
cmp -s with out || complain "info differs: $(diff with out)"

for form in --sparse --full; do
  rm -f long/trace.bin.waymark-index
  run index long "$form"
  expect_code 0

  case="find, $form"
  run find long --timestamp 1234 --format csv
  expect_code 0
  expect_out "$((12 * 35 + 28)),16,1300,timestamp,1300"
  run find long --event 1 --count
  expect_out 20
  run find long --event 0 --count
  expect_out 0
  run find long --event any --format json
  [ "$(wc -l <out)" -eq 20 ] || complain "not 20 events"
  run find long --overflow
  expect_code 1
  expect_err "nothing of that kind"
  run find long --address 0x80000..0x80008 --count
  expect_out 100
  run find long --address 0x90000
  expect_code 1
  expect_one_sentence

  case="--from and --to print what the whole run prints there, $form"
  for command in packets decode; do
    run "$command" long --format json
    cp out whole
    for from in 1 34 35 36 350 400 600; do
      run "$command" long --format json --from "$from"
      expect_code 0
      rows_between "$from" <whole | cmp -s - out || complain "$command --from $from differs"
      run "$command" long --format json --from "$from" --to 500
      [ "$from" -ge 500 ] && continue
      rows_between "$from" 500 <whole | cmp -s - out || complain "$command --from $from --to 500 differs"
    done
    run "$command" long --format json --from t:1000
    rows_between $((9 * 35 + 28)) <whole | cmp -s - out || complain "$command --from t:1000 differs"
    run "$command" long --format json --from s:5 --to s:7
    rows_between $((4 * 35)) $((6 * 35)) <whole | cmp -s - out || complain "$command --from s:5 differs"
  done
done

case="places that are not in the trace"
run decode long --from t:99999
expect_code 2
expect_err "the last one is 2000"
run decode long --from t:0 --format json
expect_code 0
run decode long --from s:21
expect_code 2
expect_err "has 20 synchronisation points"
run decode long --from s:0
expect_code 2
run decode long --from "$size"
expect_code 2
expect_err "the trace has $size bytes"
run decode long --from 5 --to 5
expect_code 2
expect_err "not behind"
run decode long --from soon
expect_code 2
expect_err "4MiB"
run find long --event any --to soon
expect_code 2
expect_err "--to soon: expected"
run decode long --to s:21
expect_code 2
expect_err "has 20 synchronisation points"
mkdir timeless
make_snapshot timeless source_data
put_bytes timeless/trace.bin "${stream_start[@]}" f7 f7 f7
for option in --from --to; do
  run decode timeless "$option" t:5
  expect_code 2
  expect_err "has no timestamps"
done
run decode long --to t:99999 --format json
run decode long --format json
run find long
expect_code 2
expect_err "--timestamp"
run find long --event 1 --overflow
expect_code 2
run find long --event many
expect_code 2
run find long --address 5..4
expect_code 2

case="the index of another capture"
make_long other
printf '\xf6' | dd of=other/trace.bin bs=1 seek=60 conv=notrunc status=none
cp long/trace.bin.waymark-index other/
run index other
expect_code 3
expect_err "is of another capture"
expect_err "delete other/trace.bin.waymark-index"
run decode other --from 100 --format json
expect_code 0
expect_err "note: the index is not used"
run index other --rebuild
expect_code 0

case="a capture that was cut, and one that has grown"
make_long grown 10
run index grown --full
head -c 200 grown/trace.bin >cut.bin
cp grown/trace.bin whole.bin
cp cut.bin grown/trace.bin
run index grown
expect_code 3
expect_err "it was cut"
cp whole.bin grown/trace.bin
tail -c +$((10 * 35 + 1)) long/trace.bin >>grown/trace.bin
run find grown --event 1 --count
expect_err "waymark index goes on with it"
expect_out 20
run index grown
expect_code 0
expect_out "350 of them before"
run find grown --event 1 --count
expect_no_err
expect_out 20
run find grown --event any --format csv
cp out grown.csv
run find long --event any --format csv
cmp -s out grown.csv || complain "the grown index differs"

case="other registers"
run index long --reg TRCCONFIGR=0x1
expect_code 3
expect_err "other registers"

case="an index that is cut, empty, or none"
for bytes in 1 100 1024 3000 9000; do
  head -c "$bytes" grown/trace.bin.waymark-index >long/trace.bin.waymark-index
  run index long
  expect_code 4
  expect_one_sentence
  run find long --event 1 --count
  expect_code 0
  expect_out 20
  expect_err "note: the index is not used"
done
: >long/trace.bin.waymark-index
run find long --event 1 --count
expect_code 0
expect_out 20
echo "no database at all, but long enough to be read as one, or so one would think" \
  >long/trace.bin.waymark-index
run index long
expect_code 4
expect_one_sentence
[ -s long/trace.bin.waymark-index ] || complain "a foreign file was overwritten"
rm long/trace.bin.waymark-index
run index long -o long/trace.bin
expect_code 2
expect_err "input file"

case="--rebuild makes an index anew, and throws nothing else away"
for bytes in 0 1 100 1024 3000; do
  head -c "$bytes" grown/trace.bin.waymark-index >long/trace.bin.waymark-index
  run index long --rebuild
  expect_code 0
  expect_no_err
  run find long --event 1 --count
  expect_no_err
  expect_out 20
done
echo "a letter" >letter
run index long --rebuild -o letter
expect_code 4
expect_err "is no index"
grep -q "a letter" letter || complain "a letter was thrown away"

case="find in a part of the trace"
for form in --sparse --full; do
  run index long "$form" --rebuild
  for options in "--event any" "--timestamp 0" "--address 0x80000..0x80008"; do
    # shellcheck disable=SC2086
    run find long $options --format csv
    expect_code 0
    cp out all
    # shellcheck disable=SC2086
    run find long $options --format csv --from 100 --to 350
    expect_code 0
    [ "$options" = "--timestamp 0" ] && continue
    awk -F, 'NR == 1 || ($1 >= 100 && $1 < 350)' all | cmp -s - out ||
      complain "find $options --from 100 --to 350 differs: $(diff all out)"
    # shellcheck disable=SC2086
    run find long $options --count --from 100 --to 350
    expect_out $(($(awk -F, 'NR > 1 && $1 >= 100 && $1 < 350' all | wc -l)))
  done
  run find long --event any --count --from t:1000 --to s:15
  expect_code 0
  expect_out 5
  run find long --timestamp 300 --from 350 --format csv
  expect_out "$((10 * 35 + 28)),16,1100,timestamp,1100"
  run find long --event any --from 700
  expect_code 2
  run find long --overflow --from 100
  expect_code 1
  expect_err "in this part of the trace"
  run find long --address 0x80000 --from soon
  expect_code 2
done

case="sources that only a grown capture has"
mkdir ids
put_frames ids/raw.bin 16 "${stream_start[@]}" f7 f7
raw=(--protocol etmv4 --framing mem --reg TRCCONFIGR=0x1 --reg TRCIDR0=0x28000EA1
  --reg TRCIDR1=0x4100F403 --reg TRCIDR2=0x488)
run index ids/raw.bin "${raw[@]}"
expect_code 0
put_frames ids/raw.bin 17 "${stream_start[@]}" f7 f7
run packets ids/raw.bin "${raw[@]}" --from 1 --format csv
grep -q ',17,' out || complain "the source that came later is not shown: $(cat out)"
run index ids/raw.bin "${raw[@]}"
expect_code 3
expect_err "0x11"
run index ids/raw.bin "${raw[@]}" --rebuild
expect_code 0
run index ids/raw.bin "${raw[@]}" --id 16
expect_code 3
expect_err "left out"

case="a capture of less than a frame"
mkdir tiny
put_bytes tiny/raw.bin 55 55 55 55
for i in 1 2; do
  run index tiny/raw.bin "${raw[@]}" --id 16
  expect_code 0
done

case="a folder that cannot be written"
run index long -o /proc/nowhere/index
expect_code 0
expect_err "made in memory"
expect_out "in memory: sparse index"
run find long --index nowhere.index --event 1 --count
expect_code 0
expect_err "There is no index nowhere.index"
expect_out 20

case="a builder that was killed, and one that begins anew"
make_long killed 20
for i in 1 2 3 4; do
  "$WAYMARK" index killed --rebuild >/dev/null 2>&1 &
  "$WAYMARK" index killed >/dev/null 2>&1 &
  kill -KILL $! 2>/dev/null
  "$WAYMARK" index killed --rebuild >/dev/null 2>&1 &
  wait
done
run index killed
expect_code 0
run find killed --event 1 --count
expect_no_err
expect_out 20

case="two processes at once"
for i in 1 2 3; do "$WAYMARK" index long >"out$i" 2>"err$i" & done
wait
for i in 1 2 3; do grep -q "index of $size of $size" "out$i" || complain "process $i: $(cat "err$i")"; done
run find long --event 1 --count
expect_no_err
expect_out 20

finish
