#!/usr/bin/env python3
"""Looks for the program of each capture among those of the others, at a random address.

  bench/locate.py --waymark WAYMARK SNAPSHOT...

The memory of each snapshot becomes an ELF file, linked for addresses that are a random slide below those where the
code ran. The snapshot loses its memory, and `waymark info --programs` gets its program among at most 20 others. A
program counts as found if it is the first one that was executed, with the right slide. Captures of other programs with
the same code are left out of the decoys. Slides are multiples of 4 KiB, or with --any-slide of 4 bytes.

Prints a table, and exits with 1 unless the program of each capture with 1,000 waypoints or more was found.
"""
import argparse
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wrong_image import dumps, elements

ENOUGH = 1000
DECOYS = 20
MACHINES = {'A64': 183, 'A32': 40, 'T32': 40}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('snapshots', nargs='+', type=Path, help='folders of snapshots')
    parser.add_argument('--waymark', default='waymark', help='the program to measure')
    parser.add_argument('--seed', type=int, default=1, help='of the slides')
    parser.add_argument('--any-slide', action='store_true', help='slides need not be multiples of a page')
    return parser.parse_args()


def elf(segments, machine):
    """An ELF file with these executable segments: (address, bytes)."""
    wide = machine == 183
    header_size, entry_size = (64, 56) if wide else (52, 32)
    at = header_size + entry_size * len(segments)
    headers, contents = b'', b''
    for address, data in segments:
        # Offset and address agree below the page.
        gap = (address - at) % 0x1000
        contents += bytes(gap) + data
        at += gap
        headers += (struct.pack('<IIQQQQQQ', 1, 5, at, address, address, len(data), len(data), 0x1000) if wide else
                    struct.pack('<IIIIIIII', 1, at, address, address, len(data), len(data), 5, 0x1000))
        at += len(data)
    ident = b'\x7fELF' + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    rest = (2, machine, 1, segments[0][0], header_size, 0, 0, header_size, entry_size, len(segments), 0, 0, 0)
    return ident + struct.pack('<HHIQQQIHHHHHH' if wide else '<HHIIIIIHHHHHH', *rest) + headers + contents


class Capture:
    def __init__(self, waymark, folder):
        self.folder = folder
        isas = {}
        self.waypoints = 0
        for _, _, _, isa in elements(waymark, folder):
            self.waypoints += 1
            isas[isa] = isas.get(isa, 0) + 1
        self.machine = MACHINES.get(max(isas, key=isas.get)) if isas else None
        self.segments = []
        for path, address, offset, length in dumps(folder):
            data = path.read_bytes()[offset:offset + length]
            overlaps = any(address < at + len(one) and at < address + len(data) for at, one in self.segments)
            if data and not overlaps:
                self.segments.append((address, data))

    def content(self):
        return sorted((data for _, data in self.segments), key=len)

    def program(self, slide):
        mask = 0xFFFFFFFF if self.machine == 40 else 0xFFFFFFFFFFFFFFFF
        segments = [((address - slide) & mask, data) for address, data in self.segments]
        return elf([one for one in segments if one[0] + len(one[1]) <= mask], self.machine)

    def without_memory(self, target):
        shutil.copytree(self.folder, target, copy_function=shutil.copyfile)
        for path in [target, *target.rglob('*')]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        for path in target.glob('*.ini'):
            kept, skipping = [], False
            for line in path.read_text(errors='replace').splitlines():
                if line.strip().startswith('['):
                    skipping = line.strip().lower().startswith('[dump')
                if not skipping:
                    kept.append(line)
            path.write_text('\n'.join(kept) + '\n')


def same_code(one, other):
    """Whether a large part of the code is the same: the programs of two tests may share their runtime."""
    return bool({data for data in one.content() if len(data) >= 256} & set(other.content()))


def search(arguments, capture, captures, numbers):
    granule = 4 if arguments.any_slide else 0x1000
    top = 0x7FFFFFFF if capture.machine == 40 else 0x7FFFFFFFFFFF
    slide = numbers.randrange(1, top // granule) * granule
    with tempfile.TemporaryDirectory() as place:
        board, programs = Path(place) / 'board', Path(place) / 'programs'
        programs.mkdir()
        capture.without_memory(board)
        decoys = [one for one in captures if one is not capture and one.machine and not same_code(one, capture)]
        for decoy in numbers.sample(decoys, min(DECOYS, len(decoys))):
            (programs / f'{decoy.folder.name}.elf').write_bytes(decoy.program(numbers.randrange(1 << 18) * 0x1000))
        right = programs / f'{capture.folder.name}.elf'
        right.write_bytes(capture.program(slide))
        count = len(list(programs.iterdir()))
        began = time.monotonic()
        done = subprocess.run([arguments.waymark, 'info', board, '--format', 'json', '--programs', programs],
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        report = next((one for one in reports if one['type'] == 'programs'), {'programs': []})
        first = report['programs'][0] if report['programs'] else {}
        mask = 0xFFFFFFFF if capture.machine == 40 else 0xFFFFFFFFFFFFFFFF
        found = (first.get('path') == str(right) and first.get('verdict') in ('executed', 'perhaps') and
                 int(first['slide'], 16) == slide & mask)
        others = sum(one['verdict'] == 'executed' and one['path'] != str(right) for one in report['programs'])
        return found, first if found else None, others, count, seconds, done.stderr.strip()


def main():
    arguments = parse_arguments()
    numbers = random.Random(arguments.seed)
    captures = [Capture(arguments.waymark, folder) for folder in arguments.snapshots
                if (folder / 'snapshot.ini').is_file()]
    captures = [one for one in captures if one.machine and one.segments]
    print('| capture | waypoints | programs | found | share | contradictions | others | seconds |')
    print('|---|---|---|---|---|---|---|---|')
    missed = large = 0
    for capture in captures:
        found, evidence, others, count, seconds, complaint = search(arguments, capture, captures, numbers)
        share = f"{100 * evidence['share']:.0f} %" if evidence else '-'
        against = evidence['contradictions'] if evidence else '-'
        print(f'| {capture.folder.name} | {capture.waypoints} | {count} | {"yes" if found else "NO"} | {share} | '
              f'{against} | {others} | {seconds:.1f} |', flush=True)
        if not found and complaint:
            print(complaint, file=sys.stderr)
        large += capture.waypoints >= ENOUGH
        missed += capture.waypoints >= ENOUGH and not found
    print(f'\n{large - missed} of {large} programs of captures with {ENOUGH} waypoints or more were found.')
    sys.exit(1 if missed else 0)


if __name__ == '__main__':
    main()
