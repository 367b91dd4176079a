"""Runs a program and checks what must hold for every run."""
import errno
import json
import os
import pty
import re
import resource
import select
import signal
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

# A limit against hangs only: no test depends on the speed of the machine.
HANG_SECONDS = 600

# Valgrind's memcheck sees values that were never set, which sanitizers do not.  It runs the programs with
# WAYMARK_MEMCHECK=1, except where a test limits their memory.
OURS = ('waymark', 'trc_pkt_lister', 'systprint')
MEMCHECK = bool(os.environ.get('WAYMARK_MEMCHECK'))
# Memory that is not set, or was freed, has these bytes; also in large blocks, which would have a mapping of their
# own with zeros.  Merges always run so, because they read what other processes wrote; all commands with
# WAYMARK_POISON=1.
POISON = {'MALLOC_PERTURB_': '165', 'GLIBC_TUNABLES': 'glibc.malloc.perturb=165:glibc.malloc.mmap_threshold=33554432'}
POISON_ALL = bool(os.environ.get('WAYMARK_POISON'))

# The traces of a crash or a sanitizer on standard error.
CRASH = re.compile(rb'terminate called|Sanitizer|runtime error:|Assertion .* failed|std::\w+ *what\(\)')
CONTROL = re.compile(rb'[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]')


class Memcheck:
    """Runs programs under memcheck, and collects what it reports."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix='memcheck'))

    def command(self, command):
        return [shutil.which('valgrind') or 'valgrind', '-q', '--num-callers=30', '--child-silent-after-fork=yes',
                f'--suppressions={Path(__file__).with_name("memcheck.supp")}', f'--log-file={self.folder}/%p', *command]

    def reports(self):
        """What was reported since the last call."""
        texts = []
        for log in sorted(self.folder.iterdir()):
            if text := log.read_text(errors='replace').strip():
                texts.append(text)
            log.unlink()
        return texts


def excerpt(data):
    text = data[:3000].decode(errors='backslashreplace')
    return text + ('...' if len(data) > 3000 else '')


@dataclass
class Result:
    """The results of a run.  The checks return the result, so that they can be chained."""
    command: list
    code: int
    out_bytes: bytes
    err_bytes: bytes

    @property
    def out(self):
        return self.out_bytes.decode(errors='surrogateescape')

    @property
    def err(self):
        return self.err_bytes.decode(errors='surrogateescape')

    @property
    def lines(self):
        return self.out.splitlines()

    def json(self):
        """One JSON value: the whole output."""
        return json.loads(self.out_bytes.decode())

    def json_lines(self):
        """One JSON value per line."""
        return [json.loads(line) for line in self.out_bytes.decode().splitlines()]

    def fail(self, reason):
        raise AssertionError(f'{reason}\n--- command\n{" ".join(self.command)}\n--- status {self.code}'
                             f'\n--- standard output\n{excerpt(self.out_bytes)}'
                             f'\n--- standard error\n{excerpt(self.err_bytes)}')

    def has(self, *texts):
        """Standard output contains each text."""
        for text in texts:
            if text not in self.out:
                self.fail(f'standard output lacks {text!r}')
        return self

    def lacks(self, *texts):
        """Standard output contains none of the texts."""
        for text in texts:
            if text in self.out:
                self.fail(f'standard output contains {text!r}')
        return self

    def matches(self, *patterns):
        """Each pattern is found in standard output; ^ and $ match at every line."""
        for pattern in patterns:
            if not re.search(pattern, self.out, re.MULTILINE):
                self.fail(f'standard output does not match {pattern!r}')
        return self

    def says(self, *texts):
        """Standard error contains each text."""
        for text in texts:
            if text not in self.err:
                self.fail(f'standard error lacks {text!r}')
        return self

    def never_says(self, *texts):
        """Standard error contains none of the texts."""
        for text in texts:
            if text in self.err:
                self.fail(f'standard error contains {text!r}')
        return self

    def one_sentence(self, *texts):
        """Standard error is exactly one line, which contains each text."""
        if self.err.count('\n') != 1:
            self.fail('standard error is not one line')
        return self.says(*texts)

    def quiet(self):
        """Standard error is empty."""
        if self.err_bytes:
            self.fail('standard error is not empty')
        return self

    def empty(self):
        """Standard output is empty."""
        if self.out_bytes:
            self.fail('standard output is not empty')
        return self

    def whole_lines(self):
        """The last line of standard output is complete."""
        if self.out_bytes and not self.out_bytes.endswith(b'\n'):
            self.fail('the last line of standard output is not whole')
        return self


MEMCHECKS = Memcheck() if MEMCHECK else None


class Runner:
    """Runs programs in a separate folder, with a fixed environment.

    Arguments are converted to strings.  `expect` is an exit status, several of them, or None for any
    status (a signal still fails the test, unless it is expected as a negative status).
    """

    def __init__(self, program, folder, home, memcheck=None, poison=POISON_ALL):
        self.program = program
        self.folder = folder
        self.home = home
        self.memcheck = memcheck or MEMCHECKS
        self.poison = poison

    def environment(self, changes):
        """The caller's environment without the variables that would change the output."""
        environment = {name: value for name, value in os.environ.items()
                       if name not in ('NO_COLOR', 'CLICOLOR_FORCE', 'COLUMNS', 'PAGER', 'LANGUAGE')
                       and not name.startswith(('LC_', 'PYTEST_'))}
        environment.update(HOME=str(self.home), XDG_CACHE_HOME=str(self.home / '.cache'),
                           LC_ALL='C.UTF-8', TERM='xterm')
        for name, value in (changes or {}).items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = str(value)
        return environment

    def start(self, *args, env=None, cwd=None, closed=(), limits=None, sigpipe='default', **pipes):
        """Starts the program: the command, and a subprocess.Popen.

        `closed`: descriptors (0, 1, 2) that are closed for the program.  `limits`: its resource limits,
        {resource.RLIMIT_...: value}.  `sigpipe`: 'default' as in a shell, or 'ignored' as under many
        services.
        """
        command = [str(self.program), *map(str, args)]
        if self.memcheck and not limits and Path(self.program).name in OURS:
            command = self.memcheck.command(command)
        if self.poison or (args and args[0] == 'merge'):
            env = {**POISON, **(env or {})}

        def prepare():
            for kind, value in (limits or {}).items():
                resource.setrlimit(kind, (value, value))
            for descriptor in closed:
                os.close(descriptor)

        return command, subprocess.Popen(
            command, cwd=cwd or self.folder, env=self.environment(env),
            restore_signals=sigpipe == 'default',
            preexec_fn=prepare if closed or limits else None, **pipes)

    def __call__(self, *args, stdin=b'', expect=0, stdout=None, stderr=None, crash_check=True,
                 timeout=HANG_SECONDS, **options):
        """Runs to the end.  `stdin`: bytes or text that the program can read, or an open file."""
        pipes = {'stdout': stdout or subprocess.PIPE, 'stderr': stderr or subprocess.PIPE}
        if isinstance(stdin, str):
            stdin = stdin.encode()
        given = stdin if isinstance(stdin, bytes) else None
        if given is None:
            pipes['stdin'] = stdin
        else:
            pipes['stdin'] = subprocess.PIPE if given else subprocess.DEVNULL
        command, process = self.start(*args, **options, **pipes)
        try:
            out, err = process.communicate(given or None, timeout=timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
        return check(Result(command, process.returncode, out or b'', err or b''), expect, crash_check)

    def and_leave(self, *args, lines=1, stream='stdout', expect=(0, 141, -signal.SIGPIPE), **options):
        """Runs with a reader that reads `lines` lines of `stream` and then closes the pipe."""
        read_end, write_end = os.pipe()
        other = 'stderr' if stream == 'stdout' else 'stdout'
        kept = bytearray()
        with open(read_end, 'rb', buffering=0) as reader:
            command, process = self.start(*args, **options, stdin=subprocess.DEVNULL,
                                          **{stream: write_end, other: subprocess.PIPE})
            os.close(write_end)
            while kept.count(b'\n') < lines:
                piece = reader.read(1)
                if not piece:
                    break
                kept += piece
        rest = process.communicate(timeout=HANG_SECONDS)[1 if stream == 'stdout' else 0]
        out, err = (bytes(kept), rest) if stream == 'stdout' else (rest, bytes(kept))
        return check(Result(command, process.returncode, out, err), expect)

    def interrupted(self, *args, after=1, full=False, expect=130, number=signal.SIGINT, **options):
        """Sends a signal while the program works and no one reads its standard output.

        The signal comes when `after` bytes of output have been read; then the rest is read.  With `full`
        it comes when the pipe is full, and the program must end before anything is read.
        """
        read_end, write_end = os.pipe()
        # In a separate session, interrupts are not ignored, as under a terminal.
        command, process = self.start(*args, **options, stdin=subprocess.DEVNULL, stdout=write_end,
                                      stderr=subprocess.PIPE, start_new_session=True)
        if full:
            while select.select([], [write_end], [], 0)[1]:
                time.sleep(0.01)
        os.close(write_end)
        with open(read_end, 'rb', buffering=0) as reader:
            first = b'' if full else reader.read(after)
            process.send_signal(number)
            if full:
                process.wait(timeout=HANG_SECONDS)
            out = first + reader.readall()
        err = process.communicate(timeout=HANG_SECONDS)[1]
        return check(Result(command, process.returncode, out, err), expect)

    def in_terminal(self, *args, on=('stdout', 'stderr'), expect=0, columns=80, **options):
        """Runs with a terminal as standard output, standard error, or both (then both are in `out`)."""
        import fcntl
        import struct
        import termios
        parent, terminal = pty.openpty()
        attributes = termios.tcgetattr(terminal)
        attributes[1] &= ~termios.OPOST  # Keeps line ends as the program wrote them.
        termios.tcsetattr(terminal, termios.TCSANOW, attributes)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 25, columns, 0, 0))
        pipes = {name: terminal if name in on else subprocess.PIPE for name in ('stdout', 'stderr')}
        command, process = self.start(*args, **options, stdin=subprocess.DEVNULL, **pipes)
        os.close(terminal)
        shown = bytearray()

        def read_terminal():
            try:
                while piece := os.read(parent, 65536):
                    shown.extend(piece)
            except OSError as error:  # The program has closed its terminal.
                if error.errno != errno.EIO:
                    raise

        reader = threading.Thread(target=read_terminal)
        reader.start()
        out, err = process.communicate(timeout=HANG_SECONDS)
        reader.join()
        os.close(parent)
        if 'stdout' in on:
            result = Result(command, process.returncode, bytes(shown), err or b'')
        else:
            result = Result(command, process.returncode, out or b'', bytes(shown))
        return check(result, expect, control_check='stderr' not in on)


def check(result, expect, crash_check=True, control_check=True):
    """Checks the exit status, and that standard error has no crash report."""
    expected = (expect,) if isinstance(expect, int) else expect
    if crash_check and CRASH.search(result.err_bytes):
        result.fail('the program crashed')
    if control_check and (found := CONTROL.search(result.err_bytes)):
        result.fail(f'a control character on standard error, byte {found.start()}')
    if expected is None and result.code < 0:
        result.fail(f'ended by signal {-result.code}')
    if expected is not None and result.code not in expected:
        result.fail(f'exit status {result.code}, expected {expect}')
    return result
