"""Man pages and completions, which are generated from the options of the program."""
import os
import re
import subprocess

import pytest
from support import shells
from support.programs import HANG_SECONDS

COMMANDS = ('info', 'doctor', 'decode', 'packets', 'view', 'report', 'find', 'index', 'count', 'annotate', 'interval',
            'export', 'diff', 'top', 'syst', 'collateral', 'etm4', 'plan', 'shard', 'merge', 'status', 'synth', 'assemble',
            'help')
ETM4_COMMANDS = ('caps', 'plan', 'explain', 'simulate', 'apply', 'snapshot')
ALL = [(), *((name,) for name in COMMANDS), *(('etm4', name) for name in ETM4_COMMANDS)]
STATIC = ('systprint', 'trc_pkt_lister')


@pytest.fixture(scope='session')
def share(run_folder):
    """The folder whose contents are installed in share/."""
    if not (run_folder / 'share/man').is_dir():
        pytest.skip('man pages are not made where programs are compiled for another machine')
    return run_folder / 'share'


@pytest.fixture
def page(share, repository):
    def get(name):
        return (repository / 'man' if name in STATIC else share / 'man/man1') / f'{name}.1'
    return get


def rendered(*command):
    """The output of a command, which must succeed without warnings."""
    environment = {**os.environ, 'MANWIDTH': '200', 'LC_ALL': 'C.UTF-8', 'MANROFFOPT': '-ww', 'PAGER': 'cat'}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert (result.returncode, result.stderr) == (0, ''), (command, result.stdout[:2000])
    return re.sub('.\b', '', result.stdout)


@pytest.mark.parametrize('name', ['-'.join(('waymark', *command)) for command in ALL] + list(STATIC))
def test_pages_render_without_warnings(page, name):
    if shells.is_installed('mandoc'):
        assert rendered('mandoc', '-Tlint', '-W', 'warning', page(name)) == ''
    if shells.is_installed('groff'):
        rendered('groff', '-ww', '-man', '-Tutf8', page(name))
    if shells.is_installed('man'):
        text = rendered('man', '--warnings', '-l', page(name))
        for section in ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'EXIT STATUS', 'SEE ALSO'):
            assert f'\n{section}\n' in text or name == 'waymark' and section == 'NAME', section


@pytest.mark.parametrize('command', ALL)
def test_pages_have_every_option_of_the_help(run, page, command):
    options = re.findall(r'^ +(?:-\w, +)?(--[a-z0-9-]+)', run(*command, '--help').out, re.MULTILINE)
    text = page('-'.join(('waymark', *command))).read_text().replace('\\-', '-')
    assert options
    for option in options:
        assert f'\\fB{option}\\fP' in text, option


def test_pages_that_are_named_exist(page):
    for command in ALL:
        for name in re.findall(r'\\fB([a-z0-9_\\-]+)\\fP\(1\)', page('-'.join(('waymark', *command))).read_text()):
            name = name.replace('\\', '')
            # Others are pages of other projects.
            if name.startswith('waymark') or name in STATIC:
                assert page(name).is_file(), (command, name)


@pytest.fixture(params=['bash', 'zsh', 'fish'])
def shell(request, tmp_path, share, home, run_folder):
    if not shells.is_installed(request.param):
        pytest.skip(f'{request.param} is not installed')
    folder = tmp_path / 'work'
    (folder / 'my board').mkdir(parents=True)
    (folder / 'capture.bin').touch()
    (folder / 'kernel.elf').touch()
    opened = shells.open_shell(request.param, share, folder, home, run_folder / 'bin')
    opened.name = request.param
    yield opened
    opened.close()


def test_shells_complete(shell):
    def becomes(text, line):
        assert shell.complete(text)[0] == line

    def offers(text, *words, not_these=()):
        listed = shell.complete(text)[1]
        for word in words:
            assert re.search(rf'(^|[\s=]){re.escape(word)}(\s|$)', listed), (text, word, listed)
        for word in not_these:
            assert not re.search(rf'(^|\s){re.escape(word)}(\s|$)', listed), (text, word, listed)

    # Commands
    becomes('waymark dec', 'waymark decode ')
    offers('waymark ', *COMMANDS, not_these=['caps', 'capture.bin'])
    offers('waymark etm4 ', *ETM4_COMMANDS, not_these=['decode'])
    becomes('waymark etm4 sn', 'waymark etm4 snapshot ')
    becomes('waymark help dec', 'waymark help decode ')
    # Options: those of the command, and no others
    becomes('waymark decode --func', 'waymark decode --functions ')
    offers('waymark count --', '--edges', '--by', '--help', not_these=['--merge', '--collateral'])
    offers('waymark --', '--help', '--version')
    becomes('waymark etm4 plan --norm', 'waymark etm4 plan --normal-form ')
    becomes('waymark decode capture.bin --format json --func', 'waymark decode capture.bin --format json --functions ')
    # Values
    offers('waymark decode --format ', 'text', 'json', 'csv', not_these=['capture.bin'])
    becomes('waymark decode --format j', 'waymark decode --format json ')
    becomes('waymark decode --format=j', 'waymark decode --format=json ')
    offers('waymark info --format ', 'text', 'json', not_these=['csv'])
    becomes('waymark count --by cy', 'waymark count --by cycles ')
    offers('waymark etm4 plan --level s', 's-el0', 's-el1', 's-el2')
    becomes('waymark packets --protocol st', 'waymark packets --protocol stm ')
    becomes('waymark packets --color nev', 'waymark packets --color never ')
    # Files and folders
    becomes('waymark decode cap', 'waymark decode capture.bin ')
    becomes('waymark decode -o cap', 'waymark decode -o capture.bin ')
    becomes('waymark decode --symbols ker', 'waymark decode --symbols kernel.elf ')
    offers('waymark decode --id ', not_these=['capture.bin', 'kernel.elf'])
    if shell.name != 'fish':
        becomes('waymark decode --image 0x80000000=ker', 'waymark decode --image 0x80000000=kernel.elf ')
        becomes('waymark decode my', 'waymark decode my\\ board/')
        becomes('waymark synth -o my', 'waymark synth -o my\\ board/')
    if shell.name == 'bash':  # The others offer files if there is no folder.
        becomes('waymark synth -o cap', 'waymark synth -o cap')


def test_bash_completion_passes_its_linter(share):
    if not shells.is_installed('shellcheck'):
        pytest.skip('shellcheck is not installed')
    rendered('shellcheck', share / 'bash-completion/completions/waymark')
