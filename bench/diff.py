#!/usr/bin/env python3
"""Measures `waymark diff` beside `waymark decode` of the same captures: processor time, and the most memory.

Two synthetic runs of one program are compared: with themselves, and with each other, where nearly every branch that
the program's input decides is another one.
"""
import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--waymark', default='waymark', help='the program to measure')
    parser.add_argument('--program', type=Path, default=ROOT / 'samples/quicksort/quicksort.elf')
    parser.add_argument('--size', default='7M', help='bytes of each trace; 7M are 100 million instructions')
    return parser.parse_args()


def seconds(*command, expect=0):
    """Processor time of a command, which ends with this status."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if result.returncode != expect:
        raise subprocess.CalledProcessError(result.returncode, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    arguments = parse_arguments()
    waymark, program = arguments.waymark, arguments.program
    with tempfile.TemporaryDirectory() as folder:
        runs = [f'{folder}/run{seed}' for seed in (1, 2)]
        for seed, run in enumerate(runs, 1):
            subprocess.run([waymark, 'synth', '-o', run, '--elf', program, '--protocol', 'etmv4', '--size', arguments.size,
                            '--seed', str(seed)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        decoding = [seconds(waymark, 'decode', run, '--threads', '1') for run in runs]
        print(f'{"decode, both as text":<34} {sum(decoding):6.2f} s')
        for name, other in ('diff of equal runs', runs[0]), ('diff of runs that diverge everywhere', runs[1]):
            time = seconds(waymark, 'diff', runs[0], other, '--symbols', program, expect=0 if other == runs[0] else 1)
            print(f'{name:<34} {time:6.2f} s, {time / sum(decoding):.2f} of decoding both')
        print(f'{"most memory of any of them":<34} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:6.0f} MB')


if __name__ == '__main__':
    main()
