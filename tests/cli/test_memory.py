"""One run of each command under valgrind's memcheck, which sees reads of values that were never set.

All tests of the programs run so with `scripts/check memory`.
"""
import json
import re
import shutil

import pytest
from conftest import program
from support.device_tree import make_tree
from support.programs import Memcheck, Runner
from support.recordings import add_execs
from test_assemble import LOOP
from test_etm4 import CASES
from test_help import COMMANDS

PLAN = 'etm4-plan 1\ninclude 0x80000..0x80008\n'

# GOOD: a small snapshot; RECORDING: a folder with perf.data and its programs; ITM: raw ITM; JOB: a planned job.
RUNS = {
    'annotate': ['SORT', '--elf', 'SORT/quicksort.elf'],
    'assemble': ['SCRIPT', '-o', 'assembled'],
    'collateral': ['SORT/quicksort.elf'],
    'count': ['RECORDING/perf.data', '--symfs', 'RECORDING', '--functions'],
    'decode': ['RECORDING/perf.data', '--symfs', 'RECORDING', '--format', 'json'],
    'diff': ['GOOD', 'GOOD'],
    'doctor': ['ITM'],
    'etm4 apply': ['PLAN', '--root', 'TREE', '--dry-run'],
    'etm4 caps': ['--root', 'TREE'],
    'etm4 explain': ['--root', 'TREE'],
    'etm4 plan': ['PLAN', '--root', 'TREE'],
    'etm4 simulate': ['CASES'],
    'etm4 snapshot': ['--root', 'TREE', '--trace', 'GOOD/trace.bin', '--image', '0x80000=GOOD/program.bin',
                      '--framing', 'none', '-o', 'snapshot'],
    'export': ['counts', 'RECORDING/perf.data', '--symfs', 'RECORDING', '-o', 'counts'],
    'find': ['GOOD', '--address', '0x80000..0x80008'],
    'help': ['decode'],
    'index': ['GOOD', '-o', 'index'],
    'info': ['RECORDING/perf.data', '--symfs', 'RECORDING'],
    'interval': ['SORT', '--symbols', 'SORT/quicksort.elf', '--from', 'fibonacci', '--to', 'quicksort'],
    'merge': ['JOB', '-o', 'merged'],
    'packets': ['GOOD'],
    'plan': ['job.toml', '-o', 'planned'],
    'report': ['GOOD', '-o', 'report.html'],
    'shard': ['JOB', '0'],
    'status': ['JOB'],
    'synth': ['-o', 'made', '--size', '1000'],
    'syst': ['CONSOLE'],
    'top': ['GOOD'],
    'view': ['none'],
}


@pytest.fixture(scope='module')
def checked(tmp_path_factory, home):
    """Runs waymark under memcheck; afterwards nothing was reported."""
    if shutil.which('valgrind') is None:
        pytest.skip('needs valgrind')
    memcheck = Memcheck()
    folder = tmp_path_factory.mktemp('memory')
    runner = Runner(program('WAYMARK', 'waymark'), folder, home, memcheck)

    def run(*args, **options):
        result = runner(*args, **options)
        reports = memcheck.reports()
        assert not reports, '\n\n'.join(reports)
        return result
    run.folder = folder
    return run


@pytest.fixture(scope='module')
def places(good, quicksort, itm_file, synth, checked, made, home):
    """What GOOD and other words in a command line stand for."""
    def text(name, content):
        return made(name, lambda path: path.write_text(content))
    # Three processes at the same addresses, which execute other programs from time to time.
    recorded = checked.folder / 'recording'
    shutil.copytree(synth('--size', '3K', '--context-ids', 3, '--timestamps', 50, '--perf-data', '--perf-times',
                          '--perf-pieces', 4, '--no-truth'), recorded)
    add_execs(recorded, seed=1)
    (checked.folder / 'job.toml').write_text(
        f"inputs = ['recording/perf.data']\nwhat = 'counts'\nslices = 3\n[options]\nsymfs = ['recording']\n")
    run = Runner(program('WAYMARK', 'waymark'), checked.folder, home)
    run('plan', 'job.toml', '-o', 'job')
    run('shard', 'job', 'missing')
    return {'GOOD': good, 'SORT': quicksort, 'ITM': itm_file, 'RECORDING': recorded, 'JOB': 'job',
            'CONSOLE': text('memory.txt', 'SYS-T RAW DATA: 4250410148656c6c6f00\n'),
            'SCRIPT': text('memory.trace', LOOP), 'PLAN': text('memory.plan', PLAN),
            'TREE': made('memory_tree', make_tree), 'CASES': text('memory.json', json.dumps(CASES))}


def filled(args, places):
    return [re.sub('[A-Z]{3,}', lambda name: str(places.get(name[0], name[0])), arg) for arg in args]


def test_each_command_is_run():
    assert {command.split()[0] for command in RUNS} >= set(COMMANDS)


@pytest.mark.parametrize('command', RUNS)
def test_values_that_were_never_set_are_not_used(checked, places, command):
    # No input, and a program without texts.
    code = 3 if command in ('view', 'collateral') else 0
    checked(*command.split(), *filled(RUNS[command], places), expect=(code, 1))
