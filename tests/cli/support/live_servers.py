"""Servers that play a capture: raw TCP, OpenOCD's Tcl port, ORBFLOW, and a pseudo-terminal.

All are on 127.0.0.1 and on ports that the system chooses.  What they send is cut at random places.
A script is a list of steps: bytes to send, a float of seconds to wait, or CLOSE to end the connection
and wait for the next one.
"""
import os
import pty
import random
import socket
import subprocess
import threading
import time
import tty

CLOSE = object()
# Against hangs only.
PATIENCE = 60


def chunks(data, seed, most=64):
    """`data` in random pieces."""
    generator = random.Random(seed)
    at = 0
    while at < len(data):
        size = generator.randint(1, most)
        yield data[at:at + size]
        at += size


def cobs(message):
    """The COBS frame of a message, with its final 00."""
    out = bytearray()
    runs = message.split(b'\0')
    for number, run in enumerate(runs):
        is_last = number == len(runs) - 1
        while len(run) > 254 or (len(run) == 254 and not is_last):
            out += b'\xff' + run[:254]
            run = run[254:]
        if len(run) == 254:
            out += b'\xff' + run
        else:
            out += bytes([len(run) + 1]) + run
    return bytes(out) + b'\0'


def orbflow(tag, data):
    """One ORBFLOW packet."""
    message = bytes([tag]) + data
    return cobs(message + bytes([-sum(message) & 0xff]))


def orbflow_stream(data, tag=1, seed=1, most=100):
    return b''.join(orbflow(tag, piece) for piece in chunks(data, seed, most))


class Server:
    """Plays a script to the clients that connect, one after the other."""

    def __init__(self, script, seed=1, most=64, linger=False):
        self.script = list(script)
        self.seed = seed
        self.most = most
        self.linger = linger
        self.error = None
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.listener.settimeout(PATIENCE)
        self.port = self.listener.getsockname()[1]
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.listener.close()
        self.thread.join(PATIENCE)
        if self.error:
            raise self.error

    def work(self):
        try:
            client = self.accept()
            for step in self.script:
                if step is CLOSE:
                    client.close()
                    client = self.accept()
                elif isinstance(step, float):
                    time.sleep(step)
                else:
                    for piece in self.pieces(step):
                        client.sendall(piece)
            if self.linger:
                self.stopped.wait(PATIENCE)
            # First, so that nobody connects again.
            self.listener.close()
            client.close()
        except (ConnectionError, OSError) as error:
            if not self.stopped.is_set() and not isinstance(error, ConnectionError):
                self.error = error

    def pieces(self, data):
        return chunks(data, self.seed, self.most)

    def accept(self):
        client = self.listener.accept()[0]
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.settimeout(PATIENCE)
        self.greet(client)
        return client

    def greet(self, client):
        """Nothing: raw servers only send."""


class OpenocdServer(Server):
    """Answers as OpenOCD 0.12 does, with notifications between requests and replies."""
    enabled = b'Target trace output  is enabled\n\x1a'

    def greet(self, client):
        client.sendall(b'type target_state state halted\r\n\x1a')
        self.expect(client, b'tcl_trace on\x1a')
        client.sendall(b'\x1a')
        self.expect(client, b'capture {tcl_trace}\x1a')
        client.sendall(b'type target_event event gdb-start\r\n\x1a' + self.enabled)

    @staticmethod
    def expect(client, request):
        got = b''
        while not got.endswith(b'\x1a'):
            piece = client.recv(100)
            if not piece:
                raise ConnectionError('the client left')
            got += piece
        assert got == request, got

    def pieces(self, data):
        records = b''
        for number, piece in enumerate(chunks(data, self.seed, 300)):
            records += b'type target_trace data ' + piece.hex().encode() + b'\r\n\x1a'
            if number % 3 == 0:
                records += b'type target_state state running\r\n\x1a'
        return chunks(records, self.seed + 1, self.most)


class SerialLine:
    """A pseudo-terminal: `path` is the device."""

    def __init__(self):
        self.parent, self.child = pty.openpty()
        tty.setraw(self.child)
        self.path = os.ttyname(self.child)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for descriptor in (self.parent, self.child):
            try:
                os.close(descriptor)
            except OSError:
                pass

    def play(self, data, seed=1):
        for piece in chunks(data, seed):
            os.write(self.parent, piece)

    def unplug(self):
        os.close(self.child)
        os.close(self.parent)


class GenuineOpenocd:
    """OpenOCD itself, without an adapter: its Tcl port is real, and no trace ever arrives."""

    def __init__(self, *commands):
        self.port = free_port()
        self.arguments = ['openocd']
        for command in ('adapter driver dummy', 'adapter speed 1000', 'bindto 127.0.0.1', 'gdb_port disabled',
                        'telnet_port disabled', f'tcl_port {self.port}', *commands):
            self.arguments += ['-c', command]

    def __enter__(self):
        self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE)
        said = b''
        # Further lines are few, so the pipe does not fill.
        while b'for tcl connections' not in said:
            line = self.process.stderr.readline()
            assert line, said
            said += line
        return self

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)

    def __exit__(self, *_):
        self.stop()


def free_port():
    """A port without a listener."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
