"""Call stacks of a program that QEMU executed, and what the programs that read them report."""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.stacks import OBJDUMP, Stacks

READERS = Path(__file__).resolve().parents[1] / 'readers'
SPEEDSCOPE = Path(os.environ.get('WAYMARK_READERS') or READERS.parents[1] / 'build/readers') / (
    'node_modules/speedscope/dist/release')
NODE = shutil.which('node')
CALLGRIND_ANNOTATE = shutil.which('callgrind_annotate')
PROTOC = shutil.which('protoc')


@pytest.fixture(scope='module')
def walks(executed):
    if OBJDUMP is None:
        pytest.skip('llvm-19 of scripts/packages.txt is missing')
    return executed('walks')


@pytest.fixture(scope='module')
def truth(walks):
    return Stacks(walks)


@pytest.fixture
def export(run, walks, tmp_path):
    """export(FORMAT, OPTION...): the path of the file."""
    def write(name, *options, capture=None):
        path = tmp_path / f'out.{name}'
        run('export', name, capture or walks.capture, '--symbols', walks.program, *options, '-o', path)
        return path
    return write


def imported(path):
    """What speedscope's importers make of a file: a list of profiles."""
    if NODE is None or not SPEEDSCOPE.is_dir():
        pytest.skip('Node.js or the npm packages of tests/readers are missing; scripts/install gets them')
    done = subprocess.run([NODE, READERS / 'speedscope.cjs', SPEEDSCOPE, path], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout, done.stderr
    assert done.stderr == '', 'it has no warnings'
    return json.loads(done.stdout)


def in_instructions(profile):
    """The same of a trace-event: what begins and ends at one instruction differs by parts of it."""
    def whole(value):
        assert abs(value - round(value)) < 0.01
        return round(value)
    return {**profile, 'total': whole(profile['total']),
            'frames': {name: {key: whole(value) for key, value in sums.items()}
                       for name, sums in profile['frames'].items()}}


def decoded(message, path, data):
    if PROTOC is None:
        pytest.skip('protobuf-compiler of scripts/packages.txt is missing')
    return subprocess.run([PROTOC, f'--decode={message}', f'--proto_path={READERS}', path], input=data, check=True,
                          capture_output=True).stdout.decode()


def expect_sums(profile, truth, walks):
    """The own and whole instructions of each function are those that QEMU executed."""
    assert profile['total'] == len(walks.addresses)
    own = {name: sums['self'] for name, sums in profile['frames'].items() if sums['self']}
    assert own == walks.instructions()
    whole = truth.inclusive()
    # The system call at the end executes nothing that is traced.
    assert {name: sums['total'] for name, sums in profile['frames'].items() if name != '[Call]'} == dict(whole)


@pytest.mark.parametrize('policy', ['keep', 'replace'])
def test_folded_stacks_are_those_of_the_execution(run, walks, policy):
    result = run('export', 'folded', walks.capture, '--symbols', walks.program, '--tail-calls', policy)
    assert sorted(result.lines) == Stacks(walks, policy == 'keep').folded()
    assert sum(int(line.rsplit(' ', 1)[1]) for line in result.lines) == len(walks.addresses)


def test_every_protocol_has_the_same_stacks(run, walks, executed, truth):
    other = executed('walks', '--protocol', 'ete')
    assert sorted(run('export', 'folded', other.capture, '--symbols', other.program).lines) == truth.folded()


def test_the_sum_of_inputs(run, walks, truth):
    twice = run('export', 'folded', walks.capture, walks.capture, '--symbols', walks.program).lines
    assert sorted(twice) == sorted(f'{stack} {2 * count}' for stack, count in truth.own.items())


def test_inlined_functions_are_frames(run, walks):
    result = run('export', 'folded', walks.capture, '--symbols', walks.program, '--inlines')
    result.has('middle;inlined_[i]')
    assert sum(int(line.rsplit(' ', 1)[1]) for line in result.lines) == len(walks.addresses)


@pytest.mark.parametrize('name', ['folded', 'speedscope', 'trace-event', 'callgrind'])
def test_speedscope_reads_what_was_executed(export, walks, truth, name):
    profile, = imported(export(name))
    if name == 'callgrind':
        # Its reader guesses how a recursion divides its cost, but not the sum.
        assert profile['total'] == len(walks.addresses)
        leaf = profile['frames']['leaf']['self']
        assert leaf == walks.instructions()['leaf']
        return
    expect_sums(in_instructions(profile) if name == 'trace-event' else profile, truth, walks)


@pytest.mark.parametrize('name', ['speedscope', 'trace-event'])
@pytest.mark.parametrize('options', [
    [], ['--exceptions', 20], ['--timestamps', 2000, '--context-ids', 3]], ids=str)
def test_speedscope_reads_timelines_without_a_warning(run, synth, tmp_path, options, name):
    """With exceptions, switches, gaps and many events at one time."""
    capture = synth('--size', '20K', '--protocol', 'etmv4', '--seed', 3, '--no-truth', *options)
    run('export', name, capture, '-o', 'out.json')
    assert imported(tmp_path / 'out.json')


@pytest.mark.parametrize('name', ['speedscope', 'trace-event'])
def test_speedscope_reads_the_sample_without_a_warning(run, quicksort, tmp_path, name):
    run('export', name, quicksort, '-o', 'out.json')
    assert imported(tmp_path / 'out.json')


@pytest.mark.parametrize('positions', ['line', 'instr'])
def test_callgrind_annotate_reports_what_was_executed(export, walks, truth, positions, tmp_path):
    if CALLGRIND_ANNOTATE is None:
        pytest.skip('valgrind of scripts/packages.txt is missing')
    path = export('callgrind', '--positions', positions)

    def annotate(*options):
        return subprocess.run([CALLGRIND_ANNOTATE, '--threshold=100', *options, path], check=True,
                              capture_output=True, text=True, cwd=tmp_path).stdout

    def rows(text):
        return {name.split(':')[-1].split(' [')[0]: int(count.replace(',', ''))
                for count, name in re.findall(r'^ *([\d,]+) \([ \d.]+%\) +(\S+:\w+.*)$', text, re.M)}
    text = annotate()
    total = re.search(r'^ *([\d,]+) .*PROGRAM TOTALS', text, re.M)[1]
    assert int(total.replace(',', '')) == len(walks.addresses)
    assert rows(text) == walks.instructions()
    assert rows(annotate('--inclusive=yes')) == dict(truth.inclusive())


def test_pprof(export, walks, truth):
    text = decoded('perftools.profiles.Profile', READERS / 'profile.proto', gzip.decompress(export('pprof').read_bytes()))
    strings = re.findall(r'^string_table: "(.*)"$', text, re.M)
    names = {int(i): strings[int(name)] for i, name in re.findall(r'^function \{\n  id: (\d+)\n  name: (\d+)', text, re.M)}
    locations = {int(i): (names[int(f)], int(line or 0)) for i, f, line in re.findall(
        r'^location \{\n  id: (\d+)(?:\n  \w+: \d+)*\n  line \{\n    function_id: (\d+)(?:\n    line: (\d+))?', text, re.M)}
    own = collections.Counter()
    stacks = collections.Counter()
    for sample in re.findall(r'^sample \{\n(.*?)^\}', text, re.M | re.S):
        places = [locations[int(i)] for i in re.findall(r'location_id: (\d+)', sample)]
        value, = map(int, re.findall(r'value: (\d+)', sample))
        own[places[0][0]] += value
        stacks[';'.join(name for name, _ in reversed(places))] += value
    assert dict(own) == walks.instructions()
    assert stacks == truth.own
    # A compiler gives some instructions no line.
    lines = {name: max(line for other, line in locations.values() if other == name) for name in own}
    assert all(line > 0 for line in lines.values())


def test_perfetto(export, walks, truth):
    text = decoded('perfetto.protos.Trace', READERS / 'perfetto.proto', export('perfetto').read_bytes())
    names = {int(i): name for i, name in re.findall(r'event_names \{\n\s+iid: (\d+)\n\s+name: "(.*)"', text)}
    open_slices = []
    own = collections.Counter()
    last = 0
    for packet in re.findall(r'^packet \{\n(.*?)^\}', text, re.M | re.S):
        kind = re.search(r'type: TYPE_SLICE_(\w+)', packet)
        if not kind:
            continue
        time = int(re.search(r'timestamp: (\d+)', packet)[1])
        assert time >= last
        if open_slices:
            own[';'.join(open_slices)] += time - last
        last = time
        if kind[1] == 'BEGIN':
            open_slices.append(names[int(re.search(r'name_iid: (\d+)', packet)[1])])
        else:
            open_slices.pop()
    assert not open_slices
    assert +own == truth.own


def test_times_are_timestamps(run, executed, tmp_path):
    timed = executed('walks', '--timestamps', 5)
    run('export', 'trace-event', timed.capture, '--symbols', timed.program, '-o', 'out.json').quiet()
    data = json.loads((tmp_path / 'out.json').read_text())
    assert data['otherData']['one microsecond is'] == 'one of the ticks of the timestamp generator'
    run('export', 'trace-event', timed.capture, '--symbols', timed.program, '--frequency', 1000000, '-o', 'us.json')
    in_us = json.loads((tmp_path / 'us.json').read_text())
    slices = [event for event in data['traceEvents'] if event['ph'] in 'BE']
    # No two times are equal: what happens at one tick differs by parts of it.
    assert [round(e['ts']) for e in in_us['traceEvents'] if e['ph'] in 'BE'] == [round(e['ts']) for e in slices]
    for track in {e['tid'] for e in slices}:
        times = [e['ts'] for e in slices if e['tid'] == track]
        assert all(earlier < later for earlier, later in zip(times, times[1:]))
    assert [e['ts'] for e in slices] == sorted(e['ts'] for e in slices)
    assert slices[-1]['ts'] > slices[0]['ts']


def test_the_call_tree_on_the_terminal(run, walks, truth):
    names = ['--symbols', walks.program]
    rows = run('count', walks.capture, '--tree', *names, '--format', 'json', '--all').json_lines()
    assert sum(row['own_instructions'] for row in rows) == len(walks.addresses)
    stack = []
    own = collections.Counter()
    for row in rows:
        del stack[row['depth']:]
        stack.append(row['name'])
        own[';'.join(stack)] += row['own_instructions']
    assert +own == truth.own
    text = run('count', walks.capture, '--tree', *names, '--top', 3)
    assert len(text.lines) == 4 and text.lines[1].endswith('  _start')
    header, *cells = run('count', walks.capture, '--tree', *names, '--format', 'csv').lines
    assert header.startswith('node,parent,depth') and len(cells) == len(rows)


def test_callers_and_callees(run, walks, truth):
    names = ['--symbols', walks.program, '--format', 'json']
    callers = run('count', walks.capture, '--callers', 'leaf', *names).json_lines()
    own = collections.Counter()
    for stack, count in truth.own.items():
        if stack.endswith(';leaf'):
            own[stack.split(';')[-2]] += count
    assert {row['name']: row['instructions'] for row in callers} == dict(own)
    assert sum(row['calls'] for row in callers) == truth.calls['leaf']
    callees = run('count', walks.capture, '--callees', 'tail', *names).json_lines()
    assert [row['role'] for row in callees] == ['own', 'callee']
    assert callees[0]['instructions'] == walks.instructions()['tail']
    assert callees[1]['name'] == 'leaf'
    run('count', walks.capture, '--callers', 'laef', *names, expect=2).one_sentence("did you mean 'leaf'?")


def test_call_stacks_of_exceptions(run, synth):
    capture = synth('--exceptions', 20, '--size', 20000, '--timestamps', 50)
    rows = run('count', capture, '--tree', '--all', '--format', 'json').json_lines()
    whole, = [row['instructions'] for row in run('count', capture, '--format', 'json').json_lines()]
    assert sum(row['own_instructions'] for row in rows) == whole
    assert any(row['kind'] == 'exception' for row in rows)
    apart = run('count', capture, '--tree', '--exceptions', 'apart', '--all', '--format', 'json').json_lines()
    assert {row['depth'] for row in apart if row['kind'] == 'exception'} == {0}


@pytest.mark.parametrize('name', ['folded', 'callgrind', 'pprof', 'speedscope', 'trace-event', 'perfetto'])
def test_a_full_disk_leaves_no_file(run, synth, full_device, tmp_path, name):
    capture = synth('--exceptions', 20, '--size', 20000, '--timestamps', 50)
    run('export', name, capture, stdout=full_device, expect=4)
    (tmp_path / 'old').write_text('old\n')
    run('export', name, 'missing', '-o', 'old', expect=3)
    assert (tmp_path / 'old').read_text() == 'old\n'
    run('export', name, capture, '-o', 'old')
    assert [path.name for path in tmp_path.iterdir()] == ['old']
    assert (tmp_path / 'old').read_bytes() != b'old\n'


def test_threads_of_a_recording_have_their_own_stacks(run, synth, tmp_path):
    recorded = synth('--context-ids', 3, '--exceptions', 30, '--size', 30000, '--timestamps', 100, '--perf-data')
    data = [recorded / 'perf.data', '--symfs', recorded]
    rows = run('count', *data, '--tree', '--all', '--format', 'json').json_lines()
    counts = run('count', *data, '--format', 'json').json_lines()
    assert sum(row['own_instructions'] for row in rows) == sum(row['instructions'] for row in counts)
    run('export', 'trace-event', *data, '-o', 'out.json')
    names = {event['args']['name'] for event in json.loads((tmp_path / 'out.json').read_text())['traceEvents']
             if event['name'] == 'thread_name'}
    assert any(name.startswith('synth-256 (256)') for name in names)
    parts = [sum(row['own_instructions'] for row in run('count', *data, '--tree', '--all', '--tid', tid, '--format',
                                                        'json').json_lines()) for tid in (256, 257, 258)]
    assert 0 < sum(parts) <= sum(row['own_instructions'] for row in rows)


def test_missing_code_is_reported(run, synth, copy, tmp_path):
    capture = copy(synth('--exceptions', 20, '--size', 20000, '--timestamps', 50), 'holes')
    for image in capture.glob('memory_*.bin'):
        image.write_bytes(image.read_bytes()[:image.stat().st_size // 2])
    result = run('export', 'folded', capture, expect=None)
    assert result.code in (0, 1)
    assert 'could not be read' in result.err or 'is longer than' in result.err or 'ends at' in result.err


@pytest.mark.parametrize('arguments, sentence', [
    (['perfetto', 'a', 'b'], 'shows the timeline of a single INPUT'),
    (['callgrind', 'a', '--inlines'], '--inlines is only for folded'),
    (['folded', 'a', '-o', 'folder/'], 'one file for all programs, not a folder'),
    (['folded', 'a', '--dso', 'libc'], 'call stacks lead through all programs'),
])
def test_what_cannot_be_combined(run, arguments, sentence):
    run('export', *arguments, expect=2).one_sentence(sentence)


def test_the_how_to_works_as_it_is_written(run, repository, tmp_path):
    shutil.copyfile(repository / 'samples/quicksort/quicksort.elf', tmp_path / 'firmware.elf')
    run('synth', '--elf', 'firmware.elf', '--exceptions', 40, '--timestamps', 100, '--size', 20000, '-o', 'board')
    text = (repository / 'docs/howto/flamegraph.md').read_text()
    commands = re.findall(r'^\$ waymark (.*?) *(?:#.*)?$', text, re.M)
    assert len(commands) > 5
    for command in commands:
        words = command.split()
        # The sample has other exceptions than interrupts.
        result = run(*['[FIQ]' if word == '[IRQ]' else word for word in words])
        assert '-o' in words or result.out
    assert (tmp_path / 'storm.folded').read_text().count('[IRQ]') >= 1
    profiles = imported(tmp_path / 'burst.speedscope.json')
    assert profiles and all(profile['total'] > 0 for profile in profiles)
