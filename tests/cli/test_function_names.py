"""Functions by name: every command takes the same names, and shows the same ones."""
import json
import pathlib
import re
import shutil
import subprocess

import pytest

STRIP = shutil.which('llvm-strip-19')
HIDDEN = '_ZN5outer12_GLOBAL__N_16hiddenEi'
CALLABLE = '_ZNK5outer8CallableclEi'

# What a user writes: the functions that are meant, by the linker's names.
MEANT = {
    HIDDEN: [HIDDEN],
    'outer::(anonymous namespace)::hidden(int)': [HIDDEN],
    'outer::(anonymous namespace)::hidden': [HIDDEN],
    CALLABLE: [CALLABLE],
    'outer::Callable::operator()(int) const': [CALLABLE],
    'outer::Callable::operator()': [CALLABLE],
    'outer::twice(int)': ['_ZN5outer5twiceEi'],
    'outer::pick<int>': ['_ZN5outer4pickIiEET_S1_'],
    'interpret.constprop.0': ['interpret.constprop.0'],
    'interpret': ['interpret.constprop.0'],
    'shared': ['shared'],
    'shared.part.0': ['shared.part.0'],
    'gone': ['gone.isra.0', 'gone.part.1'],
    'program:fib': ['fib'],
}


@pytest.fixture(scope='module')
def named(executed):
    return executed('named')


def starts(named, names):
    """Where the functions begin."""
    rows = subprocess.run(['nm', named.program], check=True, capture_output=True, text=True).stdout
    addresses = {row.split()[2]: int(row.split()[0], 16) for row in rows.splitlines()}
    return {addresses[name] for name in names}


@pytest.mark.parametrize('text', MEANT)
def test_every_command_takes_every_form(run, named, text):
    where = [named.capture, '--symbols', named.program]
    begin = starts(named, MEANT[text])
    shown = run('annotate', *where, text, '--format', 'json').json_lines()
    assert sorted(row['function'] for row in shown) == sorted(MEANT[text])
    ranges = run('find', *where, '--address', text, '--format', 'json').json_lines()
    found = {int(row['value'].split('..')[0], 16) for row in ranges}
    assert begin <= found
    length, = (row['count'] for row in run('interval', *where, '--from', text, '--to', text, '--format',
                                           'json').json_lines()
               if row['unit'] == 'instructions')
    assert length > 0
    run('diff', named.capture, named.capture, '--symbols', named.program, '--ignore-function', text)
    rows = run('count', *where, '--callers', text, '--format', 'json').json_lines()
    assert sum(row['calls'] for row in rows) > 0
    run('count', *where, '--callees', text)


@pytest.mark.parametrize('text, candidates', [
    ('outer::twice', ['outer::twice(int) at 0x', 'outer::twice(long) at 0x']),
])
def test_several_functions_are_listed(run, named, text, candidates):
    where = [named.capture, '--symbols', named.program]
    for command in (['annotate', *where, text], ['find', *where, '--address', text],
                    ['interval', *where, '--from', text, '--to', 'fib'], ['count', *where, '--callers', text],
                    ['count', *where, '--callees', text], ['diff', named.capture, *where, '--ignore-function', text]):
        run(*command, expect=2).one_sentence(f"'{text}' means several functions: ", *candidates,
                                             f' in {named.program}').empty()


def test_every_command_suggests_a_name(run, named):
    where = [named.capture, '--symbols', named.program]
    for command in (['annotate', *where, 'outer::pikc<int>'], ['find', *where, '--address', 'outer::pikc<int>'],
                    ['interval', *where, '--from', 'outer::pikc<int>', '--to', 'fib'],
                    ['count', *where, '--callers', 'outer::pikc<int>'],
                    ['diff', named.capture, *where, '--ignore-function', 'outer::pikc<int>']):
        run(*command, expect=2).one_sentence(
            "no function is called 'outer::pikc<int>'; did you mean 'outer::pick<int>'?").empty()


def test_a_single_part_has_its_own_name_everywhere(run, named):
    """A part is shown by the name of its function only if that is in the program, or there are more parts."""
    where = [named.capture, '--symbols', named.program]
    table = {row['name'] for row in run('count', *where, '--functions', '--all', '--format', 'json').json_lines()
             if row['type'] == 'count_function'}
    tree = {row['name'] for row in run('count', *where, '--tree', '--all', '--format', 'json').json_lines()}
    assert 'interpret.constprop.0' in table and 'interpret.constprop.0' in tree
    assert {'shared', 'gone'} <= tree
    assert not {'interpret', 'shared.part.0', 'gone.isra.0', 'gone.part.1'} & tree
    folded = run('export', 'folded', named.capture, '--symbols', named.program).out
    assert 'work;interpret.constprop.0 ' in folded and 'work;gone ' in folded


def shares(result):
    return [float(share) for share in re.findall(r'^ *([0-9.]+)% ', result.out, re.M)]


@pytest.mark.parametrize('text', ['fib', 'even', 'odd', HIDDEN])
@pytest.mark.parametrize('option', ['--callers', '--callees'])
def test_shares_of_a_recursion_are_of_the_whole(run, named, option, text):
    where = [named.capture, '--symbols', named.program]
    tree = run('count', *where, '--tree', '--all', '--format', 'json').json_lines()
    whole, own, path = 0, 0, []
    for row in tree:
        del path[row['depth']:]
        if row['name'] == text:
            own += row['own_instructions']
            whole += 0 if text in path else row['instructions']
        path.append(row['name'])
    assert whole >= own
    rows = run('count', *where, option, text, '--format', 'json').json_lines()
    assert sum(row['instructions'] for row in rows) == whole
    assert sum(shares(run('count', *where, option, text))) == pytest.approx(100, abs=0.05)
    # What is not shown counts for the shares as well.
    first = shares(run('count', *where, option, text))[0]
    assert shares(run('count', *where, option, text, '--top', 1)) == [first]
    if option == '--callees':
        assert (rows[0]['role'], rows[0]['instructions']) == ('own', own)
    elif text == 'fib':
        recursive, = (row for row in rows if row['name'] == 'fib')
        assert recursive['instructions'] == 0 and recursive['calls'] > 10


# -- Programs without names ---------------------------------------------------------------------------

@pytest.mark.parametrize('name', ['autofdo', 'bolt', 'llvm-unsymbolized', 'afl'])
def test_profiles_of_addresses_need_no_names(run, synth, repository, tmp_path, name):
    """A stripped program in a snapshot: the profile is that of the program with its symbols."""
    if STRIP is None:
        pytest.skip('llvm-19 of scripts/packages.txt is missing')
    program = repository / 'samples/quicksort/quicksort.elf'
    shutil.copytree(repository / 'samples/quicksort', tmp_path / 'stripped')
    subprocess.run([STRIP, '--strip-all', tmp_path / 'stripped/quicksort.elf'], check=True)
    run('count', 'stripped', '--functions', expect=3).one_sentence('no file of the program image')
    run('export', name, repository / 'samples/quicksort', '-o', 'whole')
    run('export', name, 'stripped', '-o', 'without')
    assert (tmp_path / 'without').read_bytes() == (tmp_path / 'whole').read_bytes()
    assert program.is_file()


@pytest.mark.parametrize('name', ['lcov', 'llvm-sample', 'cobertura'])
def test_profiles_of_lines_name_what_is_missing(run, repository, tmp_path, name):
    if STRIP is None:
        pytest.skip('llvm-19 of scripts/packages.txt is missing')
    shutil.copytree(repository / 'samples/quicksort', tmp_path / 'stripped')
    subprocess.run([STRIP, '--strip-all', tmp_path / 'stripped/quicksort.elf'], check=True)
    run('export', name, 'stripped', '-o', 'out', expect=3).one_sentence('stripped', '--symbols')


# -- Recordings of two processes ----------------------------------------------------------------------

@pytest.fixture
def two(repository):
    folder = repository.parent / 'shared/data/perf/two-process'
    if not folder.is_dir():
        pytest.skip('there is no ../shared')
    return folder


@pytest.mark.parametrize('command', [
    ['count'], ['annotate'], ['count', '--tree'], ['count', '--callers', 'leaf_add'], ['export', 'autofdo', '-o', 'x'],
    ['export', 'bolt', '-o', 'x'], ['export', 'llvm-sample', '-o', 'x'], ['export', 'lcov', '-o', 'x'],
    ['export', 'folded', '-o', 'x'], ['export', 'perfetto', '-o', 'x'], ['export', 'callgrind', '-o', 'x'],
], ids=' '.join)
def test_every_command_names_missing_programs(run, two, command):
    """The file, and the option that says where it is."""
    result = run(*command, two / 'perf.data', expect=1)
    result.says('perf.data: no instruction could be counted: the programs that ran are missing.',
                '/opt/app/alpha: This machine has no such file', '--symfs')


def test_tables_name_missing_programs(run, two):
    run('export', 'parquet', two / 'perf.data', '-o', 'tables', expect=None).says('/opt/app/alpha', '--symfs')


def test_functions_of_two_programs_are_told_apart(run, two):
    where = [two / 'perf.data', '--symfs', two / 'symfs']
    listed = ['leaf_add at 0x410040 in ', '/opt/app/alpha', '/opt/app/beta']
    for command in (['annotate', *where, 'leaf_add'], ['find', *where, '--address', 'leaf_add'],
                    ['interval', *where, '--from', 'leaf_add', '--to', 'alpha:main_loop'],
                    ['count', *where, '--callers', 'leaf_add']):
        run(*command, expect=2).one_sentence("'leaf_add' means several functions: ", *listed).empty()
    both = run('count', *where, '--functions', '--format', 'json').json_lines()
    for program in 'alpha', 'beta':
        count, = (row['instructions'] for row in both
                  if row['type'] == 'count_function' and row['name'] == 'leaf_add'
                  and row['program'].endswith(program))
        shown, = run('annotate', *where, f'{program}:leaf_add', '--format', 'json').json_lines()
        assert shown['program'].endswith(program) and shown['instructions'] == count
        other, = run('annotate', *where, f'{program}:0x410044', '--format', 'json').json_lines()
        assert other == shown
        rows = run('count', *where, '--callers', f'/opt/app/{program}:leaf_add', '--format', 'json').json_lines()
        assert {row['program'] for row in rows if row['kind'] == 'function'} == {str(two / f'symfs/opt/app/{program}')}
        run('count', *where, '--callers', 'leaf_add', '--comm', program)


def test_top_names_functions_of_recordings(run, two):
    where = [two / 'perf.data', '--symfs', two / 'symfs', '--top', 20]
    functions = run('top', *where, '--format', 'json').json_lines()[-1]['functions']
    counts = run('count', *where[:3], '--functions', '--all', '--format', 'json').json_lines()
    expected = {(row['name'], pathlib.Path(row['program']).name): row['instructions'] for row in counts
                if row['type'] == 'count_function'}
    shown = {(row['name'], pathlib.Path(row['program']).name): row['total'] for row in functions}
    assert shown == expected
    run('top', *where).matches(r'%  leaf_add  .*/opt/app/alpha$', r'%  leaf_add  .*/opt/app/beta$')


def test_calls_of_two_processes_are_those_that_were_executed(run, two):
    """The numbers are those of perf's listing of single instructions: expected/i1i."""
    where = [two / 'perf.data', '--symfs', two / 'symfs']
    counts = [row for row in run('count', *where, '--functions', '--format', 'json').json_lines()
              if row['type'] == 'count_function' and row['name'] == 'leaf_add']
    assert {pathlib.Path(row['program']).name: row['entered'] for row in counts} == {'alpha': 23, 'beta': 14}
    for program, calls in ('alpha', 23), ('beta', 14):
        rows = run('count', *where, '--callers', f'{program}:leaf_add', '--format', 'json').json_lines()
        assert sum(row['calls'] for row in rows) == calls
    # The call before the other process runs: its target is in the code.
    run('decode', *where).matches(r' 587 .* call 0x0000000000410040$')


def test_stacks_begin_with_the_process_or_the_thread(run, two):
    where = [two / 'perf.data', '--symfs', two / 'symfs']
    folded = run('export', 'folded', *where).lines
    lines = dict(line.rsplit(' ', 1) for line in folded)
    assert (lines['alpha;main_loop'], lines['beta;main_loop']) == ('162', '97')
    assert run('export', 'flamegraph', *where).lines == folded
    threads = run('export', 'folded', *where, '--by-thread').lines
    assert [re.sub(r'^(alpha|beta)-100[12];', r'\1;', line) for line in threads] == folded != threads
    assert 'only for folded' in run('export', 'pprof', *where, '--by-thread', '-o', 'x', expect=2).err
    run('count', *where, '--tree').has(' alpha', ' beta')


def test_threads_have_time_only_while_they_run(run, two):
    """CPU 0 ran alpha up to 1000631, and then beta up to 1000852 (facts.txt)."""
    out = run('export', 'trace-event', two / 'perf.data', '--symfs', two / 'symfs').out
    events = json.loads(out)['traceEvents']
    tracks = {event['tid']: event['args']['name'] for event in events if event['name'] == 'thread_name'}
    depths, since, busy = {}, {}, []
    for event in events:
        track = event['tid']
        if event['ph'] not in 'BE' or not tracks[track].endswith('trace ID 0x10'):
            continue
        if event['ph'] == 'B':
            depths[track] = depths.get(track, 0) + 1
            if depths[track] == 1:
                since[track] = event['ts']
        else:
            depths[track] -= 1
            if depths[track] == 0:
                busy.append((since[track], event['ts'], tracks[track].split()[0]))
    busy.sort()
    assert all(before[1] <= after[0] + 0.01 for before, after in zip(busy, busy[1:]))
    beta = [(begin, end) for begin, end, name in busy if name == 'beta' and begin > 1000600]
    assert beta[0][0] == pytest.approx(1000631, abs=1) and beta[-1][1] == pytest.approx(1000852, abs=1)
    assert sum(end - begin for begin, end in beta) == pytest.approx(221, abs=1)


# -- Samples of an ITM --------------------------------------------------------------------------------

SYNC = b'\x00' * 5 + b'\x80'


@pytest.fixture
def samples(tmp_path, repository):
    """Five samples: three in quicksort, one in fibonacci, one in no function."""
    program = repository / 'samples/quicksort/quicksort.elf'
    rows = subprocess.run(['nm', program], check=True, capture_output=True, text=True).stdout
    at = {row.split()[2]: int(row.split()[0], 16) for row in rows.splitlines()}
    places = [at['quicksort'], at['fibonacci'] + 4, at['quicksort'] + 8, 0x10, at['quicksort'] + 8]
    (tmp_path / 'samples.bin').write_bytes(SYNC + b''.join(b'\x17' + place.to_bytes(4, 'little') for place in places))
    return ['samples.bin', '--protocol', 'itm', '--framing', 'none', '--functions', '--symbols', program]


def test_samples_are_counted_by_function(run, samples):
    run('count', *samples).matches(r'^ share +samples  function$', r'^60\.00% +3  quicksort$',
                                   r'^20\.00% +1  fibonacci$', r'^20\.00% +1  \(no name\)$')
    rows = [row for row in run('count', *samples, '--format', 'json').json_lines() if row['type'] == 'count_sample']
    assert [(row.get('function'), row['times']) for row in rows] == [
        ('quicksort', 3), ('fibonacci', 1), (None, 1)]
    assert all('pc' not in row for row in rows)
    run('count', *samples, '--format', 'csv').matches(r'^0,pc_sample,0x[0-9a-f]+,quicksort,3,', r'^0,pc_sample,,,1,')


def test_decode_names_samples(run, samples):
    run('decode', *samples).matches(r'PC sample.*  in quicksort$', r'PC sample.*  in fibonacci\+0x4$',
                                    r'PC sample.*  in quicksort\+0x8$')
    rows = [row for row in run('decode', *samples, '--format', 'json').json_lines() if 'function' in row]
    assert [(row['function'], row['offset']) for row in rows] == [
        ('quicksort', '0x0'), ('fibonacci', '0x4'), ('quicksort', '0x8'), ('quicksort', '0x8')]
    assert run('decode', *samples, '--format', 'csv').out.count('quicksort,quicksort,0x8') == 2
