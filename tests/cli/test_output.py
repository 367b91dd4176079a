"""Formats, files, full disks, readers that leave, and Ctrl-C."""
import csv
import json
import os
import resource
import shutil
import signal
import subprocess

import pytest
from support.snapshots import make_good, make_snapshot
from support.trace_bytes import ATOM_E, ETMV4_REGISTERS, ETMV4_START


@pytest.fixture(scope='session')
def long(made):
    """20,000 ranges, much more than a pipe can hold."""
    return made('long', lambda path: make_snapshot(path, ETMV4_START + ATOM_E * 20000))


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
    run('decode', good, '--functions', expect=3).says('--symbols')


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


def test_merge_reports_sources_without_time(run, good):
    run('decode', good, '--merge', 'time').says('race ID 0x10 has no timestamps')


def test_merge_reports_sources_whose_time_goes_back(run, tmp_path):
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


def test_functions_in_json_and_csv(run, quicksort):
    rows = run('decode', quicksort, '--functions', '--format', 'json').json_lines()
    named = [row for row in rows if 'function' in row]
    assert named[0]['function'] == named[0]['demangled'] == '_start' and named[0]['offset'] == '0x0'
    assert all(row['kind'].startswith('range') for row in named)
    table = list(csv.DictReader(run('decode', quicksort, '--functions', '--format', 'csv').lines))
    assert [(row['function'], row['demangled'], row['offset']) for row in table if row['function']] == [
        (row['function'], row['demangled'], row['offset']) for row in named]
    threads = run('decode', quicksort, '--functions', '--format', 'csv', '-j', 2).out_bytes
    assert threads == run('decode', quicksort, '--functions', '--format', 'csv', '-j', 1).out_bytes


def types_of(value, name, types):
    """The type of each field by its path; all elements of a list share one path."""
    if isinstance(value, dict):
        for key, item in value.items():
            types_of(item, f'{name}.{key}', types)
    elif isinstance(value, list):
        for item in value:
            types_of(item, name + '[]', types)
    else:
        types.setdefault(name, set()).add(type(value).__name__)


def test_a_field_of_json_has_one_type(run, synth, quicksort):
    types = {}
    for protocol in 'etmv4', 'ete', 'ptm', 'etmv3', 'stm', 'itm':
        capture = synth('--protocol', protocol, '--isa', 'A32', '--size', 2000, '--timestamps', 20, '--cycle-counts', '--no-truth')
        window = ['--to', 2000]
        for args in (['decode', *window], ['packets', *window], ['decode', '--merge', 'time', *window], ['info'],
                     ['count', '--all']):
            for row in run(args[0], capture, *args[1:], '--format', 'json', expect=(0, 1)).json_lines():
                types_of(row, row['type'], types)
    for args in ['decode', '--functions'], ['count', '--functions']:
        for row in run(args[0], quicksort, *args[1:], '--format', 'json').json_lines():
            types_of(row, row['type'], types)
    assert types['element.timestamp_text'] == types['element.time'] == {'str'}
    assert types['element.timestamp'] == types['element.cycles'] == {'int'}
    # null: no cycle counts were traced.
    assert not {name: kinds for name, kinds in types.items() if len(kinds - {'NoneType'}) > 1}


def test_times_of_64_bits_are_exact(run, tmp_path):
    make_snapshot(tmp_path / 'timed', ETMV4_START + ATOM_E + bytes.fromhex('02e48080808080808080f7'))
    rows = run('decode', 'timed', '--format', 'json').json_lines()
    stamps = [(row['timestamp'], row['timestamp_text']) for row in rows if row.get('kind') == 'timestamp']
    assert stamps == [(2**63 + 100, str(2**63 + 100))]


@pytest.mark.parametrize('command, format, last', [
    ('decode', 'text', '-- interrupted: the rest is not shown'), ('packets', 'text', '-- interrupted: the rest is not shown'),
    ('decode', 'json', '{"type":"interrupted"}'), ('packets', 'json', '{"type":"interrupted"}'),
    ('decode', 'csv', 'interrupted' + 24 * ','), ('packets', 'csv', ',,,interrupted,,,')])
def test_an_interrupted_listing_says_so(run, long, command, format, last):
    result = run.interrupted(command, long, '--format', format, after=1024).quiet().whole_lines()
    assert result.lines[-1] == last


@pytest.mark.parametrize('format, last', [('text', '-- interrupted: the rest is not shown'),
                                          ('json', '{"type":"interrupted"}'), ('csv', ',,,interrupted,')])
def test_an_interrupted_search_says_so(run, long, format, last):
    result = run.interrupted('find', long, '--address', '0x80000+8', '--format', format, after=1024).quiet()
    assert result.whole_lines().lines[-1] == last


def test_colours_are_for_terminals(run, quicksort):
    assert b'\x1b[1m' in run.in_terminal('decode', quicksort, '--functions', on=('stdout',)).out_bytes
    assert b'\x1b' not in run('decode', quicksort, '--functions').out_bytes
    assert b'\x1b[36m_start\x1b[m' in run('decode', quicksort, '--functions', '--color=always').out_bytes
    assert b'\x1b' in run('decode', quicksort, '--color=always', env={'NO_COLOR': '1'}).out_bytes
    for args, env in (['--color=never'], {}), ([], {'NO_COLOR': '1'}), ([], {'TERM': 'dumb'}):
        assert b'\x1b' not in run.in_terminal('decode', quicksort, *args, on=('stdout',), env=env).out_bytes


@pytest.mark.parametrize('locale', ['C', 'POSIX', 'de_DE.ISO-8859-1', ''])
def test_arrows_are_ascii_without_utf8(run, quicksort, locale):
    run('decode', quicksort, env={'LC_ALL': locale, 'LANG': None}).has(' -> branch ').lacks('\u2192')
    run('decode', quicksort, env={'LC_ALL': 'en_GB.utf8'}).has('\u2192 branch')


def test_lines_are_not_wrapped(run, quicksort):
    shown = run.in_terminal('decode', quicksort, '--functions', '--color=never', on=('stdout',), columns=30)
    assert shown.out_bytes == run('decode', quicksort, '--functions').out_bytes


def test_a_second_interrupt_ends_at_once(run, long):
    # A stopped program gets both signals at the same time.
    _, process = run.start('decode', long, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, start_new_session=True)
    process.stdout.read(1)
    for number in signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT:
        process.send_signal(number)
    process.communicate(timeout=600)
    assert process.returncode in (-signal.SIGINT, -signal.SIGTERM)
