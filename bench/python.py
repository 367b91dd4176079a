#!/usr/bin/python3
"""Compares loops over batches of elements in Python and in C++.

    PYTHONPATH=build/PRESET/python bench/python.py LOOP INPUT [--turns N]

LOOP is the program bench/python_loop.cc (-DWAYMARK_BENCH=ON -DWAYMARK_PYTHON=ON).  Both decode INPUT
in batches of 65536 elements and add up two fields, in turns.  The table has the best processor time
of each and their ratio, and how long Python takes to open INPUT and to get its first batch of 512
elements.
"""
import argparse
import subprocess
import sys
import time

import numpy as np

import waymark


def python_loop(path):
    with waymark.open(path) as capture:
        begin = time.thread_time()
        elements, starts, kinds = 0, 0, 0
        for batch in capture.batches(65536):
            starts += int(np.sum(batch['start']))
            kinds += int(np.sum(batch['kind'], dtype=np.uint64))
            elements += len(batch)
        return elements, starts % (1 << 64), kinds, time.thread_time() - begin


def first_batch(path):
    begin = time.perf_counter()
    with waymark.open(path) as capture:
        next(capture.batches(512))
    return time.perf_counter() - begin


def cpp_loop(program, path):
    words = subprocess.run([program, path], capture_output=True, text=True, check=True).stdout.split()
    return int(words[0]), int(words[1]), int(words[2]), float(words[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('loop')
    parser.add_argument('input')
    parser.add_argument('--turns', type=int, default=5, help='how often each is run; default: 5')
    options = parser.parse_args()
    python, cpp, first = [], [], []
    for _ in range(options.turns):
        cpp.append(cpp_loop(options.loop, options.input))
        python.append(python_loop(options.input))
        first.append(first_batch(options.input))
        if cpp[-1][:3] != python[-1][:3]:
            sys.exit(f'The sums differ: C++ {cpp[-1][:3]}, Python {python[-1][:3]}')
    best_cpp, best_python = (min(run[3] for run in runs) for runs in (cpp, python))
    print(f'elements      {cpp[0][0]:12}')
    print(f'C++           {best_cpp * 1000:12.2f} ms')
    print(f'Python        {best_python * 1000:12.2f} ms, {best_python / best_cpp:.2f} times')
    print(f'first batch   {min(first) * 1000:12.2f} ms')


if __name__ == '__main__':
    main()
