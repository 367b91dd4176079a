"""`waymark syst` and `waymark decode --syst`: filters, times and frequencies, several trace IDs,
standard input, --strict, messages among instructions; a program that traces itself."""
import os
import re
import subprocess

import pytest
from support.snapshots import edit, make_snapshot
from support.stp import FLAG, at, begin, console, data, message, stp, sync
from support.trace_bytes import ATOM_E, ETMV4_START, framed

SHORT = '{494E5443-8A9C-4014-A65A-2F36A36D96E4}'
NAMES = f"""\
<s:Collateral><s:Client Name="pump"><s:Guids>
<s:Guid ID="{{00000000-0000-0000-4100-000000000000}}" Mask="{{00000000-0000-0000-FF00-000000000000}}">g</s:Guid>
</s:Guids><s:Modules><s:Module ID="65">valve</s:Module></s:Modules></s:Client>
<s:Client Name="short"><s:Guids><s:Guid ID="{SHORT}">g</s:Guid></s:Guids>
<s:Short32><s:Format ID="0x1234567">short one</s:Format></s:Short32></s:Client></s:Collateral>
"""
ONE, TWO, THREES, FIVES = '00656E6F', '006F7774', '00333333', '00353535'
# From 129:4 at 1000 an INFO of module 0x41 and unit 5; at 2000 an ERROR of unit 6; from 130:1 at
# 3000 a DEBUG of module 0x42; at 4000 a short message; at 5000 one that makes no sense.
ALL = stp(sync(1000000), at(0x81, 4), message(1000, '01415042', ONE), message(2000, '01416022', TWO),
          at(0x82, 1), message(3000, '01425072', THREES), f'A12345671E{4000:016X}', message(5000, '0141504F', FIVES))
# "A" from a client with a GUID, "B" from module 0x41.
GUID = console('42308001' '494E54438A9C4014A65A2F36A36D96E4' '4100', '425041014200')


@pytest.fixture
def inputs(tmp_path):
    """The files that the commands of these tests name."""
    for name, content in {
            'all.stp': ALL, 'names.xml': NAMES.encode(),
            'guid.txt': GUID,
            # No frequency.
            'none.stp': stp(sync(0), at(0x81, 4), message(1000, '01415042', ONE))}.items():
        (tmp_path / name).write_bytes(content)


@pytest.fixture
def two(tmp_path):
    """A snapshot of two STMs with different frequencies, IDs 0x20 and 0x21."""
    trace = framed(0x20, stp(sync(1000000), at(0x81, 4), message(1000, '01415042', ONE)), fill=b'\0')
    trace += framed(0x21, stp(sync(2000000), at(0x81, 4), message(1000, '01415042', TWO)), fill=b'\0')
    folder = make_snapshot(tmp_path / 'two', trace, 'coresight')
    edit(folder / 'snapshot.ini', ('a=cpu.ini\n', ''), ('b=etm.ini', 'b=stm0.ini\nc=stm1.ini'))
    edit(folder / 'trace.ini', ('ETM_0=ETB_0', 'STM_0=ETB_0\nSTM_1=ETB_0'), ('[core_trace_sources]\ncpu_0=ETM_0\n', ''))
    for i in 0, 1:
        (folder / f'stm{i}.ini').write_text(
            f'[device]\nname=STM_{i}\nclass=trace_source\ntype=STM\n[regs]\nSTMTCSR(0x3A0)=0x002{i}000B\n')
    return 'two'


def texts(result):
    """The last word of each line; the message that makes no sense is 'bad'."""
    return ' '.join('bad' if 'BAD' in line else line.split()[-1] for line in result.lines)


def test_everything(run, inputs):
    result = run('syst', 'all.stp').has('0.001000000  129:4        INFO    module 65:5  one',
                                        '0.005000000  130:1        BAD')
    assert len(result.lines) == 5


@pytest.mark.parametrize('options, expected', [
    (['--severity', 'error'], 'two 0x01234567 bad'),  # Short messages have none.
    (['--severity', 'info'], 'one two 0x01234567 bad'),
    (['--type', 'string', '--origin', 65], 'one two bad'),
    (['--type', 'short32'], '0x01234567 bad'),
    (['--origin', '0x42'], '333 bad'),
    (['--unit', 6], 'two bad'),
    (['--unit', 5, '--type', 'string'], 'one 333 bad'),
    (['--master', 129], 'one two'),
    (['--channel', 1], '333 0x01234567 bad'),
    (['--channel', 4, '--channel', 1, '--unit', 5, '--type', 'string'], 'one 333 bad'),
    (['--from', 2000, '--to', 3001], 'two 333'),
    (['--from', 't:2000', '--to', 't:0xBB9'], 'two 333'),
    (['--from', '0xFA0'], '0x01234567 bad'),
    (['--only-bad'], 'bad'),
    (['--guid', SHORT], 'bad'),
    (['-c', 'names.xml', '--client', 'pump'], 'one two bad'),
])
def test_filters(run, inputs, options, expected):
    assert texts(run('syst', 'all.stp', *options)) == expected


@pytest.mark.parametrize('option, value', [
    ('--severity', 'loud'), ('--type', 'text'), ('--origin', 'x'), ('--guid', '5'), ('--from', 'now'),
    ('--frequency', '1Q')])
def test_values_that_are_refused(run, inputs, option, value):
    run('syst', 'all.stp', option, value, expect=2).one_sentence(option).empty()


def test_names_of_clients_and_guids(run, inputs):
    run('syst', 'all.stp', '-c', 'names.xml', '--short-guid', SHORT).has(
        'INFO    pump/valve:5  one', 'short  short short one')
    assert texts(run('syst', 'guid.txt')) == 'A B'
    assert texts(run('syst', 'guid.txt', '--guid', SHORT)) == 'A'


def test_csv_and_json(run, inputs):
    result = run('syst', 'all.stp', '--format', 'csv').has(
        '129,4,1000,1000000,of_transport,OK,STRING:GENERIC,INFO,,,,65,5,,one,,8,,,')
    assert len(result.lines) == 6
    row, = run('syst', 'all.stp', '--format', 'json', '--master', 129, '--to', 1001).json_lines()
    assert (row['master'], row['channel'], row['status']) == (129, 4, 'OK')
    assert [int(row[name]) for name in ('transport_time', 'time', 'nanoseconds')] == [1000, 1000, 1000000]


def test_strict_stops_at_the_first_bad_message(run, tmp_path):
    (tmp_path / 'x.stp').write_bytes(stp(sync(1000000), at(0x81, 4), message(1, '0141504F', FIVES),
                                         message(2, '01415042', ONE)))
    assert len(run('syst', 'x.stp', '--strict', expect=1).says('--strict').lines) == 1
    assert len(run('syst', 'x.stp').lines) == 2


def test_the_frequency_of_the_trace_comes_before_that_of_the_command_line(run, inputs):
    for frequency in (500000, '500k', '0.5 MHz'):
        run('syst', 'all.stp', '--frequency', frequency, '--master', 129).has('0.001000000')
    run('syst', 'none.stp').has('              1000  129:4')
    run('syst', 'none.stp', '--frequency', 500000).has('0.002000000  129:4')


def test_every_source_has_its_frequency(run, two):
    run('syst', two).has('0.001000000  0x20  129:4        INFO    module 65:5  one',
                         '0.000500000  0x21  129:4        INFO    module 65:5  two')
    assert len(run('syst', two, '--id', '0x21').lines) == 1


@pytest.mark.parametrize('option', ['--from', '--to', '--master', '--channel'])
@pytest.mark.parametrize('source', ['guid.txt', '-'])
def test_text_has_no_times_and_masters(run, inputs, option, source):
    run('syst', source, option, 1, stdin=GUID, expect=2).one_sentence(option)


def test_an_end_that_was_guessed_is_not_damage(run, tmp_path):
    (tmp_path / 'x.bin').write_bytes(bytes.fromhex('42504101616100' '425241010300616100' '425241010300626200'))
    assert len(run('syst', 'x.bin', '--as', 'plain').one_sentence('1 message has no length').lines) == 3
    run('syst', 'x.bin', '--as', 'plain', '--only-bad').empty()


@pytest.mark.parametrize('options', [[], ['--as', 'lines']])
def test_standard_input(run, options):
    assert texts(run('syst', '-', *options, stdin=GUID)) == 'A B'


def test_plain_messages_on_standard_input(run):
    assert len(run('syst', '-', stdin=bytes.fromhex('425241010300626200') * 900).quiet().lines) == 900


def test_messages_are_shown_while_the_sender_waits(run):
    """A console that runs for hours: each message is shown before the next one is sent."""
    process = run.start('syst', '-', stdin=subprocess.PIPE, stdout=subprocess.PIPE)[1]
    text = console('425041014200')
    process.stdin.write(text * 3)
    process.stdin.flush()
    shown = process.stdout.readline()
    process.stdin.close()
    rest = process.stdout.read()
    assert process.wait(timeout=600) == 0
    assert len((shown + rest).splitlines()) == 3


@pytest.mark.parametrize('format, last', [('text', '-- interrupted: the rest is not shown'),
                                          ('json', '{"type":"interrupted"}'), ('csv', 'interrupted')])
def test_interrupted_messages_say_so(run, tmp_path, format, last):
    (tmp_path / 'long.txt').write_bytes(console('425041014200') * 100000)
    result = run.interrupted('syst', 'long.txt', '--format', format, after=1024)
    assert last in result.whole_lines().lines[-1]


@pytest.mark.parametrize('options', [['--as', 'trace'], ['--protocol', 'stm'], ['--framing', 'mem'],
                                     ['--nibble-order', 'least'], ['--id', 3]])
def test_text_is_not_taken_for_trace(run, options):
    result = run('syst', '-', *options, stdin=GUID, expect=(1, 2, 3)).empty()
    assert result.err


@pytest.mark.parametrize('options', [[], ['--as', 'trace'], ['--protocol', 'stm', '--framing', 'none']])
def test_trace_on_standard_input_is_read_as_from_a_file(run, inputs, options):
    result = run('syst', '-', *options, stdin=ALL).quiet()
    assert result.out == run('syst', 'all.stp').out
    run('syst', '-', '--as', 'lines', stdin=ALL, expect=1).says('no SyS-T message')


def test_synchronisation_within_a_message_is_not_part_of_it(run, tmp_path):
    (tmp_path / 'x.stp').write_bytes(stp(sync(1000000), at(0x81, 4), begin(1, '01415042'), sync(1000000),
                                         at(0x81, 4), data(ONE), FLAG))
    assert len(run('syst', 'x.stp').has('129:4        INFO    module 65:5  one').lines) == 1


def test_a_message_that_is_open_at_the_end_is_shown(run, tmp_path):
    (tmp_path / 'x.stp').write_bytes(stp(sync(0), at(0x81, 4), message(1, '01415042', ONE), begin(2, '01415042'),
                                         data(TWO)))
    assert len(run('syst', 'x.stp').has('two  !! the capture ends within this message').lines) == 2


def test_decode_shows_messages_in_place_of_packets(run, inputs, two):
    run('decode', 'all.stp', '--syst').has('129:4  INFO    module 65:5  one', '130:1  BAD').lacks('D32')
    rows = run('decode', 'all.stp', '--collateral', 'names.xml', '--short-guid', SHORT, '--format', 'json').json_lines()
    assert 'short one' in [row.get('text') for row in rows]
    assert 'valve' in [row.get('module') for row in rows]
    row, = (row for row in run('decode', two, '--syst', '--merge', 'time', '--format', 'json').json_lines()
            if row.get('id') == 0x21 and 'master' in row)
    assert (row['master'], row['channel'], row['status']) == (129, 4, 'OK')
    assert [int(row[name]) for name in ('transport_time', 'time', 'nanoseconds')] == [1000, 1000, 500000]


def null_with_time(time):
    return f'F01E{time:016X}'


@pytest.fixture
def pair(tmp_path):
    """An ETMv4, ID 0x10, and an STM, ID 0x20, on one clock."""
    # The core's timestamps 100, 300, 500, with two instructions before each.
    core = ETMV4_START + ATOM_E + b'\x02\x64' + ATOM_E + b'\x02\xac\x02' + ATOM_E + b'\x02\xf4\x03' + ATOM_E
    # "one" at 200 from 129:4, "two" at 400 from 130:1; the second begins before the first ends, and a
    # NULL packet with a time ends nothing.
    software = [sync(1000000), at(0x81, 4), begin(200, '01415042'), null_with_time(200), at(0x82, 1),
                begin(400, '01415042'), at(0x81, 4), data(ONE), FLAG, at(0x82, 1), data(TWO), FLAG]
    # At 600, 129:4 says that its 1 MHz clock shows 10000.  At 900 it sends "sync" of 10100, which is 700.
    software += [at(0x81, 4), begin(600, '01000008'), data('00002710', '00000000', '000F4240', '00000000'), FLAG,
                 begin(900, '01415842'), data('00002774', '00000000', '636E7973'), '400', FLAG]
    folder = make_snapshot(tmp_path / 'pair', framed(0x10, core) + framed(0x20, stp(*software)), 'coresight')
    edit(folder / 'etm.ini', ('TRCCONFIGR=0x1', 'TRCCONFIGR=0x801'))
    edit(folder / 'snapshot.ini', ('b=etm.ini', 'c=stm.ini\nb=etm.ini'))
    edit(folder / 'trace.ini', ('ETM_0=ETB_0', 'ETM_0=ETB_0\nSTM_0=ETB_0'))
    (folder / 'stm.ini').write_text(
        '[device]\nname=STM_0\nclass=trace_source\ntype=STM\n[regs]\nSTMTCSR(0x3A0)=0x0020000B\n')
    return 'pair'


def test_messages_among_instructions_in_the_order_of_time(run, pair):
    result = run('decode', pair, '--syst', '--merge', 'time').quiet().matches(
        r'^ +700 +[0-9]+ +0x20 +-- 129:4  INFO    module 65:5  sync$')
    times = [int(found[1]) for line in result.lines if (found := re.match(r'[ <>]*([0-9]+)[ <>]', line[:17]))]
    assert times == sorted(times) and len(times) > 5
    places = [result.out.find(text) for text in (
        'time 100', '129:4  INFO    module 65:5  one', 'time 300', '130:1  INFO    module 65:5  two', 'time 500',
        'sync clock 10000 frequency 1000000 Hz')]
    assert -1 not in places and places == sorted(places)


def test_times_of_messages_in_json_and_in_syst(run, pair):
    rows = run('decode', pair, '--syst', '--merge', 'time', '--format', 'json').json_lines()
    row, = (row for row in rows if row.get('text') == 'sync')
    assert (row['status'], row['time_is']) == ('OK', 'of_message')
    assert [int(row[name]) for name in ('transport_time', 'time', 'nanoseconds')] == [900, 700, 700000]
    run('syst', pair).has('0.000700000  129:4        INFO    module 65:5  sync')


@pytest.mark.skipif('TRACE_ITSELF' not in os.environ, reason='TRACE_ITSELF does not name the example')
def test_a_program_that_traces_itself(run, other, tmp_path):
    """Its messages have texts that come from its own ELF file."""
    program = os.environ['TRACE_ITSELF']
    (tmp_path / 'itself.log').write_bytes(other(program).out_bytes)
    run('collateral', program, '-o', 'itself.xml')
    result = run('syst', 'itself.log', '--collateral', 'itself.xml').lacks('catalog id').has(
        'trace_itself:1  27 needs 111 steps', 'that took "long": 100% of 0.5 s', 'trace_itself.cc:', 'enter main',
        'a format on the wire: -1, text')
    assert len(result.lines) == 10


@pytest.fixture
def backwards(tmp_path):
    """Messages of three masters; two of them are earlier than a message before them."""
    content = stp(sync(1000000), at(0x81, 4), message(3000, '01415042', ONE), at(0x82, 1), message(1000, '01425072', TWO),
                  at(0x83, 1), message(4000, '01435042', THREES), message(2000, '01435042', FIVES))
    (tmp_path / 'backwards.stp').write_bytes(content)
    return 'backwards.stp'


def test_times_that_run_backwards_are_reported_and_sorted(run, backwards):
    result = run('syst', backwards).one_sentence('note: ', '2 messages are earlier', '--sort')
    assert texts(result) == 'one two 333 555'
    assert texts(run('syst', backwards, '--sort').quiet()) == 'two 555 one 333'
    times = [line['time'] for line in run('syst', backwards, '--sort', '--format', 'json').quiet().json_lines()]
    assert times == sorted(times)
    rows = run('syst', backwards, '--sort', '--format', 'csv').quiet().lines
    assert [word for row in rows for word in ('two', '555', 'one', '333') if word in row] == ['two', '555', 'one', '333']
    assert rows[0] == run('syst', backwards, '--format', 'csv').lines[0]


def test_only_the_messages_that_are_shown_run_backwards(run, backwards):
    run('syst', backwards, '--master', '0x81').quiet()
    run('syst', backwards, '--master', '0x83').one_sentence('1 message is earlier')


def test_sorted_messages_up_to_the_first_bad_one(run, inputs):
    plain = run('syst', 'all.stp', '--strict', expect=1)
    assert run('syst', 'all.stp', '--sort', '--strict', expect=1).out == plain.out


def test_sorted_messages_that_cannot_be_written(run, backwards, full_device):
    run('syst', backwards, '--sort', stdout=full_device, expect=4).one_sentence('standard output')


def test_the_location_of_a_format_is_shown_natively_only(run, systprint, tmp_path):
    """The reference printer reads File and Line of formats, and shows only those of catalog entries."""
    (tmp_path / 'places.xml').write_text(f"""\
<syst:Collateral xmlns:syst="http://www.mipi.org/1.0/sys-t"><syst:Client Name="c"><syst:Guids>
<syst:Guid ID="{SHORT}">g</syst:Guid></syst:Guids>
<syst:Short32><syst:Format ID="0x1" File="7" Line="42">one</syst:Format></syst:Short32>
<syst:Catalog32><syst:Format ID="0x1" File="7" Line="43">two</syst:Format></syst:Catalog32>
</syst:Client></syst:Collateral>
""")
    (tmp_path / 'short.txt').write_bytes(console('11000000'))
    (tmp_path / 'catalog.txt').write_bytes(console('43308001' '494E54438A9C4014A65A2F36A36D96E4' '01000000'))

    def location(text):
        return systprint('-c', 'places.xml', '-g', SHORT, text).lines[1].split(',')[8]
    assert (location('short.txt'), location('catalog.txt')) == ('', '7:43')
    run('syst', 'short.txt', '--collateral', 'places.xml', '--short-guid', SHORT, '--format', 'csv').has('7:42')
    run('syst', 'catalog.txt', '--collateral', 'places.xml', '--format', 'csv').has('7:43')
