"""scripts/compare-opencsd: with our own programs as the reference, and with one that differs."""
import re
import subprocess
import sys

import pytest
from support.snapshots import make_good


@pytest.fixture
def compare(lister, repository, sanitized, tmp_path):
    """compare(OPTION...): the result of the script; our own library is the reference."""
    build = lister.program.parent.parent
    if sanitized or not (build / 'bin' / 'compare_client').exists():
        pytest.skip('the client of the C API needs a library without sanitizers')
    make_good(tmp_path / 'good')

    def run(*options, reference=lister.program, expect=0):
        result = subprocess.run(
            [sys.executable, repository / 'scripts' / 'compare-opencsd', '--build', build, '--level', '1.8.0',
             '--reference-lister', reference, '--reference-library', build / 'lib', '--keep', tmp_path / 'kept',
             '--seed', '1', *options, tmp_path / 'good'], capture_output=True, text=True, check=False)
        assert result.returncode == expect, result.stdout + result.stderr
        return result.stdout
    return run


@pytest.fixture
def other_lister(lister, tmp_path):
    """A reference that calls a range of instructions something else."""
    program = tmp_path / 'other_lister'
    program.write_text(f'#!/bin/sh\n"{lister.program}" "$@" | sed s/INSTR_RANGE/RANGE/\n')
    program.chmod(0o755)
    return program


def test_equal_programs_have_no_differences(compare):
    text = compare('--cases', '60')
    assert re.search(r'(\d+) cases in .*: \1 equal, 0 that differ', text), text


def test_a_difference_is_minimised_and_kept(compare, other_lister, tmp_path):
    text = compare('--cases', '60', reference=other_lister, expect=1)
    place, = {line.split(' as in ')[1].rstrip(':') for line in text.splitlines() if ' as in ' in line}
    kept = tmp_path / 'kept' / place.split('/')[-1]
    assert (kept / 'capture' / 'snapshot.ini').exists()
    assert 'RANGE(exec range' in (kept / 'difference').read_text()
    assert '# edits: []' in (kept / 'commands').read_text(), 'the difference needs no damage'


def test_a_case_of_a_seed_is_repeated(compare, other_lister):
    text = compare('--cases', '60', reference=other_lister, expect=1)
    number = re.search(r'first (\d+),', text)[1]
    assert 'different' in compare('--case', number, reference=other_lister, expect=1)
    assert compare('--case', number).startswith('equal')
