"""Trace in other files: records, hex dumps, and what a logic analyser sampled."""
import shutil
import subprocess

import pytest
from support import pins
from support.trace_bytes import ATOM_E, ETMV4_REGISTERS, ETMV4_START, ITM_TRACE, LOOP_PROGRAM, framed

ETMV4 = ('--protocol', 'etmv4', *ETMV4_REGISTERS)
FRAMES = framed(0x10, ETMV4_START + ATOM_E * 200)
IMAGE = ('--image', '0x80000=program.bin')
SYNC = bytes.fromhex('ffffff7f')
SIGROK = shutil.which('sigrok-cli')


def intel_hex(address, data, end=True):
    def record(kind, place, content):
        body = bytes([len(content), place >> 8 & 0xFF, place & 0xFF, kind]) + content
        return ':' + (body + bytes([-sum(body) & 0xFF])).hex().upper() + '\r\n'
    text = ''
    for at in range(0, len(data), 16):
        if at == 0 or (address + at) % 0x10000 < 16:
            text += record(4, 0, (address + at >> 16).to_bytes(2, 'big'))
        text += record(0, address + at & 0xFFFF, data[at:at + 16])
    return text + (record(1, 0, b'') if end else '')


def s_records(address, data):
    text = ''
    for at in range(0, len(data), 16):
        content = data[at:at + 16]
        body = bytes([len(content) + 5]) + (address + at).to_bytes(4, 'big') + content
        text += 'S3' + (body + bytes([~sum(body) & 0xFF])).hex().upper() + '\n'
    return text + 'S70500000000FA\n'


def dump(data, line, size=16):
    return ''.join(line(at, data[at:at + size]) for at in range(0, len(data), size))


def words(data):
    return [int.from_bytes(data[at:at + 4], 'little') for at in range(0, len(data), 4)]


CONTAINERS = {
    'Intel HEX': intel_hex(0x2000FFF0, FRAMES),
    'S-records': s_records(0x20000000, FRAMES),
    'GDB': dump(FRAMES, lambda at, row: f'{at + 0x20000000:#x} <etb+{at}>:' +
                ''.join(f'\t{word:#010x}' for word in words(row)) + '\n'),
    'OpenOCD': dump(FRAMES, lambda at, row: f'{at + 0x20000000:#010x}: ' +
                    ''.join(f'{word:08x} ' for word in words(row)) + '\r\n'),
    'U-Boot': dump(FRAMES, lambda at, row: f'{at + 0x80000000:08x}: ' +
                   ' '.join(f'{word:08x}' for word in words(row)) + '    ................\n'),
    'xxd': dump(FRAMES, lambda at, row: f'{at:08x}: {row.hex(" ", 2)}  ................\n'),
    'hexdump -C': dump(FRAMES, lambda at, row: f'{at:08x}  {row[:8].hex(" ")}  {row[8:].hex(" ")}  |'
                       '................|\n') + f'{len(FRAMES):08x}\n',
    'digits': dump(FRAMES, lambda at, row: row.hex() + '\n', 30),
}


@pytest.fixture
def file(tmp_path):
    def write(name, data):
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name
    write('frames.bin', FRAMES)
    write('program.bin', LOOP_PROGRAM)
    return write


@pytest.mark.parametrize('container', CONTAINERS)
def test_framed_trace_in_text(run, file, container):
    file('dump.txt', CONTAINERS[container])
    expected = run('decode', 'frames.bin', *ETMV4, *IMAGE).lines
    result = run('decode', 'dump.txt', *ETMV4, *IMAGE)
    assert result.lines == expected and len(expected) > 1
    result.says(f'{len(FRAMES)} bytes from')


def test_records_name_what_is_wrong(run, file):
    file('bad.hex', intel_hex(0, FRAMES).replace(':10', ':1F', 3))
    run('packets', 'bad.hex', *ETMV4, expect=3).empty()
    lines = intel_hex(0, FRAMES).splitlines()
    lines[5] = lines[5][:-1] + ('0' if lines[5][-1] != '0' else '1')
    file('sum.hex', '\n'.join(lines))
    run('packets', 'sum.hex', *ETMV4, expect=3).one_sentence('sum.hex', 'Line 6', 'checksum').empty()
    file('cut.hex', intel_hex(0, FRAMES, end=False))
    run('packets', 'cut.hex', *ETMV4).says('cut.hex', 'the record that ends the file is missing')
    file('gap.hex', intel_hex(0, FRAMES, end=False) + intel_hex(0x10000, FRAMES))
    run('packets', 'gap.hex', *ETMV4, expect=3).says('keep only the trace')


@pytest.mark.parametrize('write', [intel_hex, s_records])
@pytest.mark.parametrize('place, address', [('', 0x80000), ('0x80004=', 0x80000), ('0x80000=', 0x1000)])
def test_records_as_memory(run, file, write, place, address):
    """An address in the records leaves them where they say; another one moves them."""
    file('program.hex', write(address, LOOP_PROGRAM))
    expected = run('decode', 'frames.bin', *ETMV4, *IMAGE).lines
    assert run('decode', 'frames.bin', *ETMV4, '--image', f'{place}program.hex').lines == expected


def test_an_output_does_not_replace_records(run, file, tmp_path):
    file('program.hex', intel_hex(0x80000, LOOP_PROGRAM))
    run('decode', 'frames.bin', *ETMV4, '--image', 'program.hex', '-o', 'program.hex', expect=2)
    assert (tmp_path / 'program.hex').read_bytes().decode() == intel_hex(0x80000, LOOP_PROGRAM)


def test_bad_records_as_memory(run, file):
    file('program.hex', intel_hex(0x80000, LOOP_PROGRAM) + ':00\n')
    run('decode', 'frames.bin', *ETMV4, '--image', 'program.hex', expect=3).one_sentence('--image', 'program.hex')


@pytest.mark.parametrize('coding, bit', [('uart', 12), ('uart', 5.37), ('manchester', 12), ('manchester', 9.3)])
def test_swo_of_a_logic_analyser(run, file, itm_file, tmp_path, coding, bit):
    samples = getattr(pins, coding)(ITM_TRACE, bit)
    pins.write_session(tmp_path / 'swo.sr', samples, ['SWO', 'D1'], parts=3)
    result = run('decode', 'swo.sr')
    assert result.lines == run('decode', itm_file).lines
    result.says('UART' if coding == 'uart' else 'Manchester', f'{len(ITM_TRACE)} bytes', 'Mbit/s')
    run('info', 'swo.sr').has('ITM stream')


def test_what_is_stated_is_used(run, file, itm_file, tmp_path):
    pins.write_session(tmp_path / 'swo.sr', [2 * x for x in pins.uart(ITM_TRACE, 12)], ['D0', 'D1'], rate=None)
    expected = run('decode', itm_file).lines
    options = ('--pin', 'swo=D1', '--swo-coding', 'uart')
    run('decode', 'swo.sr', *options).says('12.0 samples per bit')
    run('decode', 'swo.sr', *options, '--swo-rate', '2M', expect=3).says('--sample-rate')
    assert run('decode', 'swo.sr', *options, '--swo-rate', '2M', '--sample-rate', '24MHz').lines == expected
    run('decode', 'swo.sr', *options, '--swo-rate', 'fast', expect=2).says('--swo-rate fast')
    run('decode', 'swo.sr', '--pin', 'swo', expect=2).says('--pin swo')
    run('decode', 'swo.sr', '--pin', 'swo=D7', expect=3).says('D0, D1')


def test_a_break_on_the_wire_is_counted(run, file, tmp_path):
    signal = pins.Signal(12)
    signal.level(1, 30)
    signal.uart(ITM_TRACE)
    signal.level(0, 25)
    signal.level(1, 30)
    signal.uart(ITM_TRACE)
    pins.write_session(tmp_path / 'swo.sr', signal.samples, ['SWO'])
    run('decode', 'swo.sr').says('1 byte on SWO is broken', ' s; check the rate').has('port 0: "Hi\\n"')


@pytest.mark.parametrize('width', [1, 2, 4])
def test_a_trace_port(run, file, tmp_path, width):
    half_syncs = b'\xff\x7f' * 3
    data = b'\x12' + SYNC + half_syncs + b''.join(
        FRAMES[at:at + 16] + (SYNC if at % 64 == 0 else b'') for at in range(0, len(FRAMES), 16)) + SYNC
    pins.write_session(tmp_path / 'port.sr', pins.port(data, width),
                       ['TRACECLK', *(f'TRACED{pin}' for pin in range(width))])
    result = run('decode', 'port.sr', *ETMV4, *IMAGE)
    result.says(f'a trace port of {width} pin', 'TRACECLK, TRACED0')

    def strip(lines):
        return [line.split(maxsplit=1)[1] for line in lines[1:]]
    assert strip(result.lines) == strip(run('decode', 'frames.bin', *ETMV4, *IMAGE).lines)


def test_sessions_that_cannot_be_read(run, file, tmp_path):
    pins.write_session(tmp_path / 'good.sr', pins.uart(ITM_TRACE, 12), ['SWO'])
    good = (tmp_path / 'good.sr').read_bytes()
    file('cut.sr', good[:len(good) // 2])
    run('info', 'cut.sr', expect=3).one_sentence('cut.sr', 'damaged or cut short').empty()
    pins.write_session(tmp_path / 'flat.sr', [1] * 1000, ['SWO'])
    run('info', 'flat.sr', expect=3).one_sentence('flat.sr', 'shows no SWO').empty()
    pins.write_session(tmp_path / 'port.sr', pins.port(FRAMES, 1), ['TRACECLK', 'TRACED0'])
    run('info', 'port.sr', expect=3).one_sentence('port.sr', 'no frame sync').empty()
    pins.write_session(tmp_path / 'names.sr', [0, 3] * 50, ['D0', '\x1b[31mred'])
    assert '\x1b' not in run('info', 'names.sr', expect=3).says('D0', '31mred', '--pin').err


@pytest.mark.skipif(SIGROK is None, reason='sigrok-cli is not installed')
def test_sigrok_reads_the_same_bytes(file, run, itm_file, tmp_path):
    """sigrok's UART decoder gives the bytes that are decoded here, and its ITM decoder the text."""
    pins.write_session(tmp_path / 'swo.sr', pins.uart(ITM_TRACE, 24), ['SWO'])
    uart = f'uart:rx=SWO:baudrate={24_000_000 // 24}'
    read = subprocess.run([SIGROK, '-i', tmp_path / 'swo.sr', '-P', uart, '-B', 'uart=rx'], capture_output=True,
                          check=True)
    file('sigrok.bin', read.stdout)
    assert read.stdout == ITM_TRACE
    assert run('decode', 'swo.sr').lines == run('decode', 'sigrok.bin').lines
