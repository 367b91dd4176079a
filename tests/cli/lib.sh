# Helpers of the tests of the programs: small captures made by hand, and asserts.
# shellcheck shell=bash
#
# WAYMARK and LISTER name the programs.  Every test works in a folder of its own, which goes away.
set -uo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
case=none

# put_bytes FILE HEX...: bytes in hexadecimal, appended.
put_bytes() {
  local file=$1 hex=""
  shift
  local byte
  for byte in "$@"; do hex+="\\x$byte"; done
  printf '%b' "$hex" >>"$file"
}

# A-sync, trace info, trace on, address 0x80000 with context EL1 non-secure AArch64.
stream_start=(00 00 00 00 00 00 00 00 00 00 00 80 01 01 00 04 85 00 00 08 00 00 00 00 00 31)

# put_program FILE: nop; b to the nop.  With it, every atom E is two instructions.
put_program() { put_bytes "$1" 1f 20 03 d5 ff ff ff 17; }

# put_frames FILE ID HEX...: memory-aligned frames of 14 bytes of this ID each, filled up with E.
put_frames() {
  local file=$1 id=$2 flags at value
  shift 2
  local data=("$@")
  while ((${#data[@]} % 14 != 0)); do data+=(f7); done
  while ((${#data[@]} > 0)); do
    local frame=("$(printf '%02x' $((id << 1 | 1)))")
    flags=0
    for ((at = 1; at <= 14; ++at)); do
      value=$((16#${data[at - 1]}))
      if ((at % 2 == 0)); then
        flags=$((flags | (value & 1) << (at / 2)))
        value=$((value & 0xFE))
      fi
      frame+=("$(printf '%02x' "$value")")
    done
    put_bytes "$file" "${frame[@]}" "$(printf '%02x' "$flags")"
    data=("${data[@]:14}")
  done
}

# make_snapshot DIR FORMAT: an ETMv4 with trace ID 0x10; the caller adds DIR/trace.bin.
make_snapshot() {
  mkdir -p "$1"
  printf '[snapshot]\nversion=1.0\n[device_list]\na=cpu.ini\nb=etm.ini\n[trace]\nmetadata=trace.ini\n' \
    >"$1/snapshot.ini"
  printf '[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n[dump]\nfile=program.bin\naddress=0x80000\nlength=8\n' \
    >"$1/cpu.ini"
  printf '[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4\n[regs]\nTRCCONFIGR=0x1\nTRCTRACEIDR=0x10\nTRCIDR0=0x28000EA1\nTRCIDR1=0x4100F403\nTRCIDR2=0x488\n' \
    >"$1/etm.ini"
  printf '[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB_0\nfile=trace.bin\nformat=%s\n[source_buffers]\nETM_0=ETB_0\n[core_trace_sources]\ncpu_0=ETM_0\n' \
    "$2" >"$1/trace.ini"
  put_program "$1/program.bin"
}

# A good capture without frames, of five E.
make_good() {
  make_snapshot "$1" source_data
  put_bytes "$1/trace.bin" "${stream_start[@]}" f7 f7 f7 f7 f7
}

# run ARGUMENTS...: runs waymark; out, err and code hold what came of it.
run() {
  "$WAYMARK" "$@" >out 2>err
  code=$?
}

complain() {
  printf 'FAILED %s: %s\n--- out\n%s\n--- err\n%s\n---\n' "$case" "$1" "$(head -c 2000 out)" \
    "$(head -c 2000 err)"
  failures=$((failures + 1))
}

expect_code() { [ "$code" -eq "$1" ] || complain "exit code $code, expected $1"; }
expect_err() { grep -qF -- "$1" err || complain "standard error lacks: $1"; }
expect_no_err() { [ ! -s err ] || complain "standard error is not empty"; }
expect_out() { grep -qF -- "$1" out || complain "output lacks: $1"; }
# One sentence: exactly one line on standard error.
expect_one_sentence() { [ "$(wc -l <err)" -eq 1 ] || complain "not one sentence on standard error"; }
expect_whole_lines() {
  [ ! -s out ] || [ "$(tail -c 1 out | od -An -tx1 | tr -d ' ')" = 0a ] ||
    complain "the last line is not whole"
}

finish() {
  [ "$failures" -eq 0 ] || exit 1
  printf 'all cases passed\n'
}
