"""DuckDB from npm, which reads tables of Parquet."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

READERS = Path(__file__).resolve().parents[2] / 'readers'
PACKAGES = Path(os.environ.get('WAYMARK_READERS') or READERS.parents[1] / 'build/readers') / 'node_modules'
NODE = shutil.which('node')
INTEGERS = ('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT')


def need():
    if NODE is None or not (PACKAGES / '@duckdb/node-api').is_dir():
        pytest.skip('Node.js or the npm packages of tests/readers are missing; scripts/install gets them')


def run(statements, folder):
    """The process after these statements in the folder."""
    need()
    return subprocess.run([NODE, READERS / 'duckdb.cjs', PACKAGES], input=json.dumps(statements), cwd=folder,
                          capture_output=True, text=True)


def value(cell, kind):
    if cell is None:
        return None
    if kind.removeprefix('U') in INTEGERS:
        return int(cell)
    return cell


def ask(folder, *statements):
    """The rows of each statement, as a list of {column: value}; of one statement, its rows."""
    done = run(statements, folder)
    assert done.returncode == 0, done.stderr
    results = [[{name: value(cell, kind) for name, kind, cell in zip(result['names'], result['types'], row)}
                for row in result['rows']] for result in json.loads(done.stdout)]
    return results[0] if len(results) == 1 else results
