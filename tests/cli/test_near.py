"""decode --last and --around: parts of the listing of the whole capture."""
import shutil

import pytest
from conftest import program
from support.programs import Runner


@pytest.fixture(scope='session')
def capture(synth):
    return synth('--protocol', 'etmv4', '--size', 90000, '--exceptions', 5, '--context-ids', 3, '--timestamps', 500, '--sync-period', 1024)


@pytest.fixture(scope='session')
def cores(synth):
    return synth('--protocol', 'etmv4,ptm', '--isa', 'A32', '--size', 60000, '--exceptions', 5, '--timestamps', 100, '--cores', 2)


@pytest.fixture(scope='module')
def run_once(tmp_path_factory, home):
    return Runner(program('WAYMARK', 'waymark'), tmp_path_factory.mktemp('near'), home)


@pytest.fixture(scope='module')
def everything(run_once, capture):
    return rows(run_once('decode', capture, '--format', 'json'))


@pytest.fixture(scope='module')
def indexed(run_once, capture):
    """The same capture with an index."""
    folder = run_once.folder / 'copy'
    shutil.copytree(capture, folder)
    run_once('index', folder)
    return folder


def rows(result):
    return result.json_lines()


def count_of(row):
    return row['instructions'] if row['type'] == 'element' and row['kind'].startswith('range') else 0


def end_of(all_rows, count):
    """The last rows that have at least this many instructions."""
    total = 0
    for at in range(len(all_rows) - 1, -1, -1):
        total += count_of(all_rows[at])
        if total >= count:
            return all_rows[at:]
    return all_rows


def time_after(all_rows, index):
    """The first timestamp after a byte, as a place."""
    return next(f't:{row["timestamp"]}' for row in all_rows
                if row.get('kind') == 'timestamp' and row['index'] > index)


def without_contexts(given):
    """The rows without the contexts that come before all others, and these."""
    first = 0
    while first < len(given) and given[first].get('kind') == 'context':
        first += 1
    return given[first:], given[:first]


@pytest.mark.parametrize('count', [1, 7, 500, 60000])
def test_the_end_of_the_listing(run, capture, indexed, everything, count):
    expected = end_of(everything, count)
    for folder in (capture, indexed):
        shown, contexts = without_contexts(rows(run('decode', folder, '--last', count, '--format', 'json').quiet()))
        assert shown == expected
        assert len(contexts) == 1
        before = everything[:len(everything) - len(expected)]
        assert contexts[0] == [row for row in before if row.get('kind') == 'context'][-1]


def test_more_than_there_is(run, capture, indexed, everything):
    for folder in (capture, indexed):
        assert rows(run('decode', folder, '--last', 100_000_000, '--format', 'json')) == everything


@pytest.mark.parametrize('kind', ['byte', 'time'])
def test_before_a_place(run, capture, indexed, everything, kind):
    to = '80000' if kind == 'byte' else time_after(everything, 80000)
    part = rows(run('decode', capture, '--to', to, '--format', 'json'))
    for folder in (capture, indexed):
        shown, _ = without_contexts(rows(run('decode', folder, '--to', to, '--last', 300, '--format', 'json')))
        assert shown == end_of(part, 300)


def test_not_before_from(run, capture):
    part = run('decode', capture, '--from', 89000, '--format', 'json').out
    assert run('decode', capture, '--from', 89000, '--last', 100_000_000, '--format', 'json').out == part


def test_several_sources_together(run, cores):
    everything = rows(run('decode', cores, '--format', 'json'))
    shown, contexts = without_contexts(rows(run('decode', cores, '--last', 400, '--format', 'json')))
    assert shown == end_of(everything, 400)
    assert {row['id'] for row in contexts} <= {row['id'] for row in shown}
    one = rows(run('decode', cores, '--id', 17, '--format', 'json'))
    shown, _ = without_contexts(rows(run('decode', cores, '--id', 17, '--last', 400, '--format', 'json')))
    assert shown == end_of(one, 400)


@pytest.mark.parametrize('kind', ['byte', 'sync', 'time'])
def test_around_a_place(run, capture, indexed, everything, kind):
    place = {'byte': '80000', 'sync': 's:70', 'time': time_after(everything, 80000)}[kind]
    lines = rows(run('decode', capture, '--from', place, '--format', 'json'))
    before = everything[:len(everything) - len(lines)]
    after = []
    while sum(map(count_of, after)) < 50:
        after.append(lines[len(after)])
    for folder in (capture, indexed):
        shown, _ = without_contexts(
            rows(run('decode', folder, '--around', place, '--instructions', 50, '--format', 'json').quiet()))
        assert shown == end_of(before, 50) + after


def test_around_shows_20_before_and_20_after(run, capture):
    options = ('decode', capture, '--around', 80000)
    assert run(*options).out == run(*options, '--instructions', 20).out


def test_the_last_branch_says_where_it_went(run, capture):
    whole = run('decode', capture).lines
    shown = run('decode', capture, '--around', 80000).lines
    assert shown[-1] in whole and 'target not in the trace' not in shown[-1]
    assert set(shown) <= set(whole)


def test_with_times_and_instructions(run, cores):
    whole = run('decode', cores, '--merge', 'time', '--disassemble').lines
    shown = run('decode', cores, '--merge', 'time', '--disassemble', '--last', 200).lines
    assert whole[-20:] == shown[-20:]
    assert len(shown) < len(whole)


def test_csv(run, capture):
    whole = run('decode', capture, '--format', 'csv').lines
    shown = run('decode', capture, '--format', 'csv', '--last', 100).lines
    assert shown[0] == whole[0] and shown[2:] == whole[2 - len(shown):]


def test_a_recording(run, synth):
    recording = synth('--protocol', 'etmv4,ete', '--size', 8000, '--exceptions', 5, '--context-ids', 2, '--perf-data', '--cores', 2)
    options = ('decode', recording / 'perf.data', '--symfs', recording, '--format', 'json')
    everything = rows(run(*options))
    shown, _ = without_contexts(rows(run(*options, '--last', 100)))
    assert shown == end_of(everything, 100)


def test_it_says_what_cannot_be(run, capture):
    run('decode', capture, '--last', 3, '--around', 4, expect=2).one_sentence('--last cannot be used with --around')
    run('decode', capture, '--last', 0, expect=2).one_sentence("--last: '0' is not a number from 1 to")
    run('decode', capture, '--around', '9000000', expect=2).one_sentence('--around 9000000: the trace has 1')
    run('decode', capture, '--around', 'x', expect=2).one_sentence('--around ')
    run('decode', capture, '--around', 't:99999999999999', expect=2).one_sentence('--around t:99999999999999: ')
    run('decode', capture, '--instructions', 3, expect=2).one_sentence('--instructions needs --around')
    run('decode', capture, '--last', 3, '--syst', expect=2).one_sentence('--syst cannot be used with --last')


def test_damage_is_kept_in_its_place(run, copy, capture):
    folder = copy(capture, 'copy')
    trace = folder / 'trace.bin'
    data = bytearray(trace.read_bytes())
    data[-3000:-2900] = bytes(range(100, 200))
    trace.write_bytes(data)
    everything = rows(run('decode', folder, '--format', 'json', expect=None))
    at = max(at for at, row in enumerate(everything) if row['type'] == 'damage')
    count = sum(map(count_of, everything[at:])) + 10
    shown, _ = without_contexts(rows(run('decode', folder, '--last', count, '--format', 'json', expect=None)))
    assert shown == end_of(everything, count)
    assert any(row['type'] == 'damage' for row in shown)
