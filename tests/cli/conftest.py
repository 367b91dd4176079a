"""Fixtures of the tests of the programs.

    python3 -m pytest tests/cli            all, after `scripts/build dev`
    python3 -m pytest -n auto tests/cli    the same on all cores

Each test has its own folder (`tmp_path`).  `run` runs the program there, so that files need no
path.  Captures that several tests read are made once per session; a test that changes one takes a
`copy`.  WAYMARK, LISTER, ... in the environment name other programs than those of build/dev;
nothing here asserts on a time.
"""
import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from support import executions, hostile, snapshots, trace_bytes
from support.programs import MEMCHECKS, Runner

ROOT = Path(__file__).resolve().parents[2]


def program(variable, name):
    path = Path(os.environ.get(variable) or ROOT / 'build/dev/bin' / name)
    if not path.is_file():
        pytest.exit(f'{path} is missing: build it, or name another program with {variable}=PATH.', 2)
    return path


def pytest_make_parametrize_id(val):
    """A command line as a user types it."""
    if not isinstance(val, (list, tuple)):
        return None
    # The workers of pytest-xdist send names as UTF-8.
    return ' '.join(map(str, val))[:60].encode('ascii', 'backslashreplace').decode()


@pytest.fixture(scope='session')
def repository():
    return ROOT


@pytest.fixture(scope='session')
def home(tmp_path_factory):
    """HOME for every program, so that none reads or writes the user's caches and settings."""
    return tmp_path_factory.mktemp('home')


@pytest.fixture(scope='session')
def run_folder():
    """The build folder of the programs, with bin/ and share/."""
    return program('WAYMARK', 'waymark').parents[1]


@pytest.fixture(autouse=MEMCHECKS is not None)
def no_memory_error():
    """With WAYMARK_MEMCHECK: no program that the test ran used memory wrongly."""
    yield
    reports = MEMCHECKS.reports()
    assert not reports, '\n\n'.join(reports)


@pytest.fixture
def run(tmp_path, home):
    """run(ARGUMENT...) runs waymark in tmp_path; see support.programs.Runner."""
    return Runner(program('WAYMARK', 'waymark'), tmp_path, home)


@pytest.fixture
def kill_shards(run, tmp_path):
    """kill_shards(COUNT, SEED) starts the shards of tmp_path/job in turn, and kills those that are not done soon."""
    def kill(count, seed):
        delays = random.Random(seed)
        for number in range(count):
            worker = subprocess.Popen([run.program, 'shard', 'job', str(number)], cwd=tmp_path,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                worker.wait(timeout=delays.random() / 10)
            except subprocess.TimeoutExpired:
                os.kill(worker.pid, signal.SIGKILL)
                worker.wait()
    return kill


@pytest.fixture
def lister(tmp_path, home):
    """lister(ARGUMENT...) runs trc_pkt_lister."""
    return Runner(program('LISTER', 'trc_pkt_lister'), tmp_path, home)


@pytest.fixture
def systprint(tmp_path, home):
    """systprint(ARGUMENT...) runs systprint."""
    return Runner(program('SYSTPRINT', 'systprint'), tmp_path, home)


@pytest.fixture
def other(tmp_path, home):
    """other(PROGRAM, ARGUMENT...) runs any other program, with the same checks."""
    return lambda name, *args, **options: Runner(name, tmp_path, home)(*args, **options)


@pytest.fixture(scope='session')
def sanitized():
    """Whether the programs are built with a sanitizer, which needs memory without limits."""
    return bool(os.environ.get('WAYMARK_SANITIZED'))


@pytest.fixture
def full_device():
    """A file that accepts no byte: stdout=full_device or stderr=full_device."""
    with open('/dev/full', 'wb', buffering=0) as device:
        yield device


@pytest.fixture
def copy(tmp_path):
    """copy(CAPTURE, NAME): a copy in tmp_path that the test may change."""
    def make(capture, name):
        target = tmp_path / name
        if capture.is_dir():
            shutil.copytree(capture, target)
        else:
            shutil.copyfile(capture, target)
        return target
    return make


@pytest.fixture(scope='session')
def made(tmp_path_factory, home):
    """made(NAME, MAKER): the path of what MAKER(path) writes, once per session."""
    folder = tmp_path_factory.mktemp('captures')
    paths = {}

    def get(name, maker):
        if name not in paths:
            paths[name] = folder / name
            maker(paths[name])
        return paths[name]
    return get


@pytest.fixture(scope='session')
def good(made):
    """A snapshot of one ETMv4 without frames, ID 0x10: five ranges of two instructions."""
    return made('good', snapshots.make_good)


@pytest.fixture(scope='session')
def quicksort(made):
    """The sample of the repository: its snapshot with quicksort.elf."""
    return made('quicksort', lambda path: shutil.copytree(ROOT / 'samples/quicksort', path))


@pytest.fixture(scope='session')
def synth(made, home):
    """synth(OPTION...): a capture of `waymark synth`, made once for the same options."""
    def get(*options):
        def maker(path):
            Runner(program('WAYMARK', 'waymark'), path.parent, home)('synth', '-o', path, *options)
        words = '_'.join(str(option).strip('-') for option in options)
        return made('synth_' + ''.join(c if c.isalnum() else '_' for c in words), maker)
    return get


@pytest.fixture(scope='session')
def executed(made, home):
    """executed(NAME, OPTION..., flags=FLAGS): what QEMU executed of tests/cli/programs/executed/NAME.c, compiled
    with FLAGS, with trace of it."""
    known = {}

    def get(name, *options, flags=()):
        key = '_'.join((name, *map(str, options), *flags)).replace('/', '_')

        def maker(path):
            waymark = Runner(program('WAYMARK', 'waymark'), path.parent, home)
            source = executions.compile_program(path, f'{name}.c', [*executions.USUAL, *flags])
            known[key] = executions.execute(waymark, source, *options)
        made(f'executed_{key}', maker)
        return known[key]
    return get


@pytest.fixture(scope='session')
def executed_thumb(made, home):
    """executed_thumb(NAME, OPTION...): the same of a program in T32."""
    known = {}

    def get(name, *options):
        key = '_'.join((name, *options))

        def maker(path):
            waymark = Runner(program('WAYMARK', 'waymark'), path.parent, home)
            known[key] = executions.execute_thumb(waymark, executions.compile_thumb(path, f'{name}.c'), *options)
        made(f'executed_thumb_{key}', maker)
        return known[key]
    return get


PROTOCOLS = ('etmv4', 'ete', 'ptm', 'etmv3', 'stm', 'itm')


@pytest.fixture(scope='session', params=PROTOCOLS)
def synthetic(request, synth):
    """One small capture of each protocol in turn, with its ground truth."""
    return synth('--protocol', request.param, '--isa', 'A32', '--size', 5000, '--timestamps', 100)


@pytest.fixture(scope='session')
def assembled(made, home):
    """assembled(NAME, SCRIPT): the snapshot that `waymark assemble` makes of a script."""
    def get(name, script):
        def maker(path):
            source = path.with_suffix('.trace')
            source.write_text(script)
            Runner(program('WAYMARK', 'waymark'), path.parent, home)('assemble', source, '-o', path)
        return made(name, maker)
    return get


@pytest.fixture(scope='session')
def itm_file(made):
    """Raw ITM: "Hi\\n" on port 0 and exceptions, eight times, with local timestamps."""
    return made('itm.bin', lambda path: path.write_bytes(trace_bytes.ITM_TRACE))


@pytest.fixture(scope='session')
def stm_file(made):
    """Raw STM: a frequency, and 0x2134 on channel 0 of master 0x40."""
    return made('stm.bin', lambda path: path.write_bytes(trace_bytes.STM_TRACE))


@pytest.fixture(scope='session')
def frames_file(made):
    """Raw frames of an ETMv4 with ID 0x10; it needs trace_bytes.ETMV4_REGISTERS."""
    trace = trace_bytes.ETMV4_START + trace_bytes.ATOM_E * 2
    return made('frames.bin', lambda path: path.write_bytes(trace_bytes.framed(0x10, trace)))


@pytest.fixture(scope='session')
def hostile_capture(tmp_path_factory):
    """A support.hostile.HostileCapture: every name in it is hostile."""
    return hostile.make_capture(tmp_path_factory.mktemp('captures') / 'hostile')
