"""Fixtures of the tests of the Python module.

    PYTHONPATH=build/dev/python /usr/bin/python3 -m pytest tests/python

WAYMARK in the environment names another program than that of build/dev to compare with.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import waymark

ROOT = Path(__file__).resolve().parents[2]
# Packets of an STM, nibble by nibble.
sys.path.insert(0, str(ROOT / 'tests/cli'))


@pytest.fixture(scope='session')
def sample():
    return ROOT / 'samples/quicksort'


@pytest.fixture(scope='session')
def tool():
    """tool(ARGUMENT...): what the program prints."""
    program = Path(os.environ.get('WAYMARK') or ROOT / 'build/dev/bin/waymark')

    def run(*arguments, good=(0,)):
        # The program has the run-time library of a sanitizer inside.
        environment = {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}
        done = subprocess.run([program, *map(str, arguments)], env=environment,
                              capture_output=True, check=False)
        assert done.returncode in good, done.stderr.decode()
        return done.stdout
    return run


@pytest.fixture(scope='session')
def tool_records(tool):
    """tool_records(ARGUMENT...): the lines of JSON that the program prints."""
    return lambda *arguments, **options: [
        json.loads(line) for line in tool(*arguments, '--format', 'json', **options).splitlines()]


@pytest.fixture
def capture(sample):
    with waymark.open(sample) as opened:
        yield opened


