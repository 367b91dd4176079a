"""Captures: opening, packets, messages, counts and other results; and what is refused."""
import gc
import json
import os
import pickle
import resource
from pathlib import Path

import pytest

import waymark
from support import stp


def test_sources(capture):
    assert capture.kind == 'snapshot folder'
    assert [(source['id'], source['protocol']) for source in capture.sources] == [(0x10, 'ETMV4I')]
    assert capture.trace_bytes == 9776


def test_packets_equal_those_of_the_program(capture, sample, tool_records):
    packets = list(capture.packets())
    records = tool_records('packets', sample)
    assert len(packets) == len(records)
    for packet, record in zip(packets, records):
        assert (packet.index, packet.id, packet.protocol, packet.name, packet.text) == \
            tuple(record[name] for name in ('index', 'id', 'protocol', 'name', 'text'))
        assert packet.bytes.hex() == record['bytes']
        assert list(packet.fields) == list(record['fields'])
        for name, value in packet.fields.items():
            wanted = record['fields'][name]
            if isinstance(wanted, str) and wanted.startswith('0x'):
                wanted = int(wanted, 16)
            assert value == wanted


def test_totals_equal_those_of_the_program(capture, sample, tool_records):
    counted, = tool_records('count', sample)
    totals = capture.counts().totals
    assert totals['instructions'] == counted['instructions'] == 44901


def test_threads_count_the_same(capture):
    one, more = capture.counts(), capture.counts(threads=3)
    assert one.totals == more.totals
    assert one.ranges().equals(more.ranges())


def test_counts_are_sums_over_elements(capture):
    elements = capture.elements()
    ranges = elements[elements['kind'] == waymark.Kind.RANGE]
    counts = capture.counts()
    assert ranges['count'].sum() == counts.totals['instructions']
    assert counts.ranges()['instructions'].sum() == counts.totals['instructions']
    assert len(counts.edges()) != 0


def test_functions_equal_those_of_the_program(capture, sample, tool):
    import csv
    import io
    text = tool('count', sample, '--functions', '--format', 'csv').decode()
    wanted = {row['name']: int(row['instructions']) for row in csv.DictReader(io.StringIO(text))}
    table = capture.counts().functions()
    assert dict(zip(table['symbol'], table['instructions'])) == wanted


def test_profile(capture):
    profile = capture.profile()
    assert profile.programs['program'][0].endswith('quicksort.elf')
    assert profile.programs['instructions'].sum() == 44901
    assert profile.ranges['instructions'].sum() == 44901
    assert 'quicksort' in set(profile.branches['to_function'])


def test_stacks_equal_those_of_the_program(capture, sample, tool_records):
    stacks = capture.stacks()
    assert stacks['instructions'].sum() == 44901
    records = [record for record in tool_records('count', sample, '--tree', '--all')
               if 'depth' in record]
    assert len(stacks) == len(records)
    found = sorted((row.depth, row.function, row.instructions, row.total_instructions, row.calls)
                   for row in stacks.itertuples())
    assert found == sorted((record['depth'], record['name'], record['own_instructions'],
                            record['instructions'], record['calls']) for record in records)
    parents = set(stacks['node']) | {0}
    assert set(stacks['parent']) <= parents


def test_intervals_equal_those_of_the_program(capture, sample, tool_records):
    found = capture.intervals('quicksort', 'quicksort')
    records = {record['unit']: record for record in
               tool_records('interval', sample, '--from', 'quicksort', '--to', 'quicksort')}
    assert set(found.lengths['unit']) == set(records)
    for row in found.lengths.itertuples():
        record = records[row.unit]
        assert row.count == record['count']
        for name in ('minimum', 'median', 'maximum'):
            assert getattr(row, name) == record[name]
    assert found.histogram['count'].sum() == found.lengths['count'].sum()


def test_symbols(capture):
    assert 'quicksort' in set(capture.symbols()['function'])


def test_messages_of_a_capture_without_any(capture):
    assert not list(capture.messages())


def test_messages_equal_those_of_the_program(tmp_path, tool, tool_records):
    path = tmp_path / 'stm.bin'
    path.write_bytes(stp.stp(
        stp.sync(1000000), stp.at(0x81, 4), stp.message(1000, '01415042', '00656E6F'),
        stp.message(2000, '01416022', '006F7774')))
    with waymark.open(path, protocol='stm', framing='none') as capture:
        found = list(capture.messages())
    assert len(found) == 2
    assert found == tool_records('syst', path, '--protocol', 'stm')


def test_damage(sample, tmp_path, tool_records):
    for file in sample.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    trace = bytearray((tmp_path / 'trace.bin').read_bytes())
    trace[3000:3100] = bytes(range(100))
    (tmp_path / 'trace.bin').write_bytes(trace)
    records = tool_records('decode', tmp_path)
    with waymark.open(tmp_path) as capture:
        batches = capture.batches()
        elements = [record for batch in batches for record in waymark.records(batch)]
        damage = batches.damage()
        assert len(capture.damage()) == len(damage)
    assert damage and damage == [record for record in records if record['type'] == 'damage']
    assert elements == [record for record in records if record['type'] != 'damage']


# -- What is refused. -----------------------------------------------------------------------------

def test_closed_capture(sample):
    with waymark.open(sample) as capture:
        batches = capture.batches(10)
        next(batches)
        packets = capture.packets()
    assert capture.closed
    uses = [capture.batches, capture.packets, capture.counts, capture.stacks, capture.symbols,
            capture.elements, capture.messages, lambda: capture.sources, lambda: capture.kind,
            lambda: next(batches), lambda: capture.intervals('a', 'b')]
    for use in uses:
        with pytest.raises(waymark.InvalidArgument, match='closed'):
            use()
    capture.close()
    assert 'closed' in repr(capture) and 'closed' in capture._repr_html_()
    del capture, packets


def test_errors_carry_code_and_sentence(tmp_path):
    with pytest.raises(waymark.NotFound) as caught:
        waymark.open(tmp_path / 'nothing')
    assert caught.value.code == 'not_found'
    assert str(tmp_path / 'nothing') in str(caught.value)
    assert isinstance(caught.value, (waymark.Error, LookupError))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (waymark.NotFound, str(caught.value))


@pytest.mark.parametrize('options, kind', [
    ({'bufer': 'x'}, TypeError), ({'ids': 'x'}, TypeError), ({'ids': [128]}, ValueError),
    ({'ids': [-1]}, TypeError), ({'cpus': [1 << 40]}, TypeError), ({'buffer': 5}, TypeError),
    ({'framing': 'wrong'}, ValueError), ({'registers': {'A': 'b'}}, TypeError),
    ({'registers': [1]}, TypeError), ({'images': ['x']}, TypeError), ({'images': 5}, TypeError),
    ({'programs': [('x',)]}, TypeError), ({'programs': [5]}, TypeError),
    ({'nibble_order': 'some'}, ValueError), ({'buffer': 'no such'}, waymark.Error),
    ({'roots': 'x\0y'}, (TypeError, ValueError)), ({'protocol': 'nothing'}, waymark.Error)])
def test_wrong_options(sample, options, kind):
    with pytest.raises(kind):
        waymark.open(sample, **options)


@pytest.mark.parametrize('path', [None, 5, 1.5, [], object(), b'\0', 'a\0b'])
def test_wrong_paths(path):
    with pytest.raises((TypeError, ValueError)):
        waymark.open(path)


@pytest.mark.parametrize('size', [0, -1, 1 << 40, 'x', None, 2.5])
def test_wrong_sizes(capture, size):
    with pytest.raises((TypeError, ValueError)):
        capture.batches(size)


@pytest.mark.parametrize('threads', [0, -1, 257, 'x'])
def test_wrong_threads(capture, threads):
    with pytest.raises((TypeError, ValueError)):
        capture.counts(threads=threads)


@pytest.mark.parametrize('elements', [None, 5, [1], b'x' * 64])
def test_wrong_elements(elements):
    import numpy as np
    for use in (waymark.frame, waymark.records):
        with pytest.raises(TypeError):
            use(elements)
        with pytest.raises((TypeError, ValueError, IndexError)):
            use(np.zeros(3))
        with pytest.raises((TypeError, ValueError)):
            use(np.zeros((2, 2), waymark.ELEMENT))


@pytest.mark.parametrize('text', ['event:x', '', 'text:', '0xzz'])
def test_wrong_places(capture, text):
    with pytest.raises(waymark.InvalidArgument):
        capture.intervals(text, 'quicksort')


def test_native_classes_cannot_be_made_without_arguments():
    from waymark import _native
    for name in ('OpenCapture', 'Batches', 'Packets', 'Packet', 'Messages', 'CountResult', 'Program',
                 'Script', 'Unit', 'Plan'):
        with pytest.raises(TypeError):
            getattr(_native, name)()


@pytest.mark.parametrize('name', ['\x1b[31mred', 'a\nb', '\u202eevil', os.fsdecode(b'\xff\xfe'), '<b>'])
def test_hostile_names(tmp_path, name):
    with pytest.raises(waymark.Error) as caught:
        waymark.open(tmp_path / name)
    assert not any(ord(c) < 32 or c == '\u202e' for c in str(caught.value))
    empty = tmp_path / name
    empty.write_bytes(b'')
    with pytest.raises(waymark.Error):
        waymark.open(empty)


def test_hostile_device_in_html(sample, tmp_path):
    for file in sample.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    for file in tmp_path.glob('*.ini'):
        file.write_text(file.read_text().replace('etm_0\n', '<script>\x1b\n')
                        .replace('=etm_0', '=<script>\x1b'))
    try:
        with waymark.open(tmp_path) as capture:
            shown = capture._repr_html_()
            assert '<script>' not in shown and '\x1b' not in shown
    except waymark.Error as error:
        assert '\x1b' not in str(error)


def test_bytes_that_are_not_trace(tmp_path):
    for number, content in enumerate((b'\0' * 64, b'\xff' * 1000, b'hello', os.urandom(5000))):
        path = tmp_path / str(number)
        path.write_bytes(content)
        try:
            with waymark.open(path, protocol='itm', framing='none') as capture:
                for batch in capture.batches():
                    waymark.frame(batch)
        except waymark.Error as error:
            assert str(error)


# -- Scripts, programs and plans. -----------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[2]


def test_a_script_becomes_a_capture(tmp_path, tool):
    text = (ROOT / 'tests/scripts/example.trace').read_text()
    script = waymark.assemble(text)
    (name, trace), = script.buffers.items()
    assert script.devices[0]['registers']['TRCCONFIGR'] == 0xC1
    script.save(tmp_path / 'made')
    tool('assemble', ROOT / 'tests/scripts/example.trace', '-o', tmp_path / 'wanted')
    for file in (tmp_path / 'wanted').iterdir():
        assert (tmp_path / 'made' / file.name).read_bytes() == file.read_bytes()
    with waymark.open(tmp_path / 'made') as capture:
        assert capture.trace_bytes == len(trace), name
        assert capture.counts().totals['instructions'] == 8


def test_a_mistake_in_a_script_names_its_line():
    with pytest.raises(waymark.ParseError, match='line 2'):
        waymark.assemble('waymark-trace 1\nnonsense\n')


def test_program(sample):
    program = waymark.Program(sample / 'quicksort.elf')
    functions = program.functions()
    start = int(functions.loc[functions['function'] == 'quicksort', 'start'].iloc[0])
    assert program.function_at(start) == 'quicksort'
    frame = program.frames_at(start)[-1]
    assert frame['function'] == 'quicksort' and frame['file'].endswith('quicksort.c')
    assert program.function_at(0) is None and program.frames_at(0) == []
    with pytest.raises(waymark.BadData):
        waymark.Program(sample / 'trace.bin')


UNIT = {'TRCIDR0': 0x28000EA1, 'TRCIDR1': 0x4100F403, 'TRCIDR2': 0x488, 'TRCIDR3': 0x0D7B0004,
        'TRCIDR4': 0x11170004, 'TRCIDR5': 0x28C70F08}


def test_plan_equals_that_of_the_program(tmp_path, tool):
    text = 'etm4-plan 1\nlevels el0\ntrace-context-id\ntimestamps\n'
    (tmp_path / 'p.plan').write_text(text)
    registers = [f'--reg={name}=0x{value:x}' for name, value in UNIT.items()]
    wanted = json.loads(tool('etm4', 'plan', tmp_path / 'p.plan', '--format', 'json',
                             '--root', tmp_path, *registers))
    plan = waymark.etm4.Unit(UNIT).plan(text)
    assert {name: hex(value) for name, value in plan.registers.items()} == wanted['registers']
    assert [{'file': file, 'value': value} for file, value in plan.writes] == wanted['writes']
    assert plan.decode_options == wanted['decode_options']
    assert plan.lines == wanted['plan']
    assert plan.notes == wanted['notes'] and plan.beyond_sysfs == wanted['beyond_sysfs']
    assert plan.script().startswith('#!')


def test_a_plan_that_is_refused_names_its_line():
    with pytest.raises(waymark.ParseError, match='line 2'):
        waymark.etm4.Unit(UNIT).plan('etm4-plan 1\nnonsense\n')
    with pytest.raises(waymark.InvalidArgument, match='TRCIDR'):
        waymark.etm4.Unit({'TRCIDR9': 1})
    with pytest.raises(TypeError):
        waymark.etm4.Unit({'TRCIDR0': -1})


def test_registers_in_words():
    explained = waymark.etm4.explain({'TRCCONFIGR': 0xC1, **UNIT})
    assert explained['decoder'] and explained['plan']
    with pytest.raises(waymark.InvalidArgument):
        waymark.etm4.explain({'TRCCONFIGR': 1 << 40})


# -- Memory. --------------------------------------------------------------------------------------

def pages():
    with open('/proc/self/statm') as statm:
        return int(statm.read().split()[1])


@pytest.mark.skipif('asan' in os.environ.get('LD_PRELOAD', ''),
                    reason='AddressSanitizer keeps memory that was freed, to find its use')
def test_memory_does_not_grow(sample):
    def use():
        with waymark.open(sample) as capture:
            next(capture.batches(512))
            next(capture.packets())
    for _ in range(100):
        use()
    gc.collect()
    before = pages()
    for _ in range(1000):
        use()
    gc.collect()
    assert (pages() - before) * resource.getpagesize() < 4 << 20
