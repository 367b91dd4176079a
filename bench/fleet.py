#!/usr/bin/env python3
"""What plan, shard and merge cost for many small captures, or for one that is cut, beside one export of all of it.

    bench/fleet.py [--waymark PATH] [--captures N] [--shards N] [--recordings] [--no-serial]
    bench/fleet.py [--waymark PATH] --slices N [--size SIZE] [--no-serial]

Many captures are hard links to samples/quicksort, or to one recording of it.  Prints seconds of wall time, and peaks of memory.
"""
import argparse
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def timed(name, *command, cwd):
    """Runs it, and prints the time and the peak of its memory."""
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - begin
    if status != 0:
        raise SystemExit(f'{name} failed')
    core = usage.ru_utime + usage.ru_stime
    print(f'{name:8} {seconds:8.2f} s {usage.ru_maxrss / 1024:8.0f} MiB, {core:.2f} s of a core', flush=True)


def snapshots(folder, count):
    """Each has a program of its own."""
    sample = folder / 'sample'
    sample.mkdir()
    for path in (ROOT / 'samples/quicksort').iterdir():
        (sample / path.name).write_bytes(path.read_bytes())
    for i in range(count):
        capture = folder / f'runs/{i:05}'
        capture.mkdir(parents=True)
        for path in sample.iterdir():
            os.link(path, capture / path.name)
    return [f'runs/{i:05}' for i in range(count)]


def recordings(waymark, folder, count):
    """All are of one program."""
    subprocess.run([waymark, 'synth', '-o', 'sample', '--elf', ROOT / 'samples/quicksort/quicksort.elf', '--size', '16K',
                    '--context-ids', '2', '--perf-data', '--no-truth'], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (folder / 'runs').mkdir()
    for i in range(count):
        os.link(folder / 'sample/perf.data', folder / f'runs/{i:05}')
    return [f'runs/{i:05}' for i in range(count)]


def long_capture(waymark, folder, size):
    subprocess.run([waymark, 'synth', '-o', 'runs/long', '--size', size, '--protocol', 'etmv4', '--cores', '4',
                    '--cycle-counts', '--timestamps', '100', '--context-ids', '3', '--no-truth'],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return ['runs/long']


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--waymark', default=ROOT / 'build/release/bin/waymark', type=Path)
    parser.add_argument('--captures', default=10000, type=int)
    parser.add_argument('--shards', default=0, type=int, help='default: one for each capture')
    parser.add_argument('--recordings', action='store_true', help='perf recordings, which have one program in common')
    parser.add_argument('--slices', type=int, help='one capture, which is cut into this number')
    parser.add_argument('--size', default='256M', help='the bytes of its trace; default: 256M')
    parser.add_argument('--no-serial', action='store_true', help='leave out the export, which keeps all captures open')
    options = parser.parse_args()
    waymark = options.waymark.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.slices:
            (folder / 'runs').mkdir()
            inputs = long_capture(waymark, folder, options.size)
        elif options.recordings:
            inputs = recordings(waymark, folder, options.captures)
        else:
            inputs = snapshots(folder, options.captures)
        text = "what = 'counts'\ninputs = ['runs/*']\n"
        if options.slices:
            text += f'slices = {options.slices}\n'
        if options.shards:
            text += f'shards = {options.shards}\n'
        if options.recordings:
            text += "[options]\nsymfs = 'sample'\n"
        (folder / 'job.toml').write_text(text)
        timed('plan', waymark, 'plan', 'job.toml', '-o', 'job', cwd=folder)
        timed('shard', waymark, 'shard', 'job', 'missing', cwd=folder)
        timed('status', waymark, 'status', 'job', cwd=folder)
        timed('merge', waymark, 'merge', 'job', '-o', 'merged', cwd=folder)
        if options.no_serial:
            return
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        timed('serial', waymark, 'export', 'counts', *inputs, '-j', '1', '-o', 'serial',
              *(['--symfs', 'sample'] if options.recordings else []), cwd=folder)
        if (folder / 'merged').read_bytes() != (folder / 'serial').read_bytes():
            raise SystemExit('the merge differs from the serial run')


if __name__ == '__main__':
    main()
