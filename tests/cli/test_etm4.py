"""The commands of `waymark etm4` on a copied device tree."""
import json
import os
import struct
from pathlib import Path

import pytest
from support.device_tree import make_tree
from support.snapshots import make_good

PLAN = """\
etm4-plan 1
include 0x80000..0x80008
levels el1
cycles 16
sink tmc_etr0 buffer 65536
"""
IDENTITY = ('--reg', 'TRCIDR0=0x28000EA1', '--reg', 'TRCIDR2=0x488', '--reg', 'TRCIDR5=0x28C7081E')


@pytest.fixture
def etm4(run, tmp_path):
    """etm4(COMMAND, ...): with good.plan and a device tree `tree` in its folder."""
    (tmp_path / 'good.plan').write_text(PLAN)
    make_tree(tmp_path / 'tree')
    return lambda *args, **options: run('etm4', *args, **options)


@pytest.fixture
def plan(tmp_path):
    """plan(LINE...): writes a plan of these settings, and returns its name."""
    def write(*lines):
        (tmp_path / 'test.plan').write_text('\n'.join(('etm4-plan 1', *lines)) + '\n')
        return 'test.plan'
    return write


def contents(folder):
    return {path: path.read_text() for path in folder.rglob('*') if path.is_file()}


def test_caps(etm4):
    etm4('caps', '--root', 'tree').has('address comparators      4 pairs')


def test_a_tree_without_a_unit(etm4, tmp_path):
    (tmp_path / 'none').mkdir()
    etm4('caps', '--root', 'none', expect=3).one_sentence()


def test_plan(etm4):
    etm4('plan', 'good.plan', '--root', 'tree').has(
        'TRCVIIECTLR    0x00000001', 'addr_range               0x80000 0x80007 0', 'perf record -e cs_etm/',
        '--protocol etmv4 --reg TRCCONFIGR=0x10')


@pytest.mark.parametrize('command', [['plan', '-', '--normal-form'], ['apply', '-', '--dry-run']])
def test_a_plan_on_standard_input(etm4, command):
    of_file = etm4(*['good.plan' if word == '-' else word for word in command], '--root', 'tree')
    assert etm4(*command, '--root', 'tree', stdin=PLAN).out == of_file.out
    etm4(*command, '--root', 'tree', stdin='etm4-plan 1\nincludes 1', expect=3).says('standard input: line 2')


@pytest.mark.parametrize('written', ['0x80000..0x80008', '0x80000+8', '0x80000/8'])
def test_ranges_of_a_plan_are_those_of_every_command(etm4, plan, written):
    etm4('plan', plan(f'include {written}'), '--root', 'tree').has('TRCACVR1       0x0000000000080007')
    etm4('plan', plan('include 8..8'), '--root', 'tree', expect=3).says("'8..8' is empty")


@pytest.mark.parametrize('given, meant', [('TRCIDR55', 'TRCIDR5'), ('TRCDEVARC', 'TRCDEVARCH'), ('TRCIDX4', 'TRCIDR4')])
def test_an_unknown_register_names_the_nearest(etm4, given, meant):
    etm4('caps', '--root', 'tree', '--reg', f'{given}=1', expect=3).one_sentence(f'did you mean {meant}?')


def test_perf_names_a_function_by_its_offset_in_the_file(etm4, plan, quicksort):
    elf = quicksort / 'quicksort.elf'  # .text is at 0x400120, from byte 0x120 on.
    for program in (elf, f'{elf}@0x10000'):
        etm4('plan', plan('include put_number', 'levels el0'), '--root', 'tree', '--elf', program).has(
            f"--filter 'filter 0x150/0x8f@{elf}'")
    etm4('plan', plan('include 0x400150/0x90', 'levels el0'), '--root', 'tree').has(
        "'filter OFFSET/0x8f@FILE'", 'name it with --elf')


def test_the_script_of_a_plan_runs_in_a_folder_of_any_name(etm4, other, tmp_path):
    etm4('plan', 'good.plan', '--root', 'tree', '--script', '-').has("put etm0/mode '0x8000020'")
    tree = make_tree(tmp_path / "it's a tree")
    script = etm4('plan', 'good.plan', '--root', tree.name, '--script', '-').out
    other('sh', stdin=script)
    assert (tree / 'etm0/mode').read_text() == '0x8000020\n'


def test_a_plan_without_a_board(etm4):
    etm4('plan', 'good.plan', '--root', 'none', *IDENTITY, '--reg', 'TRCIDR3=0x0D7B0004',
         '--reg', 'TRCIDR4=0x11170004').quiet().has('TRCCCCTLR      0x00000010')
    etm4('plan', 'good.plan', '--root', 'none', *IDENTITY, expect=3).says('TRCIDR3, TRCIDR4')


def test_an_estimate(etm4, run, plan):
    etm4('plan', plan('levels el0', 'cycles 16', 'sink tmc_etr0 buffer 65536'), '--root', 'tree', '--estimate',
         '--instructions', 200000, '--exceptions', 100, '-o', 'estimated').has(
             'per million instructions executed', 'tmc_etr0 is full after about', 'cycle counts',
             'Addresses, by their share')
    run('synth', '--check', 'estimated').has('equal to the ground truth')
    run('decode', 'estimated', '--strict')
    etm4('explain', 'estimated').has('Exception levels: el0.')


def test_an_estimate_of_nothing(etm4):
    etm4('plan', 'good.plan', '--root', 'tree', '--estimate', '--instructions', 1000, '--program', 'random').has(
        'Nothing is traced')


@pytest.mark.parametrize('options, status, said', [
    (['--instructions', 1000], 2, '--instructions'),
    (['--estimate', '--level', 'el7'], 2, 'el7'),
    (['--estimate', '--program', 'none.elf'], 3, 'none.elf'),
])
def test_options_of_the_estimate(etm4, options, status, said):
    etm4('plan', 'good.plan', '--root', 'tree', *options, expect=status).says(said)


def test_an_estimate_says_what_the_branches_of_a_program_hide(etm4, plan, quicksort):
    result = etm4('plan', plan('include quicksort', 'levels el0'), '--root', 'tree', '--estimate', '--program',
                  quicksort / 'quicksort.elf', '--instructions', 200000, '--format', 'json').json_lines()[0]
    assert result['models'] > 1
    assert result['least_share'] <= result['traced'] / result['executed'] <= result['most_share']
    assert any('follow a model of the program' in sentence for sentence in result['limits'])


@pytest.mark.parametrize('function, share', [('quicksort', 0.2557), ('fibonacci', 0.4654), ('put_number', 0.0454)])
def test_an_estimate_that_repeats_a_capture_has_its_shares(etm4, plan, quicksort, function, share):
    """The output of `waymark count --functions` for the sample."""
    result = etm4('plan', plan(f'include {function}', 'levels el0'), '--root', 'tree', '--estimate', '--program',
                  quicksort / 'quicksort.elf', '--replay', quicksort, '--exceptions', 0, '--instructions', 449010,
                  '--format', 'json').json_lines()[0]
    assert abs(result['traced'] / result['executed'] - share) < 0.005
    assert result['models'] == 1


def test_an_estimate_cannot_repeat_another_program(etm4, plan, quicksort):
    wanted = (plan('include quicksort', 'levels el0'), '--root', 'tree', '--estimate', '--replay', quicksort)
    etm4('plan', plan('levels el0'), '--root', 'tree', '--estimate', '--replay', quicksort, expect=2).says('--program')
    etm4('plan', *wanted, '--program', f"{quicksort / 'quicksort.elf'}@0x10000", expect=3).says(
        'append @ and its load address to --program')


def test_an_estimate_of_a_program(etm4, plan, quicksort):
    etm4('plan', plan('include put_number', 'levels el0'), '--root', 'tree', '--estimate', '--program',
         quicksort / 'quicksort.elf').has('100.0 %  0x400150..0x4001e0  put_number')


@pytest.mark.parametrize('bias', [0, 0x10000])
def test_the_trace_of_an_estimate_has_its_program(etm4, run, plan, quicksort, tmp_path, bias):
    elf = f"{quicksort / 'quicksort.elf'}@{bias}" if bias else quicksort / 'quicksort.elf'
    etm4('plan', plan('levels el0'), '--root', 'tree', '--estimate', '--program', elf, '--instructions', 20000, '-o',
         'estimated')
    run('synth', '--check', 'estimated').has('equal to the ground truth')
    assert (tmp_path / 'estimated/quicksort.elf').read_bytes() == (quicksort / 'quicksort.elf').read_bytes()
    run('count', 'estimated', '--functions').has('put_number', 'fibonacci')
    run('decode', 'estimated').has(f'0x{0x4000f0 + bias:016x}'[:-3])


def test_the_trace_of_an_estimate_does_not_replace_its_program(etm4, plan, quicksort, tmp_path):
    (tmp_path / 'estimated').mkdir()
    program = tmp_path / 'estimated/trace.bin'
    program.write_bytes((quicksort / 'quicksort.elf').read_bytes())
    etm4('plan', plan('levels el0'), '--root', 'tree', '--estimate', '--program', program, '--instructions', 20000, '-o',
         'estimated', expect=2).says('trace.bin')
    assert program.read_bytes() == (quicksort / 'quicksort.elf').read_bytes()


def test_every_error_of_a_plan_is_named(etm4, plan):
    etm4('plan', plan('includes 1..2', 'levels el7'), '--root', 'tree', expect=3).says(
        "test.plan: line 2: ", 'includes', 'test.plan: line 3: ', 'el7')


def test_a_dry_run_writes_nothing(etm4, tmp_path):
    before = contents(tmp_path / 'tree')
    etm4('apply', 'good.plan', '--root', 'tree', '--dry-run').has('etm0/cyc_threshold <- 0x10')
    assert contents(tmp_path / 'tree') == before


def test_apply(etm4, tmp_path):
    etm4('apply', 'good.plan', '--root', 'tree').has('read back')
    assert (tmp_path / 'tree/etm0/addr_range').read_text() == '0x80000 0x80007 0\n'
    assert (tmp_path / 'tree/tmc_etr0/enable_sink').read_text() == '1\n'


def test_explain_knows_what_apply_wrote_to_a_copy(etm4, plan, tmp_path):
    unit = tmp_path / 'tree/etm0'
    (unit / 'addr_cmp_view').write_text('addr_cmp[0] unused\n')
    (unit / 'cntr_ctrl').write_text('0x10001\n')  # An earlier setting; the reset of the plan clears it.
    etm4('apply', 'good.plan', '--root', 'tree')
    etm4('explain', '--root', 'tree').has('Addresses: 0x80000..0x80008.\n', 'Cycle counts, at least 16').lacks(
        'index files', 'Note: addr_cmp_view')
    assert 'range 0x80000 0x80007 include' in (unit / 'addr_cmp_view').read_text()
    assert (unit / 'cntr_ctrl').read_text() == '0x0\n'
    for name in ('addr_single', 'addr_context', 'addr_ctxtype', 'addr_exlevel_s_ns'):
        (unit / name).write_text('')
    many = ('include 0x80000..0x80008', 'include 0x90000..0x90008', 'start 0x1000', 'stop 0x2000')
    (unit / 'vinst_pe_cmp_start_stop').write_text('')
    etm4('apply', plan(*many), '--root', 'tree')
    etm4('explain', '--root', 'tree').has('Addresses: 0x80000..0x80008; 0x90000..0x90008.', 'Starts at: 0x1000')
    back = etm4('explain', '--root', 'tree', '--as-plan').out
    assert all(line in back for line in many)


def test_explain_of_a_copy_that_was_changed_after_apply(etm4, tmp_path):
    etm4('apply', 'good.plan', '--root', 'tree')
    (tmp_path / 'tree/etm0/cyc_threshold').write_text('0x40\n')
    etm4('explain', '--root', 'tree').has('cyc_threshold was changed', 'at least 64 cycles', '0x80000..0x80008')


def test_what_hardware_holds_counts_while_the_unit_is_enabled(etm4, tmp_path):
    unit = tmp_path / 'tree/etm0'
    (unit / 'mode').write_text('0x8000820\n')
    (unit / 'mgmt/trcconfig').write_text('0x11\n')
    etm4('explain', '--root', 'tree').has('TRCCONFIGR=0x810', 'at the next start')
    (unit / 'enable_source').write_text('1\n')
    etm4('explain', '--root', 'tree').has('TRCCONFIGR=0x11', 'The hardware holds TRCCONFIGR 0x11')


def test_explain_of_a_copy_does_not_believe_a_stale_view(etm4, tmp_path):
    unit = tmp_path / 'tree/etm0'
    (unit / 'addr_range').write_text('0x80000 0x80007 0\n')
    etm4('explain', '--root', 'tree').has('Addresses: 0x80000..0x80008, as far as')
    (unit / 'addr_cmp_view').write_text('addr_cmp[0] unused\n')
    etm4('explain', '--root', 'tree').has('Addresses: 0x80000..0x80008', 'addr_cmp_view disagrees')
    (unit / 'addr_start').write_text('0x1234\n')
    etm4('explain', '--root', 'tree').has('Addresses: 0x80000..0x80008', 'Starts at: 0x1234')
    (unit / 'addr_start').write_text('')
    (unit / 'addr_cmp_view').write_text('addr_cmp[0] range 0x80000 0x80007 exclude ctrl(0x0)\n')
    etm4('explain', '--root', 'tree').has('but not 0x80000..0x80008').lacks('disagrees')


def test_explain_of_a_copy_with_the_odd_half_selected(etm4, tmp_path):
    unit = tmp_path / 'tree/etm0'
    (unit / 'addr_idx').write_text('0x1\n')
    (unit / 'addr_range').write_text('')
    (unit / 'addr_cmp_view').write_text('addr_cmp[0] range 0x80000 0x80007 include ctrl(0x0)\n')
    etm4('explain', '--root', 'tree').has('Addresses: 0x80000..0x80008')


def test_apply_restores_what_it_cannot_report(etm4, tmp_path, full_device):
    before = contents(tmp_path / 'tree')
    etm4('apply', 'good.plan', '--root', 'tree', expect=4, stdout=full_device).says(
        'The plan was not applied. All files have their previous values again.')
    assert contents(tmp_path / 'tree') == before


@pytest.mark.parametrize('name', ['mode', 'trcidr/trcidr0', 'event_vinst', 'waymark-settings'])
@pytest.mark.parametrize('command', [['caps'], ['explain'], ['plan', 'good.plan'], ['apply', 'good.plan']])
def test_a_fifo_in_the_tree_is_refused(etm4, tmp_path, command, name):
    path = tmp_path / 'tree/etm0' / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    reads = name.startswith('trcidr') or command[0] in ('explain', 'apply')
    if reads:
        etm4(*command, '--root', 'tree', expect=4 if command[0] == 'apply' and 'trcidr' not in name else 3).says(
            name, 'not a regular file')
    else:
        etm4(*command, '--root', 'tree')


def test_an_apply_that_fails_changes_nothing(etm4, tmp_path):
    (tmp_path / 'tree/etm0/cyc_threshold').unlink()
    before = contents(tmp_path / 'tree')
    etm4('apply', 'good.plan', '--root', 'tree', expect=4).says('etm0/cyc_threshold')
    assert contents(tmp_path / 'tree') == before


def test_explain_of_a_tree(etm4, tmp_path):
    etm4('explain', '--root', 'tree').has('The unit traces')
    back = etm4('explain', '--root', 'tree', '--as-plan').out
    (tmp_path / 'back.plan').write_text(back)
    etm4('plan', 'back.plan', '--root', 'tree')


def test_explain_of_a_snapshot(etm4, good):
    etm4('explain', good).has('ETM_0 (ETM4)')


def test_explain_with_what_the_snapshot_leaves_out(etm4, good):
    without = etm4('explain', good).has('not all known')
    full = etm4('explain', good, '--unit', 'ETM_0', '--reg', 'TRCIDR3=0x007B0004', '--reg', 'TRCIDR4=0x11170004',
                '--reg', 'TRCIDR5=0x28C7081E').lacks('not all known')
    assert full.out != without.out


@pytest.mark.parametrize('options, status, said', [
    (['--unit', 'etm7'], 3, ['etm7', 'ETM_0']),
    (['--reg', 'TRCIDR9=1'], 3, ['did you mean TRCIDR0?']),
    (['--walk'], 2, ['--walk']),
    (['--root', 'tree'], 2, ['--root']),
])
def test_options_of_explain(etm4, good, options, status, said):
    etm4('explain', good, *options, expect=status).says(*said)


def test_explain_as_plan_of_one_of_two(etm4, synth, tmp_path):
    two = synth('--protocol', 'etmv4', '--cores', 2, '--size', 1000)
    etm4('explain', two, '--as-plan', expect=2).says('ETM_0, ETM_1', '--unit')
    back = etm4('explain', two, '--as-plan', '--unit', 'ETM_1').has('# ETM_1 (ETM4').out
    (tmp_path / 'two.plan').write_text(back)
    etm4('plan', 'two.plan', '--root', 'tree')


def test_explain_as_plan_comments_what_plans_do_not_say(etm4, tmp_path):
    (tmp_path / 'tree/etm0/syncfreq').write_text('0x3\n')
    back = etm4('explain', '--root', 'tree', '--as-plan').matches('^# sync 8: ').out
    (tmp_path / 'odd.plan').write_text(back)
    etm4('plan', 'odd.plan', '--root', 'tree')


def test_a_unit_of_system_registers_has_no_power_down_control(etm4, tmp_path):
    etm4('plan', 'good.plan', '--root', 'tree').has('TRCPDCR')
    (tmp_path / 'tree/etm0/mgmt/trcoslsr').write_text('0x8\n')
    etm4('plan', 'good.plan', '--root', 'tree').lacks('TRCPDCR')


def test_a_plan_with_pe_inputs(etm4, plan, tmp_path):
    shot = (plan('single-shot 0 pe-input 0'), '--reg', 'TRCIDR4=0x11171004', '--root', 'tree')
    etm4('plan', *shot).has('whether single-shot control 0 takes PE inputs is not known')
    etm4('plan', *shot, '--reg', 'TRCSSCSR0=0', expect=3).says('single-shot control 0', 'PE inputs')
    etm4('plan', *shot, '--reg', 'TRCSSCSR0=8').has('TRCSSPCICR0    0x00000001')
    (tmp_path / 'tree/etm0/sshot_idx').write_text('0x0\n')
    (tmp_path / 'tree/etm0/sshot_status').write_text('0x8\n')
    etm4('plan', *shot).lacks('is not known')


def perf_data(path):
    """A perf.data in pipe mode: one AUXTRACE_INFO record with the ETMv4 of CPU 3."""
    words = [1, (8 << 32) | 1, 0, 0x4040404040404040, 3, 7, 0x1858, 0x16, 0x28000EA1, 0x4100F403, 0x488, 0, 0xCC]
    info = struct.pack(f'<II{len(words)}Q', 3, 0, *words)
    path.write_bytes(struct.pack('<QQ', 0x32454c4946524550, 16) + struct.pack('<IHH', 70, 0, 8 + len(info)) + info)


def test_explain_of_perf_data_says_how_to_decode_it(etm4, tmp_path):
    perf_data(tmp_path / 'perf.data')
    etm4('explain', 'perf.data').has('CPU 3 (ETMv4)', 'Cycle counts',
                                     'waymark decode perf.data', '--symfs').lacks('waymark decode needs')


def test_explain_of_perf_data_without_an_etmv4(etm4, synth):
    recording = synth('--protocol', 'ptm', '--isa', 'A32', '--size', 1000, '--perf-data') / 'perf.data'
    etm4('explain', recording, expect=3).one_sentence('ETMv3 or PTM')


def test_explain_of_another_file(etm4, tmp_path):
    (tmp_path / 'other').write_text('neither')
    etm4('explain', 'other', expect=3).one_sentence('other')


@pytest.fixture
def snapshot(etm4, tmp_path):
    """snapshot(NAME, OPTION...): `etm4 snapshot` of the tree with the trace of a good capture."""
    make_good(tmp_path / 'good')

    def make(name, *options, **more):
        return etm4('snapshot', '--root', 'tree', '--trace', 'good/trace.bin', '--image', '0x80000=good/program.bin',
                    '--framing', 'none', '-o', name, *options, **more)
    return make


def test_a_snapshot_decodes(snapshot, run):
    snapshot('made')
    run('decode', 'made').has('+2  insns')


@pytest.mark.parametrize('given', [['--elf', 'quicksort.elf'], ['--image', '0x400000=quicksort.elf']])
def test_a_snapshot_with_a_program(etm4, run, good, copy, quicksort, given):
    copy(quicksort / 'quicksort.elf', 'quicksort.elf')
    made = etm4('snapshot', '--root', 'tree', '--trace', '-', '--framing', 'none', *given, '-o', 'made',
                stdin=(good / 'trace.bin').read_bytes())
    made.says('standard input is copied', *(['loaded as with --elf'] if given[0] == '--image' else []))
    run('info', 'made').has('0x0000000000400000-0x000000000040093f  Any    made/quicksort.elf')


def test_a_snapshot_of_a_unit_that_is_none(snapshot, tmp_path):
    (tmp_path / 'tree/etm0').rename(tmp_path / 'tree/e0')
    (tmp_path / 'tree/e0/cpu').unlink()
    snapshot('made', '--unit', 'e0', expect=3).one_sentence('--unit e0')


def test_a_snapshot_of_a_unit_that_is_off(snapshot, tmp_path):
    (tmp_path / 'tree/etm0/mgmt/trcconfig').write_text('0x0\n')
    (tmp_path / 'tree/etm0/mode').write_text('0x8000020\n')
    snapshot('made').says('TRCCONFIGR', '0x10', 'mode')
    assert any('TRCCONFIGR=0x00000010' in path.read_text() for path in (tmp_path / 'made').glob('*.ini'))


def test_a_snapshot_of_programs_of_one_name(snapshot, tmp_path):
    (tmp_path / 'other').mkdir()
    (tmp_path / 'other/program.bin').write_bytes(b'\x1f\x20\x03\xd5')
    snapshot('made', '--image', '0x90000=other/program.bin')
    assert (tmp_path / 'made/program.bin').read_bytes() == (tmp_path / 'good/program.bin').read_bytes()
    assert (tmp_path / 'made/2_program.bin').read_bytes() == (tmp_path / 'other/program.bin').read_bytes()


def test_json_of_every_command(etm4, plan, tmp_path):
    caps = etm4('caps', '--root', 'tree', '--format', 'json').json_lines()[0]
    assert (caps['unit'], caps['type'], caps['address_comparator_pairs']) == ('etm0', 'ETM4', 4)
    assert caps['registers']['TRCIDR4'] == '0x11170004'
    made = etm4('plan', 'good.plan', '--root', 'tree', '--format', 'json').json_lines()[0]
    assert made['registers']['TRCVIIECTLR'] == '0x1'
    assert {'file': 'addr_range', 'value': '0x80000 0x80007 0'} in made['writes']
    assert made['perf']['possible'] is True and made['perf']['command'].startswith('perf record')
    done = etm4('apply', 'good.plan', '--root', 'tree', '--format', 'json').json_lines()[0]
    assert done['applied'] is True and len(done['writes']) > 5
    dry = etm4('apply', 'good.plan', '--root', 'tree', '--dry-run', '--format', 'json').json_lines()[0]
    assert dry['applied'] is False
    # The copy has no file `reset`.
    assert [write for write in dry['writes'] if write['file'] != 'etm0/reset'] == done['writes']
    told = etm4('explain', '--root', 'tree', '--format', 'json').json_lines()[0]
    assert 'include 0x80000..0x80008' in told['plan'] and told['registers']['TRCACVR1'] == '0x80007'
    estimate = etm4('plan', 'good.plan', '--root', 'tree', '--estimate', '--instructions', 1000, '--format',
                    'json').json_lines()[0]
    assert estimate['executed'] >= 1000 and estimate['traced'] == 0
    etm4('explain', '--root', 'tree', '--format', 'json', '--as-plan', expect=2)


def test_hostile_names_are_escaped(etm4, good, tmp_path):
    folder = tmp_path / 'hostile'
    folder.mkdir()
    for path in good.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for path in folder.glob('*.ini'):
        path.write_bytes(path.read_bytes().replace(b'ETM_0', b'E\x1b[31m\xff"'))
    etm4('explain', folder).has('E\\x1b[31m\\xff"')
    assert etm4('explain', folder, '--format', 'json').json_lines()[0]['unit'] == 'E\x1b[31m\ufffd"'
    (tmp_path / 'evil\x1b[2J.plan').write_text('etm4-plan 1\nincludes \x1b[31m\n')
    assert b'\x1b' not in etm4('plan', 'evil\x1b[2J.plan', '--root', 'tree', expect=3).err_bytes


CASES = {'format': 1, 'cases': [{'id': 'A', 'caps': {'TRCIDR0': '0x28000EA1'}, 'env': {}, 'steps': [
    {'write': ['mode', 'zz'], 'expect': '-EINVAL'}, {'read': 'mode', 'expect': '0x8000000\n'}]}]}


@pytest.fixture
def simulate(run, tmp_path):
    """simulate(TEXT, OPTION...): `etm4 simulate` of a file cases.json with this text."""
    def start(text, *options, **more):
        (tmp_path / 'cases.json').write_text(text)
        return run('etm4', 'simulate', 'cases.json', *options, **more)
    return start


def test_simulate(simulate):
    assert simulate(json.dumps(CASES)).json_lines() == [
        {'case': 'A', 'step': 0, 'result': '-EINVAL'}, {'case': 'A', 'step': 1, 'result': '0x8000000\n'}]


def test_cases_on_standard_input(run, simulate):
    of_file = simulate(json.dumps(CASES))
    assert run('etm4', 'simulate', '-', stdin=json.dumps(CASES)).out == of_file.out


def test_simulate_checks_what_is_expected(simulate):
    text = json.dumps(CASES)
    simulate(text, '--check').has('1 passed, 0 failed', '2 of 2 steps')
    simulate(text.replace('"expect"', '"was"'), '--check').has('0 passed, 0 failed, 1 without', '0 of 2 steps')
    simulate(text.replace('0x8000000', '0x8'), '--check', expect=1).has('A step 1', '0 passed, 1 failed')
    assert simulate(text.replace('0x8000000', '0x8'), '--check', '--format', 'json', expect=1).json_lines() == [{
        'passed': 0, 'failed': 1, 'unchecked': 0, 'steps': 2, 'compared': 2,
        'failures': [{'case': 'A', 'step': 1, 'expected': '"0x8\\n"', 'got': '"0x8000000\\n"'}]}]


@pytest.mark.parametrize('text, said', [
    ('{"cases": [\n{]}', ['cases.json: line 2']),
    ('{"cases": [{"id": "B", "steps": [{"jump": 1}]}]}', ['case B, step 0']),
    ('{"cases": [{"id": "C", "caps": 5, "steps": []}]}', ['case C', '"caps"']),
    ('{"cases":[\n{"id":"a","caps":{"TRCIDR0":' + '[' * 100000 + ']' * 100000 + '},"steps":[]}]}',
     ['cases.json: line 2', '32']),
], ids=['syntax', 'unknown_step', 'kind', 'deep'])
def test_case_files_that_cannot_be_read(simulate, text, said):
    simulate(text, expect=3).one_sentence(*said)


def test_the_shared_cases(run, repository):
    shared = Path(os.environ.get('WAYMARK_SHARED', repository.parent / 'shared')) / 'data/etm4x/cases.json'
    if not shared.exists():
        pytest.skip('it needs the folder ../shared beside the repository')
    run('etm4', 'simulate', shared, '--check').has(' passed, 0 failed')
