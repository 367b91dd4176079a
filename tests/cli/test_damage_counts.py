"""Every command that judges a capture counts the same damage.

WAYMARK_MUTATIONS is the number of damaged captures; scripts/check tries 10,000.
"""
import os
import random

import pytest

MUTATIONS = int(os.environ.get('WAYMARK_MUTATIONS') or 21)
PROTOCOLS = ('etmv4', 'ete', 'ptm', 'etmv3', 'stm', 'itm', 'mtb')


def damaged(good, source):
    """These bytes with some replaced, with changed bits, or with some left out."""
    data = bytearray(good)
    for _ in range(source.choice((1, 2, 5, 30))):
        at = source.randrange(len(data))
        kind = source.randrange(3)
        if kind == 0:
            data[at] = source.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << source.randrange(8)
        else:
            del data[at:at + source.choice((1, 16, 40))]
    return bytes(data)


def damage_by_source(rows):
    counts = {}
    for row in rows:
        if row['type'] == 'damage':
            counts[row.get('id')] = counts.get(row.get('id'), 0) + 1
    return counts


def check(run, capture, seed):
    # Damage may leave nothing to decode, and then count has no rows.
    rows = run('decode', capture, '--format', 'json', expect=(0, 1)).json_lines()
    expected = damage_by_source(rows)
    total = sum(expected.values())
    listing = run('decode', capture, expect=(0, 1))
    assert sum('!! damage' in line for line in listing.lines) == total, seed
    info = run('info', capture, '--format', 'json', expect=(0, 1)).json_lines()[0]
    assert sum(source['damage'] for source in info['sources']) + info.get('bad_frames', 0) == total, seed
    for source in info['sources']:
        assert source['damage'] == expected.get(source['id'], 0), seed
    for row in run('count', capture, '--format', 'json', expect=(0, 1)).json_lines():
        if row['type'] == 'count':
            assert row['damage'] == expected.get(row['id'], 0), seed
    findings = run('export', 'findings', capture).json()
    kinds = {row['kind'] for one in findings['captures'] for row in one['findings']}
    assert bool(kinds & {'damage', 'bad_frames'}) == (total > 0), seed
    if total > 0:
        run('decode', capture, '--strict', expect=1)


@pytest.mark.parametrize('protocol', PROTOCOLS)
def test_damaged_captures(run, synth, copy, protocol):
    capture = copy(synth('--protocol', protocol, '--size', 8000, '--no-truth'), 'capture')
    good = (capture / 'trace.bin').read_bytes()
    for seed in range(MUTATIONS // len(PROTOCOLS)):
        (capture / 'trace.bin').write_bytes(damaged(good, random.Random(f'{protocol} {seed}')))
        check(run, 'capture', seed)


def test_damage_in_a_part_of_the_trace(run, synth, copy):
    capture = copy(synth('--protocol', 'etmv4', '--size', 8000, '--no-truth'), 'capture')
    good = (capture / 'trace.bin').read_bytes()
    found = 0
    for seed in range(4):
        data = damaged(good, random.Random(seed))
        (capture / 'trace.bin').write_bytes(data)
        for window in (['--from', len(data) // 3], ['--to', len(data) // 2]):
            rows = run('decode', 'capture', '--format', 'json', *window, expect=(0, 1)).json_lines()
            counted = run('count', 'capture', '--format', 'json', *window, expect=(0, 1)).json_lines()
            expected = sum(damage_by_source(rows).values())
            assert [row['damage'] for row in counted if row['type'] == 'count'] == [expected], (seed, window)
            found += expected
    assert found > 0
