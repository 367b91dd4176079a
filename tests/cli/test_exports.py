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
