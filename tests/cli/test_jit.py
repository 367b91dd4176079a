"""Code of JIT compilers in recordings: jitdump files, maps of names, and what is said without them."""
import struct

import pytest
from support.recordings import AUX, AUXTRACE, MMAP2, Record, Recording, jitdump, mmap2, stamp

DUMP = 'jit-256.dump'
AT = 0x400000


@pytest.fixture(scope='session', params=('little', 'big'))
def jitted(request, synth):
    """Two processes, the first of which has its program from a JIT compiler."""
    return synth('--protocol', 'etmv4', '--size', 6000, '--context-ids', 2, '--perf-data',
                 '--perf-jit', '--perf-order', request.param)


@pytest.fixture(scope='session')
def plain(synth):
    return synth('--protocol', 'etmv4', '--size', 6000, '--context-ids', 2, '--perf-data')


def test_it_decodes_as_from_a_file(run, jitted, plain):
    def rows(folder):
        return run('decode', folder / 'perf.data', '--symfs', folder).quiet().out
    assert rows(jitted) == rows(plain)
    run('synth', '--check', jitted / 'perf.data').has('equal to the ground truth')


def test_functions_lines_and_instructions(run, jitted):
    where = [jitted / 'perf.data', '--symfs', jitted]
    rows = run('decode', *where, '--lines', '--disassemble', '--comm', 'synth-256', '--format', 'json').json_lines()
    ranges = [row for row in rows if row['kind'] == 'range']
    assert ranges and all(row['function'].startswith('jitted_') for row in ranges)
    for row in ranges:
        assert row['line'] == int(row['offset'], 16) // 8 + 1
        assert row['file'] == f'/jit/{row["function"].removeprefix("jitted_")}.js'
    assert all(row['disassembly'][0]['text'] for row in ranges)
    run('decode', *where, '--functions').matches(r'in jitted_\d+').lacks('old_', 'new_')


def test_counts_and_searches(run, jitted):
    where = [jitted / 'perf.data', '--symfs', jitted]
    rows = [row for row in run('count', *where, '--functions', '--dso', DUMP, '--format', 'json').json_lines()
            if row['type'] == 'count_function']
    assert rows and {row['program'] for row in rows} == {'/' + DUMP}
    first = max(rows, key=lambda row: row['instructions'])
    assert int(run('find', *where, '--address', first['name'], '--count').out) > 0
    annotated = run('annotate', *where, first['name'])
    annotated.has(f'{first["name"]} in /{DUMP}', f'/jit/{first["name"].removeprefix("jitted_")}.js')
    run('decode', *where, '--dso', '/' + DUMP).lacks('synth-257')


def test_info(run, jitted):
    value = run('info', jitted / 'perf.data', '--symfs', jitted, '--format', 'json').json()
    code, = value['jitted_code']
    assert (code['pid'], code['path'], code['has_code']) == (256, '/' + DUMP, True) and code['functions'] > 10
    assert value['missing_programs'] == []
    run('info', jitted / 'perf.data', '--symfs', jitted).matches(rf'process 256 +/{DUMP}: \d+ functions')


def without_dump(folder, to):
    """A root with all but the jitdump file."""
    to.mkdir()
    for name in 'memory_0.bin', 'memory_1.bin':
        (to / name).write_bytes((folder / name).read_bytes())
    return to


def test_without_the_file(run, jitted, tmp_path):
    root = without_dump(jitted, tmp_path / 'root')
    sentence = f'Its code should be in /{DUMP}. No --symfs folder has such a file.'
    run('info', jitted / 'perf.data', '--symfs', root).has('//anon (process 256)', sentence)
    run('count', jitted / 'perf.data', '--symfs', root).says('//anon (process 256)', sentence)
    whole = run('decode', jitted / 'perf.data', '--symfs', jitted).out
    assert run('decode', jitted / 'perf.data', '--symfs', root, '--elf', jitted / DUMP).quiet().out == whole


def test_a_file_that_is_cut_or_damaged(run, jitted, tmp_path):
    root = without_dump(jitted, tmp_path / 'root')
    data = (jitted / DUMP).read_bytes()
    (root / DUMP).write_bytes(data[:len(data) // 2])
    run('decode', jitted / 'perf.data', '--symfs', root).says('The file ends inside the record at byte')
    (root / DUMP).write_bytes(b'text')
    run('decode', jitted / 'perf.data', '--symfs', root).says(f'/{DUMP} is not used', 'not a jitdump file')
    (root / DUMP).write_bytes(b'')
    run('decode', jitted / 'perf.data', '--symfs', root).says(f'/{DUMP} is not used', 'not a jitdump file')
    for at in range(0, 400, 7):
        damaged = bytearray(data)
        damaged[at] ^= 0xff
        (root / DUMP).write_bytes(damaged)
        run('info', jitted / 'perf.data', '--symfs', root, expect=(0, 1))


def test_a_map_of_names(run, plain, tmp_path):
    """The code of process 256 is in memory without a file, and nothing but its names is known."""
    recording = Recording.read(plain / 'perf.data')
    maps = [record for record in recording.of(MMAP2) if struct.unpack_from('<I', record.body)[0] == 256]
    recording.records = [record for record in recording.records if record not in maps]
    recording.insert(*(mmap2(256, *struct.unpack_from('<QQ', record.body, 8), 0, '//anon') for record in maps))
    recording.write(tmp_path / 'perf.data')
    root = without_dump(plain, tmp_path / 'root')
    run('count', 'perf.data', '--symfs', root).says('//anon (process 256)', 'If a JIT compiler made it', '-k mono')
    (root / 'tmp').mkdir()
    (root / 'tmp/perf-256.map').write_text(f'{AT:x} 100000 compiled code of a.js\n')
    run('count', 'perf.data', '--symfs', root).says('/tmp/perf-256.map has only the names of its functions', '-k mono')
    run('info', 'perf.data', '--symfs', root).has('/tmp/perf-256.map: only names, of 1 function')
    run('decode', 'perf.data', '--symfs', root, '--functions').matches(r'no code image.*  in compiled code of a\.js')
    row = next(row for row in run('decode', 'perf.data', '--symfs', root, '--functions', '--format', 'json').json_lines()
               if row['kind'] == 'no_access')
    assert row['function'] == 'compiled code of a.js'


# -- Other code at the same address within a recording --

def test_code_that_is_loaded_again(run, synth, tmp_path):
    """Two programs at the same addresses, one after the other, in a process; each is what its snapshot executed."""
    first, second = (synth('--protocol', 'etmv4', '--size', 3000, '--seed', seed, '--exceptions', 0, '--context-ids', 1,
                           '--perf-data', '--perf-jit') for seed in (11, 12))
    joint = Recording.read(first / 'perf.data')
    other = Recording.read(second / 'perf.data')
    aux, = joint.of(AUX)
    trace, = joint.of(AUXTRACE)
    more, = other.of(AUXTRACE)
    size = len(trace.trace)
    assert size % 16 == 0 and len(more.trace) % 16 == 0
    joint.records.insert(joint.records.index(aux) + 1, Record(
        AUX, 0, struct.pack('<QQQ', size, len(more.trace), 0) + stamp(256, 9_000_000)))
    trace.trace += more.trace
    body = bytearray(trace.body)
    struct.pack_into('<Q', body, 0, len(trace.trace))
    trace.body = bytes(body)
    joint.write(tmp_path / 'perf.data')
    code = {folder: (folder / 'memory_1.bin').read_bytes() for folder in (first, second)}
    assert code[first] != code[second]
    (tmp_path / DUMP).write_bytes(jitdump(256, [(5, AT, 'first', code[first]), (5_000_000, AT, 'second', code[second])]))

    def executed(path, *options):
        return [(row['start'], row['end'], row.get('function'))
                for row in run('decode', path, *options, '--format', 'json').quiet().json_lines() if row['kind'] == 'range']
    expected = [(start, end, name) for folder, name in ((first, 'first'), (second, 'second'))
                for start, end, _ in executed(folder)]
    for threads in 1, 3:
        assert executed('perf.data', '--symfs', tmp_path, '--functions', '-j', threads) == expected
    counts = run('count', 'perf.data', '--symfs', tmp_path, '--functions', '--format', 'json').json_lines()
    assert {row['name'] for row in counts if row['type'] == 'count_function'} == {'first', 'second'}
