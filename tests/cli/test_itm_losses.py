"""Local times of an ITM whose trace has overflows and gaps: they never go back, and never pass the true time."""
import random

import pytest

SYNC = bytes(5) + b'\x80'
OVERFLOW = b'\x70'


def local_timestamp(delta):
    """LTS1, synchronous with its data."""
    out = bytearray([0xC0])
    while True:
        out.append((delta & 0x7F) | (0x80 if delta > 0x7F else 0))
        delta >>= 7
        if delta == 0:
            return bytes(out)


def stream(source, packets):
    """The bytes, the true time at the end, and the index of the first packet after a loss (None: there was none)."""
    out = bytearray(SYNC)
    true_time = 0
    after_loss = None
    lost = 0
    for number in range(packets):
        delta = source.choice((1, 20, 300, 70000))
        true_time += delta
        packet = bytes([0x01 | source.randrange(4) << 3, source.randrange(32, 127)]) + local_timestamp(delta)
        if lost > 0:
            lost -= 1
            if lost == 0:
                out += OVERFLOW
                after_loss = len(out) if after_loss is None else after_loss
            continue
        # The first packets of some streams are lost too.
        if source.randrange(12) == 0:
            lost = source.randrange(1, 9)
            continue
        if number % 40 == 39:
            out += SYNC
        out += packet
    return bytes(out), true_time, after_loss


def vcd_times(text):
    return [int(line[1:]) for line in text.splitlines() if line.startswith('#')]


def check_events(value, true_time=None):
    """Times of one track never go back."""
    tracks = {}
    for event in value['traceEvents']:
        if 'ts' in event:
            tracks.setdefault((event['pid'], event['tid']), []).append(event['ts'])
    assert tracks
    for times in tracks.values():
        assert times == sorted(times)
        # Equal times of one track differ by less than a tick.
        assert true_time is None or int(times[-1]) <= true_time


RAW = ('--protocol', 'itm', '--framing', 'none')


@pytest.mark.parametrize('seed', range(12))
def test_overflows(run, tmp_path, seed):
    data, true_time, after_loss = stream(random.Random(seed), 300)
    (tmp_path / 'x.itm').write_bytes(data)
    rows = [row for row in run('decode', 'x.itm', *RAW, '--format', 'json').json_lines() if 'timestamp' in row]
    times = [row['timestamp'] for row in rows]
    assert times == sorted(times) and times[-1] <= true_time
    # Without a loss the time is exact; after one it is a lower bound.
    assert after_loss is not None
    for row in rows:
        assert row.get('lower_bound', False) == (row['index'] >= after_loss), row
    assert len(set(times)) > len(times) * 9 // 10
    waves = vcd_times(run('export', 'vcd', 'x.itm', *RAW).out)
    assert waves == sorted(waves) and waves[-1] <= true_time
    check_events(run('export', 'trace-event', 'x.itm', *RAW).json(), true_time)


@pytest.mark.parametrize('seed', range(12))
def test_damage(run, tmp_path, seed):
    source = random.Random(100 + seed)
    data = bytearray(stream(source, 300)[0])
    for _ in range(20):
        at = source.randrange(len(data))
        if source.randrange(2) == 0:
            data[at] = source.randrange(256)
        else:
            del data[at:at + source.choice((1, 5, 30))]
    (tmp_path / 'x.itm').write_bytes(data)
    rows = run('decode', 'x.itm', *RAW, '--format', 'json').json_lines()
    times = [row['timestamp'] for row in rows if row.get('what') == 'local_timestamp']
    assert times == sorted(times)
    waves = vcd_times(run('export', 'vcd', 'x.itm', *RAW).out)
    assert waves == sorted(waves)
    check_events(run('export', 'trace-event', 'x.itm', *RAW).json())


def global_timestamp(time, upper=False):
    """GTS1 with the low 26 bits, or GTS2 with those above."""
    value = time >> 26 if upper else time & 0x3FFFFFF
    return bytes([0xB4 if upper else 0x94, *(value >> (7 * i) & 0x7F | 0x80 for i in range(3)), value >> 21 & 0x1F])


def test_global_times_are_partial_after_a_loss_until_both_halves_are_known(run, tmp_path):
    data = SYNC + global_timestamp(100) + b'\x01A' + global_timestamp(0x4000200, upper=True) + OVERFLOW
    data += global_timestamp(0x4000200)
    data += global_timestamp(0x8000300, upper=True) + global_timestamp(0x8000300)
    data += global_timestamp(0xC000000, upper=True) + b'\x01B'
    (tmp_path / 'x.itm').write_bytes(data)
    rows = run('decode', 'x.itm', *RAW, '--format', 'json').json_lines()
    assert [(row['timestamp'], row.get('partial', False)) for row in rows if row.get('what') == 'global_timestamp'] == [
        (0x4000064, False), (0x4000200, True), (0x8000200, False), (0x8000300, False), (0xC000300, False)]
    run('decode', 'x.itm', *RAW).has('(upper bits unknown)')
    # Without local timestamps, these are the times.
    found = run('find', 'x.itm', *RAW, '--timestamp', str(0x8000000), '--format', 'json').json_lines()
    assert [row['value'] for row in found if row['type'] == 'found'] == [str(0x8000200)]
    run('export', 'vcd', 'x.itm', *RAW)
