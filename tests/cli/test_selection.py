"""Parts of a recording: --pid, --tid, --comm, --cpu and --dso of decode, count and find."""
import collections
import json

import pytest

PIDS = 256, 257


@pytest.fixture(scope='session', params=['etmv4,ete', 'ptm', 'etmv3'])
def recorded(request, synth):
    """Two processes on two CPUs."""
    protocols = request.param
    return synth('--protocol', protocols, '--isa', 'A32', '--size', 2500, '--exceptions', 5, '--context-ids', 2, '--timestamps', 100,
                 '--perf-data', '--cores', 2)


@pytest.fixture(scope='session')
def two(synth):
    """The same with a program for each CPU, and cycle counts."""
    return synth('--protocol', 'etmv4,ete', '--size', 8000, '--exceptions', 5, '--context-ids', 2, '--cycle-counts', '--perf-data', '--cores', 2)


def totals(run, capture, *options):
    """The sums of all counts over the sources."""
    sums = collections.Counter()
    result = run('count', capture / 'perf.data', '--symfs', capture, '--format', 'json', *options)
    for row in result.json_lines():
        if row['type'] != 'count':
            continue
        for name, value in row.items():
            if isinstance(value, dict):
                sums.update({f'{name}.{key}': count for key, count in value.items()})
            elif type(value) is int and name != 'id':
                sums[name] += value
    return sums


@pytest.mark.parametrize('threads', [1, 3])
def test_the_processes_add_up(run, recorded, threads):
    """Only what comes before the first context belongs to no process."""
    whole = totals(run, recorded, '-j', threads)
    parts = sum((totals(run, recorded, '--pid', pid, '-j', threads) for pid in PIDS), collections.Counter())
    assert whole['instructions'] > 1000
    # Each source begins with a few elements before its first context, and perhaps has none.
    begin = {'elements.no_sync', 'elements.trace_on', 'elements.timestamp', 'elements.end_of_trace'}
    assert {name for name in whole if whole[name] != parts[name]} <= begin
    assert all(0 <= whole[name] - parts[name] <= 4 for name in begin)


def test_cycles_add_up(run, two):
    whole = totals(run, two)
    parts = sum((totals(run, two, '--pid', pid) for pid in PIDS), collections.Counter())
    assert whole['cycles'] > 0
    assert (whole['cycles'], whole['instructions']) == (parts['cycles'], parts['instructions'])


def test_lines_are_those_without_a_selection(run, recorded):
    def lines(*options):
        return run('decode', recorded / 'perf.data', '--symfs', recorded, *options).lines[1:]
    whole = collections.Counter(lines('-j', 1))
    parts = collections.Counter()
    for pid in PIDS:
        part = lines('--pid', pid, '-j', 1)
        # Not in an assertion: pytest would look for the differences of long lists.
        same = lines('--tid', pid, '-j', 3) == part and lines('--comm', f'synth-{pid}', '-j', 1) == part
        assert same
        assert {line.split('process ')[1] for line in part if 'process ' in line} == {f'synth-{pid}'}
        parts.update(part)
    assert list(parts - whole)[:5] == []
    assert all(any(word in line for word in ('synchronisation', 'trace on', '-- time', 'end of trace'))
               for line in whole - parts)
    both = collections.Counter(lines('--pid', PIDS[0], '--pid', PIDS[1])) == parts
    assert both
    assert run('decode', recorded / 'perf.data', '--symfs', recorded, '--pid', PIDS[0], '--tid', PIDS[1],
               expect=1).one_sentence('nothing that was selected').lines[1:] == []


def test_formats(run, two):
    for form in 'json', 'csv':
        whole = run('decode', two / 'perf.data', '--symfs', two, '--format', form).lines
        part = run('decode', two / 'perf.data', '--symfs', two, '--format', form, '--pid', 256).lines
        subset = set(part) < set(whole)
        assert subset
    timed = run('decode', two / 'perf.data', '--symfs', two, '--merge', 'time', '--pid', 256)
    timed.has('process synth-256').lacks('process synth-257')


def test_the_end_of_a_process(run, two):
    part = run('decode', two / 'perf.data', '--symfs', two, '--pid', 256, '--last', 20).lines[1:]
    whole = run('decode', two / 'perf.data', '--symfs', two, '--pid', 256).lines
    ranges = [line for line in part if ' insn' in line]
    assert ranges and all(line in whole for line in ranges[:-1])
    assert sum(int(line.split('+')[1].split()[0]) for line in ranges) >= 20


def test_cpus(run, two):
    units = [source['id'] for source in run('info', two / 'perf.data', '--symfs', two, '--format', 'json').json()['sources']]
    for cpu, trace_id in enumerate(units):
        for command in 'decode', 'count', 'packets':
            options = [] if command == 'packets' else ['--symfs', two]
            by_cpu = run(command, two / 'perf.data', '--cpu', cpu, *options)
            same = by_cpu.out == run(command, two / 'perf.data', '--id', trace_id, *options).out
            assert same
    run('decode', two / 'perf.data', '--cpu', 77, expect=3).one_sentence('CPU 77 was not traced', '0, 1')
    run('decode', two / 'perf.data', '--cpu', 0, '--id', units[1], expect=3).one_sentence('in common')
    run('decode', two / 'perf.data', '--cpu', 'x', expect=2).one_sentence('number of a CPU')


def test_programs(run, two):
    def ranges(*options):
        rows = run('decode', two / 'perf.data', '--symfs', two, '--format', 'json', *options).json_lines()
        assert not options or {row['kind'] for row in rows} == {'range'}
        return [row for row in rows if row.get('kind') == 'range']
    whole = ranges()
    parts = [ranges('--dso', name) for name in ('memory_0.bin', '/memory_1.bin')]
    assert len(whole) == sum(map(len, parts))
    for part in parts:
        places = {json.dumps(row) for row in whole}
        assert part and all(json.dumps(row) in places for row in part)
    counted = [totals(run, two, '--dso', name)['instructions'] for name in ('memory_0.bin', 'memory_1.bin')]
    assert sum(counted) == totals(run, two)['instructions'] and all(counted)
    assert totals(run, two, '--dso', 'memory_0.bin', '--dso', 'memory_1.bin')['instructions'] == sum(counted)


def test_find(run, two):
    start = run('decode', two / 'perf.data', '--symfs', two, '--format', 'json').json_lines()
    address = next(row['start'] for row in start if row.get('kind') == 'range')

    def found(*options):
        return int(run('find', two / 'perf.data', '--symfs', two, '--address', address, '--count', *options).out)
    assert found() == found('--pid', 256) + found('--pid', 257) > 0
    run('find', two / 'perf.data', '--symfs', two, '--exception', 'any', '--pid', 256, expect=2).one_sentence('--address')


@pytest.mark.parametrize('options, words', [
    (['--pid', 25], ['no such process', '256 (synth-256), 257 (synth-257)']),
    (['--pid', 'x'], ['--pid x', 'number of a process']),
    (['--tid', 1], ['no such thread', '256 (synth-256)']),
    (['--comm', 'sinth-256'], ['Did you mean synth-256?', 'synth-257']),
    (['--dso', 'memory0.bin'], ['Did you mean memory_0.bin?']),
])
def test_what_the_recording_does_not_have(run, two, options, words):
    for command in 'decode', 'count':
        run(command, two / 'perf.data', '--symfs', two, *options, expect=2).one_sentence(*words)


def test_other_inputs_have_no_processes(run, two):
    for option in '--pid', '--dso':
        run('decode', two, option, 256, expect=2).one_sentence('this is not one')
    run('decode', two, '--cpu', 1, expect=3).one_sentence('--id')
