"""Live sources: servers of tests/cli/support/live_servers.py play captures in random pieces."""
import os
import re
import signal
import subprocess
import threading
import time

import pytest
from support.live_servers import (CLOSE, GenuineOpenocd, OpenocdServer, SerialLine, Server, chunks, free_port,
                                  orbflow)
from support.programs import HANG_SECONDS, check, Result
from support.trace_bytes import ATOM_E, ATOM_N, ETMV4_REGISTERS, ETMV4_START, ITM_ROUND, ITM_SYNC, ITM_TRACE, framed

ITM = ('--protocol', 'itm', '--framing', 'none')
ONCE = ('--retry-for', '0')
# Samples of the program counter, asleep, entry of SysTick, and an overflow.
DWT = bytes.fromhex('1700000108' '1700000108' '1704000108' '1500' '0e0f10' '70' '0148')


@pytest.fixture(scope='session')
def itm(made):
    return made('live_itm.bin', lambda path: path.write_bytes(ITM_TRACE * 20))


@pytest.fixture(scope='session')
def frames(made):
    """Two IDs, of which the second appears after the first megabyte, so that it is not in the head."""
    first = framed(0x10, ETMV4_START + (ATOM_E + ATOM_N) * 20000)
    return made('live_frames.bin', lambda path: path.write_bytes(
        first * 28 + framed(0x11, ETMV4_START + ATOM_E * 500)))


@pytest.fixture
def program_file(tmp_path):
    from support.trace_bytes import LOOP_PROGRAM
    (tmp_path / 'program.bin').write_bytes(LOOP_PROGRAM)
    return '0x80000=program.bin'


def address(server, scheme='tcp'):
    return f'{scheme}://127.0.0.1:{server.port}'


class Started:
    """A command that runs until it is interrupted; its lines can be waited for."""

    def __init__(self, run, *args, **options):
        self.command, self.process = run.start(*args, stdin=options.pop('stdin', subprocess.DEVNULL),
                                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                               start_new_session=True, **options)
        self.out = b''
        self.err = b''
        self.readers = [threading.Thread(target=self.read, args=(name,), daemon=True) for name in ('out', 'err')]
        for reader in self.readers:
            reader.start()

    def read(self, name):
        stream = self.process.stdout if name == 'out' else self.process.stderr
        while piece := os.read(stream.fileno(), 65536):
            setattr(self, name, getattr(self, name) + piece)

    def wait_for(self, text, name='out', times=1):
        """Waits for text of the output."""
        end = time.monotonic() + 60
        while getattr(self, name).count(text.encode()) < times:
            assert time.monotonic() < end, (text, self.out[-2000:], self.err)
            assert self.process.poll() is None, (text, self.out[-2000:], self.err)
            time.sleep(0.01)

    def end(self, expect=0):
        code = self.process.wait(HANG_SECONDS)
        for reader in self.readers:
            reader.join()
        return check(Result(self.command, code, self.out, self.err), expect)

    def interrupt(self, expect=130):
        self.process.send_signal(signal.SIGINT)
        return self.end(expect)


# -- The same lines as of a file ------------------------------------------------------------------

@pytest.mark.parametrize('stated', [ITM, ()], ids=['stated', 'found out'])
@pytest.mark.parametrize('command', [('decode',), ('packets',), ('count', '--top', 5), ('decode', '--format', 'json'),
                                     ('packets', '--format', 'csv')])
def test_tcp_gives_the_lines_of_the_file(run, itm, command, stated):
    expected = run(*command, itm, *ITM).out
    for most in (1, 7, 4096):
        with Server([itm.read_bytes()], most=most) as server:
            assert run(*command, address(server), *stated, *ONCE).out == expected


@pytest.mark.parametrize('command', ['decode', 'packets', 'count'])
def test_frames_whose_ids_appear_late(run, frames, program_file, command):
    options = (*ETMV4_REGISTERS, '--protocol', 'etmv4', '--image', program_file)
    expected = run(command, frames, *options, '--framing', 'mem').out
    assert command == 'count' or '0x11' in expected or 'ID:11' in expected
    with Server([frames.read_bytes()], most=60000) as server:
        assert run(command, address(server), *options, *ONCE).out == expected


def test_openocd(run, itm):
    with OpenocdServer([itm.read_bytes()]) as server:
        assert run('decode', address(server, 'openocd'), *ITM, *ONCE).out == run('decode', itm, *ITM).out


def test_the_genuine_openocd(run):
    with GenuineOpenocd('init') as server:
        started = Started(run, 'decode', address(server, 'openocd'), *ITM, *ONCE)
        started.wait_for('Nothing has arrived from openocd://', 'err')
        server.stop()
        started.end(expect=3).says('empty')
    with GenuineOpenocd('noinit') as server:
        run('decode', address(server, 'openocd'), *ITM, *ONCE, expect=3).one_sentence('does not send trace', 'run init')


@pytest.mark.parametrize('tag', [1, 2])
def test_orbflow(run, itm, tag):
    data = itm.read_bytes()
    wire = b''.join(orbflow(tag, piece) + orbflow(3 - tag, b'\x55') + b'\0' for piece in chunks(data, 5, 300))
    with Server([b'\0' + wire]) as server:
        result = run('decode', address(server, 'orbuculum') + ('' if tag == 1 else '?tag=2'), *ITM, *ONCE)
    assert result.out == run('decode', itm, *ITM).out
    result.one_sentence(f'tags other than {tag}', f'?tag={3 - tag}')


def test_a_serial_device(run, itm):
    with SerialLine() as line:
        for path in (line.path, f'serial://{line.path}?baud=115200'):
            started = Started(run, 'decode', path, *ITM, *ONCE)
            time.sleep(0.3)
            line.play(itm.read_bytes())
            started.wait_for('port 0', times=160)
            shown = started.interrupt().out
            expected = run('decode', itm, *ITM).out
            assert [line for line in shown.splitlines() if 'port 0' in line] == \
                [line for line in expected.splitlines() if 'port 0' in line]


@pytest.mark.parametrize('path', ['-', 'fifo'])
def test_pipes_are_shown_as_they_come(run, tmp_path, path):
    if path == 'fifo':
        os.mkfifo(tmp_path / 'fifo')
        started = Started(run, 'decode', 'fifo', *ITM)
        pipe = open(tmp_path / 'fifo', 'wb', buffering=0)
    else:
        read_end, write_end = os.pipe()
        started = Started(run, 'decode', '-', *ITM, stdin=read_end)
        os.close(read_end)
        pipe = open(write_end, 'wb', buffering=0)
    with pipe:
        pipe.write(ITM_SYNC + b'\x01H\x01i\x01\n')
        # The pipe stays open, and no packet comes after the line.
        started.wait_for('port 0: "Hi\\n"')
        pipe.write(b'\x01!\x01\n')
        started.wait_for('port 0: "!\\n"')
    started.end().quiet()


# -- What happens on the way ----------------------------------------------------------------------

@pytest.mark.parametrize('name', ['text', 'json', 'csv'])
@pytest.mark.parametrize('command', ['decode', 'packets'])
def test_a_lost_connection_is_a_gap_and_is_made_again(run, tmp_path, command, name):
    script = [ITM_TRACE, b'\x03\x01', CLOSE, b'\x02' + ITM_TRACE]
    with Server(script) as server:
        live = run(command, address(server), *ITM, '--format', name, '--retry-for', 1, '--record', 'kept.bin')
    live.says('is lost', 'sends again', 'could not be reached again')
    gap = {'text': '-- gap at byte 112: bytes are missing here', 'json': '{"type":"gap","index":112}',
           'csv': 'gap'}[name] if command == 'decode' or name != 'csv' else 'gap'
    size = len(ITM_TRACE) + 2
    live.has(gap.replace('112', str(size)))
    assert (tmp_path / 'kept.bin').read_bytes() == ITM_TRACE + b'\x03\x01\x02' + ITM_TRACE
    recorded = run(command, 'kept.bin', *ITM, '--format', name)
    assert recorded.out == live.out


def test_a_gap_in_counts(run):
    with Server([ITM_TRACE, CLOSE, ITM_TRACE]) as server:
        run('count', address(server), *ITM, '--retry-for', 1).matches(r'stimulus|port 0')


def test_times_of_arrival(run, tmp_path):
    with Server([ITM_TRACE, 0.2, ITM_ROUND]) as server:
        live = run('decode', address(server), *ITM, *ONCE, '--arrival', '--record', 'kept.bin')
    first = live.lines[0]
    assert first.startswith(('arrival ', '20'))
    assert all(re.match(r'20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z ', line) for line in live.lines[1:])
    assert len({line[:27] for line in live.lines[1:]}) > 1
    assert run('decode', 'kept.bin', *ITM, '--arrival').out == live.out
    with Server([ITM_TRACE]) as server:
        for line in run('packets', address(server), *ITM, *ONCE, '--arrival', '--format', 'json').json_lines():
            assert re.match(r'20.*Z$', line['arrival'])
    with Server([ITM_TRACE]) as server:
        result = run('packets', address(server), *ITM, *ONCE, '--arrival', '--format', 'csv')
    assert result.lines[0].startswith('arrival,') and result.lines[1].startswith('20')


def test_stalls_are_recorded_where_they_change_lines(run, tmp_path):
    """A line that was written because nothing came does not get the timestamp that comes later."""
    with Server([ITM_SYNC + b'\x01H', 0.4, b'\xc0\x01', b'\x01i', 0.4, b'\xc0\x02', ITM_ROUND]) as server:
        live = run('decode', address(server), *ITM, *ONCE, '--record', 'kept.bin')
    assert 'release' in (tmp_path / 'kept.bin.live').read_text()
    assert run('decode', 'kept.bin', *ITM).out == live.out


def test_ctrl_c_ends_with_totals(run):
    with Server([ITM_TRACE], linger=True) as server:
        started = Started(run, 'decode', address(server), *ITM, '--stats')
        started.wait_for('port 0', times=8)
        started.interrupt().has('-- interrupted').says('ID 0x00', 'sync points')
    with Server([ITM_TRACE], linger=True) as server:
        started = Started(run, 'count', address(server), *ITM)
        time.sleep(0.5)
        started.interrupt().lacks('PARTIAL')
    with Server([], linger=True) as server:
        started = Started(run, 'decode', address(server))
        time.sleep(0.3)
        started.interrupt().empty()


def test_syst_lines_and_trace(run, tmp_path):
    line = b'SYS-T RAW DATA: 4250410148656c6c6f00\n'
    (tmp_path / 'lines.txt').write_bytes(line * 5)
    with Server([line * 5]) as server:
        assert run('syst', address(server), *ONCE).out == run('syst', 'lines.txt').out
    with Server([line * 2], linger=True) as server:
        started = Started(run, 'syst', address(server))
        started.wait_for('Hello', times=2)
        started.interrupt()
    with Server([line[:20], CLOSE, line]) as server:
        live = run('syst', address(server), '--as', 'lines', '--retry-for', 1, '--record', 'kept.txt')
    live.has('-- gap', 'Hello')
    assert run('syst', 'kept.txt', '--as', 'lines').out == live.out


# -- top ------------------------------------------------------------------------------------------

def test_top_prints_reports(run):
    with Server([ITM_SYNC + DWT * 10 + b'\x01\x1b\x01X\x01\n', 1.3, DWT]) as server:
        result = run('top', address(server), *ITM, *ONCE)
    result.has('0x8010000', '0x8010004', 'overflows', 'SysTick').matches(r'port 0: ', r'asleep 25\.0 %')
    assert result.out.count('function') >= 2
    with Server([ITM_SYNC + DWT * 10]) as server:
        reports = run('top', address(server), *ITM, *ONCE, '--format', 'json').json_lines()
    assert sum(report['samples'] for report in reports) == 30
    assert sum(report['bytes'] for report in reports) == len(ITM_SYNC + DWT * 10)


def test_top_of_instructions_has_names(run, quicksort, tmp_path):
    result = run('top', quicksort)
    result.has('fibonacci', 'quicksort')


def test_top_on_a_terminal(run):
    with Server([ITM_SYNC + DWT * 10 + b'\x01\x1b\x01]\x01X\x01\n']) as server:
        out = run.in_terminal('top', address(server), *ITM, *ONCE).out
    assert '\x1b[H' in out and '\x1b[J' in out
    assert '\x1b]' not in out


# -- What can be wrong ----------------------------------------------------------------------------

@pytest.mark.parametrize('text, said', [
    ('tcp://127.0.0.1', 'the port is missing'),
    ('orbuculm://127.0.0.1', 'did you mean orbuculum://?'),
    ('tcp://127.0.0.1:1?tag=3', 'nothing can follow'),
])
def test_wrong_addresses(run, text, said):
    run('decode', text, expect=2).one_sentence(text, said).empty()


def test_no_server_answers(run):
    port = free_port()
    for scheme in ('tcp', 'openocd', 'orbuculum'):
        run('decode', f'{scheme}://127.0.0.1:{port}', expect=3).one_sentence(f'127.0.0.1:{port}', 'Check that')
    run('decode', 'tcp://no-such-host.invalid:1', expect=3).one_sentence('no-such-host.invalid', 'Check')
    run('decode', 'serial:///dev/no-such-device', expect=3).one_sentence('/dev/no-such-device')
    run('decode', 'serial:///dev/null', expect=3).one_sentence('not a serial device')


def test_the_wrong_protocol_on_a_port(run):
    with Server([ITM_TRACE.replace(b'\0', b'\1') * 2000]) as server:
        run('decode', address(server, 'orbuculum'), *ITM, expect=3).one_sentence('is not ORBFLOW', 'tcp://').empty()
    with Server([b'0' * 10_000_000], most=65536, linger=True) as server:
        run('decode', address(server, 'openocd'), *ITM, expect=3).one_sentence("OpenOCD's Tcl port")

    class Refusing(OpenocdServer):
        enabled = b'Target trace output  is disabled\n\x1a'
    with Refusing([], linger=True) as server:
        run('decode', address(server, 'openocd'), *ITM, expect=3).one_sentence('does not send trace', 'init')


def test_damaged_orbflow(run):
    good = orbflow(1, ITM_TRACE)
    bad = bytearray(good)
    bad[5] ^= 0x40
    with Server([b'\0' + good + bytes(bad) + good]) as server:
        run('packets', address(server, 'orbuculum'), *ITM, *ONCE).has('-- gap at byte')
    with Server([good[10:] + good + good[:20]]) as server:
        run('packets', address(server, 'orbuculum'), *ITM, *ONCE).lacks('-- gap')


def test_a_server_that_sends_nothing(run):
    with Server([]) as server:
        run('decode', address(server), *ONCE, expect=3).one_sentence('empty')


def test_commands_and_options_that_need_the_whole_trace(run, itm):
    for command in ('find', '--exception', '1'), ('count', '--tree'):
        run(command[0], 'tcp://127.0.0.1:1', *command[1:], expect=2).one_sentence('--record')
    for options in (['--from', 4], ['--merge', 'time'], ['--last', 3]):
        run('decode', 'tcp://127.0.0.1:1', *options, expect=2).one_sentence('cannot be used with a live source')
    run('decode', itm, '--record', 'x', expect=2).one_sentence('is not a live source')


def test_the_recording_must_be_possible(run, tmp_path):
    with Server([ITM_TRACE], linger=True) as server:
        run('decode', address(server), *ITM, '--record', 'missing/file', expect=3).one_sentence('missing/file')
    with Server([ITM_TRACE]) as server:
        result = run('decode', address(server), *ITM, *ONCE, '--record', '/dev/full')
    result.one_sentence('/dev/full', 'the command continues').has('port 0')
    (tmp_path / 'kept.bin').write_bytes(ITM_TRACE)
    (tmp_path / 'kept.bin.live').write_text('notes\n')
    run('decode', 'kept.bin', *ITM, expect=3).one_sentence('kept.bin.live', 'rename or remove')


def test_names_are_escaped(run):
    run('decode', 'tcp://127.0.0.1\x1b[31m:1', expect=(2, 3)).one_sentence('\\x1b')
