#!/usr/bin/env python3
"""Makes random jobs over random recordings, and compares what separate processes make of them with one export.

    tests/soak/jobs.py [--bin FOLDER] [--jobs N] [--seed N] [--keep FOLDER]

Each job has a recording of one to four processes that have programs at the same addresses and execute others from time
to time, on one or two CPUs, with or without times, context IDs or switches. Each shard is a process of its own, in any
order, and so is the merge. What the merge writes must equal what `waymark export` writes for the same recording, byte
for byte. Memory that was freed or never set has a pattern in all of them, so that no result is right by luck.

The last line is "N passed, M failed". With --keep, the folders of jobs that failed are moved there.
"""
import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/cli'))
from support.programs import Runner  # noqa: E402
from support.recordings import add_execs  # noqa: E402

WHATS = {'counts': 'counts', 'stacks': 'folded', 'branches': 'branch-list'}


def make_recording(run, folder, chosen):
    """Returns the number of processes."""
    processes = chosen.randint(1, 4)
    cores = chosen.randint(1, 2)
    options = ['--size', chosen.choice(['6K', '20K', '60K']), '--protocol', chosen.choice(['etmv4', 'etmv4', 'ete']),
               '--context-ids', processes, '--cores', cores, '--timestamps', chosen.choice([20, 50, 200]),
               '--exceptions', chosen.choice([20, 200]), '--sync-period', chosen.choice([512, 1024, 4096]),
               '--perf-pieces', chosen.randint(1, 6), '--seed', chosen.randrange(1 << 30)]
    if chosen.random() < 0.5:
        options.append('--return-stack')
    if chosen.random() < 0.3:
        options.append('--cycle-counts')
    if processes > 1 and chosen.random() < 0.6:
        options.append(chosen.choice(['--perf-times', '--perf-switches']))
    run('synth', '-o', folder / 'made', '--perf-data', '--no-truth', *options)
    if chosen.random() < 0.8:
        add_execs(folder / 'made', chosen.randrange(1 << 30))
    return processes


def do_job(run, folder, chosen):
    """Nothing, or what differs."""
    processes = make_recording(run, folder, chosen)
    what = chosen.choice(list(WHATS))
    slices = chosen.choice([2, 3, 6, 16])
    more, arguments = '', []
    if chosen.random() < 0.3:
        pid = 256 + chosen.randrange(processes)
        more, arguments = f"pid = ['{pid}']", ['--pid', pid]
    serial = run('export', WHATS[what], 'made/perf.data', '--symfs', 'made', *arguments, '-o', 'serial', expect=None)
    (folder / 'job.toml').write_text(
        f"inputs = ['made/perf.data']\nwhat = '{what}'\nslices = {slices}\n[options]\nsymfs = ['made']\n{more}\n")
    planned = run('plan', 'job.toml', '-o', 'job', expect=None)
    if planned.code != 0:
        return None if serial.code != 0 else f'plan: {planned.err}'
    shards = [line for line in (folder / 'job/plan').read_text().splitlines() if line.startswith(('shard ', 'slice '))]
    numbers = list(range(len(shards)))
    chosen.shuffle(numbers)
    for number in numbers:
        run('shard', 'job', number, expect=None)
    merged = run('merge', 'job', '-o', 'merged', expect=None)
    if merged.code != serial.code:
        return f'export ends with {serial.code}, merge with {merged.code}: {merged.err}'
    paths = [folder / name for name in ('serial', 'merged')]
    if [path.exists() for path in paths] not in ([True] * 2, [False] * 2):
        return 'only one of the files was written'
    if paths[0].exists() and paths[0].read_bytes() != paths[1].read_bytes():
        return f'{what} in {slices} slices differ from export'
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--bin', type=Path, default=ROOT / 'build/release/bin')
    parser.add_argument('--jobs', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument('--keep', type=Path)
    options = parser.parse_args()
    passed, failed = 0, 0
    for number in range(options.jobs):
        seed = options.seed + number
        folder = Path(tempfile.mkdtemp(prefix='waymark-job'))
        run = Runner(options.bin.resolve() / 'waymark', folder, folder, poison=True)
        try:
            problem = do_job(run, folder, random.Random(seed))
        except (AssertionError, subprocess.TimeoutExpired) as failure:
            problem = str(failure)
        if problem is None:
            passed += 1
        else:
            failed += 1
            print(f'--seed {seed} --jobs 1: {problem}', flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                shutil.copytree(folder, options.keep / str(seed), dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
