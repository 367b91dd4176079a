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

case=elf_is_no_trace
put_bytes program.elf 7f 45 4c 46 02 01 01 00
head -c 200 /dev/zero >>program.elf
run decode program.elf
expect_code 3
expect_err '--image'

finish
