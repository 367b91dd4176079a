"""waymark interval, compared with what QEMU executed."""
import statistics

import pytest
from support import trace_bytes


@pytest.fixture(scope='module')
def walks(executed):
    return executed('walks')


def lengths_between(addresses, start, end):
    """Instructions from the last `start` before each `end`."""
    begun, lengths = None, []
    for position, address in enumerate(addresses):
        if address == end and begun is not None:
            lengths.append(position - begun)
            begun = None
        if address == start:
            begun = position
    return sorted(lengths)


@pytest.mark.parametrize('start, end', [('middle', 'leaf'), ('work', 'recursive'), ('leaf', 'leaf'),
                                        ('middle+4', 'middle+8')])
def test_instructions_are_those_that_qemu_executed(run, walks, start, end):
    def address(place):
        name, _, offset = place.partition('+')
        return walks.functions()[name][0] + int(offset or 0)
    lengths = lengths_between(walks.addresses, address(start), address(end))
    assert lengths
    row, = run('interval', walks.capture, '--symbols', walks.program, '--from', start, '--to', end,
               '--format', 'json').json_lines()
    assert row['unit'] == 'instructions' and row['exact']
    assert row['count'] == row['pairs'] == len(lengths)
    assert (row['minimum'], row['maximum']) == (lengths[0], lengths[-1])
    assert row['median'] == statistics.median_low(lengths)
    assert row['mean'] == sum(lengths) // len(lengths)
    assert sum(bar['count'] for bar in row['histogram']) == len(lengths)
    # The same by addresses.
    again, = run('interval', walks.capture, '--symbols', walks.program, '--from', hex(address(start)), '--to',
                 hex(address(end)), '--format', 'json').json_lines()
    assert {**again, 'from': start, 'to': end} == row


def test_the_extremes_are_where_the_trace_has_them(run, walks):
    row, = run('interval', walks.capture, '--symbols', walks.program, '--from', 'work', '--to', 'tail',
               '--format', 'json').json_lines()
    place = row['longest']
    shown = run('decode', walks.capture, '--functions', '--symbols', walks.program, '--format', 'json').json_lines()
    names = {element.get('function') for element in shown if element.get('index') == place['from_index']}
    assert 'work' in names, names


def test_time_and_cycles_are_columns_of_their_own(run, executed):
    walks = executed('walks', '--timestamps', '3', '--cycle-counts', '--cycle-threshold', '4')
    result = run('interval', walks.capture, '--symbols', walks.program, '--from', 'middle', '--to', 'leaf', '--histogram')
    assert result.lines[2].split() == ['time', 'cycles', 'instructions']
    assert '#' in result.out
    table = run('interval', walks.capture, '--symbols', walks.program, '--from', 'middle', '--to', 'leaf',
                '--format', 'csv').lines
    assert [line.split(',')[0] for line in table] == ['unit', 'time', 'cycles', 'instructions']


def test_text_of_a_port(run, tmp_path):
    trace = trace_bytes.ITM_TRACE
    (tmp_path / 'itm.bin').write_bytes(trace)
    row, = run('interval', 'itm.bin', '--protocol', 'itm', '--from', 'text:Hi', '--to', 'text:Hi', '--format',
               'json').json_lines()
    assert row['unit'] == 'time' and row['pairs'] == 7
    port, = run('interval', 'itm.bin', '--protocol', 'itm', '--from', 'port:0', '--to', 'port:0', '--format',
                'json').json_lines()
    assert port['pairs'] >= row['pairs']


@pytest.mark.parametrize('start, end, sentence, code', [
    ('never', 'leaf', 'never does not occur', 1),
    ('leaf', 'absent', "--to: no function is called 'absent'.", 2),
    ('event:x', 'leaf', '--from event:x: expected a number after event:', 2),
    ('text:', 'leaf', '--from text: the text to look for is missing', 2),
    ('0xzz', 'leaf', 'this is not an address', 2),
])
def test_what_cannot_be_measured(run, walks, start, end, sentence, code):
    run('interval', walks.capture, '--symbols', walks.program, '--from', start, '--to', end,
        expect=code).one_sentence(sentence)
