#!/usr/bin/env bash
# The commands of waymark etm4 on a copied device tree.
# shellcheck source-path=SCRIPTDIR disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# make_tree DIR: plain files, as a copy of a board's /sys/bus/coresight/devices has them.
make_tree() {
  local unit=$1/etm0 file
  mkdir -p "$unit/trcidr" "$unit/mgmt" "$1/tmc_etr0"
  printf '0x28000ea1\n' >"$unit/trcidr/trcidr0"
  printf '0x4100f403\n' >"$unit/trcidr/trcidr1"
  printf '0x488\n' >"$unit/trcidr/trcidr2"
  printf '0xd7b0004\n' >"$unit/trcidr/trcidr3"
  printf '0x11170004\n' >"$unit/trcidr/trcidr4"
  printf '0x28c7081e\n' >"$unit/trcidr/trcidr5"
  printf '0x47704a13\n' >"$unit/mgmt/trcdevarch"
  printf '0x1\n' >"$unit/mgmt/trcconfig"
  printf '0x10\n' >"$unit/mgmt/trctraceid"
  printf '0\n' >"$unit/cpu"
  printf '0\n' >"$unit/enable_source"
  printf '0x8000000\n' >"$unit/mode"
  printf '0xc\n' >"$unit/syncfreq"
  for file in event_vinst cyc_threshold bb_ctrl event_ts addr_idx addr_range addr_start addr_stop \
    s_exlevel_vinst ns_exlevel_vinst res_idx res_ctrl; do
    printf '0x0\n' >"$unit/$file"
  done
  printf '0x100000\n' >"$1/tmc_etr0/buffer_size"
  printf '0\n' >"$1/tmc_etr0/enable_sink"
}

cat >good.plan <<'PLAN'
etm4-plan 1
include 0x80000..0x80007
levels el1
cycles 16
sink tmc_etr0 buffer 65536
PLAN

make_tree tree

case=caps
run etm4 caps --root tree
expect_code 0
expect_out 'address comparators      4 pairs'

case=no_unit
mkdir none
run etm4 caps --root none
expect_code 3
expect_one_sentence

case=plan
run etm4 plan good.plan --root tree
expect_code 0
expect_out 'TRCVIIECTLR    0x00000001'
expect_out 'addr_range               0x80000 0x80007 0'
expect_out 'perf record -e cs_etm/'
expect_out '--protocol etmv4 --reg TRCCONFIGR=0x10'

case=plan_script
run etm4 plan good.plan --root tree --script -
expect_code 0
expect_out "put etm0/mode '0x8000020'"

case=plan_script_runs_in_a_folder_of_any_name
cp -r tree "it's a tree"
run etm4 plan good.plan --root "it's a tree" --script -
expect_code 0
sh ./out || complain 'the script fails'
[ "$(cat "it's a tree/etm0/mode")" = 0x8000020 ] || complain 'mode'

case=plan_without_a_board
run etm4 plan good.plan --root none --reg TRCIDR0=0x28000EA1 --reg TRCIDR2=0x488 \
  --reg TRCIDR3=0x0D7B0004 --reg TRCIDR4=0x11170004 --reg TRCIDR5=0x28C7081E
expect_code 0
expect_out 'TRCCCCTLR      0x00000010'
expect_no_err
run etm4 plan good.plan --root none --reg TRCIDR0=0x28000EA1 --reg TRCIDR2=0x488 --reg TRCIDR5=0x28C7081E
expect_code 3
expect_err 'note: without --reg for TRCIDR3, TRCIDR4: it counts as 0'

case=estimate
cat >estimate.plan <<'PLAN'
etm4-plan 1
levels el0
cycles 16
sink tmc_etr0 buffer 65536
PLAN
run etm4 plan estimate.plan --root tree --estimate --instructions 200000 --exceptions 100 -o estimated
expect_code 0
expect_out 'per million instructions executed'
expect_out 'tmc_etr0 is full after about'
expect_out 'cycle counts'
expect_out 'Addresses, by their share'
run synth --check estimated
expect_code 0
expect_out 'as it happened'
run decode estimated --strict
expect_code 0
run etm4 explain estimated
expect_code 0
expect_out 'Exception levels: el0.'

case=estimate_of_nothing
run etm4 plan good.plan --root tree --estimate --instructions 1000 --program random
expect_code 0
expect_out 'Nothing is traced'

case=estimate_options_alone
run etm4 plan good.plan --root tree --instructions 1000
expect_code 2
run etm4 plan good.plan --root tree --estimate --level el7
expect_code 2
run etm4 plan good.plan --root tree --estimate --program none.elf
expect_code 3
expect_err none.elf

case=estimate_of_a_program
sample=$(dirname "${BASH_SOURCE[0]}")/../../samples/quicksort/quicksort.elf
if "$WAYMARK" synth -o probe --size 1000 --elf "$sample" >/dev/null 2>&1; then
  printf 'etm4-plan 1\ninclude put_number\nlevels el0\n' >symbol.plan
  run etm4 plan symbol.plan --root tree --estimate --program "$sample"
  expect_code 0
  expect_out '100.0 %  0x400150..0x4001df  put_number'
else
  echo 'This build reads no ELF files: the case is skipped.'
fi

case=plan_with_errors
printf 'etm4-plan 1\nincludes 1..2\nlevels el7\n' >bad.plan
run etm4 plan bad.plan --root tree
expect_code 3
expect_err "bad.plan: line 2: 'includes' is no setting"
expect_err "bad.plan: line 3: 'el7' is no exception level"

case=dry_run_writes_nothing
cp -r tree untouched
run etm4 apply good.plan --root tree --dry-run
expect_code 0
expect_out 'etm0/cyc_threshold <- 0x10'
diff -r tree untouched >/dev/null || complain 'files changed'

case=apply
run etm4 apply good.plan --root tree
expect_code 0
expect_out 'made and read back'
[ "$(cat tree/etm0/addr_range)" = '0x80000 0x80007 0' ] || complain 'addr_range'
[ "$(cat tree/tmc_etr0/enable_sink)" = 1 ] || complain 'enable_sink'

case=failed_apply_changes_nothing
rm -rf tree && make_tree tree && rm tree/etm0/cyc_threshold
rm -rf untouched && cp -r tree untouched
run etm4 apply good.plan --root tree
expect_code 4
expect_err 'etm0/cyc_threshold'
diff -r tree untouched >/dev/null || complain 'files changed'

case=explain_tree
make_tree tree
run etm4 explain --root tree
expect_code 0
expect_out 'The unit traces'

case=explain_as_plan_is_a_plan
run etm4 explain --root tree --as-plan
expect_code 0
cp out back.plan
run etm4 plan back.plan --root tree
expect_code 0

case=explain_snapshot
make_good good
run etm4 explain good
expect_code 0
expect_out 'ETM_0 (ETM4)'

case=explain_with_what_the_snapshot_leaves_out
run etm4 explain good --unit ETM_0 --reg TRCIDR3=0x007B0004 --reg TRCIDR4=0x11170004 \
  --reg TRCIDR5=0x28C7081E
expect_code 0
grep -q 'are not all known' out && complain 'the note on missing registers'
run etm4 explain good --unit etm7
expect_code 3
expect_err 'There is no etm7 in good; there is ETM_0.'
run etm4 explain good --reg TRCIDR9=1
expect_code 3
expect_err 'describe a unit'
run etm4 explain good --walk
expect_code 2
run etm4 explain good --root tree
expect_code 2

case=explain_as_plan_of_one_of_two
run synth -o two --protocol etmv4 --cores 2 --size 1000
run etm4 explain two --as-plan
expect_code 2
expect_err 'ETM_0, ETM_1: name one of them with --unit'
run etm4 explain two --as-plan --unit ETM_1
expect_code 0
expect_out '# ETM_1 (ETM4'
cp out two.plan
run etm4 plan two.plan --root tree
expect_code 0

case=explain_as_plan_comments_what_plans_do_not_say
cp -r tree odd_tree && printf '0x3\n' >odd_tree/etm0/syncfreq
run etm4 explain --root odd_tree --as-plan
expect_code 0
expect_out '# sync 8: 8 is no synchronisation period in bytes.'
cp out odd.plan
run etm4 plan odd.plan --root tree
expect_code 0

case=plan_of_a_unit_of_system_registers
cp -r tree sysreg && printf '0x8\n' >sysreg/etm0/mgmt/trcoslsr
run etm4 plan good.plan --root sysreg
expect_code 0
grep -q TRCPDCR out && complain 'TRCPDCR'
run etm4 plan good.plan --root tree
expect_out TRCPDCR

case=plan_with_pe_inputs
printf 'etm4-plan 1\nsingle-shot 0 pe-input 0\n' >shot.plan
units=(--reg TRCIDR4=0x11171004 --root tree)
run etm4 plan shot.plan "${units[@]}"
expect_code 0
expect_out 'whether single-shot control 0 takes PE inputs is not known'
run etm4 plan shot.plan "${units[@]}" --reg TRCSSCSR0=0
expect_code 3
expect_err 'single-shot control 0 takes no PE inputs'
run etm4 plan shot.plan "${units[@]}" --reg TRCSSCSR0=8
expect_code 0
expect_out 'TRCSSPCICR0    0x00000001'
printf '0x0\n' >tree/etm0/sshot_idx
printf '0x8\n' >tree/etm0/sshot_status
run etm4 plan shot.plan "${units[@]}"
expect_code 0
grep -q 'is not known' out && complain 'the note'
rm tree/etm0/sshot_idx tree/etm0/sshot_status

case=explain_other_file
printf 'neither' >other
run etm4 explain other
expect_code 3
expect_one_sentence

case=snapshot_decodes
run etm4 snapshot --root tree --trace good/trace.bin --image 0x80000=good/program.bin \
  --format source_data -o made
expect_code 0
run decode made
expect_code 0
expect_out '+2  insns'

case=snapshot_of_another_name
cp -r tree/etm0 tree/e0 && rm tree/e0/cpu
run etm4 snapshot --root tree --unit e0 --trace good/trace.bin --image 0x80000=good/program.bin \
  -o made_other
expect_code 3
expect_err '--unit e0 is no trace unit'
rm -r tree/e0

case=snapshot_of_a_unit_that_is_off
printf '0x0\n' >tree/etm0/mgmt/trcconfig
printf '0x8000020\n' >tree/etm0/mode
run etm4 snapshot --root tree --trace good/trace.bin --image 0x80000=good/program.bin \
  --format source_data -o made_off
expect_code 0
expect_err 'TRCCONFIGR is 0x10 as its file mode stands for'
grep -q 'TRCCONFIGR=0x00000010' made_off/*.ini || complain 'TRCCONFIGR'

case=snapshot_of_programs_of_one_name
mkdir -p other_dir && cp good/program.bin other_dir/program.bin
run etm4 snapshot --root tree --trace good/trace.bin --image 0x80000=good/program.bin \
  --image 0x90000=other_dir/program.bin --format source_data -o made_two
expect_code 0
[ -e made_two/program.bin ] || complain 'the first name'
[ -e made_two/2_program.bin ] || complain 'the second name'

cat >cases.json <<'JSON'
{"format": 1, "cases": [{"id": "A", "caps": {"TRCIDR0": "0x28000EA1"}, "env": {}, "steps": [
  {"write": ["mode", "zz"], "expect": "-EINVAL"},
  {"read": "mode", "expect": "0x8000000\n"}]}]}
JSON

case=simulate
run etm4 simulate cases.json
expect_code 0
expect_out '{"case": "A", "step": 0, "result": "-EINVAL"}'
expect_out '{"case": "A", "step": 1, "result": "0x8000000\n"}'

case=simulate_check
run etm4 simulate cases.json --check
expect_code 0
expect_out '1 passed, 0 failed; 2 of 2 steps had an expectation'
sed 's/"expect"/"was"/' cases.json >unchecked.json
run etm4 simulate unchecked.json --check
expect_code 0
expect_out '0 passed, 0 failed, 1 without expectations; 0 of 2 steps'
sed -i 's/0x8000000/0x8/' cases.json
run etm4 simulate cases.json --check
expect_code 1
expect_out 'A step 1'
expect_out '0 passed, 1 failed'

case=simulate_bad_files
printf '{"cases": [\n{]}' >broken.json
run etm4 simulate broken.json
expect_code 3
expect_err 'broken.json: line 2'
printf '{"cases": [{"id": "B", "steps": [{"jump": 1}]}]}' >odd.json
run etm4 simulate odd.json
expect_code 3
expect_err 'case B, step 0'
printf '{"cases": [{"id": "C", "caps": 5, "steps": []}]}' >kind.json
run etm4 simulate kind.json
expect_code 3
expect_err 'case C: "caps" is no object'
deep=$(printf '%100000s' '' | tr ' ' '[')
flat=$(printf '%100000s' '' | tr ' ' ']')
printf '{"cases":[\n{"id":"a","caps":{"TRCIDR0":%s%s},"steps":[]}]}' "$deep" "$flat" >deep.json
run etm4 simulate deep.json
expect_code 3
expect_err 'deep.json: line 2: lists and objects lie more than 32 deep'

case=shared_cases
shared=$(dirname "${BASH_SOURCE[0]}")/../../../shared/data/etm4x/cases.json
if [ -e "$shared" ]; then
  run etm4 simulate "$shared" --check
  expect_code 0
  expect_out ' passed, 0 failed'
else
  echo 'There is no ../shared: its cases are skipped.'
fi

finish
