"""README.md, command by command, in a folder with the inputs that it names."""
import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from support import howto
from support.live_servers import Server
from support.programs import HANG_SECONDS
from support.trace_bytes import ITM_TRACE

COMMANDS = howto.commands('README.md')
COLLATERAL = '''<?xml version="1.0"?><syst:Collateral xmlns:syst="http://www.mipi.org/1.0/sys-t">
<syst:Modules><syst:Module ID="0x41">motor</syst:Module></syst:Modules></syst:Collateral>'''
# The output that a reader must see from each command that reads a capture.
SHOWN = {
    'waymark decode samples/quicksort': 'descending at quicksort.c:51',
    'waymark view samples/quicksort': 'http://127.0.0.1:',
    'waymark count perf.data': 'memory_1.bin',
    'waymark decode tcp:': 'port 0: "Hi',
    'waymark info dump.bin': 'etmv4',
    'waymark view board/': 'http://127.0.0.1:',
    'waymark syst uart.log': 'Hello',
    'waymark plan job.toml': 'shard',
}


@pytest.fixture
def folder(tmp_path, repository, synth, run_folder):
    """A folder with the inputs and the build of README.md."""
    (tmp_path / 'samples').symlink_to(repository / 'samples')
    shutil.copytree(repository / 'samples/quicksort', tmp_path / 'board')
    shutil.copy(repository / 'samples/quicksort/trace.bin', tmp_path / 'dump.bin')
    recording = synth('--size', '64K', '--perf-data', '--context-ids', 4, '--no-truth')
    shutil.copytree(recording, tmp_path / 'sysroot')
    shutil.copy(recording / 'perf.data', tmp_path)
    (tmp_path / 'uart.log').write_text('SYS-T RAW DATA: 4250410148656c6c6f00\n')
    (tmp_path / 'firmware.xml').write_text(COLLATERAL)
    (tmp_path / 'job.toml').write_text('what = "counts"\ninputs = ["board"]\n')
    (tmp_path / 'build').mkdir()
    (tmp_path / 'build/release').symlink_to(run_folder)
    (tmp_path / 'xdg-open').write_text('#!/bin/sh\n')
    (tmp_path / 'xdg-open').chmod(0o755)
    return tmp_path


def until_interrupted(command, folder, environment):
    """What a command that runs until Ctrl-C says until its first line is there."""
    with (folder / 'said').open('wb') as said:
        process = subprocess.Popen(['bash', '-c', f'exec {command}'], cwd=folder, env=environment, stdout=said,
                                   stderr=said, stdin=subprocess.DEVNULL)
        try:
            end = time.monotonic() + HANG_SECONDS
            while SHOWN[key_of(command)].encode() not in (folder / 'said').read_bytes():
                assert time.monotonic() < end and process.poll() is None, (folder / 'said').read_text()
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert process.wait(HANG_SECONDS) in (0, 130)
        finally:
            process.kill()
            process.wait()
    return (folder / 'said').read_text()


def key_of(command):
    key, = (key for key in SHOWN if command.startswith(key))
    return key


def test_the_page_has_commands():
    assert len(COMMANDS) > 12
    assert {key_of(command) for command in COMMANDS if command.startswith('waymark ')} == set(SHOWN)


@pytest.mark.parametrize('command', [each for each in COMMANDS if each.startswith('waymark ')])
def test_a_command_on_a_capture(folder, run, home, command):
    environment = howto.environment(run.program, home)
    environment['PATH'] = f'{folder}:{environment["PATH"]}'
    if ' view ' in command:
        until_interrupted(command, folder, environment)
    elif '://' in command:
        with Server([ITM_TRACE], linger=True) as server:
            address = re.search(r'localhost:\d+', command).group()
            until_interrupted(command.replace(address, f'localhost:{server.port}'), folder, environment)
    else:
        done = subprocess.run(['bash', '-c', f'set -o pipefail; {command}'], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        # `head` may leave before the last line is written.
        assert done.returncode in ((0, 141) if '| head' in command else (0,)), done.stderr
        assert SHOWN[key_of(command)] in done.stdout + done.stderr


def test_the_session_shows_what_the_commands_say(folder, run, home):
    for step in howto.steps('../README.md'):
        done = subprocess.run(['bash', '-c', step.command], cwd=folder, env=howto.environment(run.program, home),
                              capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == step.shown, step.command


def test_first_steps_show_what_the_commands_say(folder, run, home):
    for step in howto.steps('first-steps.md'):
        done = subprocess.run(['bash', '-c', step.command], cwd=folder, env=howto.environment(run.program, home),
                              capture_output=True, text=True, check=True)
        if step.shown:
            assert done.stdout.splitlines() == step.shown, step.command


# The placeholders of docs/cli.md are other captures; these commands run as they are.
TASKS = [step for step in howto.steps('cli.md') if re.match('waymark [a-z]+ samples/', step.command)
         and ' view ' not in step.command]


@pytest.mark.parametrize('step', TASKS, ids=lambda step: step.command)
def test_tasks_show_what_the_commands_say(folder, run, home, step):
    done = subprocess.run(['bash', '-c', step.command], cwd=folder, env=howto.environment(run.program, home),
                          capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    for line in step.shown:
        assert not line.strip() or line == '…' or line in said, line


@pytest.mark.parametrize('command', [each for each in COMMANDS if re.match(r'\./scripts/|bench/', each)])
def test_a_script_has_these_options(repository, command):
    """Other suites run what the scripts do; most build or install something."""
    done = subprocess.run([*command.split(), '--help'], cwd=repository, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert os.path.basename(command.split()[0]) in done.stdout


@pytest.mark.parametrize('command', [each for each in COMMANDS if each.startswith('LD_LIBRARY_PATH=')])
def test_a_program_that_links_opencsd(folder, run, home, sanitized, command):
    if sanitized or not shutil.which('perf'):
        pytest.skip('perf is missing, or cannot load a library with a sanitizer')
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=howto.environment(run.program, home),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = subprocess.run(['bash', '-c', command], cwd=folder, env={**howto.environment(run.program, home),
                                                                     'LD_DEBUG': 'libs'},
                            stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert re.search(rf'calling init: {folder}/build/release/lib/libopencsd_c_api\.so', loaded.stderr)


@pytest.mark.parametrize('command', [each for each in COMMANDS if each.startswith('sudo ')])
def test_the_package_exists(repository, command):
    package, = re.findall(r'build/packages/([a-z0-9-]+)_\*\.deb', command)
    assert f'\nPackage: {package}\n' in (repository / 'debian/control').read_text()


def test_every_command_is_tested():
    for command in COMMANDS:
        assert re.match(r'waymark |\./scripts/|bench/|LD_LIBRARY_PATH=|sudo apt install ', command), command
