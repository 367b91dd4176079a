"""waymark index, find, --from and --to, on a small capture and on broken indexes."""
import csv
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from support.snapshots import append, edit, make_snapshot
from support.trace_bytes import ATOM_E, ETMV4_START, ITM_SYNC, framed

# One round of the long capture: A-sync, trace info, address 0x80000 with its context, two
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
    """The JSON lines whose index is in [first, end)."""
    return [row for row in result.json_lines() if 'index' in row and row['index'] >= first and
            (end is None or row['index'] < end)]


def count_events(run, capture='long'):
    return run('find', capture, '--event', 1, '--count')


def test_an_index_is_made_and_found_complete_the_next_time(run, long, index_file):
    run('index', long).has(f'sparse index of {SIZE} of {SIZE} bytes')
    assert index_file.stat().st_size > 0
    run('index', long).has(f'{SIZE} of them already indexed')


def test_info_is_the_same_with_and_without_an_index(run, long):
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
    (['decode', 'long', '--from', 'soon'], "--from 'soon'"),
    (['decode', 'long', '--to', 's:21'], '20 synchronisation points'),
    (['decode', 'timeless', '--from', 't:5'], 'no timestamps'),
    (['decode', 'timeless', '--to', 't:5'], 'no timestamps'),
    (['find', 'long'], '--timestamp'),
    (['find', 'long', '--event', 1, '--overflow'], '--overflow'),
    (['find', 'long', '--event', 'many'], 'many'),
    (['find', 'long', '--event', 'any', '--to', 'soon'], "--to 'soon'"),
    (['find', 'long', '--event', 'any', '--from', SIZE], f'{SIZE} bytes'),
    (['find', 'long', '--address', '5..4'], '5..4'),
    (['find', 'long', '--address', '0x80000', '--from', 'soon'], "--from 'soon'"),
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
    run('index', 'grown', expect=3).says('cut off')
    trace.write_bytes(rounds(ROUNDS))
    count_events(run, 'grown').has('20').says('waymark index')
    run('index', 'grown').has('350 of them already indexed')
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
    run('index', long, expect=4).one_sentence('not an index', 'choose another file').never_says('delete')
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
    run('index', long, '-o', '/proc/nowhere/index', expect=4).one_sentence('/proc/nowhere/index').empty()
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


def test_an_index_as_json(run, long, index_file):
    report, = run('index', long, '--format', 'json').json_lines()
    assert report == {'type': 'index', 'file': 'long/trace.bin.waymark-index', 'form': 'sparse',
                      'trace_bytes': SIZE, 'indexed': SIZE, 'indexed_before': 0, 'complete': True,
                      'file_bytes': index_file.stat().st_size}


def test_a_report_that_cannot_be_written(run, long, full_device):
    run('index', long, stdout=full_device, expect=4).one_sentence()


def test_pipes_and_folders_are_not_indexes(run, long, tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    for options in ([], ['--rebuild']):
        for name in ('pipe', 'long', '/dev/null'):
            run('index', long, '-o', name, *options, expect=4).one_sentence('not a regular file')
    run('find', long, '--index', 'pipe', '--event', 1, '--count').has('20').says('not a regular file')


@pytest.mark.parametrize('command', [['decode'], ['packets'], ['info'], ['count'], ['find', '--event', '1']])
def test_an_output_does_not_replace_the_index(run, long, index_file, command):
    run('index', long)
    before = index_file.read_bytes()
    name, *options = command
    window = [] if name == 'info' else ['--from', 1]
    for index in (['--index', index_file], []):
        run(name, long, *options, *window, *index, '-o', index_file, expect=2).one_sentence('input file')
    assert index_file.read_bytes() == before


# -- Is the capture still what was indexed? --

def zero(path, at, size):
    with open(path, 'r+b') as file:
        file.seek(at)
        file.write(bytes(size))


@FORMS
def test_a_change_anywhere_in_the_capture_is_noticed(run, synth, copy, form):
    """Overwrites 200 KB with zeros, also with the old times of the file."""
    changed = copy(synth('--size', '500K', '--protocol', 'etmv4', '--timestamps', 500), 'changed')
    trace = changed / 'trace.bin'
    run('index', 'changed', form)
    times = trace.stat()
    zero(trace, 300_000, 200_000)
    for _ in range(2):
        result = run('find', 'changed', '--timestamp', 0, '--format', 'csv').says('changed since')
        run('index', 'changed', expect=3).one_sentence('changed since', '--rebuild')
        os.utime(trace, ns=(times.st_atime_ns, times.st_mtime_ns))
    run('index', 'changed', form, '--rebuild')
    assert run('find', 'changed', '--timestamp', 0, '--format', 'csv').quiet().out == result.out


def test_a_capture_that_was_only_touched_keeps_its_index(run, long, tmp_path):
    run('index', long)
    os.utime(tmp_path / 'long/trace.bin', ns=(10**18, 10**18))
    for _ in range(2):
        count_events(run).quiet().has('20')
    run('index', long).quiet().has(f'{SIZE} of them already indexed')


# -- A damaged index --

def damage_block_keys(path):
    """The keys of all rows of stream_blocks with synchronisation points, in place.  SQLite trusts their
    order."""
    data = bytearray(path.read_bytes())
    changed = 0
    for at in range(1024, len(data) - 40):
        # A record of 26 columns: the size of its header, their types, ID 0x10, the block.
        if data[at] == 27 and data[at + 1] == 1 and data[at + 2] == 1 and data[at + 27] == 0x10:
            if data[at + 10] != 8:  # The type of `syncs`: not the number 0.
                data[at + 28] = 127
                changed += 1
    assert changed
    path.write_bytes(data)


def test_a_damaged_index_is_not_used(run, synth, copy):
    capture = synth('--size', '700K', '--protocol', 'etmv4', '--sync-period', 262144, '--timestamps', 500, '--no-truth')
    damaged = copy(capture, 'damaged')
    window = ('--from', 263144, '--to', 280000)
    expected = run('decode', 'damaged', *window).out
    run('index', 'damaged', '--full')
    assert run('decode', 'damaged', *window).quiet().out == expected
    damage_block_keys(damaged / 'trace.bin.waymark-index')
    result = run('decode', 'damaged', *window)
    assert result.out == expected
    result.says('this index is damaged', 'rebuild it with `waymark index --rebuild`')
    run('find', 'damaged', '--timestamp', 100_000, *window, expect=None)
    run('index', 'damaged', '--rebuild')
    assert run('decode', 'damaged', *window).quiet().out == expected


# -- Where indexes are --

@pytest.fixture
def read_only(original):
    """A copy in a folder that is read-only for a run with the returned options."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(original, Path(folder) / 'long')
        (Path(folder) / 'cache').mkdir()
        os.chmod(folder, 0o755)
        options = {'cwd': folder, 'env': {'XDG_CACHE_HOME': Path(folder) / 'cache'}}
        if os.geteuid() == 0:
            nobody = 65534
            os.chown(Path(folder) / 'cache', nobody, nobody)
            options.update(user=nobody, group=nobody)
        os.chmod(Path(folder) / 'long', 0o555)
        yield Path(folder), options
        os.chmod(Path(folder) / 'long', 0o755)


def test_an_index_in_the_cache_of_the_user(run, read_only):
    folder, options = read_only
    made = run('index', 'long', **options)
    index, = (folder / 'cache/waymark').iterdir()
    assert index.name.startswith('trace.bin-') and index.name.endswith('.waymark-index')
    made.has(str(index))
    run('index', 'long', **options).has(f'{SIZE} of them already indexed')
    run('info', 'long', **options).has(f'index     {index}')
    run('info', folder / 'long', **options).has(f'index     {index}')
    run('find', 'long', '--event', 1, '-o', index, expect=2, **options).one_sentence('input file')
    assert not list((folder / 'long').glob('*.waymark-index'))


def test_no_place_for_an_index(run, read_only):
    folder, options = read_only
    options['env'].update(XDG_CACHE_HOME='/proc/nowhere')
    run('index', 'long', expect=4, **options).one_sentence('long/trace.bin.waymark-index')


# -- Timestamps --

def test_a_window_between_two_timestamps(run, long):
    run('decode', long, '--from', 't:1010', '--to', 't:1090', expect=2).one_sentence(
        'no timestamp between them', 'the one before is 1000', 'the next one is 1100', '--from t:1000')
    run('decode', long, '--from', 't:10', '--to', 't:90', expect=2).one_sentence(
        'no timestamp between them', 'the next one is 100')



def itm_exception(number, delta):
    """Entry of an exception, and the local timestamp that follows it."""
    return bytes([0x0e, number, 0x10]) + bytes([delta << 4])


def test_exceptions_of_an_itm_have_their_own_time(run, tmp_path):
    trace = ITM_SYNC + itm_exception(15, 5) + itm_exception(16, 6) * 2 + bytes([0x0e, 17, 0x10])
    (tmp_path / 'swo.bin').write_bytes(trace)
    swo = ('swo.bin', '--protocol', 'itm', '--framing', 'none')  # Too short to be recognised.
    found = run('find', *swo, '--exception', 'any', '--format', 'json').json_lines()
    assert [(hit['value'], hit.get('time')) for hit in found] == [
        ('15', '5'), ('16', '11'), ('16', '17'), ('17', None)]
    run('index', *swo, '--full')
    assert run('find', *swo, '--exception', 'any', '--format', 'json').json_lines() == found
    # The place of a time is the place of the first packet with this time.
    window = run('decode', *swo, '--from', 't:11', '--to', 't:17', '--format', 'json').json_lines()
    assert [row['what'] for row in window if 'what' in row] == ['exception', 'local_timestamp']


# -- find --address --

def test_addresses_by_name_and_length(run, quicksort, long, tmp_path):
    whole = run('find', quicksort, '--address', 'quicksort', '--count').out
    assert int(whole) > 0
    assert run('find', quicksort, '--address', '0x400244..0x4002f8', '--count').out
    run('find', quicksort, '--address', 'quicksort+4', '--count')
    run('find', quicksort, '--address', 'slowsort', expect=2).one_sentence('slowsort')
    assert run('find', long, '--address', '0x80000+8', '--count').out == '100\n'
    run('find', long, '--address', 'quicksort', expect=2).one_sentence('--symbols')
    program = f'{quicksort}/quicksort.elf@0xffffffffffc7fafc'
    assert run('find', long, '--address', 'run', '--symbols', program, '--count').out == '100\n'
    assert run('find', long, '--address', 524288, '--count', '--format', 'json').json_lines() == [
        {'type': 'found_count', 'count': 100}]
    assert run('find', long, '--event', 1, '--count', '--format', 'csv').out == 'count\n20\n'
