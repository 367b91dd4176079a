#!/usr/bin/env python3
"""Measures the server of `waymark view` over HTTP.

    bench/view.py [--bin FILE] [--requests N] [--seed N] SNAPSHOT

SNAPSHOT is a capture, usually of 1 GiB:

    waymark synth -o FOLDER --size 1G --protocol etmv4 --return-stack --timestamps 500 --no-truth

Three starts, each in a folder that is removed afterwards: without an index, with the index that
`waymark index` makes, and with the overview that the second start has stored in it.  For each: the time
from the start of the process to the answers of `capture`, `tracks` and `timeline`, which are what the first picture
needs; the largest memory of the process, with and without the pages of files; and of random pans and
zooms, the times of `timeline`.  Of all times, also how long the threads of the server ran on a processor, because other
programs disturb the rest.  Nothing is compared with a limit: the machine decides.
"""
import argparse
import http.client
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import urlencode, urlsplit

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 1280
MEGA = 1 << 20


class Memory(threading.Thread):
    """The largest memory of a process, in MiB, asked for 50 times a second."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.number = number
        self.most = {'VmRSS': 0.0, 'RssAnon': 0.0}
        self.start()

    def run(self):
        while True:
            try:
                text = pathlib.Path(f'/proc/{self.number}/status').read_text()
            except (FileNotFoundError, ProcessLookupError):
                return
            for line in text.splitlines():
                name, _, value = line.partition(':')
                if name in self.most:
                    self.most[name] = max(self.most[name], int(value.split()[0]) / 1024)
            time.sleep(0.02)

    def take(self):
        taken = dict(self.most)
        self.most = dict.fromkeys(self.most, 0.0)
        return taken


class Viewer:
    def __init__(self, program, capture, cache):
        self.begun = time.monotonic()
        environment = {**os.environ, 'XDG_CACHE_HOME': str(cache)}
        self.process = subprocess.Popen([program, 'view', capture], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment)
        self.memory = Memory(self.process.pid)
        parts = urlsplit(self.process.stdout.readline().decode().strip())
        if not parts.port:
            sys.exit('the server did not start')
        self.path = parts.path
        self.connection = http.client.HTTPConnection('127.0.0.1', parts.port, timeout=600)

    def ran(self):
        """Seconds for which its threads ran on a processor."""
        tasks = pathlib.Path(f'/proc/{self.process.pid}/task').glob('*/schedstat')
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def ask(self, name, **parameters):
        query = f'?{urlencode(parameters)}' if parameters else ''
        self.connection.request('GET', f'{self.path}api/1/{name}{query}')
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(f'{name} {parameters}: {answer.status} {body[:300]}')
        return body

    def facts(self):
        return json.loads(self.ask('capture'))

    def first_picture(self):
        """Seconds from the start of the process to all answers of the first picture."""
        while True:
            facts = self.facts()
            if facts['axis']['length'] > 0:
                break
            time.sleep(0.01)
        self.ask('tracks')
        self.ask('timeline', **{'from': 0, 'to': facts['axis']['length'], 'width': WIDTH, 'format': 'binary'})
        return time.monotonic() - self.begun

    def wait(self):
        """Seconds from the start of the process until the whole capture is known."""
        while not self.facts()['progress']['complete']:
            time.sleep(0.05)
        return time.monotonic() - self.begun

    def rest(self):
        """Until the server has nothing to do, because it also stores what it knows."""
        while True:
            ran = self.ran()
            time.sleep(0.5)
            if self.ran() - ran < 0.01:
                return

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def windows(length, count, seed):
    """Random zooms, to a place of any size, each followed by pans to either side."""
    chance = random.Random(seed)
    smallest = length * 1e-8
    while count > 0:
        size = smallest * math.exp(chance.random() * math.log(length / smallest))
        start = chance.random() * (length - size)
        for _ in range(min(count, 5)):
            yield start, start + size
            start = min(max(start + size * chance.uniform(-0.5, 0.5), 0), length - size)
            count -= 1


def pans(viewer, requests, seed):
    times = {'all': [], 'summary': [], 'spans': []}
    length = viewer.facts()['axis']['length']
    for start, end in windows(length, requests, seed):
        begun, ran = time.monotonic(), viewer.ran()
        body = viewer.ask('timeline', **{'from': repr(start), 'to': repr(end), 'width': WIDTH, 'format': 'binary'})
        took = (time.monotonic() - begun, viewer.ran() - ran)
        head = json.loads(body[4:4 + int.from_bytes(body[:4], 'little')])
        times['all'].append(took)
        times[head['mode']].append(took)
    return times


def quantile(values, share):
    ordered = sorted(values)
    return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else math.nan


def show_pans(times):
    for name, values in times.items():
        for of, which in ((' ', 0), (' on a processor, ', 1)):
            chosen = [value[which] for value in values]
            print(f'  {name:8} {len(values):5} answers,{of}in ms: median {quantile(chosen, 0.5):7.1f}, '
                  f'95 % {quantile(chosen, 0.95):7.1f}, worst {quantile(chosen, 1):7.1f}')


def show_memory(name, most):
    print(f'  memory {name}: {most["VmRSS"]:.0f} MiB, {most["RssAnon"]:.0f} MiB of them not of files')


def copy_of(capture, folder):
    """The snapshot without an index; its trace is a link, because nothing writes it."""
    copy = folder / 'capture'
    copy.mkdir()
    for file in pathlib.Path(capture).resolve().iterdir():
        if file.is_dir() or file.name.endswith('.waymark-index'):
            continue
        if file.stat().st_size > MEGA:
            (copy / file.name).symlink_to(file)
        else:
            shutil.copy(file, copy)
    return copy


def index_size(folder):
    return sum(file.stat().st_size for file in folder.rglob('*.waymark-index'))


def measure(title, program, capture, cache, options):
    print(title)
    viewer = Viewer(program, capture, cache)
    print(f'  first picture after {viewer.first_picture():.2f} s, {viewer.ran():.2f} s of them on a processor')
    if not viewer.facts()['progress']['complete']:
        growing = pans(viewer, options.requests // 5, options.seed + 1)
        print('  while it grows:')
        show_pans(growing)
        print(f'  overview complete after {viewer.wait():.1f} s, {viewer.ran():.1f} s of them on a processor')
        viewer.rest()
    show_memory('so far', viewer.memory.take())
    show_pans(pans(viewer, options.requests, options.seed))
    show_memory('meanwhile', viewer.memory.take())
    return viewer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('capture', metavar='SNAPSHOT')
    parser.add_argument('--bin', default=ROOT / 'build/release/bin/waymark')
    parser.add_argument('--requests', type=int, default=300)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', choices=['none', 'index', 'stored'])
    options = parser.parse_args()
    program = str(pathlib.Path(options.bin).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture = copy_of(options.capture, folder)
        trace = max(file.stat().st_size for file in capture.iterdir())
        cache = folder / 'cache'
        if options.only in (None, 'none'):
            measure('without an index', program, capture, folder / 'unused', options).end()
        begun = time.monotonic()
        subprocess.run([program, 'index', capture], check=True, stdout=subprocess.DEVNULL)
        size = index_size(folder / 'capture')
        print(f'index: {time.monotonic() - begun:.1f} s, {size} bytes, {100 * size / trace:.2f} % of the trace')
        viewer = measure('with an index', program, capture, cache, options)
        end = time.monotonic() + 120
        while index_size(folder / 'capture') == size and time.monotonic() < end:
            time.sleep(0.2)
        time.sleep(2)
        viewer.end()
        grown = index_size(folder / 'capture') - size
        print(f'overview in the index: {grown} bytes, {100 * grown / trace:.2f} % of the trace')
        measure('with an overview', program, capture, cache, options).end()


if __name__ == '__main__':
    main()
