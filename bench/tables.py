#!/usr/bin/env python3
"""What tables of Parquet cost: time, memory, and their size beside what DuckDB writes for the same rows.

    bench/tables.py [--waymark PATH] [--readers PATH] [--size SIZE] [INPUT...]

Without INPUT, a capture of this size is made: an ETMv4 with timestamps, and an STM.  DuckDB is npm's, which
scripts/install puts into build/readers.
"""
import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLES = ('elements', 'calls', 'counts', 'messages')


def timed(*command, cwd):
    """Seconds, and MiB of memory at the peak."""
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=cwd, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f'{command} failed')
    return time.monotonic() - begin, usage.ru_maxrss / 1024


def rewritten(packages, folder, table):
    """The number of rows, after DuckDB wrote them to theirs.parquet."""
    statements = [f"COPY (FROM '{table}/*.parquet' ORDER BY part, seq) TO 'theirs.parquet' "
                  '(FORMAT parquet, COMPRESSION zstd)', f"SELECT count(*) FROM '{table}/*.parquet'"]
    done = subprocess.run([shutil.which('node'), ROOT / 'tests/readers/duckdb.cjs', packages], check=True, cwd=folder,
                          input=json.dumps(statements), capture_output=True, text=True)
    return int(json.loads(done.stdout)[1]['rows'][0][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--waymark', default=ROOT / 'build/release/bin/waymark', type=Path)
    parser.add_argument('--readers', default=ROOT / 'build/readers', type=Path)
    parser.add_argument('--size', default='16M')
    parser.add_argument('inputs', nargs='*', metavar='INPUT')
    options = parser.parse_args()
    waymark = options.waymark.resolve()
    packages = options.readers.resolve() / 'node_modules'
    inputs = [Path(path).resolve() for path in options.inputs]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not inputs:
            subprocess.run([waymark, 'synth', '-o', 'made', '--size', options.size, '--protocol', 'etmv4,stm',
                            '--timestamps', '100', '--no-truth'], cwd=folder, check=True, capture_output=True)
            inputs = [folder / 'made']
        print(f'{"table":9} {"rows":>10} {"s":>7} {"MiB":>5} {"bytes":>12} {"DuckDB":>12} ratio')
        for table in TABLES:
            seconds, memory = timed(waymark, 'export', 'parquet', *inputs, '--table', table, '-o', '.', cwd=folder)
            size = sum(path.stat().st_size for path in (folder / table).iterdir())
            rows = rewritten(packages, folder, table)
            theirs = (folder / 'theirs.parquet').stat().st_size
            print(f'{table:9} {rows:10} {seconds:7.2f} {memory:5.0f} {size:12} {theirs:12} {size / theirs:5.2f}',
                  flush=True)


if __name__ == '__main__':
    main()
