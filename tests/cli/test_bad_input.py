"""Every bad input gives one sentence with its place and a remedy, and the documented exit status; what
could be decoded is kept."""
import random
import re

import pytest
from support.snapshots import CPU_INI, append, edit, make_good, make_snapshot
from support.trace_bytes import ATOM_E, ATOM_N, ETMV4_REGISTERS, ETMV4_START, LOOP_PROGRAM, framed

RANGE = '+2  insns'


def change(file, *replacements):
    return lambda folder: edit(folder / file, *replacements)


def add(file, text):
    return lambda folder: append(folder / file, text)


def remove(file):
    return lambda folder: (folder / file).unlink()


def cut_registers(folder):
    path = folder / 'etm.ini'
    path.write_text(re.sub('TRCIDR0=.*\n', '', path.read_text()))


@pytest.fixture
def changed(tmp_path):
    """A good capture named `x` that `action` has changed."""
    def make(action):
        folder = make_good(tmp_path / 'x')
        action(folder)
        return 'x'
    return make


def test_a_good_capture_decodes_without_a_word(run, good):
    run('decode', good).quiet().has('+2  insns  → branch 0x0000000000080000')


@pytest.mark.parametrize('action, said', [
    (add('etm.ini', '[regs]\nthis is no entry\n'), ['x/etm.ini:12']),
    (change('trace.ini', ('ETM_0=ETB_0', 'ETM_7=ETB_0')), ['ETM_7']),
    (remove('trace.ini'), ['x/trace.ini']),
    (change('snapshot.ini', ('metadata=trace.ini\n', '')), ['metadata']),
    (remove('snapshot.ini'), ['snapshot.ini']),
    (cut_registers, ['etm.ini', 'has no TRCIDR0', '--reg']),
    (lambda folder: (folder / 'trace.bin').write_bytes(b''), ['x/trace.bin', 'empty']),
], ids=['ini_syntax', 'unknown_device', 'no_trace_ini', 'trace_ini_not_named', 'no_snapshot_ini',
        'missing_register', 'empty_trace'])
def test_captures_that_cannot_be_read(run, changed, action, said):
    run('decode', changed(action), expect=3).one_sentence(*said).empty()


def test_no_such_path(run):
    run('decode', 'nowhere', expect=3).one_sentence('nowhere')


def test_a_register_of_the_command_line_serves(run, changed):
    run('decode', changed(cut_registers), '--reg', 'TRCIDR0=0x28000EA1').has(RANGE)


def test_a_missing_dump_file(run, changed, good):
    capture = changed(remove('program.bin'))
    run('decode', capture).one_sentence('program.bin').matches(r'0x0000000000080000 +\? ').lacks(RANGE)
    run('decode', capture, '--strict', expect=1).says('--strict:', 'x/cpu.ini:5: ')
    run('packets', capture, '--strict')
    run('decode', capture, '--strict', '--image', f'0x80000={good}/program.bin').says('program.bin').has(RANGE)


def test_no_image_at_all(run, changed, good):
    capture = changed(change('cpu.ini', (CPU_INI[CPU_INI.index('[dump]'):], '')))
    run('decode', capture)
    run('decode', capture, '--strict', expect=1).says('--strict:', '--image')
    run('decode', capture, '--strict', '--image', f'0x80000={good}/program.bin').quiet()


def test_a_short_dump_file(run, changed):
    capture = changed(change('cpu.ini', ('length=8', 'length=4096')))
    run('decode', capture).one_sentence('x/cpu.ini:5: ', '4096 bytes')
    run('decode', capture, '--strict', expect=1).says('--strict:', 'x/cpu.ini:5: ')


def overlap(folder):
    (folder / 'other.bin').write_bytes(LOOP_PROGRAM)
    append(folder / 'cpu.ini', '[dump2]\nfile=other.bin\naddress=0x80004\nlength=8\n')


def test_overlapping_dumps(run, changed):
    capture = changed(overlap)
    run('decode', capture).one_sentence('other.bin').has(RANGE)
    run('decode', capture, '--strict')


def test_a_dump_that_overlaps_an_image_of_the_command_line(run, changed, tmp_path):
    capture = changed(overlap)
    make_good(tmp_path / 'plain')
    run('decode', 'plain', '--image', '0x80004=x/other.bin').one_sentence(
        'plain/cpu.ini:5: ', 'plain/program.bin', 'x/other.bin at 0x80004..0x8000c, given on the command line')
    run('decode', capture, '--image', '0x80000=plain/program.bin').says(
        'x/cpu.ini:5: ', 'x/program.bin', 'x/cpu.ini:9: ', 'x/other.bin')
    run('decode', 'plain', '--strict', '--image', '0x80000=x/other.bin')


def test_frames_that_are_not_a_multiple_of_16(run, tmp_path):
    make_snapshot(tmp_path / 'x', framed(0x10, ETMV4_START + ATOM_E * 2) + b'\x21' + ATOM_E * 2, 'coresight')
    run('decode', 'x').one_sentence('multiple of 16').has(RANGE)


@pytest.mark.parametrize('format', ['source_data', 'coresight'])
@pytest.mark.parametrize('byte', [b'\0', b'\xff'], ids=['zeros', 'ones'])
def test_nothing_but_one_byte(run, tmp_path, format, byte):
    make_snapshot(tmp_path / 'x', byte * 4096, format)
    run('decode', 'x', expect=1).says('nothing could be decoded')


@pytest.mark.parametrize('seed', range(1, 4))
@pytest.mark.parametrize('format', ['source_data', 'coresight'])
def test_random_bytes(run, tmp_path, format, seed):
    make_snapshot(tmp_path / 'x', random.Random(seed).randbytes(4096), format)
    run('decode', 'x', expect=(0, 1)).whole_lines()
    run('info', 'x').whole_lines()


def test_a_trace_id_without_a_device(run, tmp_path):
    make_snapshot(tmp_path / 'x', framed(0x10, ETMV4_START + ATOM_E * 2) + framed(0x22, bytes([1, 2, 3])),
                  'coresight')
    run('decode', 'x').says('race ID 0x22').has(RANGE)


def test_a_trace_that_starts_inside_a_packet(run, tmp_path):
    make_snapshot(tmp_path / 'x', bytes.fromhex('31f7f79a10') + ETMV4_START + ATOM_E)
    run('decode', 'x').has('waiting for the first synchronisation point', RANGE)


def test_an_image_that_does_not_match_the_trace(run, tmp_path):
    make_snapshot(tmp_path / 'x', ETMV4_START + ATOM_E * 2 + ATOM_N + ATOM_E)
    run('decode', 'x', '--strict', expect=1).says('--strict', '0x80004').has(
        '+2  insns  → branch 0x0000000000080000')
    run('decode', 'x')


def test_a_damaged_packet(run, tmp_path):
    make_snapshot(tmp_path / 'x', ETMV4_START + ATOM_E * 2 + b'\x23' + ATOM_E + ETMV4_START + ATOM_E)
    result = run('decode', 'x').has('!! damage')
    assert result.out.count(RANGE) == 3, 'ranges before and after the damage'
    run('decode', 'x', '--strict', expect=1).says('damage').has(RANGE)


def test_an_unknown_name_lists_the_known_ones(run, good):
    run('decode', good, '--id', '0x33', expect=3).says('--id', '0x10')
    run('decode', good, '--buffer', 'ETB_9', expect=3).says('--buffer', 'ETB_0')


def test_info_of_one_id_is_silent_about_others(run, tmp_path, good):
    pair = make_snapshot(tmp_path / 'pair', framed(0x10, ETMV4_START + ATOM_E * 2) +
                         framed(0x22, bytes([1, 2, 3])), 'coresight')
    (pair / 'etm1.ini').write_text((pair / 'etm.ini').read_text().replace('ETM_0', 'ETM_1').replace('0x10', '0x12'))
    edit(pair / 'snapshot.ini', ('b=etm.ini', 'c=etm1.ini\nb=etm.ini'))
    edit(pair / 'trace.ini', ('ETM_0=ETB_0', 'ETM_0=ETB_0\nETM_1=ETB_0'), ('cpu_0=ETM_0', 'cpu_0=ETM_0\ncpu_0=ETM_1'))
    run('info', 'pair').matches('0x12 has no bytes', '0x22 has 14 bytes')
    run('info', 'pair', '--id', '0x10').has('  0x10  ETM_0', '  nothing').lacks('0x12', '0x22')
    (tmp_path / 'two.bin').write_bytes(framed(0x10, ETMV4_START + ATOM_E * 2) + framed(0x12, ETMV4_START + ATOM_E * 2))
    run('info', 'two.bin', '--framing', 'mem', '--protocol', 'etmv4', *ETMV4_REGISTERS, '--id', '0x10',
        '--image', f'0x80000={good}/program.bin').has('  nothing').lacks('0x12')


@pytest.mark.parametrize('args, said', [
    (['decode'], ['waymark: ', 'INPUT', 'waymark decode --help']),
    (['decode', 'GOOD', '--id', 'banana'], ['--id', 'banana']),
    (['decode', 'GOOD', '--no-such-option'], ['--no-such-option', 'waymark decode --help']),
    (['decode', 'GOOD', 'extra'], ['extra']),
    (['frobnicate'], ['frobnicate']),
    *((['decode', 'GOOD', '--format', form], ['--format', form, 'text', 'json', 'csv', 'waymark decode --help'])
      for form in ('xml', '1', 'TEXT', '')),
    (['info', 'GOOD', '--format', 'csv'], ['--format', 'csv', 'text', 'json']),
    (['decode', 'GOOD', '--merge', 'size'], ['--merge', 'size', 'time', 'waymark decode --help']),
])
def test_usage_errors_are_one_sentence_with_the_remedy(run, good, args, said):
    run(*(good if word == 'GOOD' else word for word in args), expect=2).one_sentence(*said).empty()


@pytest.mark.parametrize('args, text', [
    (['--version'], 'waymark'),
    (['--help'], 'xit '),
    (['decode', '--help'], 'text|json|csv'),
])
def test_version_and_help(run, args, text):
    run(*args).quiet().has(text)


def test_help_has_exit_codes_and_examples(run):
    run('--help').matches('(?i)^exit (codes|status)')
    run('decode', '--help').matches('(?i)^examples')


def test_info_reports_what_looks_wrong(run, tmp_path):
    make_snapshot(tmp_path / 'x', bytes(4096))
    run('info', 'x').has('no synchronisation point')
