"""The how-tos, followed command by command."""

import pytest
from support import howto


@pytest.fixture
def follow(run, home):
    return lambda page, folder: howto.follow(page, folder, run.program, home)


def test_latency(follow, repository):
    measured, worst = follow('howto_latency.md', repository)
    howto.shows(measured)
    place = next(line for line in measured.said.splitlines() if line.startswith('longest at'))
    # The second command looks at the place that the first one found.
    begin, end = place.split()[2].split('..')
    assert worst.command.endswith(f'--from {begin} --to {end}')
    assert 'by_last_digit' in worst.said
