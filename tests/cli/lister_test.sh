#!/usr/bin/env bash
# trc_pkt_lister beyond what the recorded listings show: options, log destinations, broken inputs.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# list ARGUMENTS...: standard output only.
list() {
  "$LISTER" -logstdout -no_time_print "$@" >out 2>err
  code=$?
}
make_good good

case=packets_and_elements
list -ss_dir good -decode
expect_code 0
expect_no_err
expect_out 'Using ETB_0 as trace source'
expect_out 'Trace Packet Lister : Protocol printer ETMV4I on Trace ID 0x0'
expect_out 'Gen_Info : FileAcc; Range::0x80000:80007; Mem Space::Any'
expect_out 'Filename=good/program.bin'
expect_out $'Idx:26; ID:0; [0xf7 ];\tI_ATOM_F1 : Atom format 1.; E'
expect_out 'Idx:26; ID:10; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0x80000:[0x80008] num_i(2) last_sz(4) (ISA=A64) E BR  )'
expect_out $'ID:0\tEND OF TRACE DATA'
expect_out 'Trace Packet Lister : Trace buffer done, processed 31 bytes.'

case=header_and_command_line
head -n 8 out >first_lines
printf '%s\n' 'Trace Packet Lister: CS Decode library testing' \
  '-----------------------------------------------' '' '** Library Version : 1.8.0' '' \
  'Test Command Line:-' "$LISTER   -logstdout  -no_time_print  -ss_dir  good  -decode  " '' |
  cmp -s - first_lines || complain 'the first lines differ'

case=default_log_is_standard_output_and_a_file
"$LISTER" -ss_dir good >out 2>err
code=$?
expect_code 0
cmp -s out trc_pkt_lister.ppl || complain 'file and standard output differ'
"$LISTER" -ss_dir good >/dev/null 2>&1
[ "$(wc -c <trc_pkt_lister.ppl)" -ge $((2 * $(wc -c <out) - 20)) ] || complain 'not appended'

case=missing_arguments
"$LISTER" -ss_dir >out 2>err
code=$?
expect_code 255
expect_out 'Trace Packet Lister : Error: Missing directory string on -ss_dir option'
"$LISTER" -logfilename >out 2>err
code=$?
expect_code 254
expect_out 'Bad logger command line options'
list -ss_dir good -id 0x70
expect_code 255
expect_out 'Trace Packet Lister : Error: invalid ID number 0x70 on -id option'

case=unknown_option_is_ignored
list -ss_dir good -frobnicate
expect_code 0
expect_out 'Trace Packet Lister : Warning: Ignored unknown option -frobnicate.'
expect_out 'Trace buffer done'

case=help
list -help
expect_code 255
expect_out -decode_only

case=snapshot_not_found
list -ss_dir nowhere
expect_code 0
expect_out 'Trace Packet Lister : Snapshot pathnowhere not found'

case=verbose_reading_of_the_snapshot
make_good verbose
printf '[extra]\nanything\n' >>verbose/etm.ini
list -ss_dir verbose -ss_verbose
expect_code 0
grep '^snapshot_' out >verbose_lines
diff - verbose_lines <<'LINES' || complain 'the lines of -ss_verbose differ'
snapshot_parser : Start of snapshot section
snapshot_parser : Start of device_list section
snapshot_parser : Start of trace section
snapshot_reader : Parsed snapshot.ini.
snapshot_reader : Found 2 devices.
snapshot_reader : Device 1: Ini file = cpu.ini; Name = UNKNOWN
snapshot_parser : Start of device section
snapshot_parser : Start of dump section
snapshot_reader : Device 2: Ini file = etm.ini; Name = UNKNOWN
snapshot_parser : Start of device section
snapshot_parser : Start of regs section
snapshot_parser : Unknown section ignored: extra
snapshot_reader : Trace Metadata ini file found : trace.ini
snapshot_parser : Start of trace_buffers section
snapshot_parser : Start of buffer0 section
snapshot_parser : Start of source_buffers section
snapshot_parser : Start of core_trace_sources section
snapshot_reader : Done.
LINES
list -ss_dir verbose
if grep -q '^snapshot_' out; then complain 'not asked for'; fi

case=file_that_may_not_grow
head -c 1000 /dev/zero >limited.ppl
(
  ulimit -f 1
  exec "$LISTER" -ss_dir good -decode -logfilename limited.ppl
) >out 2>err
code=$?
expect_code 1
expect_err 'cannot write the listing'

case=source_name
list -ss_dir good -src_name ETB_7
expect_code 0
expect_out 'Trace Packet Lister : Trace source name ETB_7 not found'
expect_out 'Valid source names are:-'

case=missing_register
make_good register
sed -i /TRCIDR0/d register/etm.ini
list -ss_dir register
expect_code 0
expect_out 'ss2_dcdtree : Error:Missing TRCIDR0'
expect_out 'Failed to create decoder for source ETM_0.'

case=register_with_a_default
make_good default
list -ss_dir default
expect_out 'ss2_dcdtree : Warning: Default set for register. Missing TRCIDR8'

case=trace_file_missing
make_good untraced
rm untraced/trace.bin
list -ss_dir untraced
expect_code 0
expect_out 'Trace Packet Lister : Error : Unable to open trace buffer.'

case=raw_data_read_as_frames
make_snapshot unframed coresight
put_bytes unframed/trace.bin "${stream_start[@]}" f7 f7 f7
list -ss_dir unframed -decode
expect_code 0
expect_out 'Trace Packet Lister : Data Path fatal error'
expect_out 'processed 0 bytes'

case=bad_packet_goes_to_the_log_without_newline
make_snapshot damaged source_data
put_bytes damaged/trace.bin "${stream_start[@]}" f7 23 f7
list -ss_dir damaged -decode
expect_out 'DCD_ETMV4 : 0x0019 (OCSD_ERR_BAD_DECODE_PKT) [Reserved or unknown packet in decoder.]; TrcIdx=27; CS ID=10; Unknown packet type.'
list -ss_dir damaged
expect_out 'PKTP_ETMV4I : 0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet header]; TrcIdx=27; CS ID=10; Idx:27; ID:0;'

case=halt_on_error_is_fatal
list -ss_dir damaged -decode -halt_err
expect_code 0
expect_out 'Trace Packet Lister : Data Path fatal error'
expect_out 'processed 28 bytes'

case=statistics
list -ss_dir good -decode -stats
expect_out 'Decode stats ID 0x0'
expect_out 'Total Bytes: 31; Unsynced Bytes: 0'

case=profile_counts_elements_and_prints_nothing_else
list -ss_dir good -decode -profile
expect_out 'Generic Packets processed:-'
expect_out 'OCSD_GEN_TRC_ELEM_INSTR_RANGE : 5'
if grep -q '^Idx' out; then complain 'packets are printed'; fi

case=unsupported_configuration
make_good loads
sed -i s/TRCCONFIGR=0x1/TRCCONFIGR=0x7/ loads/etm.ini
list -ss_dir loads -decode
expect_code 0
expect_out 'I_ASYNC'
expect_out 'DCD_ETMV4 : 0x0003 (OCSD_ERR_NOT_INIT) [Component not initialised.]; No decoder configuration information'
expect_out 'Trace Packet Lister : Data Path fatal error'

case=range_limit_from_the_environment
export OPENCSD_INSTR_RANGE_LIMIT=1
list -ss_dir good -decode
unset OPENCSD_INSTR_RANGE_LIMIT
expect_out 'OCSD_ERR_I_RANGE_LIMIT_OVERRUN'

case=waits_change_nothing_when_decoding
list -ss_dir good -decode
grep -v 'ss_dir' out >plain
list -ss_dir good -decode -test_waits 3
grep -v 'ss_dir' out >waits
cmp -s plain waits || complain 'the listing differs'

case=full_disk
if [ -w /dev/full ]; then
  "$LISTER" -ss_dir good -logfilename /dev/full >out 2>err
  code=$?
  expect_code 1
  expect_err 'cannot write the listing'
fi

finish
