"""The how-tos, followed command by command."""
import re
import shutil

import pytest
from support import howto


def need(*tools):
    if not all(shutil.which(tool) for tool in tools):
        pytest.skip('a program of scripts/packages.txt is missing')


@pytest.fixture
def follow(run, home):
    return lambda page, folder: howto.follow(page, folder, run.program, home)


def test_latency(follow, repository):
    measured, worst = follow('howto/latency.md', repository)
    howto.shows(measured)
    place = next(line for line in measured.said.splitlines() if line.startswith('longest at'))
    # The second command looks at the place that the first one found.
    begin, end = place.split()[2].split('..')
    assert worst.command.endswith(f'--from {begin} --to {end}')
    assert 'by_last_digit' in worst.said


def figures(step):
    """{name: number} of what `waymark count` says first."""
    return {name: int(number) for name, number in re.findall(r'^(\S.*?)  +(\d+)', step.said, re.M)}


@pytest.mark.parametrize('page, tools', [
    ('howto/autofdo.md', ['clang-19', 'ld.lld-19', 'qemu-aarch64']),
    ('howto/bolt.md', ['clang-19', 'ld.lld-19', 'qemu-aarch64', '/usr/lib/llvm-19/bin/llvm-bolt']),
])
def test_a_program_executes_fewer_taken_branches_with_its_profile(follow, repository, tmp_path, page, tools):
    need(*tools)
    shutil.copy(repository / 'tests/cli/programs/executed/packer.c', tmp_path)
    *others, before, after = follow(page, tmp_path)
    for step in (*others, before, after):
        howto.shows(step)
    before, after = figures(before), figures(after)
    assert after['branches taken'] < 0.95 * before['branches taken']
    assert after['instructions'] < 1.01 * before['instructions']


def test_coverage(follow, repository, tmp_path):
    need('lcov', 'genhtml')
    shutil.copytree(repository / 'samples', tmp_path / 'samples')
    _, summary, *_ = follow('howto/coverage.md', tmp_path)
    howto.shows(summary)
    assert (tmp_path / 'report/index.html').is_file()
