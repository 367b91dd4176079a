"""Exports other than profiles: what another reader finds in them is what was executed."""
import collections
import re

import pytest


@pytest.fixture(scope='module')
def walks(executed):
    return executed('walks')


# --- afl -----------------------------------------------------------------------------------------

MASK = (1 << 64) - 1


def mixed(value):
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def edges(execution):
    """{(from, to): count} of the branches that QEMU executed."""
    branches = execution.branches()
    return collections.Counter((a, b) for a, b in zip(execution.addresses, execution.addresses[1:])
                               if a in branches)


def edge_map(execution):
    key = 0
    for byte in execution.build_id():
        key = mixed((key + byte + 1) & MASK)
    places = collections.Counter()
    for (start, end), count in edges(execution).items():
        places[(mixed(key ^ end) ^ mixed(key ^ start) >> 1) & 0xFFFF] += count
    return places


def test_edges_are_those_that_qemu_executed(run, walks, tmp_path):
    lines = run('export', 'afl', walks.capture, '--symbols', walks.program).lines
    assert all(re.fullmatch(r'\d{6}:\d+', line) for line in lines)
    counts = {int(place): int(count) for place, count in (line.split(':') for line in lines)}
    assert counts == edge_map(walks)
    assert sum(counts.values()) == sum(edges(walks).values())
    run('export', 'afl-map', walks.capture, '--symbols', walks.program, '-o', 'map')
    written = (tmp_path / 'map').read_bytes()
    assert len(written) == 65536
    assert {place: count for place, count in enumerate(written) if count} == {
        place: min(count, 255) for place, count in counts.items()}


def test_two_runs_have_the_same_edges(run, walks):
    once = run('export', 'afl', walks.capture, '--symbols', walks.program).lines
    again = run('export', 'afl', walks.capture, '--symbols', walks.program, '-j', '2').lines
    assert once == again


def test_one_file_cannot_be_a_folder(run, walks):
    said = run('export', 'afl', walks.capture, '--symbols', walks.program, '-o', 'maps/', expect=2).err
    assert 'one file for all programs' in said


# --- vcd -----------------------------------------------------------------------------------------

class Dump:
    """A value change dump, read by the grammar of IEEE 1364-2005, 18.2."""

    def __init__(self, text):
        words = iter(text.split())
        self.comments, self.names, self.changes = [], {}, []
        scopes, time, self.start = [], None, {}

        def to_end():
            found = []
            for word in words:
                if word == '$end':
                    return found
                found.append(word)
            raise AssertionError('$end is missing')
        for word in words:
            if word == '$comment':
                self.comments.append(' '.join(to_end()))
            elif word == '$scope':
                kind, name = to_end()
                assert kind == 'module'
                scopes.append(name)
            elif word == '$upscope':
                assert to_end() == []
                scopes.pop()
            elif word == '$var':
                kind, size, code, name = to_end()
                assert kind in ('wire', 'reg', 'event') and int(size) >= 1 and code not in self.names
                self.names[code] = '.'.join([*scopes, name])
            elif word in ('$version', '$timescale'):
                assert to_end()
            elif word == '$enddefinitions':
                assert to_end() == [] and not scopes
                break
        else:
            raise AssertionError('$enddefinitions is missing')
        for word in words:
            if word[0] == '#':
                assert time is None or int(word[1:]) > time
                time = int(word[1:])
            elif word in ('$dumpvars', '$end'):
                pass
            elif word[0] == 'b':
                self.change(time, word[1:], next(words))
            else:
                self.change(time, word[0], word[1:])

    def change(self, time, value, code):
        assert time is not None and re.fullmatch('[01]+|x|z', value)
        self.changes.append((time, self.names[code], value if value in 'xz' else int(value, 2)))

    def of(self, name):
        return [(time, value) for time, full, value in self.changes if full.endswith('.' + name)]


def test_waves_of_an_itm(run, itm_file, tmp_path):
    run('export', 'vcd', itm_file, '-o', 'itm.vcd')
    dump = Dump((tmp_path / 'itm.vcd').read_text())
    assert 'local timestamps' in dump.comments[0]
    # Each round takes 1 + 2 + 3 + 4 ticks, and its last part is the entry of SysTick.
    stamps = json_rows(run('decode', itm_file, '--format', 'json'), 'timestamp')
    assert [value for _, value in dump.of('port_0') if value != 'x'] == [*b'Hi\n'] * 8
    assert len(dump.of('port_0_write')) == 24
    entries = [(time, value) for time, value in dump.of('exception') if value == 15]
    assert len(entries) == 8
    assert [time for time, _ in dump.of('port_0')[1:4]] == stamps[:3]


def json_rows(result, field):
    return [int(row[field]) for row in result.json_lines() if field in row]


def test_waves_of_exceptions_are_in_order_of_time(run, synth):
    capture = synth('--protocol', 'etmv4', '--size', 20000, '--timestamps', 50, '--exceptions', 20)
    dump = Dump(run('export', 'vcd', capture).out)
    assert 'timestamp generator' in dump.comments[0]
    rows = run('decode', capture, '--format', 'json').json_lines()
    entered = [row['number'] for row in rows if row.get('kind') == 'exception']
    assert entered
    # When a nested exception ends, the value is again that of the one that it interrupted.
    shown = iter(value for _, value in dump.of('exception'))
    assert all(number in shown for number in entered)


def test_waves_without_timestamps_say_so(run, stm_file, tmp_path):
    result = run('export', 'vcd', stm_file)
    assert 'no timestamps' in result.err
    dump = Dump(result.out)
    assert dump.of('m64_c0')[-1][1] == 0x2134


def test_waves_of_what_has_no_events(run, good, full_device):
    assert 'no exceptions, events' in run('export', 'vcd', good, expect=1).err


def test_waves_on_a_full_disk(run, itm_file, full_device):
    run('export', 'vcd', itm_file, stdout=full_device, expect=4)


def test_waves_of_several_inputs_are_refused(run, itm_file):
    assert 'of one INPUT' in run('export', 'vcd', itm_file, itm_file, expect=2).err
