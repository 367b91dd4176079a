#!/usr/bin/env python3
"""Plants errors into the outputs that are compared: each must be found.

    tests/agreement/mutations.py [WORD]...     only those whose description has a word

No program is changed: the text of an output is, before it is read.  WAYMARK names the program.
"""
import json
import os
import re
import sqlite3
import sys
import tempfile
from pathlib import Path

import agreement
from captures import DATA, ROOT, Captures
from sources import SOURCES


def number(pattern, change=lambda value: value + 1, nth=0):
    """Changes the number in group 1 of the nth match of a pattern."""
    def apply(data):
        text = data.decode() if isinstance(data, bytes) else data
        found = list(re.finditer(pattern, text, re.M))
        assert len(found) > nth, f'{pattern} does not match'
        first, last = found[nth].span(1)
        text = text[:first] + str(change(int(text[first:last]))) + text[last:]
        return text.encode() if isinstance(data, bytes) else text
    return apply


def without(pattern):
    """Removes the first match of a pattern."""
    def apply(data):
        text = data.decode() if isinstance(data, bytes) else data
        changed = re.sub(pattern, '', text, count=1, flags=re.M)
        assert changed != text, f'{pattern} does not match'
        return changed.encode() if isinstance(data, bytes) else changed
    return apply


def swapped(one, other):
    """Exchanges two texts everywhere."""
    def apply(data):
        text = data.decode() if isinstance(data, bytes) else data
        assert one in text and other in text
        text = text.replace(one, '\0').replace(other, one).replace('\0', other)
        return text.encode() if isinstance(data, bytes) else text
    return apply


def replaced(pattern, by):
    """Replaces the first match of a pattern."""
    def apply(data):
        changed = re.sub(pattern, by, data.decode(), count=1, flags=re.M)
        assert changed != data.decode(), f'{pattern} does not match'
        return changed.encode()
    return apply


def query(statement):
    """Changes a database."""
    def apply(path):
        base = sqlite3.connect(path)
        assert base.execute(statement).rowcount > 0
        base.commit()
        base.close()
    return apply


def in_file(change):
    def apply(path):
        path.write_bytes(change(path.read_bytes()))
    return apply


def byte_of_map(path):
    data = bytearray(path.read_bytes())
    at = next(i for i, count in enumerate(data) if 0 < count < 200)
    data[at] += 1
    path.write_bytes(bytes(data))


def cell(column, change=lambda value: str(int(value) + 1), row=0):
    """Changes a cell in a table of Parquet."""
    def apply(text):
        result, = json.loads(text)
        at = result['names'].index(column)
        rows = [each for each in result['rows'] if each[at] not in (None, '', '0', 0)]
        rows[row][at] = change(rows[row][at])
        return json.dumps([result])
    return apply


def answer(change):
    """Changes an answer of the viewer."""
    def apply(text):
        value = json.loads(text)
        change(value)
        return json.dumps(value)
    return apply


def add_to(rows, row, column):
    def change(value):
        value[rows][row][column] += 1
    return answer(change)


def add_in_measure(name):
    def change(value):
        value[name] += 1
    return answer(change)


SAMPLE, PROCESSES = 'quicksort', 'recording perf/two-process/perf.data'
FILES = DATA / 'perf/two-process/symfs'
JSON = '--all --format json'
MUTATIONS = [
    # (description, capture, label of the output, change)
    ('count: instructions', SAMPLE, f'count {JSON}', number(r'"instructions":(\d+),"ranges"')),
    ('count: a block', SAMPLE, f'count {JSON}', number(r'"times":(\d+)', nth=3)),
    ('count: a block in CSV', SAMPLE, 'count --all --format csv', number(r'0x4001b0,0x4001c8,\d+,(\d+),')),
    ('count: taken, on several threads', SAMPLE, f'count {JSON} -j 4', number(r'"taken":(\d+),"not_taken":\d+,"calls":\d+,"cycles":null,"last"')),
    ('count: an edge', SAMPLE, f'count --edges {JSON}', number(r'"taken":true,"times":(\d+)', nth=5)),
    ('count: an edge in CSV', SAMPLE, 'count --edges --all --format csv', number(r',1,(\d+),1$', nth=5)),
    ('count: a branch that was not taken', SAMPLE, f'count --edges {JSON}', number(r'"taken":false,"times":(\d+)')),
    ('count: the wrong target of an edge', SAMPLE, f'count --edges {JSON}', swapped('"to":"0x400334"', '"to":"0x400374"')),
    ('count: a function', SAMPLE, f'count --functions {JSON}', number(r'"instructions":(\d+),"entered"', nth=2)),
    ('count: the calls of a function', SAMPLE, f'count --functions {JSON}', number(r'"entered":(\d+)', nth=1)),
    ('count: calls made', SAMPLE, 'count --functions --all --format csv', number(r'^quicksort,.*,(\d+),,1$')),
    ('count: two functions exchanged', SAMPLE, f'count --functions {JSON}', swapped('"descending"', '"ascending"')),
    ('count: a function is missing', SAMPLE, f'count --functions {JSON}', without(r'^.*"name":"put_number".*\n')),
    ('count: the tree', SAMPLE, f'count --tree {JSON}', number(r'"own_instructions":(\d+)', nth=4)),
    ('count: inclusive instructions', SAMPLE, f'count --tree {JSON}', number(r'"instructions":(\d+),"own', nth=1)),
    ('count: calls in the tree', SAMPLE, 'count --tree --all --format csv', number(r',quicksort,.*,(\d+),1$')),
    ('count: callers', SAMPLE, f'count --callers quicksort {JSON}', number(r'"calls":(\d+)')),
    ('count: callees', SAMPLE, f'count --callees quicksort {JSON}', number(r'"instructions":(\d+)', nth=1)),
    ('annotate: an instruction', SAMPLE, 'annotate --top 1000000 --format json', number(r'"times":(\d+)', nth=9)),
    ('annotate: a branch', SAMPLE, 'annotate --top 1000000 --format json', number(r'"not_taken":(\d+)', nth=3)),
    ('annotate: the target of an indirect branch', SAMPLE, 'annotate --top 1000000 --format json', number(r'"targets":\[\{"address":"\w+","name":"\w*[^"]*","times":(\d+)')),
    ('decode: a range is missing', SAMPLE, 'decode --format json', without(r'^.*"kind":"range".*"subtype":"call".*\n')),
    ('decode: an exception is missing', SAMPLE, 'decode --format json', without(r'^.*"kind":"exception".*\n')),
    ('decode: an outcome', SAMPLE, 'decode --format json', lambda data: data.replace(b'"taken":false', b'"taken":true', 1)),
    ('decode: the first time', SAMPLE, 'decode --format json', number(r'"timestamp":(\d+)')),
    ('decode: a range in CSV', SAMPLE, 'decode --format csv', number(r'^element,\d+,\d+,range,\w+,\w+,(\d+)')),
    ('packets: an exception is missing', SAMPLE, 'packets --format json', without(r'^.*"name":"I_EXCEPT".*\n')),
    ('find: an exception is missing', SAMPLE, 'find --exception any --format json', without(r'^.*"what":"exception".*\n')),
    ('interval: begins', SAMPLE, 'interval --from fibonacci --to fibonacci --format json', number(r'"begun":(\d+)')),
    ('diff: instructions', SAMPLE, 'diff --format json', number(r'"type":"summary".*?"instructions":\D*(\d+)')),
    ('counts: a block', SAMPLE, 'export counts', number(r',A64,\d+,(\d+)', nth=8)),
    ('counts: a block is missing', SAMPLE, 'export counts', without(r'^.*0x00000000004001b0.*\n')),
    ('autofdo: a range', SAMPLE, 'export autofdo', number(r'^[0-9a-f]+-[0-9a-f]+:(\d+)', nth=7)),
    ('autofdo: a branch', SAMPLE, 'export autofdo', number(r'^[0-9a-f]+->[0-9a-f]+:(\d+)', nth=7)),
    ('llvm-unsymbolized: a branch', SAMPLE, 'export llvm-unsymbolized', number(r'^[0-9a-f]+->[0-9a-f]+:(\d+)', nth=2)),
    ('llvm-sample: calls', SAMPLE, 'export llvm-sample', number(r'^fibonacci:\d+:(\d+)')),
    ('bolt: a branch', SAMPLE, 'export bolt', number(r'^B \w+ \w+ (\d+)', nth=9)),
    ('bolt: a branch is missing', SAMPLE, 'export bolt', without(r'^B 400370 .*\n')),
    ('afl: an edge', SAMPLE, 'export afl', number(r'^\d+:(\d+)', nth=3)),
    ('afl-map: an edge', SAMPLE, 'export afl-map', byte_of_map),
    ('lcov: a line', SAMPLE, 'export lcov', number(r'^DA:\d+,(\d+)', nth=12)),
    ('lcov: calls', SAMPLE, 'export lcov', number(r'^FNDA:(\d+),fibonacci')),
    ('lcov: an outcome', SAMPLE, 'export lcov', number(r'^BRDA:57,0,0,(\d+)')),
    ('lcov: the sum of lines', SAMPLE, 'export lcov', number(r'^LH:(\d+)')),
    ('cobertura: a line', SAMPLE, 'export cobertura', number(r'number="61" hits="(\d+)"')),
    ('cobertura: an outcome', SAMPLE, 'export cobertura', number(r'\((\d+)/10\)')),
    ('sqlite: a function', SAMPLE, 'export sqlite', query("UPDATE functions SET instructions = instructions + 1 WHERE name = 'put'")),
    ('sqlite: calls', SAMPLE, 'export sqlite', query("UPDATE functions SET entered = entered + 1 WHERE name = 'put'")),
    ('sqlite: a block', SAMPLE, 'export sqlite', query('UPDATE blocks SET taken = taken + 1 WHERE first = 4194564')),
    ('sqlite: a branch', SAMPLE, 'export sqlite', query('UPDATE branches SET times = times + 1 WHERE address = 4195184')),
    ('sqlite: the kind of a branch', SAMPLE, 'export sqlite', query("UPDATE branches SET kind = 'jump' WHERE kind = 'call' AND address = 4195184")),
    ('sqlite: an instruction', SAMPLE, 'export sqlite', query('UPDATE instructions SET times = times + 1 WHERE address = 4195184')),
    ('sqlite: an exception is missing', SAMPLE, 'export sqlite', query("DELETE FROM events WHERE id = (SELECT max(id) FROM events WHERE kind = 'exception_entered')")),
    ('parquet: counts', SAMPLE, 'parquet counts', cell('times', row=4)),
    ('parquet: calls', SAMPLE, 'parquet calls', cell('own_instructions', row=9)),
    ('parquet: a kind of entry', SAMPLE, 'parquet calls', cell('entered', lambda value: 'before', row=40)),
    ('parquet: elements', SAMPLE, 'parquet elements', cell('count')),
    ('folded: a stack', SAMPLE, 'export folded', number(r' (\d+)$', nth=6)),
    ('callgrind: a cost', SAMPLE, 'export callgrind', number(r'^50 (\d+)')),
    ('callgrind: calls', SAMPLE, 'export callgrind', number(r'^calls=(\d+) 50')),
    ('pprof: a sample', SAMPLE, 'export pprof (text)', number(r'^  value: (\d+)', nth=5)),
    ('trace-event: a time', SAMPLE, 'export trace-event --time instructions', number(r'"ph":"E".*?"ts":(\d+)', nth=20)),
    ('trace-event: the last time', SAMPLE, 'export trace-event', lambda data: number(r'"ts":(\d+)', nth=len(re.findall(rb'"ts":', data)) - 1)(data)),
    ('speedscope: a time', SAMPLE, 'export speedscope --time instructions', number(r'"type":"C","frame":\d+,"at":(\d+)', nth=20)),
    ('speedscope: the first time', SAMPLE, 'export speedscope', number(r'"type":"O","frame":\d+,"at":(\d+)', lambda value: value - 1)),
    ('perfetto: a time', SAMPLE, 'export perfetto --time instructions (text)', number(r'^  timestamp: (\d+)', nth=41)),
    ('view: a function', SAMPLE, 'view functions limit=10000', add_to('rows', 1, 1)),
    ('view: inclusive instructions', SAMPLE, 'view functions limit=10000', add_to('rows', 1, 2)),
    ('view: calls', SAMPLE, 'view functions limit=10000', add_to('rows', 1, 3)),
    ('view: the flame graph', SAMPLE, 'view flame limit=4000', add_to('nodes', 4, 2)),
    ('view: exceptions', SAMPLE, 'view measure', add_in_measure('exceptions')),
    ('view: instructions', SAMPLE, 'view measure', add_in_measure('instructions')),
    ('report: a function', SAMPLE, 'report', in_file(number(r'"rows":\[\[\d+,(\d+),'))),
    ('merge: counts', SAMPLE, 'merge counts 4', number(r',A64,\d+,(\d+)', nth=8)),
    ('merge: bolt', SAMPLE, 'merge bolt 4', number(r'^B \w+ \w+ (\d+)', nth=9)),
    ('merge: lcov', SAMPLE, 'merge lcov 4', number(r'^DA:\d+,(\d+)', nth=12)),
    ('merge: folded', SAMPLE, 'merge folded 1', number(r' (\d+)$', nth=6)),
    ('recording: two programs exchanged', PROCESSES, f'count --functions {JSON}', swapped('/opt/app/alpha', '/opt/app/beta')),
    ('recording: the path in counts', PROCESSES, 'export counts', replaced(r'^/opt', f'{FILES}/opt')),
    ('recording: the file in the tree', PROCESSES, f'count --tree {JSON}', replaced(f'"{FILES}/opt', '"/opt')),
    ('recording: a thread in parquet', PROCESSES, 'parquet calls', cell('own_instructions', row=2)),
    ('recording: an edge of sqlite', PROCESSES, 'export sqlite', query('UPDATE branches SET times = times + 1 WHERE address = 4259916')),
    ('recording: the process in pprof', PROCESSES, 'export pprof (text)', swapped('mapping_id: 1', 'mapping_id: 2')),
]


def sources_by_label(capture):
    """{label: the sources that read the output}"""
    found = {}
    for one in SOURCES:
        if one.needs <= capture.has:
            capture.labels.clear()
            agreement.collect(capture, [one])
            for label in capture.labels:
                found.setdefault(label, set()).add(one)
    return found


def identity(disagreement):
    return disagreement.quantity, disagreement.key, disagreement.said


def check(capture, mutations):
    """[(description, what found it, or None)]"""
    values, failed = agreement.collect(capture, SOURCES)
    before = {identity(one) for one in values.compare()[1]}
    failed_before = {name for name, _ in failed}
    readers = sources_by_label(capture)
    results = []
    for description, _, label, change in mutations:
        affected = sorted(readers.get(label, ()), key=lambda one: one.name)
        if not affected:
            results.append((description, None, f'no source reads "{label}"'))
            continue
        capture.damage = {label: change}
        values.remove([one.name for one in affected])
        again, failed = agreement.collect(capture, affected, values)
        new = [one for one in values.compare()[1] if identity(one) not in before]
        broken = [name for name, error in failed if name not in failed_before]
        capture.damage = {}
        if broken:
            # Without what they said, earlier disagreements are others.
            results.append((description, None, f'it could not be planted: {failed[0][1]}'))
        elif new:
            results.append((description, f'{new[0].quantity} {" ".join(map(agreement.text, new[0].key))} '
                                         f'({len(new)} disagreements)', ''))
        else:
            results.append((description, None, 'nothing disagrees'))
        values.remove([one.name for one in affected])
        agreement.collect(capture, affected, again)
    return results


def main():
    program = Path(os.environ.get('WAYMARK') or ROOT / 'build/dev/bin/waymark')
    words = sys.argv[1:]
    wanted = [one for one in MUTATIONS if not words or any(word in one[0] for word in words)]
    missed = planted = 0
    with tempfile.TemporaryDirectory(prefix='agreement') as folder:
        made = Captures(program, Path(folder))
        for name in (SAMPLE, PROCESSES):
            if name not in made.names():
                continue
            capture = made.make(name)
            for description, finder, reason in check(capture, [one for one in wanted if one[1] == name]):
                planted += 1
                missed += finder is None
                print(f'{"found " if finder else "MISSED"}  {description}: {finder or reason}', flush=True)
            capture.close()
    print(f'{planted} errors planted, {planted - missed} found, {missed} missed')
    return 1 if missed or not planted else 0


if __name__ == '__main__':
    sys.exit(main())
