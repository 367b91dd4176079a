"""Formats, files, full disks, readers that leave, and Ctrl-C."""
import csv
import json
import os
import resource
import shutil

import pytest
from support.snapshots import make_good, make_snapshot
from support.trace_bytes import ATOM_E, ETMV4_REGISTERS, ETMV4_START


@pytest.fixture(scope='session')
def long(made):
    """A million ranges: much more than a pipe holds."""
    return made('long', lambda path: make_snapshot(path, ETMV4_START + ATOM_E * 1000000))


def test_json_of_decode_has_one_object_per_line(run, good):
    result = run('decode', good, '--format', 'json')
    ranges = [row for row in result.json_lines() if row.get('kind') == 'range']
    assert len(ranges) == 5
    assert (ranges[0]['start'], ranges[0]['end']) == ('0x80000', '0x80008')


def test_packets_have_their_fields_in_json(run, good):
    rows = run('packets', good, '--format', 'json').json_lines()
    assert rows[-1]['fields']['atoms'] == 'E'


def test_info_as_json(run, good):
    source, = run('info', good, '--format', 'json').json()['sources']
    assert source['sync_points'] == 1


def test_csv_has_a_header(run, good):
    assert run('decode', good, '--format', 'csv').has('range,0x80000,0x80008,2,A64,branch').lines[0].startswith(
        'record,index,id,kind')
    assert run('packets', good, '--format', 'csv').lines[0] == 'index,id,protocol,name,bytes,text,fields'


def test_packets_have_the_names_of_the_listing(run, good):
    run('packets', good).has('Idx:26; ID:10; [0xf7 ];\tI_ATOM_F1 : Atom format 1.; E')


def test_functions_are_named(run, quicksort, good):
    run('decode', quicksort, '--functions').has(
        '0x00000000004000f8      +3  insns  → branch 0x0000000000400504  in _start', '  in run+0x44')
    run('decode', good, '--functions', expect=3).says('--symbols FILE')


def test_the_program_of_the_symbols_is_not_overwritten(run, quicksort, good, copy):
    program = copy(quicksort / 'quicksort.elf', 'program.elf')
    run('decode', good, '--functions', '--symbols', 'program.elf', '-o', 'program.elf', expect=2).one_sentence()
    assert program.read_bytes() == (quicksort / 'quicksort.elf').read_bytes()


def test_output_file(run, good, tmp_path):
    run('decode', good, '-o', 'result.txt').empty()
    assert '+2  insns' in (tmp_path / 'result.txt').read_text()


def test_an_output_file_that_cannot_be_made(run, good):
    run('decode', good, '-o', 'no/such/folder/result.txt', expect=4).one_sentence('no/such/folder/result.txt')


@pytest.fixture
def same(tmp_path):
    """A capture with other names for its files, and a file of layouts."""
    folder = make_good(tmp_path / 'same')
    os.link(folder / 'trace.bin', tmp_path / 'hard_link')
    os.symlink('same/program.bin', tmp_path / 'soft_link')
    (tmp_path / 'layouts').write_text('D_P1_F1 fixed=2\n')
    return folder


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob('*') if path.is_file()}


@pytest.mark.parametrize('command', ['decode', 'packets', 'info'])
@pytest.mark.parametrize('target', ['same/trace.bin', 'hard_link', 'soft_link', 'same/./program.bin',
                                    'same/snapshot.ini', 'same/cpu.ini', 'same/trace.ini', 'layouts'])
def test_an_output_file_that_is_an_input(run, same, tmp_path, command, target):
    before = contents(tmp_path)
    run(command, 'same', '--data-layouts', 'layouts', '-o', target, expect=2).one_sentence(f'-o {target}')
    assert contents(tmp_path) == before


def test_an_image_of_the_command_line_is_not_overwritten(run, same, tmp_path):
    shutil.copyfile(same / 'program.bin', tmp_path / 'image.bin')
    before = contents(tmp_path)
    run('decode', 'same/trace.bin', '--framing', 'none', '--protocol', 'etmv4', *ETMV4_REGISTERS,
        '--image', '0x80000=image.bin', '-o', 'image.bin', expect=2).one_sentence('image.bin')
    assert contents(tmp_path) == before


def test_a_full_disk(run, good, full_device):
    run('decode', good, '-o', '/dev/full', expect=4).one_sentence('the disk is full')
    run('decode', good, stdout=full_device, expect=4).one_sentence('the disk is full')


def test_a_file_that_may_not_grow_keeps_whole_lines(run, long, tmp_path):
    run('decode', long, '-o', 'limited.txt', expect=4, limits={resource.RLIMIT_FSIZE: 400 * 1024}).one_sentence(
        'limited.txt')
    kept = (tmp_path / 'limited.txt').read_bytes()
    assert len(kept) > 1000 and kept.endswith(b'\n')


@pytest.mark.parametrize('sigpipe', ['default', 'ignored'])
def test_a_reader_that_leaves(run, long, sigpipe):
    run.and_leave('decode', long, sigpipe=sigpipe, expect=None)


def test_an_interrupt_leaves_whole_lines(run, long):
    result = run.interrupted('decode', long, after=1024).quiet().whole_lines()
    assert len(result.lines) > 10


def test_an_interrupt_while_the_pipe_is_full(run, long):
    result = run.interrupted('decode', long, full=True).quiet().whole_lines()
    assert len(result.lines) > 10


def test_no_progress_line_in_a_pipe(run, long):
    run('decode', long, '-o', '/dev/null').quiet()


def test_statistics_go_to_standard_error(run, good):
    run('decode', good, '--stats').says('ID 0x10 cpu_0: 31 bytes')


def test_merge_gives_every_line_a_time(run, tmp_path):
    # Atom, timestamp 100, atom, timestamp 110, atom.
    make_snapshot(tmp_path / 'timed', ETMV4_START + bytes.fromhex('f70264f7026ef7'))
    run('decode', 'timed', '--merge', 'time').has(
        '             100<         16  0x10', '             100          27  0x10',
        '             100>         29  0x10', '             110          30  0x10')
    rows = run('decode', 'timed', '--merge', 'time', '--format', 'json').json_lines()
    assert all('time_is' in row for row in rows)
    assert ('100', 'after') in [(str(row.get('time')), row['time_is']) for row in rows]
    run('decode', 'timed', '--merge', 'time', '--format', 'csv').has('time,time_is,record,index',
                                                                     '100,exact,element,27,')


def test_merge_says_what_has_no_time(run, good):
    run('decode', good, '--merge', 'time').says('race ID 0x10 has no timestamps')


def test_merge_says_whose_time_goes_back(run, tmp_path):
    # Timestamps 100, 2^63 + 100, 110, 120 in all nine bytes, each with an atom after it.
    make_snapshot(tmp_path / 'jump', ETMV4_START + ATOM_E + bytes.fromhex(
        '02e48080808080808000f7' '02e48080808080808080f7' '02ee8080808080808000f7' '02f88080808080808000f7'))
    run('decode', 'jump', '--merge', 'time').has('             120          ').says(
        '2 timestamps of trace ID 0x10', 'trace byte 49')


def test_every_line_of_json_and_csv_parses(run, synthetic):
    for command in 'decode', 'packets':
        for line in run(command, synthetic, '--to', 3000, '--format', 'json').lines:
            assert isinstance(json.loads(line), dict)
        rows = list(csv.reader(run(command, synthetic, '--to', 3000, '--format', 'csv').lines))
        assert len({len(row) for row in rows}) == 1, f'{command}: rows with different numbers of columns'
