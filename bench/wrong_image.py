#!/usr/bin/env python3
"""Decodes captures with a code image of which one function is another build, and checks that
`waymark info` says so.

For each snapshot with instructions, one stretch of executed code after the other is changed in a copy: it gets one
more instruction at its beginning, so all of its code moves, and its last instruction is lost. `waymark info` must find
that the trace contradicts the image, and the first place that it names must be in the changed code. It counts as
suspected if it is not named, but is among the other code that may be to blame.
"""
import argparse
import configparser
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NOPS = {'A64': b'\x1f\x20\x03\xd5', 'A32': b'\x00\xf0\x20\xe3', 'T32': b'\x00\xbf'}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('snapshots', nargs='+', type=Path, help='folders of snapshots')
    parser.add_argument('--waymark', default='waymark', help='the program to measure')
    parser.add_argument('--functions', type=int, default=3, help='how many stretches of each capture are changed')
    parser.add_argument('--verbose', action='store_true', help='show each change')
    return parser.parse_args()


def elements(waymark, snapshot):
    text = subprocess.run([waymark, 'decode', snapshot, '--format', 'json'], capture_output=True, text=True, check=False)
    for line in text.stdout.splitlines():
        element = json.loads(line)
        if element.get('kind') == 'range':
            yield int(element['start'], 16), int(element['end'], 16), element['instructions'], element['isa']


def stretches(ranges):
    """Executed code without gaps between addresses: start, end, instructions executed, ISA, branches in it."""
    distinct = {}
    for start, end, count, isa in ranges:
        times = distinct.get((start, end, isa), (0, 0))[0]
        distinct[start, end, isa] = (times + 1, count)
    merged = []
    for (start, end, isa), (times, count) in sorted(distinct.items()):
        if merged and start <= merged[-1]['end'] and isa == merged[-1]['isa']:
            last = merged[-1]
            last['end'] = max(last['end'], end)
            last['work'] += times * count
            last['branches'] += 1
        else:
            merged.append({'start': start, 'end': end, 'isa': isa, 'work': times * count, 'branches': 1})
    return sorted(merged, key=lambda each: -each['work'])


def dumps(snapshot):
    """Files of code: path, address, offset in the file, length."""
    for ini in snapshot.glob('*.ini'):
        config = configparser.ConfigParser(strict=False, comment_prefixes=(';', '#'), inline_comment_prefixes=(';', '#'))
        try:
            config.read_string(ini.read_text(errors='replace'))
        except configparser.Error:
            continue
        for section in config.sections():
            if section.lower().startswith('dump') and 'file' in config[section]:
                path = snapshot / config[section]['file'].strip()
                offset = int(config[section].get('offset', '0'), 0)
                if path.is_file():
                    length = int(config[section].get('length', '0'), 0) or path.stat().st_size - offset
                    yield path, int(config[section]['address'], 0), offset, length


def change(snapshot, stretch):
    """Moves the code of the stretch by one instruction; False: it is in no file."""
    nop = NOPS.get(stretch['isa'])
    changed = False
    for path, address, offset, length in dumps(snapshot):
        if nop is None or not address <= stretch['start'] < stretch['end'] <= address + length:
            continue
        data = bytearray(path.read_bytes())
        start = stretch['start'] - address + offset
        end = stretch['end'] - address + offset
        if end > len(data):
            continue
        data[start:end] = nop + data[start:end - len(nop)]
        path.write_bytes(data)
        changed = True
    return changed


def first_row(waymark, snapshot):
    """The mismatch that is first in the trace."""
    info = subprocess.run([waymark, 'info', snapshot, '--format', 'json'], capture_output=True, text=True, check=False)
    found = json.loads(info.stdout)['mismatches']
    return min(found, key=lambda row: (row['index'], int(row['address'], 16)), default=None)


def is_inside(code, stretch):
    return int(code['address'], 16) < stretch['end'] and stretch['start'] < int(code['end'], 16)


def measure(arguments, snapshot):
    changed = named = suspected = elsewhere = 0
    ranges = list(elements(arguments.waymark, snapshot))
    if not ranges:
        return None
    if first_row(arguments.waymark, snapshot) is not None:
        return 'contradicts already'
    for stretch in stretches(ranges):
        if changed == arguments.functions:
            break
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / snapshot.name
            shutil.copytree(snapshot, copy, symlinks=True)
            for path in copy.rglob('*'):
                path.chmod(path.stat().st_mode | 0o200)
            if not change(copy, stretch):
                continue
            changed += 1
            row = first_row(arguments.waymark, copy)
        inside = row is not None and is_inside(row, stretch)
        among = row is not None and not inside and any(is_inside(code, stretch) for code in row['suspects'])
        named += inside
        suspected += among
        elsewhere += row is not None and not inside and not among
        if arguments.verbose:
            print(f"  {stretch['start']:#x} to {stretch['end']:#x}, {stretch['branches']} ranges: ",
                  'nothing' if row is None else row['address'], flush=True)
    return changed, named, suspected, elsewhere


def main():
    arguments = parse_arguments()
    sums = [0, 0, 0, 0]
    for snapshot in arguments.snapshots:
        if not (snapshot / 'snapshot.ini').is_file():
            continue
        found = measure(arguments, snapshot)
        if found is None:
            continue
        if isinstance(found, str):
            print(f'{snapshot.name:<22} {found}', flush=True)
            continue
        print(f'{snapshot.name:<22} changed {found[0]}, named {found[1]}, suspected {found[2]}, '
              f'named elsewhere {found[3]}', flush=True)
        sums = [a + b for a, b in zip(sums, found)]
    print(f'{"all":<22} changed {sums[0]}, named {sums[1]}, suspected {sums[2]}, named elsewhere {sums[3]}')
    return 0 if sums[0] == sums[1] else 1


if __name__ == '__main__':
    sys.exit(main())
