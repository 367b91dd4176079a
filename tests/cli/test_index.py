"""waymark index, find, --from and --to, on a small capture and on broken indexes."""
import csv
import shutil
import signal
import subprocess

import pytest
from support.snapshots import append, edit, make_snapshot
from support.trace_bytes import ATOM_E, ETMV4_START, framed

# What one round of the long capture has: A-sync, trace info, address 0x80000 with its context, two
# atoms, a timestamp (100, 200 ...), event 1, three atoms.
ROUND_BYTES = 35
TIME_PLACE = 28
ROUNDS = 20
SIZE = ROUNDS * ROUND_BYTES


def rounds(count):
    trace = b''
    for i in range(1, count + 1):
        trace += (bytes.fromhex('00000000000000000000008001010004' '85000008000000000031f7f7') +
                  bytes([0x02, i * 100 & 0x7f | 0x80, i * 100 >> 7 & 0x7f, 0x72]) + ATOM_E * 3)
    return trace


def make_rounds(folder, count=ROUNDS):
    make_snapshot(folder, rounds(count))
    edit(folder / 'etm.ini', ('TRCCONFIGR=0x1\n', 'TRCCONFIGR=0x801\n'))
    return folder


@pytest.fixture(scope='module')
def original(made):
    return made('rounds', make_rounds)


@pytest.fixture
def long(original, copy):
    """A copy without an index, named `long`."""
    copy(original, 'long')
    return 'long'


@pytest.fixture
def index_file(tmp_path):
    return tmp_path / 'long/trace.bin.waymark-index'


def rows_between(result, first, end=None):
    """The JSON lines whose index lies in [first, end)."""
    return [row for row in result.json_lines() if 'index' in row and row['index'] >= first and
            (end is None or row['index'] < end)]


def count_events(run, capture='long'):
    return run('find', capture, '--event', 1, '--count')


def test_an_index_is_made_and_found_complete_the_next_time(run, long, index_file):
    run('index', long).has(f'sparse index of {SIZE} of {SIZE} bytes')
    assert index_file.stat().st_size > 0
    run('index', long).has(f'{SIZE} of them before')


def test_info_says_the_same_with_an_index_and_without(run, long):
    without = run('info', long).lines
    run('index', long)
    assert [line for line in run('info', long).lines if not line.startswith('index ')] == without


FORMS = pytest.mark.parametrize('form', ['--sparse', '--full'])


@FORMS
@pytest.mark.parametrize('options, status, text', [
    (['--timestamp', 1234, '--format', 'csv'], 0, f'{12 * ROUND_BYTES + TIME_PLACE},16,1300,timestamp,1300'),
    (['--event', 1, '--count'], 0, '20'),
    (['--event', 0, '--count'], 0, '0'),
    (['--address', '0x80000..0x80008', '--count'], 0, '100'),
    (['--overflow'], 1, ''),
    (['--address', '0x90000'], 1, ''),
])
def test_find(run, long, form, options, status, text):
    run('index', long, form)
    result = run('find', long, *options, expect=status).has(text)
    if status:
        result.one_sentence()


@FORMS
def test_find_gives_each_event(run, long, form):
    run('index', long, form)
    assert len(run('find', long, '--event', 'any', '--format', 'json').json_lines()) == ROUNDS


@FORMS
@pytest.mark.parametrize('command', ['packets', 'decode'])
def test_a_window_prints_what_the_whole_run_prints_there(run, long, form, command):
    run('index', long, form)
    whole = run(command, long, '--format', 'json')
    windows = [([first], (first, None)) for first in (1, 34, 35, 36, 350, 400, 600)]
    windows += [([first, 500], (first, 500)) for first in (1, 34, 35, 36, 350, 400)]
    windows += [(['t:1000'], (9 * ROUND_BYTES + TIME_PLACE, None)),
                (['s:5', 's:7'], (4 * ROUND_BYTES, 6 * ROUND_BYTES))]
    for given, places in windows:
        options = [word for pair in zip(('--from', '--to'), given) for word in pair]
        part = run(command, long, '--format', 'json', *options)
        assert rows_between(part, 0) == rows_between(whole, *places), f'{command} {options}'


@pytest.mark.parametrize('args, said', [
    (['decode', 'long', '--from', 't:99999'], '2000'),
    (['decode', 'long', '--from', 's:21'], '20 synchronisation points'),
    (['decode', 'long', '--from', 's:0'], 's:0'),
    (['decode', 'long', '--from', SIZE], f'{SIZE} bytes'),
    (['decode', 'long', '--from', 5, '--to', 5], '--to 5'),
    (['decode', 'long', '--from', 'soon'], '--from soon'),
    (['decode', 'long', '--to', 's:21'], '20 synchronisation points'),
    (['decode', 'timeless', '--from', 't:5'], 'no timestamps'),
    (['decode', 'timeless', '--to', 't:5'], 'no timestamps'),
    (['find', 'long'], '--timestamp'),
    (['find', 'long', '--event', 1, '--overflow'], '--overflow'),
    (['find', 'long', '--event', 'many'], 'many'),
    (['find', 'long', '--event', 'any', '--to', 'soon'], '--to soon'),
    (['find', 'long', '--event', 'any', '--from', SIZE], f'{SIZE} bytes'),
    (['find', 'long', '--address', '5..4'], '5..4'),
    (['find', 'long', '--address', '0x80000', '--from', 'soon'], '--from soon'),
])
def test_places_that_are_not_in_the_trace(run, long, tmp_path, args, said):
    make_snapshot(tmp_path / 'timeless', ETMV4_START + ATOM_E * 3)
    run(*args, expect=2).one_sentence(said).empty()


def test_places_before_the_first_and_after_the_last_timestamp(run, long):
    whole = rows_between(run('decode', long, '--format', 'json'), 0)
    assert rows_between(run('decode', long, '--format', 'json', '--from', 't:0'), 0)
    assert rows_between(run('decode', long, '--format', 'json', '--to', 't:99999'), 0) == whole


def test_the_index_of_another_capture(run, long, tmp_path, index_file):
    run('index', long)
    make_rounds(tmp_path / 'other')
    trace = bytearray((tmp_path / 'other/trace.bin').read_bytes())
    trace[60] = 0xf6
    (tmp_path / 'other/trace.bin').write_bytes(trace)
    shutil.copyfile(index_file, tmp_path / 'other/trace.bin.waymark-index')
    run('index', 'other', expect=3).says('another capture', 'other/trace.bin.waymark-index')
    run('decode', 'other', '--from', 100, '--format', 'json').says('the index is not used')
    run('index', 'other', '--rebuild')


def test_a_capture_that_was_cut_and_one_that_has_grown(run, long, tmp_path):
    make_rounds(tmp_path / 'grown', 10)
    trace = tmp_path / 'grown/trace.bin'
    half = trace.read_bytes()
    run('index', 'grown', '--full')
    trace.write_bytes(half[:200])
    run('index', 'grown', expect=3).says('cut')
    trace.write_bytes(rounds(ROUNDS))
    count_events(run, 'grown').has('20').says('waymark index')
    run('index', 'grown').has('350 of them before')
    count_events(run, 'grown').quiet().has('20')
    events = ('--event', 'any', '--format', 'csv')
    assert run('find', 'grown', *events).out == run('find', long, *events).out


def test_other_registers(run, long):
    run('index', long)
    run('index', long, '--reg', 'TRCCONFIGR=0x1', expect=3).says('registers')


@pytest.mark.parametrize('kept', [1, 100, 1024, 3000, 9000])
def test_an_index_that_is_cut(run, long, index_file, kept):
    run('index', long)
    index_file.write_bytes(index_file.read_bytes()[:kept])
    run('index', long, expect=4).one_sentence()
    count_events(run).has('20').says('the index is not used')
    run('index', long, '--rebuild').quiet()
    count_events(run).quiet().has('20')


def test_an_empty_index(run, long, index_file):
    index_file.write_bytes(b'')
    count_events(run).has('20')
    run('index', long, '--rebuild').quiet()
    count_events(run).quiet().has('20')


FOREIGN = 'no database at all, but long enough to be read as one, or so one would think\n'


def test_a_file_of_another_kind_is_not_overwritten(run, long, index_file, tmp_path):
    index_file.write_text(FOREIGN)
    run('index', long, expect=4).one_sentence()
    assert index_file.read_text() == FOREIGN
    (tmp_path / 'letter').write_text('a letter\n')
    run('index', long, '--rebuild', '-o', 'letter', expect=4).says('letter')
    assert (tmp_path / 'letter').read_text() == 'a letter\n'
    run('index', long, '-o', 'long/trace.bin', expect=2).says('input file')
    assert (tmp_path / 'long/trace.bin').read_bytes() == rounds(ROUNDS)


@FORMS
@pytest.mark.parametrize('options', [['--event', 'any'], ['--address', '0x80000..0x80008']])
def test_find_in_a_part_of_the_trace(run, long, form, options):
    run('index', long, form)
    part = ('--from', 100, '--to', 350)
    everything = list(csv.reader(run('find', long, *options, '--format', 'csv').lines))
    expected = everything[:1] + [row for row in everything[1:] if 100 <= int(row[0]) < 350]
    assert list(csv.reader(run('find', long, *options, '--format', 'csv', *part).lines)) == expected
    assert run('find', long, *options, '--count', *part).out.split()[-1] == str(len(expected) - 1)


@FORMS
def test_find_from_a_place_on(run, long, form):
    run('index', long, form)
    run('find', long, '--event', 'any', '--count', '--from', 't:1000', '--to', 's:15').has('5')
    run('find', long, '--timestamp', 0, '--format', 'csv', '--from', 100, '--to', 350)
    run('find', long, '--timestamp', 300, '--from', 350, '--format', 'csv').has(
        f'{10 * ROUND_BYTES + TIME_PLACE},16,1100,timestamp,1100')
    run('find', long, '--overflow', '--from', 100, expect=1).one_sentence('part of the trace')


RAW = ('--protocol', 'etmv4', '--framing', 'mem', '--reg', 'TRCCONFIGR=0x1', '--reg', 'TRCIDR0=0x28000EA1',
       '--reg', 'TRCIDR1=0x4100F403', '--reg', 'TRCIDR2=0x488')


def test_sources_that_only_a_grown_capture_has(run, tmp_path):
    raw = tmp_path / 'raw.bin'
    raw.write_bytes(framed(0x10, ETMV4_START + ATOM_E * 2))
    run('index', 'raw.bin', *RAW)
    append(raw, framed(0x11, ETMV4_START + ATOM_E * 2))
    run('packets', 'raw.bin', *RAW, '--from', 1, '--format', 'csv').has(',17,')
    run('index', 'raw.bin', *RAW, expect=3).says('0x11')
    run('index', 'raw.bin', *RAW, '--rebuild')
    run('index', 'raw.bin', *RAW, '--id', 16, expect=3).one_sentence()


def test_a_capture_of_less_than_a_frame(run, tmp_path):
    (tmp_path / 'raw.bin').write_bytes(b'\x55' * 4)
    for _ in range(2):
        run('index', 'raw.bin', *RAW, '--id', 16)


def test_an_index_that_cannot_be_written_or_is_not_there(run, long):
    run('index', long, '-o', '/proc/nowhere/index').has('in memory: sparse index').says('memory')
    run('find', long, '--index', 'nowhere.index', '--event', 1, '--count').has('20').says('nowhere.index')


def start(run, *args):
    return run.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)[1]


def test_builders_that_were_killed_and_others_at_once(run, long):
    for _ in range(4):
        others = [start(run, 'index', long, '--rebuild')]
        victim = start(run, 'index', long)
        victim.send_signal(signal.SIGKILL)
        others.append(start(run, 'index', long, '--rebuild'))
        for process in (*others, victim):
            process.wait(timeout=600)
    run('index', long)
    count_events(run).quiet().has('20')


def test_several_processes_at_once(run, long):
    processes = [run.start('index', long, stdout=subprocess.PIPE, stderr=subprocess.PIPE)[1] for _ in range(3)]
    for process in processes:
        out, err = process.communicate(timeout=600)
        assert f'index of {SIZE} of {SIZE}' in out.decode(), err.decode()
    count_events(run).quiet().has('20')
