#!/usr/bin/env bash
# pkt_print_test.sh PROGRAM: c_api_pkt_print_test, its options and its log; with the captures of
# ../shared where that folder is.
set -euo pipefail
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
captures=${WAYMARK_SHARED:-$root/../shared}/data/snapshots
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
fail() {
  echo "$*" >&2
  exit 1
}
expect() { grep -qxF -- "$2" "$1" || fail "There is no line: $2"; }

status=0
"$program" -help >help.txt || status=$?
[ $status = 254 ] || fail "-help ends with $status, not 254."

"$program" -test_err_api -logfilename err.ppl >/dev/null
diff err.ppl - <<END || fail "-test_err_api says something else."
C-API packet print test
Library Version 1.8.0

$program -test_err_api -logfilename err.ppl 

Idx:0; I_ASYNC : Alignment Synchronisation.
Idx:0; I_ASYNC : Alignment Synchronisation.
Idx:13; I_TRACE_ON : Trace On.
PKTP_ETMV4I : 0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet header]; TrcIdx=14; CS ID=10; Idx:14; I_RESERVED : Reserved Packet Header
Idx:15; I_EVENT : Trace Event.
testing error API for code 0: 0x0000 (OCSD_OK) [No Error.]; 
get last error:
code = 0x14; trace index 14; cs_id 0x10;
string: 0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet header]; TrcIdx=14; CS ID=10; 
END

if [ ! -d "$captures" ]; then
  echo "Skipped: decoding needs the folder ../shared beside the repository."
  exit 0
fi
"$program" -ss_path "$captures/" -decode -stats >decode.txt
expect decode.txt 'Idx:86;[ 0x95 0xAF 0x31 0xF7 0x95 0x84 0x27 0xF7 ];I_NOT_SYNC : I Stream not synchronised'
expect decode.txt 'Idx:86; TrcID:0x10; OCSD_GEN_TRC_ELEM_NO_SYNC( [init-decoder])'
expect decode.txt '**** END OF TRACE ****'
expect decode.txt 'Reading packet decoder statistics for ID:0x10...'
expect decode.txt 'Total Bytes 55273; Unsynced Bytes: 1453'
expect decode.txt 'Bad Header Errors: 0; Bad sequence errors: 0'
# Memory by a function, by one that gets the trace ID, and in regions of a file: the same program.
elements() { grep -c ' OCSD_GEN_TRC_ELEM_INSTR_RANGE' "$1"; }
whole=$(elements decode.txt)
for memory in -test_cb -test_cb_id; do
  "$program" -ss_path "$captures/" -decode "$memory" >memory.txt
  [ "$(elements memory.txt)" = "$whole" ] || fail "$memory gives other ranges."
done
"$program" -ss_path "$captures/" -decode -test_libprint >printed.txt
[ "$(elements printed.txt)" = "$whole" ] || fail "-test_libprint gives other ranges."
for other in -etmv3 -ptm; do
  "$program" -ss_path "$captures/" -decode_only "$other" >other.txt
  [ "$(elements other.txt)" -gt 100 ] || fail "$other gives no ranges."
done
# The trace of the STM cannot be decoded to its end, and the exit status is still 0.
"$program" -ss_path "$captures/" -stm >stm.txt || fail "-stm ends with $?, not 0."
expect stm.txt 'Processing failed with data path error 8'
[ "$(head -n 1 stm.txt)" = "opening $captures/juno_r1_1/cstraceitm.bin trace data file" ] ||
  fail "The first line does not name the trace."
"$program" -ss_path "$captures/" -extern >extern.txt
expect extern.txt 'ECHO_TEST_0016 : Echo_Test_Decoder: Init - LogMsgCB test.'
