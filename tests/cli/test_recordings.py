"""perf.data: decoded as the snapshot of the same trace, and files that are damaged or incomplete."""
import json
import os
import re
import shutil
import struct
import subprocess

import pytest

from support.recordings import Recording

PROTOCOLS = ('etmv4', 'ete', 'ptm', 'etmv3')
HEADER = 104


@pytest.fixture(scope='session', params=PROTOCOLS)
def recorded(request, synth):
    """A snapshot with perf.data of three processes that run the same program."""
    return synth('--protocol', request.param, '--isa', 'A32', '--size', 16000, '--context-ids', 3, '--timestamps', 100,
                 '--perf-data')


@pytest.fixture(scope='session')
def two(synth):
    return synth('--protocol', 'etmv4,ete', '--size', 8000, '--exceptions', 5, '--context-ids', 2, '--perf-data', '--cores', 2)


def executed(result):
    """What was executed, source by source, without the places of the trace."""
    sources = {}
    for line in result.lines[1:]:
        _, trace_id, _, what = line.split(None, 3)
        sources.setdefault(trace_id, []).append(what.split(', process ')[0])
    # Before each piece of a recording, decoders are reset.
    return {trace_id: rows[1:] for trace_id, rows in sources.items()}


def test_a_recording_decodes_as_its_snapshot(run, recorded):
    recording = run('decode', recorded / 'perf.data', '--symfs', recorded).quiet()
    assert executed(recording) == executed(run('decode', recorded))


def test_several_cpus_and_threads(run, two):
    recording = run('decode', two / 'perf.data', '--symfs', two, '-j', 1).quiet()
    assert executed(recording) == executed(run('decode', two))
    assert run('decode', two / 'perf.data', '--symfs', two, '-j', 3).out_bytes == recording.out_bytes


def test_a_pipe(run, two):
    with open(two / 'perf.data', 'rb') as file:
        piped = run('decode', '-', '--symfs', two, stdin=file)
    assert piped.out == run('decode', two / 'perf.data', '--symfs', two).out


def test_the_counts_are_those_of_the_snapshot(run, recorded):
    def totals(path, *options):
        rows = run('count', path, *options, '--format', 'json').json_lines()
        return [(row['instructions'], row['ranges']) for row in rows if row['type'] == 'count']
    assert totals(recorded / 'perf.data', '--symfs', recorded) == totals(recorded)


def test_names_of_processes(run, two):
    result = run('decode', two / 'perf.data', '--symfs', two)
    result.has('context 0x100, process synth-256', 'context 0x101, process synth-257')


def test_programs_on_the_command_line(run, two, quicksort, tmp_path):
    perf_data = two / 'perf.data'
    for name in 'memory_0.bin', 'memory_1.bin':
        shutil.copyfile(two / name, tmp_path / name)
    result = run('decode', perf_data, '--elf', 'memory_0.bin', '--elf', 'memory_1.bin')
    assert result.out == run('decode', perf_data, '--symfs', two).out
    run('decode', perf_data, '--elf', quicksort / 'quicksort.elf').has('no code image')
    run('decode', perf_data, '--elf', 'memory_0.bin@0x1000', expect=3).one_sentence('without an address')
    run('decode', perf_data, '--image', '0=memory_0.bin', expect=3).one_sentence('--symfs')


def test_an_index(run, two, copy, tmp_path):
    copy(two, 'indexed')
    whole = run('decode', 'indexed/perf.data', '--symfs', two, '--from', 9000, '--to', 9500).out
    run('index', 'indexed/perf.data', '--full')
    assert run('decode', 'indexed/perf.data', '--symfs', two, '--from', 9000, '--to', 9500).quiet().out == whole
    assert run('index', 'indexed/perf.data').quiet().out


def test_info(run, two):
    result = run('info', two / 'perf.data', '--symfs', two).quiet()
    result.has('1 AUX record', 'synth-256', 'synth-257', 'found').lacks('missing', 'no program image')
    value = run('info', two / 'perf.data', '--symfs', two, '--format', 'json').json()
    assert [process['name'] for process in value['processes'] if process['pid'] > 0] == ['synth-257', 'synth-256']
    sources = sum(source['bytes'] - source['unsynced_bytes'] for source in value['sources'])
    assert sum(process['bytes'] for process in value['processes']) == sources
    assert value['missing_programs'] == []


TIMED = ('--protocol', 'etmv4,ete,ptm,etmv3', '--isa', 'A32', '--size', 40000, '--exceptions', 50, '--context-ids', 3,
         '--timestamps', 40, '--perf-data')


@pytest.mark.parametrize('kind', ['--perf-times', '--perf-switches'])
@pytest.mark.parametrize('form', [(), ('--perf-raw', '--perf-order', 'big'), ('--perf-pieces', 3)])
def test_times_in_the_trace(run, synth, kind, form):
    """The memory of each process changes within the pieces of trace."""
    folder = synth(*TIMED, kind, *form)
    arguments = ('--symfs', folder, '--virtual-timestamps')
    recording = folder / 'perf.data'
    info = run('info', recording, *arguments).has('timestamps in the trace')
    assert all(f'synth-{pid}' in info.out for pid in (256, 257, 258))
    if '--perf-pieces' not in form:
        run('synth', '--check', recording)
        run('decode', recording, *arguments).lacks('no_access', 'not readable')
    one = run('decode', recording, *arguments).out
    assert run('decode', recording, *arguments, '--threads', 4).out == one
    counts = run('count', recording, *arguments, '--all', '--format', 'json').out
    assert run('count', recording, *arguments, '--all', '--format', 'json', '--threads', 4).out == counts

    def instructions(*options):
        sources = run('count', recording, *arguments, *options, '--format', 'json').json_lines()
        return sum(source['instructions'] for source in sources if source['type'] == 'count')
    each = [instructions('--pid', pid) for pid in (256, 257, 258)]
    assert min(each) > 1000
    if '--perf-pieces' not in form:
        assert sum(each) == instructions()


def test_times_of_units_that_do_not_say_which_clock(run, synth):
    folder = synth('--protocol', 'ptm', '--isa', 'A32', '--size', 8000, '--timestamps', 40, '--perf-data', '--perf-times')
    recording = folder / 'perf.data'
    run('info', recording, '--symfs', folder).has('those of the AUX records')
    run('info', recording, '--symfs', folder, '--virtual-timestamps').has('timestamps in the trace')
    assert run('info', recording, '--symfs', folder, '--format', 'json').json()['times'] == 'aux_records'


def test_a_recording_that_does_not_say_which_process_ran(run, synth, tmp_path):
    folder = synth(*TIMED, '--perf-switches')
    switch = 14
    nothing = tmp_path / 'nothing.data'
    nothing.write_bytes(Recording.read(folder / 'perf.data').without(switch).bytes())
    run('info', nothing, '--symfs', folder).has('does not show which process ran', '--switch-events')


def test_switches_without_times_that_can_be_compared(run, synth):
    folder = synth('--protocol', 'ptm', '--isa', 'A32', '--size', 8000, '--timestamps', 40, '--context-ids', 3, '--perf-data',
                   '--perf-switches')
    recording = folder / 'perf.data'
    run('info', recording, '--symfs', folder).has('ran alone on a CPU', 'cs_etm/contextid/')
    run('info', recording, '--symfs', folder, '--virtual-timestamps').lacks('ran alone')


def test_without_the_programs(run, two, tmp_path):
    result = run('info', two / 'perf.data').has('missing  /memory_0.bin')
    result.matches('programs are missing, such as /memory_[01].bin. .*--symfs')
    (tmp_path / 'empty').mkdir()
    run('info', two / 'perf.data', '--symfs', 'empty').matches('No --symfs folder has such a file')
    run('decode', two / 'perf.data', '--symfs', 'empty').has('no code image')


def header(content, **changes):
    """perf.data with other values in its header."""
    fields = ('magic', 'size', 'attr_size', 'attrs', 'attrs_bytes', 'data', 'data_bytes', 'types', 'types_bytes')
    values = dict(zip(fields, struct.unpack_from('<9Q', content)))
    values.update(changes)
    return struct.pack('<9Q', *(values[field] for field in fields)) + content[72:]


def records(data):
    """(offset, type, size) of each record before the trace."""
    at = struct.unpack_from('<Q', data, 40)[0]
    found = []
    while at + 8 <= len(data):
        kind, _, size = struct.unpack_from('<IHH', data, at)
        found.append((at, kind, size))
        if kind == 71 or size < 8:  # AUXTRACE: the trace follows.
            break
        at += size
    return found


def test_a_recording_that_a_crash_cut_off(run, two, tmp_path):
    """perf writes the size of the data, and the features after them, at the end; it is 0 until then."""
    data = (two / 'perf.data').read_bytes()
    data = data[:sum(struct.unpack_from('<QQ', data, 40))]
    (tmp_path / 'unfinished').write_bytes(header(data, data_bytes=0))
    result = run('decode', 'unfinished', '--symfs', two)
    assert result.out == run('decode', two / 'perf.data', '--symfs', two).out
    assert len(result.err.splitlines()) == 1, 'one note'


def test_a_file_that_is_cut_anywhere(run, two, tmp_path):
    """A clear sentence, or what is there."""
    data = (two / 'perf.data').read_bytes()
    for size in [0, 4, 8, 16, 50, 103, 104, 120, 200, *(at + 5 for at, _, _ in records(data)), len(data) // 2]:
        (tmp_path / 'cut').write_bytes(data[:size])
        result = run('decode', 'cut', '--symfs', two, expect=(0, 1, 3))
        if result.code == 3:
            result.one_sentence('cut')
        else:
            result.says('cut')


def test_damaged_fields(run, two, tmp_path):
    """Bytes of the header and of the records in turn: no crash.  perf_data_fuzz tries all values."""
    data = (two / 'perf.data').read_bytes()
    end = records(data)[-1][0] + 48
    for at in range(0, end, 31):
        damaged = bytearray(data[:end + 500])
        damaged[at] = 0 if at % 2 else 0xff
        (tmp_path / 'damaged').write_bytes(damaged)
        run('info', 'damaged', '--symfs', two, expect=(0, 1, 3))


@pytest.mark.parametrize('change, sentence', [
    ({'magic': 0x32454c4946524551}, ''),
    ({'data': 1 << 60}, ''),
])
def test_headers_that_are_refused(run, two, tmp_path, change, sentence):
    (tmp_path / 'bad').write_bytes(header((two / 'perf.data').read_bytes(), **change))
    run('decode', 'bad', '--symfs', two, expect=(1, 2, 3)).says('bad', sentence)


def test_recordings_that_lack_something(run, two, tmp_path):
    data = (two / 'perf.data').read_bytes()

    def without(kinds):
        """The records of these types become records of a type that nothing reads."""
        changed = bytearray(data)
        for at, kind, _ in records(data):
            if kind in kinds:
                struct.pack_into('<I', changed, at, 200)
        (tmp_path / 'changed').write_bytes(changed)
        return run('decode', 'changed', '--symfs', two, expect=(0, 1, 3))
    without({71}).one_sentence('changed')
    without({11})  # Without AUX records, each buffer is one piece.
    without({70}).one_sentence('CoreSight')
    result = without({10})
    assert result.code == 0 and 'no code image' in result.out, 'no memory is known'


def test_the_wrong_file_of_that_name_is_not_used(run, two, tmp_path):
    """Without build IDs any file of the name is used; synthetic recordings have none."""
    shutil.copytree(two, tmp_path / 'root')
    os.truncate(tmp_path / 'root/memory_0.bin', 0)
    run('decode', two / 'perf.data', '--symfs', 'root').has('no code image')


def test_synth_refuses_what_perf_does_not_record(run):
    run('synth', '-o', 'x', '--protocol', 'stm', '--perf-data', expect=2).one_sentence('--perf-data')
    run('synth', '-o', 'x', '--framing', 'none', '--perf-data', expect=2).one_sentence('--framing mem')


# -- Real recordings, from ../shared where it is present --

@pytest.fixture(scope='session')
def real(repository):
    folder = repository.parent / 'shared/data/perf'
    if not folder.is_dir():
        pytest.skip('there is no ../shared')
    return folder


def ranges_of(result):
    return [row for row in result.json_lines() if row.get('kind') == 'range']


def test_two_processes_at_one_address(run, real):
    """Each instruction of each CPU, as the simulation that made the trace executed it."""
    folder = real / 'two-process'
    expected = {}
    for line in (folder / 'expected/i1i.1.8.0.txt').read_text().splitlines():
        words = line.split()
        expected.setdefault(int(words[2].strip('[]')), []).append(int(words[5], 16))
    executed_by = {}
    for row in ranges_of(run('decode', folder / 'perf.data', '--symfs', folder / 'symfs', '--format', 'json').quiet()):
        cpu = {0x10: 0, 0x12: 1}[row['id']]
        executed_by.setdefault(cpu, []).extend(range(int(row['start'], 16), int(row['end'], 16), 4))
    assert executed_by == expected
    assert sum(len(addresses) for addresses in expected.values()) == 1068
    names = run('decode', folder / 'perf.data', '--symfs', folder / 'symfs', '--functions')
    names.has('process alpha', 'process beta', 'in leaf_add+0x4')


def test_counts_of_two_processes_at_one_address(run, real):
    """Both programs have the same functions at the same addresses; the expected lines name them."""
    folder = real / 'two-process'
    where = [folder / 'perf.data', '--symfs', folder / 'symfs']
    rows = run('decode', *where, '--format', 'json', '--functions').json_lines()
    programs = {'0x3e9': '/opt/app/alpha', '0x3ea': '/opt/app/beta'}
    program = {}  # By the source.
    expected = {}
    for row in rows:
        if row['kind'] == 'context':
            program[row['id']] = programs[row['context_id']]
        if row['kind'] == 'range':
            path, count = program[row['id']], row['instructions']
            if row['function'] == '_start':
                # It has one instruction, and main_loop is next.
                expected[path, 'main_loop'] = expected.get((path, 'main_loop'), 0) + count - 1
                count = 1
            key = path, row['function']
            expected[key] = expected.get(key, 0) + count
    for threads in 1, 2:
        counts = run('count', *where, '--functions', '--format', 'json', '-j', threads).json_lines()
        counted = {(row['program'], row['name']): row['instructions'] for row in counts if row['type'] == 'count_function'}
        assert counted == expected
    assert sum(expected.values()) == 1068
    run('count', *where, '--functions', '--comm', 'beta', '--all').lacks('alpha').has('leaf_mix  /opt/app/beta')
    ranges = sum(row['kind'] == 'range' and row['function'] == 'leaf_mix' for row in rows)
    found = [int(run('find', *where, '--address', f'{program}:leaf_mix', '--count').out) for program in ('alpha', 'beta')]
    assert sum(found) == ranges and all(found)
    run('find', *where, '--address', 'nowhere', expect=1).one_sentence('nothing was executed in nowhere')
    table = run('count', *where, '--edges', '--format', 'csv').lines
    assert table[0].endswith(',program,to_program')
    assert all(line.endswith(',/opt/app/alpha,/opt/app/alpha') or line.endswith(',/opt/app/beta,/opt/app/beta')
               or line.endswith(',') for line in table[1:])


def test_a_recording_of_a_phone(run, real):
    sample = real / 'simpleperf/samples/pixel5-user'
    expected = json.loads((sample / 'expected.json').read_text())
    program, = expected['binaries'].values()
    counts = {}
    for row in ranges_of(run('decode', sample / 'perf.data', '--symfs', real / 'simpleperf/symdir', '--format', 'json')):
        # The program is a PIE: its first page is where the recording maps it.
        place = int(row['start'], 16) & 0xfff, int(row['end'], 16) - 4 & 0xfff
        counts[place] = counts.get(place, 0) + 1
    assert counts == {(int(first, 16) & 0xfff, int(last, 16) & 0xfff): count
                      for first, last, count in program['ranges']}
    # The counts have the addresses of the file.
    blocks = run('count', sample / 'perf.data', '--symfs', real / 'simpleperf/symdir', '--all', '--format', 'json')
    assert {(int(row['start'], 16), int(row['end'], 16) - 4, row['program']): row['times']
            for row in blocks.json_lines() if row['type'] == 'count_block'} == \
        {(int(first, 16), int(last, 16), '/data/local/tmp/etm_test_loop'): count for first, last, count in program['ranges']}
    packets = run('packets', sample / 'perf.data', '--format', 'json').json_lines()
    assert len(packets) == expected['packets']['total']
    counted, = [row for row in run('count', sample / 'perf.data', '--symfs', real / 'simpleperf/symdir', '--format',
                                   'json').json_lines() if row['type'] == 'count' and row['ranges']]
    assert (counted['instructions'], counted['ranges']) == (expected['instructions'], program['range_executions'])


def test_a_recording_of_a_kernel(run, real):
    sample = real / 'simpleperf/samples/pixel5-kernel'
    expected = json.loads((sample / 'expected.json').read_text())
    types = {}
    for line in run('packets', sample / 'perf.data', '--format', 'csv').lines[1:]:
        kind = line.split(',')[3].removeprefix('I_')
        types[kind] = types.get(kind, 0) + 1
    # simpleperf counts one packet for all bytes before a synchronisation point.
    types.pop('NOT_SYNC')
    expected['packets']['per_type'].pop('0x200')
    assert types == expected['packets']['per_type']
    run('info', sample / 'perf.data', '--symfs', real / 'simpleperf/symdir').has('simpleperf', 'cpu6')
    elements = {}
    unreadable = set()
    for line in run('decode', sample / 'perf.data', '--symfs', real / 'simpleperf/symdir', '--format', 'json').json_lines():
        elements[line['kind']] = elements.get(line['kind'], 0) + 1
        if line['kind'] == 'no_access':
            unreadable.add(line['address'])
    decoded = expected['relocated']['elements']
    for here, there in (('range', 'instr_range'), ('trace_on', 'trace_on'), ('exception', 'exception'),
                        ('exception_return', 'exception_return'), ('context', 'pe_context')):
        assert elements[here] == decoded[there]
    # At an exception, simpleperf's decoder walks from an address that it has just found unreadable, and reports it
    # again: the quirk exception_walk_unchecked.
    assert elements['no_access'] == decoded['addr_nacc'] - 1
    assert len(unreadable) == expected['elements']['distinct_nacc_addresses']


def test_timelines_have_the_times_of_perf(run, synth):
    if shutil.which('perf') is None:
        pytest.skip('perf is missing')
    folder = synth('--protocol', 'etmv4', '--size', 16000, '--timestamps', 40, '--perf-data', '--perf-times')
    timeline = ('export', 'trace-event', folder / 'perf.data', '--symfs', folder)
    rows = json.loads(run(*timeline).out)['traceEvents']
    times = [row['ts'] * 1000 for row in rows if row['ph'] in 'BE']
    dump = subprocess.run(['perf', 'script', '-D', '-i', folder / 'perf.data'], capture_output=True).stdout
    records = [int(time) for time in re.findall(rb'^\d+ (\d+) 0x\w+ \[\w+\]: PERF_RECORD_(?:AUX|MMAP2)', dump, re.M)]
    records = [time for time in records if time != 0]  # 0: before recording began.
    assert min(records) <= min(times) < max(times) <= max(records)
