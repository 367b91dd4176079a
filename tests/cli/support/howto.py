"""Executes the commands of a page, as a reader types them."""
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Step:
    command: str
    shown: list  # The lines that the page shows after it.
    said: str = ''


def steps(page):
    """The commands of a page below docs, after "$ ", with what it shows of their output.  A backslash continues a line."""
    found = []
    for block in re.findall(r'^```[a-z]*\n(.*?)^```$', (ROOT / 'docs' / page).read_text(), re.M | re.S):
        for line in block.replace('\\\n', ' ').splitlines():
            if line.startswith('$ '):
                found.append(Step(line[2:].split('  #')[0].strip(), []))
            elif found and block.startswith('$ '):
                found[-1].shown.append(line)
    assert found, page
    return found


def environment(waymark, home):
    """With this program as `waymark`."""
    return {**os.environ, 'HOME': str(home), 'XDG_CACHE_HOME': str(Path(home) / '.cache'), 'LC_ALL': 'C.UTF-8',
            'PATH': f'{Path(waymark).parent}:{os.environ["PATH"]}'}


def follow(page, folder, waymark, home):
    """Executes all commands of a page in the folder; each must succeed.  The steps, with what they said."""
    done = steps(page)
    for step in done:
        run = subprocess.run(['bash', '-c', step.command], cwd=folder, env=environment(waymark, home),
                             stdin=subprocess.DEVNULL, capture_output=True, text=True)
        step.said = run.stdout + run.stderr
        assert run.returncode == 0, f'{page}: {step.command}\n{step.said}'
    return done


def commands(page):
    """Every command of a page of the repository: after "$ ", in a block of sh, and in the text between backticks.  In the
    text, a command begins with a program of the repository, `sudo` or a variable; other words there are names."""
    text = (ROOT / page).read_text()
    found = []
    for language, block in re.findall(r'^```([a-z]*)\n(.*?)^```$', text, re.M | re.S):
        for line in block.replace('\\\n', ' ').splitlines():
            if line.startswith('$ ') or (language == 'sh' and line.strip()):
                found.append(line.removeprefix('$ ').split('  #')[0].strip())
    prose = re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S)
    for span in re.findall(r'`([^`]+)`', re.sub(r'\s+', ' ', prose)):
        if re.match(r'waymark |\./scripts/|bench/|sudo |[A-Z_]+=', span):
            found.append(span)
    return found


def shows(step, *texts):
    """Whether a step said each of the lines that the page shows, apart from "..." and numbers."""
    def plain(line):
        return re.sub(r'\d+(\.\d+)?', 'N', ' '.join(line.split()))
    said = {plain(line) for line in step.said.splitlines()}
    for line in step.shown:
        if line.strip() and '...' not in line and '…' not in line:
            assert plain(line) in said, f'{step.command}\n  the page shows: {line}\n{step.said}'
