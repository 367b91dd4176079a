"""`waymark view` while it runs, and requests to it."""
import http.client
import json
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from .programs import HANG_SECONDS, Result, check


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body.decode())

    @property
    def error(self):
        """The sentence of an answer that is none."""
        sentence = self.json()['error']
        assert '\n' not in sentence and len(sentence) < 400, sentence
        return sentence


class Viewer:
    """The server of one run."""

    def __init__(self, command, process):
        self.command = command
        self.process = process
        self.address = process.stdout.readline().decode().strip()
        assert self.address.startswith('http://127.0.0.1:'), process.stderr.read()
        parts = urlsplit(self.address)
        self.port = parts.port
        self.path = parts.path
        self.host = f'127.0.0.1:{parts.port}'

    def get(self, path='', method='GET', headers=None, whole=False):
        """An answer to a path below the token; `whole`: below the server."""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        try:
            connection.putrequest(method, path if whole else self.path + path, skip_host=True,
                                  skip_accept_encoding=True)
            for name, value in {'Host': self.host, **(headers or {})}.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders()
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def ask(self, name, expect=200, **parameters):
        """The answer to a request, which has this status."""
        answer = self.get(self.question(name, **parameters))
        assert answer.status == expect, (name, parameters, answer.status, answer.body[:2000])
        return answer.json() if expect == 200 else answer.error

    @staticmethod
    def question(name, **parameters):
        given = {key.rstrip('_'): value for key, value in parameters.items()}
        return f'api/1/{name}' + (f'?{urlencode(given)}' if given else '')

    def wait(self):
        """Until the whole capture is known."""
        end = time.monotonic() + HANG_SECONDS
        while not (facts := self.ask('capture'))['progress']['complete']:
            assert time.monotonic() < end
            time.sleep(0.05)
        return facts

    def connect(self):
        """A plain connection."""
        return socket.create_connection(('127.0.0.1', self.port), timeout=60)

    def end(self, number=signal.SIGINT):
        """Ends the program, which must say nothing but what it usually does."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=HANG_SECONDS)
        return check(Result(self.command, self.process.returncode, out, err), 0)


@contextmanager
def viewing(run, *args, **options):
    """A Viewer of `waymark view ARGUMENT...`."""
    command, process = run.start('view', *args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True, **options)
    try:
        viewer = Viewer(command, process)
        yield viewer
        if process.poll() is None:
            viewer.end()
    finally:
        process.kill()
        process.communicate()
