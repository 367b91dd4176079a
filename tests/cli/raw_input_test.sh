#!/usr/bin/env bash
# Raw trace: what is missing on the command line is named, option by option.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

put_bytes stream.bin "${stream_start[@]}" f7 f7
put_frames frames.bin 0x10 "${stream_start[@]}" f7 f7
put_program program.bin
registers=(--reg TRCCONFIGR=0x1 --reg TRCIDR0=0x28000EA1 --reg TRCIDR2=0x488)

case=protocol_is_missing
run decode stream.bin --framing none
expect_code 3
expect_err '--protocol etmv4'

case=registers_are_missing
run decode stream.bin --framing none --protocol etmv4 --reg TRCIDR0=0x28000EA1
expect_code 3
expect_err '--reg TRCCONFIGR=VALUE --reg TRCIDR2=VALUE'

case=unknown_protocol
run decode stream.bin --framing none --protocol morse
expect_code 3
expect_err 'morse'

case=stream_without_frames
run decode stream.bin --framing none --protocol etmv4 "${registers[@]}" --image 0x80000=program.bin
expect_code 0
expect_out '+2  insns  → branch 0x0000000000080000'

case=framed_trace_takes_its_ids_from_the_frames
run decode frames.bin --framing mem --protocol etmv4 "${registers[@]}" --image 0x80000=program.bin
expect_code 0
expect_out '0x10  0x0000000000080000'

case=last_frame_is_cut
for _ in {1..8}; do cat frames.bin; done >cut.bin
put_bytes cut.bin 01 02 03
run decode cut.bin --protocol etmv4 "${registers[@]}" --image 0x80000=program.bin
expect_code 0
expect_one_sentence
expect_err 'cut.bin: 259 bytes are no multiple of 16; the last 3 are ignored.'
expect_out '0x10  0x0000000000080000'

case=last_dstream_record_is_cut
put_bytes dstream.bin ff ff ff 7f
head -c 32 frames.bin >>dstream.bin
while (($(wc -c <dstream.bin) < 504)); do put_bytes dstream.bin ff ff ff 7f; done
put_bytes dstream.bin 00 00 00 00 7e 00 fe 0f
run decode dstream.bin --framing dstream --protocol etmv4 "${registers[@]}" --image 0x80000=program.bin
expect_code 0
expect_no_err
put_bytes dstream.bin ff ff ff 7f 01 02 03
run decode dstream.bin --framing dstream --protocol etmv4 "${registers[@]}" --image 0x80000=program.bin
expect_code 0
expect_one_sentence
expect_err 'the last record ends with 7 bytes that are no multiple of 4; the last 3 are ignored.'
expect_out '0x10  0x0000000000080000'

case=wrong_values
run decode stream.bin --framing square
expect_code 2
expect_err '--framing square'
run decode stream.bin --reg TRCIDR0
expect_code 2
run decode stream.bin --image program.bin
expect_code 2
expect_err '--image program.bin'

case=image_file_that_does_not_exist
run decode stream.bin --framing none --protocol etmv4 "${registers[@]}" --image 0x80000=none.bin
expect_code 3
expect_err none.bin

case=unknown_core
run decode stream.bin --framing none --protocol etmv4 "${registers[@]}" --core Z80
expect_code 3
expect_err Z80

# "Hi" and a newline on port 0, each with a local timestamp, over and over.
swo=()
for _ in 1 2 3 4 5 6 7 8; do swo+=(01 48 c0 10 01 69 20 01 0a 30 0e 0f 10 40); done

case=swo_needs_no_option
put_bytes swo.bin 00 00 00 00 00 80 "${swo[@]}"
run decode swo.bin
expect_code 0
expect_no_err
expect_out '-- port 0: "Hi\n", time 21'
expect_out '-- SysTick (15) entered, time 25'
run info swo.bin
expect_code 0
expect_out 'ITM stream'
expect_out 'nothing'

case=swo_without_synchronisation_is_read_from_its_first_byte
put_bytes unsynchronised.bin "${swo[@]}"
run decode unsynchronised.bin
expect_code 0
expect_one_sentence
expect_err 'SYNCENA'
expect_out '-- port 0: "Hi\n", time 21'
run packets unsynchronised.bin
expect_code 0
expect_out 'ITM_SWIT: {src id: 0x00}  0x48'

case=swo_before_its_first_synchronisation
put_bytes late.bin "${swo[@]}" 00 00 00 00 00 80 01 41
run decode late.bin --protocol itm --framing none
expect_code 0
expect_out 'port 0: "A"'
run decode late.bin --protocol itm --framing none --assume-sync
expect_code 0
expect_out 'port 0: "Hi\n"'

case=swo_with_damage
put_bytes damaged.bin 00 00 00 00 00 80 "${swo[@]}" 04 01 02 00 00 00 00 00 80 01 41
run decode damaged.bin
expect_code 0
expect_out '!! damage: Reserved packet header.'
expect_out 'port 0: "A"'

case=itm_with_a_prescaler_in_frames
run decode swo.bin --reg ITMTCR=0x112
expect_code 0
expect_out 'time 84'
put_frames itm_frames.bin 0x14 00 00 00 00 00 80 01 41 01 42 01 43 01 44 01 45
run decode itm_frames.bin --framing mem --protocol itm
expect_code 0
expect_out '0x14  -- port 0: "ABCDE'

stm_start=(ff ff ff ff ff ff ff ff ff ff 0f 0f 30)

case=stm_needs_no_option
put_bytes stm.bin "${stm_start[@]}" 0f 08 21 f4 08 10 04 25 31 04
run decode stm.bin
expect_code 0
expect_no_err
expect_out '-- timestamps count at 19200000 Hz'
expect_out '-- master 0x40, channel 0: 0x2134'
run info stm.bin
expect_code 0
expect_out 'STM stream'
expect_out 'nothing'
run packets stm.bin
expect_code 0
expect_out 'M8:Set current master; Master=0x40'

case=stm_in_the_order_of_the_simulator
put_bytes least.bin "${stm_start[@]}" 0f 08 70 38 39 10 04 25 31 04
run decode least.bin
expect_code 0
expect_one_sentence
expect_err 'least significant nibble'
expect_out '-- timestamps count at 60000000 Hz'
expect_out '-- master 0x04, channel 0: 0x4312'
run decode least.bin --nibble-order most
expect_code 0
expect_no_err
expect_out '-- timestamps count at 7878960 Hz'
expect_out '-- master 0x40, channel 0: 0x2134'
run decode least.bin --nibble-order middle
expect_code 2
expect_err '--nibble-order middle'

case=stm_in_frames_in_the_order_of_the_simulator
put_frames least_frames.bin 0x20 "${stm_start[@]}" 21 31 34 54 fa 80 00 87 93 03 54 0a 00 00 00
run decode least_frames.bin --framing mem --protocol stm
expect_code 0
expect_one_sentence
expect_err 'fields of trace ID 0x20 begin with the least significant nibble'
expect_out '-- timestamps count at 60000000 Hz'
expect_out '-- master 0x12, channel 52: 0xa5'

case=stm_in_frames
put_frames stm_frames.bin 0x20 "${stm_start[@]}" 41 40 a5 00 00 00 00 00 00 00 00 00 00 00 00
run decode stm_frames.bin --framing mem --protocol stm
expect_code 0
expect_out '0x20  -- master 0x40, channel 0: 0x5a'

case=stm_with_damage
put_bytes stm_damaged.bin "${stm_start[@]}" 0f 0c 40 "${stm_start[@]}" 14 02
run decode stm_damaged.bin
expect_code 0
expect_out '!! damage'
expect_out '0x12'

case=data_stream_of_an_etmv4
put_frames data_frames.bin 0x10 "${stream_start[@]}" f7 f7
put_frames data_frames.bin 0x11 00 00 00 00 00 00 00 00 00 00 00 80 01 00 1b 75 12 34
run packets data_frames.bin --framing mem --protocol etmv4 --reg TRCCONFIGR=0x10007 \
  --reg TRCIDR0=0x28000EB9 --reg TRCIDR2=0x488
expect_code 0
expect_out 'I_TRACE_INFO'
expect_out 'D_NUM_DS_MKR : Data Synchronisation Marker - Numbered.; 5'
expect_out 'D_UNKNOWN : Packets of unknown layout.[D_P1_F1]'
make_snapshot data_trace coresight
cp data_frames.bin data_trace/trace.bin
sed -i 's/TRCCONFIGR=0x1/TRCCONFIGR=0x10007/; s/0x28000EA1/0x28000EB9/' data_trace/etm.ini
run info data_trace
expect_code 0
expect_out 'ETM_0 data'
printf 'D_P1_F1 fixed=2\nD_P1_F6\n' >layouts
run packets data_trace --id 0x11 --data-layouts layouts
expect_code 0
expect_out '[0x75 0x12 0x34 ];'
run packets data_trace --data-layouts program.bin
expect_code 2
expect_err 'line 1'

case=a_snapshot_with_dstream_records
make_snapshot records dstream_coresight
cat >records.trace <<'END'
waymark-trace 1
device etm ETM4 Cortex-A53
reg TRCCONFIGR=0x1 TRCTRACEIDR=0x10 TRCIDR0=0x28000EA1 TRCIDR2=0x488
buffer a dstream
async; trace_info info=0; trace_on
repeat 2000 { atom_f1 E }
END
run assemble records.trace -o made
cp made/buffer_0.bin records/trace.bin
run decode records
expect_code 0
expect_err 'read as DSTREAM records'
! grep -q damage out || complain 'damage in a good capture'

case=elf_is_no_trace
put_bytes program.elf 7f 45 4c 46 02 01 01 00
head -c 200 /dev/zero >>program.elf
run decode program.elf
expect_code 3
expect_err '--image'

finish
