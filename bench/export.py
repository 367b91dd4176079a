#!/usr/bin/env python3
"""Compares `waymark export` with perf and the tools that read its output, as whole processes.

    bench/export.py PROGRAM [--size MIB] [--part MIB] [--turns N] [--waymark PATH]

PROGRAM is a static ELF file for AArch64 with symbols and DWARF 4.  A synthetic recording of it of
--part MiB is exported by both, one of --size MiB by Waymark alone, in turns, on one thread:

    autofdo   `perf inject --itrace=i100000il`; create_llvm_prof 0.19, the next step, cannot read what
              perf 6.1 writes, so it is left out
    bolt      `perf inject --itrace=l64i1us`, which perf2bolt runs on such a recording, and `perf2bolt`

The table has the best time of each, the greatest use of memory, and the ratio of the times per byte
of trace.  perf finds a program only where it was recorded, so the script needs permission to put
copies of PROGRAM and of another file into the root folder for a while.
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
PERF2BOLT = '/usr/lib/llvm-19/bin/perf2bolt'


def measure(*commands):
    """Seconds and the peak of memory in MiB of commands that run one after another."""
    seconds, memory = 0, 0
    for command in commands:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds += time.monotonic() - start
        memory = max(memory, usage.ru_maxrss / 1024)
        if status != 0:
            sys.exit(f'{command[0]} failed: {errors.decode(errors="replace")}')
    return seconds, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('program', type=pathlib.Path)
    parser.add_argument('--size', type=int, default=256, help='MiB of trace for Waymark; default: 256')
    parser.add_argument('--part', type=int, default=1, help='MiB of trace for both; default: 1')
    parser.add_argument('--turns', type=int, default=3, help='how often each is run; default: 3')
    parser.add_argument('--waymark', default=str(ROOT / 'build/release/bin/waymark'))
    options = parser.parse_args()
    for tool in ('perf', PERF2BOLT):
        if shutil.which(tool) is None:
            sys.exit(f'{tool} is missing: install linux-perf and bolt-19.')
    recorded = pathlib.Path('/') / options.program.name
    handlers = pathlib.Path('/memory_0.bin')  # Exception handlers, which synth adds.
    for path in (recorded, handlers):
        if path.exists():
            sys.exit(f'{path} exists; give the program another name.')
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)

        def recording(name, size):
            subprocess.run([options.waymark, 'synth', '-o', folder / name, '--elf', options.program, '--size',
                            str(size), '--no-truth', '--perf-data'], check=True, stdout=subprocess.DEVNULL)
            return folder / name / 'perf.data'

        part, whole = recording('part', options.part * MIB), recording('whole', options.size * MIB)
        injected, out = folder / 'injected', folder / 'out'

        def export(name, data):
            return [[options.waymark, 'export', name, data, '--symfs', data.parent, '-j', '1', '-o', out]]

        theirs = {
            'autofdo': [['perf', 'inject', '-i', part, '-o', injected, '--itrace=i100000il']],
            'bolt': [['perf', 'inject', '-i', part, '-o', injected, '--itrace=l64i1us'],
                     [PERF2BOLT, '-p', injected, '-o', out, recorded]],
        }
        shutil.copy(options.program, recorded)
        shutil.copy(part.parent / handlers.name, handlers)
        try:
            print(f'{"":24}{"trace":>10}{"time":>12}{"memory":>12}{"ratio":>10}')
            for name, commands in theirs.items():
                runs = {f'{name}, perf': (commands, options.part),
                        f'{name}, waymark': (export(name, part), options.part),
                        f'{name}, waymark, whole': (export(name, whole), options.size)}
                best = {}
                for _ in range(options.turns):
                    for row, (steps, _) in runs.items():
                        seconds, memory = measure(*steps)
                        known = best.get(row, (seconds, memory))
                        best[row] = min(known[0], seconds), max(known[1], memory)
                first = best[f'{name}, perf'][0] / options.part
                for row, (_, size) in runs.items():
                    ratio = first / (best[row][0] / size)
                    print(f'{row:24}{size:>6} MiB{best[row][0]:>10.3f} s{best[row][1]:>8.0f} MiB{ratio:>10.1f}')
        finally:
            recorded.unlink()
            handlers.unlink()


if __name__ == '__main__':
    main()
