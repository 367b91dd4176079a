"""Fixtures of the tests of the Python module.

    PYTHONPATH=build/dev/python /usr/bin/python3 -m pytest tests/python

WAYMARK in the environment names another program than that of build/dev to compare with.
"""
import json
import subprocess
import sys

import pytest
from helpers import PROGRAM, ROOT, program_environment

import waymark

# Packets of an STM, nibble by nibble.
sys.path.insert(0, str(ROOT / 'tests/cli'))


@pytest.fixture(scope='session')
def sample():
    return ROOT / 'samples/quicksort'


@pytest.fixture(scope='session')
def tool():
    """tool(ARGUMENT...): what the program prints."""
    def run(*arguments, good=(0,)):
        done = subprocess.run([PROGRAM, *map(str, arguments)], env=program_environment(),
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


