"""waymark diff, compared with what decode says of both runs."""
import shutil
import struct

import pytest


@pytest.fixture
def runs(run, repository):
    """Two runs of one program, with other random outcomes."""
    elf = repository / 'samples/quicksort/quicksort.elf'

    def make(*seeds, size=500, protocol='etmv4'):
        for seed in seeds:
            run('synth', '-o', f'run{seed}', '--elf', elf, '--protocol', protocol, '--size', size, '--seed', seed)
        return [f'run{seed}' for seed in seeds] + ['--symbols', elf]
    return make


def rows(result, kind):
    return [row for row in result.json_lines() if row['type'] == kind]


def executed(run, capture):
    """The addresses of all instructions, in order."""
    addresses = []
    for row in run('decode', capture, '--format', 'json').json_lines():
        if row.get('kind') == 'range':
            addresses += range(int(row['start'], 16), int(row['end'], 16), 4)
    return addresses


def test_a_run_is_the_same_as_itself(run, repository):
    result = run('diff', repository / 'samples/quicksort', repository / 'samples/quicksort')
    result.has('The runs are the same.')


def test_the_first_divergence_is_where_the_instructions_differ(run, runs):
    for seed in range(2, 8):
        first, second, *symbols = runs(1, seed)
        divergence = rows(run('diff', first, second, *symbols, '--format', 'json'), 'divergence')[0]
        a, b = executed(run, first), executed(run, second)
        same = next(i for i, (one, two) in enumerate(zip(a, b)) if one != two)
        if same == 0:
            assert divergence['cause'] == 'start'
            continue
        assert divergence['cause'] in ('branch_outcome', 'indirect_target')
        assert int(divergence['a']['stack'][0]['address'], 16) == a[same - 1]
        assert int(divergence['b']['stack'][0]['address'], 16) == b[same - 1]


def test_units_divide_execution_in_their_own_ways(run, repository):
    """The same execution, traced by an ETMv4 and an ETE."""
    elf = repository / 'samples/quicksort/quicksort.elf'
    for protocol in 'etmv4', 'ete':
        run('synth', '-o', protocol, '--elf', elf, '--protocol', protocol, '--size', 500, '--seed', 3, '--exceptions', 0)
    found = rows(run('diff', 'etmv4', 'ete', '--symbols', elf, '--format', 'json'), 'summary')[0]
    assert {cause for cause, times in found['causes'].items() if times} <= {'end', 'gap', 'start'}


def test_exceptions_may_be_ignored(run, runs, repository):
    elf = repository / 'samples/quicksort/quicksort.elf'
    for name, exceptions in ('none', 0), ('some', 50):
        run('synth', '-o', name, '--elf', elf, '--protocol', 'etmv4', '--size', 500, '--seed', 3, '--exceptions',
            exceptions)
    causes = rows(run('diff', 'none', 'some', '--symbols', elf, '--format', 'json'), 'summary')[0]['causes']
    assert causes['exception'] > 0
    ignoring = run('diff', 'none', 'some', '--symbols', elf, '--ignore-exceptions', '--format', 'json')
    assert rows(ignoring, 'summary')[0]['causes']['exception'] == 0


def test_functions_may_be_ignored(run, runs):
    first, second, *symbols = runs(1, 2)
    result = run('diff', first, second, *symbols, '--ignore-function', 'put_number', '--format', 'json')
    assert 'put_number' not in {row['name'] for row in rows(result, 'function')}
    run('diff', first, second, *symbols, '--ignore-function', 'put_number').has(
        'put_number and what it calls are left out.')


def test_changes_are_those_of_count(run, runs):
    first, second, *symbols = runs(1, 2)
    changes = {row['name']: (row['a']['instructions'], row['b']['instructions'])
               for row in rows(run('diff', first, second, *symbols, '--format', 'json'), 'function')}
    totals = rows(run('diff', first, second, *symbols, '--format', 'json'), 'summary')[0]['instructions']
    assert totals == [len(executed(run, first)), len(executed(run, second))]
    assert changes


def with_another_size(data, name):
    """An ELF file in which a function has another size, and the build another ID."""
    data = bytearray(data)
    note = data.find(b'GNU\0')
    if note > 0:
        data[note + 4] ^= 0xff
    shoff, = struct.unpack_from('<Q', data, 40)
    entry, number = struct.unpack_from('<HH', data, 58)
    sections = [struct.unpack_from('<IIQQQQII', data, shoff + i * entry) for i in range(number)]
    for section in sections:
        if section[1] != 2:
            continue
        names = sections[section[6]][4]
        for symbol in range(section[4], section[4] + section[5], 24):
            at = names + struct.unpack_from('<I', data, symbol)[0]
            if data[at:].startswith(name.encode() + b'\0'):
                struct.pack_into('<Q', data, symbol + 16, struct.unpack_from('<Q', data, symbol + 16)[0] - 4)
    return bytes(data)


def test_two_builds_are_named(run, repository, tmp_path):
    sample = repository / 'samples/quicksort'
    shutil.copytree(sample, tmp_path / 'copy')
    elf = tmp_path / 'copy/quicksort.elf'
    elf.write_bytes(with_another_size(elf.read_bytes(), 'fibonacci'))
    programs = rows(run('diff', sample, 'copy', '--format', 'json'), 'program')
    assert [row['match'] for row in programs] == ['builds']
    run('diff', sample, 'copy').has('are two builds')
    # The last instruction is not in the function any more.
    first = rows(run('diff', sample, 'copy', '--format', 'json'), 'divergence')[0]
    assert first['cause'] == 'other_code' and first['a']['stack'][0]['function'] == 'fibonacci'


def test_bad_arguments_have_one_sentence(run, repository, tmp_path):
    sample = repository / 'samples/quicksort'
    run('diff', sample, expect=2).one_sentence('two captures')
    run('diff', sample, sample, sample, expect=2).one_sentence('two captures')
    run('diff', sample, 'missing', expect=3).one_sentence('missing')
    run('diff', sample, sample, '-o', sample / 'trace.bin', expect=2).one_sentence('trace.bin')
    (tmp_path / 'empty').write_bytes(b'')
    run('diff', sample, 'empty', expect=3)
