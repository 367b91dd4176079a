#!/usr/bin/env python3
"""Compares Waymark's trc_pkt_lister with that of OpenCSD, as whole processes.

    bench/lister.py [--size MIB] [--turns N] [--own PATH] [--reference PATH] [SNAPSHOT]

Both list and decode the trace of a snapshot (default: the sample), repeated to --size MiB. First the two texts are
compared: they must be equal except for the lines with the version, the command line and the time. Then each writes
its text to /dev/null, in turns. The table has the best processor time and the best elapsed time of each, its greatest
use of memory, and the ratio of the processor times. OpenCSD's lister is Debian's, from libopencsd-bin; Waymark's follows
that version (WAYMARK_OPENCSD_LEVEL).
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 1 << 20
# Lines that say which program it is, and how long it took.
OWN_LINES = re.compile(rb'\*\* Library Version|.*-ss_dir|Trace Packet Lister : Trace buffer done')


def command(lister, snapshot, text):
    return [lister, '-ss_dir', snapshot, '-decode', '-logfilename', text]


def measure(arguments, environment):
    """Processor seconds, elapsed seconds and the peak of memory in MiB."""
    start = time.monotonic()
    process = subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.monotonic() - start
    if status != 0:
        sys.exit(f'{arguments[0]} failed: {errors.decode(errors="replace")}')
    return usage.ru_utime + usage.ru_stime, elapsed, usage.ru_maxrss / 1024


def repeat(snapshot, size, folder):
    """A copy of the snapshot, with its only trace repeated to at least `size` bytes; that number."""
    shutil.copytree(snapshot, folder)
    traces = re.findall(r'^file\s*=\s*(\S+)', (folder / 'trace.ini').read_text(), re.M)
    if len(traces) != 1:
        sys.exit(f'{snapshot} has {len(traces)} traces; give a snapshot with one.')
    trace = folder / traces[0]
    once = trace.read_bytes()
    trace.write_bytes(once * -(-size // len(once)))
    return trace.stat().st_size


def first_difference(first, second):
    """The first lines that differ although they should not; None: the texts are equal."""
    with open(first, 'rb') as one, open(second, 'rb') as other:
        for number, (left, right) in enumerate(zip(one, other), 1):
            if left != right and not (OWN_LINES.match(left) and OWN_LINES.match(right)):
                return f'line {number}:\n  {left.decode(errors="replace")}  {right.decode(errors="replace")}'
        if one.read(1) or other.read(1):
            return 'one text is longer.'
    return None


def version(text):
    """What a listing says of its library."""
    with open(text, 'rb') as lines:
        return next(line.split()[-1].decode() for line in lines if line.startswith(b'** Library Version'))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('snapshot', nargs='?', type=pathlib.Path, default=ROOT / 'samples/quicksort')
    parser.add_argument('--size', type=int, default=4, help='MiB of trace; default: 4')
    parser.add_argument('--turns', type=int, default=3, help='how often each is run; default: 3')
    parser.add_argument('--own', default=str(ROOT / 'build/release/bin/trc_pkt_lister'))
    parser.add_argument('--reference', default=shutil.which('trc_pkt_lister', path='/usr/bin'))
    options = parser.parse_args()
    if options.reference is None:
        sys.exit('OpenCSD\'s lister is missing: install the package libopencsd-bin, or name it with --reference.')
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        capture = scratch / 'capture'
        size = repeat(options.snapshot, options.size * MIB, capture)
        texts = scratch / 'reference.ppl', scratch / 'own.ppl'
        measure(command(options.reference, capture, texts[0]), os.environ)
        level = version(texts[0])
        environment = {**os.environ, 'WAYMARK_OPENCSD_LEVEL': level}
        measure(command(options.own, capture, texts[1]), environment)
        listed = texts[0].stat().st_size
        difference = first_difference(*texts)
        if difference:
            sys.exit(f'The texts differ, {difference}')
        for text in texts:
            text.unlink()
        listers = {f'OpenCSD {level}': (options.reference, os.environ), 'Waymark': (options.own, environment)}
        runs = {name: [] for name in listers}
        for _ in range(options.turns):
            for name, (lister, variables) in listers.items():
                runs[name].append(measure(command(lister, capture, '/dev/null'), variables))
        print(f'{size} bytes of trace, equal texts of {listed} bytes')
        print(f'{"":16}{"processor":>12}{"elapsed":>12}{"memory":>12}{"ratio":>8}')
        best = {name: (min(run[0] for run in each), min(run[1] for run in each), max(run[2] for run in each))
                for name, each in runs.items()}
        slowest = best[f'OpenCSD {level}'][0]
        for name, (processor, elapsed, memory) in best.items():
            print(f'{name:16}{processor:>10.3f} s{elapsed:>10.3f} s{memory:>8.0f} MiB{slowest / processor:>8.1f}')


if __name__ == '__main__':
    main()
