#!/usr/bin/env bash
# Trace scripts to snapshots.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cat >loop.trace <<'SCRIPT'
waymark-trace 1
description A loop of two instructions.
device etm ETM4 Cortex-A53
reg TRCCONFIGR=0xC1 TRCTRACEIDR=0x10 TRCIDR0=0x28000EA1 TRCIDR1=0x4100F403 TRCIDR2=0x488
image 0x80000 hex d503201f 17ffffff
async
trace_info info=0
trace_on
address_context64 value=0x80000 el=1 sf=1 ns=1
atom_f1 E
SCRIPT

case=script_becomes_a_snapshot_that_decodes
run assemble loop.trace -o loop
expect_code 0
expect_no_err
run decode loop
expect_code 0
expect_out '0x0000000000080000      +2  insns'

case=image_from_a_file_beside_the_script
mkdir -p deep
put_program deep/program.bin
sed 's/hex d503201f 17ffffff/file program.bin/' loop.trace >deep/file.trace
run assemble deep/file.trace -o made
expect_code 0
expect_no_err
run decode made
expect_code 0
expect_no_err
expect_out '0x0000000000080000      +2  insns'

case=image_file_that_does_not_exist
sed 's/hex d503201f 17ffffff/file none.bin/' loop.trace >deep/none.trace
run assemble deep/none.trace -o nothing
expect_code 3
expect_one_sentence
expect_err 'deep/none.trace: line 5:'
expect_err deep/none.bin
[ ! -e nothing ] || complain 'a snapshot was begun'

case=output_that_would_replace_what_is_read
cp loop.trace snapshot.ini
run assemble snapshot.ini -o .
expect_code 2
expect_one_sentence
cmp -s loop.trace snapshot.ini || complain 'the script was replaced'
rm snapshot.ini
put_program image_0.bin
sed 's/hex d503201f 17ffffff/file image_0.bin/' loop.trace >file.trace
run assemble file.trace -o .
expect_code 2
cmp -s image_0.bin deep/program.bin || complain 'the image was replaced'

case=script_given_to_decode
run decode loop.trace
expect_code 3
expect_err 'waymark assemble loop.trace -o DIR'

case=script_with_an_error
sed s/atom_f1/atom_f99/ loop.trace >wrong.trace
run assemble wrong.trace -o wrong
expect_code 3
expect_one_sentence
expect_err 'wrong.trace: line 10:'

case=script_that_does_not_exist
run assemble none.trace -o none
expect_code 3
expect_err none.trace

case=folder_that_cannot_be_made
printf 'a file' >taken
run assemble loop.trace -o taken/loop
expect_code 4
expect_one_sentence

finish
