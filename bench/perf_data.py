#!/usr/bin/env python3
"""Compares `waymark count` with `perf script` on a synthetic recording, as whole processes.

    bench/perf_data.py [--size MIB] [--part MIB] [--turns N] [--waymark PATH] [--perf PATH]

`perf script --itrace=i1000000i` decodes a recording of --part MiB, Waymark both this one and one of
--size MiB, in turns, on one thread.  The table has the best time of each, the greatest use of
memory, and the ratio of the times per byte of trace.  A last row is the time to start on a small
recording.  perf is Debian's, from linux-perf.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 1 << 20


def measure(command):
    """Seconds and the peak of memory in MiB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit(f'{command[0]} failed: {errors.decode(errors="replace")}')
    return seconds, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--size', type=int, default=256, help='MiB of trace for Waymark; default: 256')
    parser.add_argument('--part', type=int, default=2, help='MiB of trace for both; default: 2')
    parser.add_argument('--turns', type=int, default=3, help='how often each is run; default: 3')
    parser.add_argument('--waymark', default=str(ROOT / 'build/release/bin/waymark'))
    parser.add_argument('--perf', default=shutil.which('perf'))
    options = parser.parse_args()
    if options.perf is None:
        sys.exit('perf is missing: install the package linux-perf, or name it with --perf.')
    with tempfile.TemporaryDirectory() as scratch:
        def recording(name, size):
            folder = pathlib.Path(scratch) / name
            subprocess.run([options.waymark, 'synth', '-o', folder, '--size', str(size), '--no-truth', '--perf-data',
                            '--context-ids', '4', '--return-stack', '--timestamps', '1000'],
                           check=True, stdout=subprocess.DEVNULL)
            return folder

        def count(folder):
            return [options.waymark, 'count', folder / 'perf.data', '--symfs', folder, '-j', '1']

        small, part, whole = (recording('small', 4096), recording('part', options.part * MIB),
                              recording('whole', options.size * MIB))
        runs = {
            'perf script, part': ([options.perf, 'script', '-i', part / 'perf.data', '--symfs', part,
                                   '--itrace=i1000000i'], options.part),
            'waymark count, part': (count(part), options.part),
            'waymark count, whole': (count(whole), options.size),
        }
        best = {}
        for _ in range(options.turns):
            for name, (command, _) in runs.items():
                seconds, memory = measure(command)
                known = best.get(name, (seconds, memory))
                best[name] = min(known[0], seconds), max(known[1], memory)
        start = min(measure(count(small))[0] for _ in range(10))
        per_mib = {name: best[name][0] / size for name, (_, size) in runs.items()}
        print(f'{"":24}{"trace":>10}{"time":>12}{"memory":>12}{"ratio":>10}')
        for name, (_, size) in runs.items():
            ratio = per_mib['perf script, part'] / per_mib[name]
            print(f'{name:24}{size:>6} MiB{best[name][0]:>10.3f} s{best[name][1]:>8.0f} MiB{ratio:>10.1f}')
        print(f'{"waymark count, start":24}{"4 KiB":>10}{start * 1000:>9.1f} ms')


if __name__ == '__main__':
    main()
