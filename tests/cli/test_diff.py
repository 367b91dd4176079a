"""waymark diff, compared with what decode says of both runs."""
import itertools
import re
import shutil
import struct

import pytest
from support.snapshots import edit


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
        divergence = rows(run('diff', first, second, *symbols, '--format', 'json', expect=1), 'divergence')[0]
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
    found = rows(run('diff', 'etmv4', 'ete', '--symbols', elf, '--format', 'json', expect=1), 'summary')[0]
    assert {cause for cause, times in found['causes'].items() if times} <= {'end', 'gap', 'start'}


def test_exceptions_may_be_ignored(run, runs, repository):
    elf = repository / 'samples/quicksort/quicksort.elf'
    for name, exceptions in ('none', 0), ('some', 50):
        run('synth', '-o', name, '--elf', elf, '--protocol', 'etmv4', '--size', 500, '--seed', 3, '--exceptions',
            exceptions)
    causes = rows(run('diff', 'none', 'some', '--symbols', elf, '--format', 'json', expect=1), 'summary')[0]['causes']
    assert causes['exception'] > 0
    ignoring = run('diff', 'none', 'some', '--symbols', elf, '--ignore-exceptions', '--format', 'json', expect=None)
    assert rows(ignoring, 'summary')[0]['causes']['exception'] == 0


def test_functions_may_be_ignored(run, runs):
    first, second, *symbols = runs(1, 2)
    result = run('diff', first, second, *symbols, '--ignore-function', 'put_number', '--format', 'json', expect=1)
    assert 'put_number' not in {row['name'] for row in rows(result, 'function')}
    run('diff', first, second, *symbols, '--ignore-function', 'put_number', expect=1).has(
        'put_number and what it calls are left out.')


def test_changes_are_those_of_count(run, runs):
    first, second, *symbols = runs(1, 2)
    changes = {row['name']: (row['a']['instructions'], row['b']['instructions'])
               for row in rows(run('diff', first, second, *symbols, '--format', 'json', expect=1), 'function')}
    totals = rows(run('diff', first, second, *symbols, '--format', 'json', expect=1), 'summary')[0]['instructions']
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
    programs = rows(run('diff', sample, 'copy', '--format', 'json', expect=1), 'program')
    assert [row['match'] for row in programs] == ['builds']
    run('diff', sample, 'copy', expect=1).has('are two builds')
    # The last instruction is not in the function any more.
    first = rows(run('diff', sample, 'copy', '--format', 'json', expect=1), 'divergence')[0]
    assert first['cause'] == 'other_code' and first['a']['stack'][0]['function'] == 'fibonacci'


@pytest.fixture
def builds(run, runs, repository, tmp_path):
    """Two runs whose images have no names, and the programs of each, in which functions have other names."""
    runs(1, 2)
    elf = (repository / 'samples/quicksort/quicksort.elf').read_bytes()
    for seed, name in (1, 'old.elf'), (2, 'new.elf'):
        folder = tmp_path / f'run{seed}'
        (folder / 'code.bin').write_bytes((folder / 'quicksort.elf').read_bytes()[0xf0:0x940])
        (folder / 'quicksort.elf').unlink()
        edit(folder / 'cpu_0.ini', ('file=quicksort.elf', 'file=code.bin'), ('length=0x940\n', ''), ('address=0x400000', 'address=0x4000F0'))
        (tmp_path / name).write_bytes(elf.replace(b'\0fibonacci\0', b'\0fib_' + name[:3].encode() + b'_i\0'))
    return 'run1', 'run2'


def names_of(result):
    """The functions in the call stacks of each run."""
    return [{frame['function'] for row in rows(result, 'divergence') for frame in row[side]['stack'] or ()}
            for side in 'ab']


@pytest.mark.parametrize('option', ['symbols', 'elf'])
def test_each_run_has_its_programs(run, builds, option):
    json = '--stacks', 1000, '--format', 'json'
    result = run('diff', *builds, f'--{option}-a', 'old.elf', f'--{option}-b', 'new.elf', *json, expect=1)
    assert [(row['match'], row['a']['path'], row['b']['path']) for row in rows(result, 'program')] == [
        ('builds', 'old.elf', 'new.elf')]
    a, b = names_of(result)
    assert 'fib_old_i' in a and 'fib_new_i' not in a
    assert 'fib_new_i' in b and 'fib_old_i' not in b
    # The other way round, and a program for both.
    b, a = names_of(run('diff', *builds, f'--{option}-a', 'new.elf', f'--{option}-b', 'old.elf', *json, expect=1))
    assert 'fib_old_i' in a and 'fib_new_i' not in a and 'fib_new_i' in b and 'fib_old_i' not in b
    a, b = names_of(run('diff', *builds, f'--{option}', 'old.elf', *json, expect=1))
    assert 'fib_old_i' in a & b and 'fib_new_i' not in a | b


def test_a_report_has_the_programs_of_each_run(run, builds, tmp_path):
    wanted = '--symbols-a', 'old.elf', '--symbols-b', 'new.elf'
    run('report', *builds, *wanted, '-o', 'report.html')
    text = (tmp_path / 'report.html').read_text()
    assert 'fib_old_i' in text and 'fib_new_i' in text
    run('report', *builds, '--symbols', 'old.elf', '--symbols', 'new.elf', '-o', 'x.html', expect=2).says(
        'old.elf', 'new.elf', '--symbols-a')
    run('report', builds[0], *wanted, '-o', 'x.html', expect=2).one_sentence('--symbols-a', 'two INPUTs')


@pytest.mark.parametrize('command', [
    ['diff', 'run1', 'run2'], ['decode', 'run1', '--functions'], ['count', 'run1', '--functions'], ['count', 'run1', '--tree'],
    ['annotate', 'run1'], ['find', 'run1', '--address', 'run'], ['interval', 'run1', '--from', 'run', '--to', 'put'],
    ['export', 'folded', 'run1', '-o', 'out'], ['export', 'lcov', 'run1', '-o', 'out'], ['report', 'run1', '-o', 'out.html']])
def test_two_programs_at_one_place_are_refused(run, builds, command):
    said = run(*command, '--symbols', 'old.elf', '--symbols', 'new.elf', expect=2).says('old.elf', 'new.elf', 'Append @')
    assert re.search('0x4000[0-9a-f]{2}..0x4[0-9a-f]{5}', said.err)
    assert ('--symbols-a' in said.err) == (command[0] == 'diff')


def test_programs_that_do_not_overlap(run, builds, repository, tmp_path):
    shutil.copyfile(tmp_path / 'old.elf', tmp_path / 'copy.elf')
    run('diff', *builds, '--symbols', 'old.elf', '--symbols', 'copy.elf', '--symbols-a', 'old.elf', expect=1)
    run('diff', *builds, '--symbols', 'old.elf', '--symbols', 'new.elf@0x100000', expect=1)
    run('diff', *builds, '--symbols', 'old.elf', '--symbols', 'old.elf@0x10', expect=2).one_sentence('both at')
    run('decode', 'run1', '--elf', 'old.elf', '--elf', './old.elf')
    run('decode', 'run1', '--elf', 'old.elf', '--elf', 'new.elf', expect=3).one_sentence('old.elf', 'new.elf', 'Append @')
    # Other names for the same code, and other code.
    sample = repository / 'samples/quicksort'
    run('count', sample, '--functions', '--symbols', 'new.elf').has('fib_new_i')
    elf = bytearray((tmp_path / 'new.elf').read_bytes())
    elf[0x140] ^= 0xff
    (tmp_path / 'other.elf').write_bytes(elf)
    run('count', sample, '--functions', '--symbols', 'other.elf', expect=2).one_sentence('quicksort.elf', 'other.elf')


def test_the_exit_status_says_whether_the_runs_are_the_same(run, runs, repository, copy):
    sample = repository / 'samples/quicksort'
    run('diff', sample, sample, expect=0)
    run('diff', sample, sample, '--format', 'json', '-o', 'out', expect=0)
    first, second, *symbols = runs(1, 2)
    run('diff', first, second, expect=1)
    run('diff', first, second, *symbols, '--format', 'json', '-o', 'out', expect=1)
    run('diff', first, second, '--wrong', expect=2)
    run('diff', first, 'missing', expect=3)
    (copy(sample, 'bare') / 'quicksort.elf').unlink()
    run('diff', sample, 'bare', expect=3).says('no instruction was executed')


def test_equal_divergences_are_one(run, tmp_path):
    (tmp_path / 'work.graph').write_text(
        'function main\n loop 9000\n  skip 50\n   work 1\n  end\n  call work\n end\nend\nfunction work\n work 3\nend\n')
    for seed in 1, 2:
        run('synth', '-o', f'run{seed}', '--graph', 'work.graph', '--size', 8000, '--seed', seed, '--exceptions', 0)
    result = run('diff', 'run1', 'run2', '--format', 'json', expect=1)
    found = rows(result, 'divergence')
    summary, = rows(result, 'summary')
    assert summary['divergences'] > 1000 and sum(row['times'] for row in found) == summary['divergences']
    causes = {cause: sum(row['times'] for row in found if row['cause'] == cause) for cause in summary['causes']}
    assert causes == summary['causes']
    assert len(found) < 10 and [row['number'] for row in found] == list(range(1, len(found) + 1))
    branches = [row for row in found if row['cause'] == 'branch_outcome']
    assert sorted(row['left'] for row in branches) == ['a', 'b'] and all(row['times'] > 100 for row in branches)
    # The first of each is shown.
    assert all(row['a']['instruction'] <= later['a']['instruction'] for row, later in itertools.pairwise(found))
    assert all(row[side]['stack'] for row in branches for side in 'ab')
    text = run('diff', 'run1', 'run2', expect=1).has(f"{summary['divergences']} divergences, {len(found)} distinct")
    for row in branches:
        address = row['a']['stack'][0]['address']
        text.has(f"\n   {row['times']} times at [unknown], {address}\n   A: first after ")
    text.lacks('more divergence')
    # What is not shown is counted.
    rest = summary['divergences'] - found[0]['times']
    run('diff', 'run1', 'run2', '--stacks', 1, expect=1).has(f'and {rest} more divergences')


def test_bad_arguments_have_one_sentence(run, repository, tmp_path):
    sample = repository / 'samples/quicksort'
    run('diff', sample, expect=2).one_sentence('two captures')
    run('diff', sample, sample, sample, expect=2).one_sentence('two captures')
    run('diff', sample, 'missing', expect=3).one_sentence('missing')
    run('diff', sample, sample, '-o', sample / 'trace.bin', expect=2).one_sentence('trace.bin')
    (tmp_path / 'empty').write_bytes(b'')
    run('diff', sample, 'empty', expect=3)
