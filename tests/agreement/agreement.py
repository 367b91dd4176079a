#!/usr/bin/env python3
"""Compares what all commands and formats say of the same captures.

    tests/agreement/agreement.py [OPTION]... [CAPTURE]...

    --small         only the sample and two captures of `synth`
    --list          list the captures
    --table FILE    write all disagreements, one per line
    --most N        print N disagreements of each quantity of a capture; default: 3

WAYMARK names the program; default: build/dev/bin/waymark.  The exit status is 1 if anything disagrees.
"""
import argparse
import collections
import os
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'cli')]

import commands  # noqa: E402,F401
import exports  # noqa: E402,F401
import jobs  # noqa: E402,F401
import views  # noqa: E402,F401
from captures import ROOT, SMALL, Captures, absent  # noqa: E402
from sources import SOURCES, Say, unregistered  # noqa: E402
from values import Disagreement, Values  # noqa: E402


def collect(capture, sources, values=None):
    """What these sources say, and (source, reason) of those that failed."""
    values, failed = values or Values(capture.name), []
    for one in sources:
        if not one.needs <= capture.has:
            continue
        try:
            one.collect(capture, Say(values, one.name, one.stacks and capture.places.has_plt()))
        except Exception as error:
            values.remove([one.name])
            if os.environ.get('AGREEMENT_TRACE'):
                traceback.print_exc()
            failed.append((one.name, error))
    return values, failed


def failures(capture, failed):
    """A source that does not answer disagrees with all others."""
    return [Disagreement(capture.name, 'whether it answers', (name,),
                         ((name, type(error).__name__ + ': ' + ' '.join(str(error).split())[:600]),)) for name, error in failed]


def formats(run):
    """The formats that `waymark export --list` shows."""
    return [line.split()[0] for line in run('export', '--list').lines if line and not line.startswith(' ')]


def show(found, most):
    by_quantity = collections.defaultdict(list)
    for one in found:
        by_quantity[one.quantity].append(one)
    for quantity, rows in by_quantity.items():
        print(f'  {quantity}: {len(rows)} disagreement{"s" if len(rows) > 1 else ""}')
        for one in rows[:most]:
            print(f'    {" ".join(text(part) for part in one.key)}: {one.row()}')


def text(part):
    return hex(part) if isinstance(part, int) and part > 999 else str(part)


def main():
    parser = argparse.ArgumentParser(description='Compares what all commands and formats say of the same captures.')
    parser.add_argument('captures', nargs='*', metavar='CAPTURE')
    parser.add_argument('--small', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--table')
    parser.add_argument('--most', type=int, default=3)
    given = parser.parse_args()
    program = Path(os.environ.get('WAYMARK') or ROOT / 'build/dev/bin/waymark')
    with tempfile.TemporaryDirectory(prefix='agreement') as folder:
        made = Captures(program, Path(folder))
        names = made.names()
        if given.list:
            print('\n'.join(names))
            return 0
        if given.small:
            names = list(SMALL)
        if given.captures:
            names = [name for name in names if any(word in name for word in given.captures)]
        missing = unregistered(formats(made.run))
        compared, found, skipped, refused = 0, [], [], []
        for name in names:
            try:
                capture = made.make(name)
            except AssertionError as error:
                # Other tests say whether that is right.
                refused.append((name, str(error).rstrip().splitlines()[-1]))
                continue
            if capture is None or not capture.executes:
                skipped.append(name)
                continue
            values, failed = collect(capture, SOURCES)
            count, rows = values.compare()
            rows += failures(capture, failed)
            compared += count
            found += rows
            print(f'{name}: {count} values, {len(rows)} disagreements', flush=True)
            show(rows, given.most)
            capture.close()
    if given.table:
        with open(given.table, 'w', encoding='utf-8') as file:
            for one in found:
                file.write(f'{one.capture}\t{one.quantity}\t{" ".join(text(part) for part in one.key)}\t{one.row()}\n')
    for name in missing:
        print(f'The format {name} of `waymark export` has no source in tests/agreement, and no reason is stated.')
    for what in absent():
        print(f'Without {what}, which scripts/install gets: the formats that need it were not read.')
    for name, message in refused:
        print(f'Refused by the program: {name}: {message}')
    if skipped:
        print(f'Without executed instructions: {", ".join(skipped)}.')
    print(f'{compared} values compared, {len(found)} disagreements')
    return 1 if found or missing or not compared else 0


if __name__ == '__main__':
    sys.exit(main())
