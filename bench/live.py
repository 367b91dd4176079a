#!/usr/bin/env python3
"""Measures live decoding: the time from a byte to its line, and memory over a large volume.

    bench/live.py [--waymark PROGRAM] [--megabytes N] [--lines N]

A server on 127.0.0.1 sends ITM trace.  docs/performance.md has the figures.
"""
import argparse
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

SYNC = bytes.fromhex('000000000080')
# "Hi\n" with timestamps, a sample of the program counter, entry and exit of SysTick.
ROUND = bytes.fromhex('0148c010016920010a301704000108' '0e0f1040' '0e0f2050')
ITM = ['--protocol', 'itm', '--framing', 'none', '--retry-for', '0']


def serve(play):
    """The address of a server that runs play(client) once."""
    listener = socket.create_server(('127.0.0.1', 0))

    def work():
        client = listener.accept()[0]
        listener.close()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            play(client)
        except ConnectionError:
            pass
        client.close()

    threading.Thread(target=work, daemon=True).start()
    return f'tcp://127.0.0.1:{listener.getsockname()[1]}'


def latency(waymark, stamped, lines):
    """Milliseconds from the last byte of a line to the line: text of a port, with a timestamp after it or not."""
    sent = []

    def play(client):
        client.sendall(SYNC)
        for number in range(lines):
            time.sleep(0.1)
            line = b''.join(b'\x01' + bytes([byte]) for byte in f'{number}\n'.encode())
            sent.append(time.monotonic())
            client.sendall(line + (b'\x10' if stamped else b''))

    process = subprocess.Popen([waymark, 'decode', serve(play), *ITM], stdout=subprocess.PIPE)
    times = []
    for line in process.stdout:
        if b'port 0' in line:
            times.append(1000 * (time.monotonic() - sent[len(times)]))
    process.wait()
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.99)], times[-1]


def resident(pid):
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024
    return 0


def volume(waymark, command, megabytes):
    """MiB of memory after a tenth and at the end of the volume, and MB/s."""
    block = SYNC + ROUND * 2000
    done = [0]

    def play(client):
        while done[0] < megabytes * 1_000_000:
            client.sendall(block)
            done[0] += len(block)

    start = time.monotonic()
    process = subprocess.Popen([waymark, *command, serve(play), *ITM], stdout=subprocess.DEVNULL)
    early = peak = late = 0
    while process.poll() is None:
        try:
            late = resident(process.pid) or late
        except FileNotFoundError:
            break
        peak = max(peak, late)
        if not early and done[0] > megabytes * 100_000:
            early = late
        time.sleep(0.2)
    code = process.wait()
    if code != 0:
        sys.exit(f'{command} ended with status {code}')
    return early, late, peak, done[0] / 1e6 / (time.monotonic() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--waymark', default=Path(__file__).parents[1] / 'build/release/bin/waymark')
    parser.add_argument('--megabytes', type=int, default=1728, help='default: a day at 20 kB/s')
    parser.add_argument('--lines', type=int, default=100)
    options = parser.parse_args()
    print(f'{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}')
    for stamped in True, False:
        middle, nearly_all, most = latency(options.waymark, stamped, options.lines)
        print(f'line {"with" if stamped else "without"} timestamp: median {middle:.1f} ms, '
              f'99 % {nearly_all:.1f} ms, most {most:.1f} ms')
    for command in ['top', '--interval', '10'], ['decode'], ['packets']:
        early, late, peak, rate = volume(options.waymark, command, options.megabytes)
        print(f'{command[0]}, {options.megabytes} MB: {early:.1f} MiB after a tenth, {late:.1f} MiB at the end, '
              f'{peak:.1f} MiB at most, {rate:.1f} MB/s')


if __name__ == '__main__':
    main()
