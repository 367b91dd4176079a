#!/usr/bin/env python3
"""Counts the instructions of fixed decodes and compares them with the figures of the repository.

    bench/instructions.py [--record] [--bin FOLDER] [--only TEXT]
    bench/instructions.py --counting [--bin FOLDER] [--only TEXT] [SNAPSHOT...]

Each row is one pass over a small synthetic capture with warm caches, under callgrind, which gives the
same count on every machine and however busy it is.  A row may need at most 2 % more instructions than
bench/instructions.txt says.  One that needs at least 2 % fewer is reported, so that the new figure is
recorded: --record writes the file.  The figures belong to the compiler in the first line of that file;
with another one, nothing is compared.

--counting compares counting with elements on recorded captures, by default all of ../shared, each repeated to
1 MiB: the instructions of a warm pass of each, and the processor time, which is the best of five runs.
"""
import argparse
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / 'bench/instructions.txt'
TOLERANCE = 0.02

# Small, because callgrind is 50 times slower than the processor.
CAPTURES = {
    'etmv4': ['--protocol', 'etmv4', '--return-stack', '--timestamps', '500', '--context-ids', '4'],
    'etmv4-speculation': ['--protocol', 'etmv4', '--speculation', '8', '--cycle-counts'],
    'ete': ['--protocol', 'ete', '--timestamps', '500'],
    'ptm': ['--protocol', 'ptm', '--isa', 'T32', '--return-stack'],
    'etmv3': ['--protocol', 'etmv3', '--isa', 'A32', '--cycle-counts'],
    'stm': ['--protocol', 'stm', '--timestamps', '4'],
}
SIZE = '256K'
SNAPSHOTS = ROOT / '../shared/data/snapshots'
COUNTED_BYTES = 1 << 20
WORKS = ['packets', 'batches', 'single', 'listing', 'counting']


class Failed(Exception):
    """A program did not succeed."""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f'{" ".join(map(str, command))}\nfailed: {done.stdout}{done.stderr}')
    return done.stdout + done.stderr


def count(function, *command):
    """The instructions of this function and of what it calls."""
    text = run('valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', '--collect-atstart=no',
               f'--toggle-collect={function}', *command)
    found = re.search(r'Collected *: (\d+)', text)
    if not found or int(found[1]) == 0:
        sys.exit(f'callgrind counted nothing in {function}:\n{text}')
    return int(found[1])


def compiler(folder):
    """That of the build, as CMake found it."""
    files = sorted((folder.parent / 'CMakeFiles').glob('*/CMakeCXXCompiler.cmake'))
    text = files[-1].read_text() if files else ''
    found = {key: re.search(rf'set\(CMAKE_CXX_COMPILER_{key} "([^"]*)"\)', text) for key in ('ID', 'VERSION')}
    return ' '.join(match[1] for match in found.values() if match) or 'unknown'


def recorded():
    """The compiler, and {row: (instructions, digest of the capture)}."""
    if not FIGURES.exists():
        return '', {}
    first, *lines = FIGURES.read_text().splitlines()
    rows = (line.split() for line in lines if line and not line.startswith('#'))
    return first.removeprefix('# compiler: '), {row: (int(n), digest) for row, n, digest in rows}


def measured(folder, only):
    """{row: (instructions, digest)}."""
    rows = {}
    with tempfile.TemporaryDirectory() as made:
        for name, options in CAPTURES.items():
            wanted = [work for work in [*WORKS, 'c-api'] if only in f'{name}/{work}']
            if not wanted:
                continue
            capture = pathlib.Path(made) / name
            run(folder / 'waymark', 'synth', '-o', capture, '--size', SIZE, '--seed', '1', *options)
            digest = hashlib.sha256((capture / 'trace.bin').read_bytes()).hexdigest()[:16]
            for work in wanted:
                if work == 'c-api':
                    # The other library is left out: there is none of this name.
                    instructions = count('capi_count', folder / 'capi_bench', '--reps', '1', '--min-bytes', '0',
                                         '--reference', '', capture)
                else:
                    instructions = count('waymark_bench_pass', folder / 'waymark_bench', '--once', work, capture)
                rows[f'{name}/{work}'] = instructions, digest
                print(f'{name}/{work:<10} {instructions:>14,}', flush=True)
    return rows


def compare(old, new):
    """The rows that need more."""
    worse = []
    print(f'\n{"row":<32} {"recorded":>14} {"now":>14}   change')
    for row, (instructions, digest) in new.items():
        if row not in old:
            print(f'{row:<32} {"-":>14} {instructions:>14,}   new')
            continue
        before, of_capture = old[row]
        if of_capture != digest:
            sys.exit(f'{row}: `waymark synth` makes another capture than when the figures were recorded. '
                     'Record them with a build of the last commit before that and compare by hand.')
        change = instructions / before - 1
        remark = ''
        if change > TOLERANCE:
            worse.append(row)
            remark = '   TOO MANY'
        elif change < -TOLERANCE:
            remark = '   fewer: record it'
        print(f'{row:<32} {before:>14,} {instructions:>14,}   {change:+.2%}{remark}')
    return worse


def counting(folder, only, snapshots):
    """Prints the cost of counting and of elements, and counting divided by elements."""
    print(f'{"capture":<24} {"elements":>9} {"per element":>12} {"counting":>9} {"ratio":>6} {"ns":>7} {"counting":>9} '
          f'{"ratio":>6}')
    for snapshot in snapshots:
        if only not in snapshot.name:
            continue
        cost, time, seen = {}, {}, {}
        for work in ['elements', 'counting']:
            command = [folder / 'waymark_bench', '--min-bytes', COUNTED_BYTES, '--once', work, snapshot]
            try:
                runs = [run(*command) for _ in range(5)]
            except Failed as failure:
                print(failure, file=sys.stderr)
                break
            time[work] = min(int(re.search(r'(\d+) us', text)[1]) for text in runs)
            seen[work] = re.search(r'\d+ elements, .* instructions', runs[0])[0]
            cost[work] = count('waymark_bench_pass', *command)
        if 'counting' not in cost:
            continue
        if seen['elements'] != seen['counting']:
            sys.exit(f'{snapshot}: {seen["elements"]}, but counting gives {seen["counting"]}')
        elements = max(int(seen['elements'].split()[0]), 1)
        print(f'{snapshot.name:<24} {elements:>9} {cost["elements"] / elements:>12.1f} {cost["counting"] / elements:>9.1f} '
              f'{cost["counting"] / cost["elements"]:>6.2f} {time["elements"] * 1000 / elements:>7.1f} '
              f'{time["counting"] * 1000 / elements:>9.1f} {time["counting"] / time["elements"]:>6.2f}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--record', action='store_true', help='write bench/instructions.txt')
    parser.add_argument('--bin', type=pathlib.Path, default=ROOT / 'build/release/bin', help='default: build/release/bin')
    parser.add_argument('--only', default='', help='only rows with this text in their names')
    parser.add_argument('--counting', action='store_true', help='compare counting with elements')
    parser.add_argument('snapshots', nargs='*', type=pathlib.Path, metavar='SNAPSHOT', help='with --counting')
    options = parser.parse_args()
    if options.counting:
        counting(options.bin, options.only, options.snapshots or sorted(ini.parent for ini in SNAPSHOTS.glob('*/snapshot.ini')))
        return
    built_by = compiler(options.bin)
    recorded_by, old = recorded()
    if not options.record and recorded_by != built_by:
        print(f'The figures belong to {recorded_by or "no compiler"}, and this build to {built_by}: nothing is compared.')
        return
    new = measured(options.bin, options.only)
    if options.record:
        rows = {**old, **new} if options.only else new
        FIGURES.write_text(f'# compiler: {built_by}\n'
                           '# Instructions of one warm pass, and the digest of the capture.  bench/instructions.py --record\n' +
                           ''.join(f'{row:<28} {n:>12} {digest}\n' for row, (n, digest) in rows.items()))
        return
    if worse := compare(old, new):
        sys.exit(f'More instructions than recorded: {", ".join(worse)}.')


if __name__ == '__main__':
    try:
        main()
    except Failed as failure:
        sys.exit(str(failure))
