"""What the formats of `waymark export` say, by a reader of each."""
import collections
import csv
import gzip
import io
import json
import math
import re
import shutil
import sqlite3
import subprocess
import xml.etree.ElementTree

from commands import OTHER, function_key, rows_of, say_file, say_path, say_tree
from places import NO_FUNCTION
from sources import source
from support import duckdb

READERS = duckdb.READERS
PROTOC = shutil.which('protoc')


def named(key):
    return NO_FUNCTION not in key


# --- Counts --------------------------------------------------------------------------------------

def say_counts(say, capture, rows, indirect=True):
    for row in rows:
        start, end = (int(row[name], 16) if isinstance(row[name], str) else row[name] for name in ('start', 'end'))
        key = (capture.places.label(row['program']), start, end)
        say_path(capture, say, row['program'])
        say.add('times of a block', key, int(row['times']))
        say.add('taken at a block', key, int(row['taken']))
        say.add('instructions', 'all', int(row['instructions']))
        say.add('calls made in all', 'all', int(row['calls']))
        if 'function' in row:
            own = function_key(capture, row['function'], row['program']) if row['function'] else OTHER
            say.add('instructions of the blocks of a function', own, row['instructions'])
    for quantity in ('times of a block', 'taken at a block'):
        say.cover(quantity)
    if rows and 'function' in rows[0]:
        say.cover('instructions of the blocks of a function', named)


@source('export counts', export='counts')
def export_counts(capture, say):
    say_counts(say, capture, rows_of(capture.text('export', 'counts')))


@source('export branch-list', export='branch-list', needs={'lists', 'functions'})
def export_branch_list(capture, say):
    """A branch list holds packets: what `export counts` makes of it is what the trace holds."""
    path = capture.file('export', 'branch-list')
    rows = rows_of(capture.text('export', 'counts', inputs=[path]))
    for row in rows:
        say.add('blocks of a branch list', 'all', int(row['times']))
        say.add('taken branches of a branch list', 'all', int(row['taken']))


# --- SQLite --------------------------------------------------------------------------------------

@source('export sqlite', export='sqlite')
def export_sqlite(capture, say):
    path = capture.file('export', 'sqlite')
    base = sqlite3.connect(path)
    base.row_factory = sqlite3.Row

    def ask(query):
        return base.execute(query).fetchall()

    label = capture.places.label
    unsigned = (1 << 64) - 1
    for row in ask('SELECT path, file, instructions FROM programs'):
        say.add('instructions', 'all', row['instructions'])
        say_path(capture, say, row['path'])
        say_file(capture, say, row['file'])
    functions = {row['id']: (function_key(capture, row['name'], row['path']), row) for row in
                 ask('SELECT f.*, p.path FROM functions f JOIN programs p ON p.id = f.program')}
    if capture.places.known():
        for key, row in functions.values():
            say.add('self', key, row['instructions'])
            if key != OTHER:
                say.add('calls', key, row['entered'])
        say.cover('self', named)
        say.cover('calls', named)
        for row in ask('SELECT function, sum(times) AS n FROM instructions GROUP BY function'):
            if row['function'] in functions:
                say.add('self, added up', functions[row['function']][0], row['n'])
        for row in ask("SELECT function, to_function, sum(times) AS n FROM branches WHERE kind IN ('call', 'tail call') "
                       'GROUP BY function, to_function'):
            if row['function'] in functions and row['to_function'] in functions:
                pair = functions[row['function']][0] + functions[row['to_function']][0]
                if named(pair):
                    say.add('calls of a pair', pair, row['n'])
        say.cover('calls of a pair', named)
    for row in ask('SELECT b.*, p.path FROM blocks b JOIN programs p ON p.id = b.program'):
        # The end of a block is that of its last instruction, whose size the table does not have.
        last = row['last'] & unsigned
        key = (label(row['path']), row['first'] & unsigned, last)
        say.add('times from first to last', key, row['times'])
        say.add('sum of blocks', 'all', row['instructions'])
        if capture.fixed_size:
            key = (label(row['path']), row['first'] & unsigned, last + 4)
            say.add('times of a block', key, row['times'])
            say.add('taken at a block', key, row['taken'])
    if capture.fixed_size:
        say.cover('times of a block')
        say.cover('taken at a block')
    for row in ask('SELECT b.*, p.path, q.path AS to_path FROM branches b JOIN programs p ON p.id = b.program '
                   'LEFT JOIN programs q ON q.id = b.to_program'):
        place = (label(row['path']), row['address'] & unsigned)
        if row['target'] is None:
            say.add('edges to unknown', place, row['times'])
        elif label(row['to_path']) == label(row['path']):
            say.add('edges', (*place, row['target'] & unsigned), row['times'])
        say.add('taken', place, row['times'])
    for quantity in ('edges', 'edges to unknown', 'taken'):
        say.cover(quantity)
    for row in ask('SELECT i.*, p.path FROM instructions i JOIN programs p ON p.id = i.program'):
        place = (label(row['path']), row['address'] & unsigned)
        say.add('times of an instruction', place, row['times'])
        say.add('not taken of an instruction', place, row['not_taken'])
    if capture.fixed_size:
        say.cover('times of an instruction')
    if capture.lines:
        for row in ask('SELECT file, line, times, instructions FROM hot_lines WHERE line > 0'):
            say.add('instructions of a line', (capture.file_name(row['file']), row['line']), row['instructions'])
        say.cover('instructions of a line')
    for row in ask("SELECT s.trace_id AS id, count(*) AS n FROM events e JOIN sources s ON s.id = e.source "
                   "WHERE kind = 'exception_entered' GROUP BY s.trace_id"):
        say.put('exceptions', row['id'], row['n'])
    base.close()


# --- Parquet -------------------------------------------------------------------------------------

@source('export parquet, counts', export='parquet', needs={'duckdb'})
def parquet_counts(capture, say):
    rows = capture.table('counts')
    if not capture.places.known():
        for row in rows:
            row.pop('function', None)
    say_counts(say, capture, rows)


@source('export parquet, calls', export='parquet', needs={'duckdb', 'functions'}, stacks=True)
def parquet_calls(capture, say):
    rows = capture.table('calls')
    by_call = {(row['part'], row['call']): row for row in rows}

    def key_of(row):
        if row['kind'] != 'function':
            return OTHER
        return function_key(capture, row['linker_name'] or row['function'], row['program'])

    frames = collections.Counter()
    for row in rows:
        key = key_of(row)
        say_file(capture, say, row['program'])
        say.add('self', key, row['own_instructions'])
        say.add('instructions', 'all', row['own_instructions'])
        frames[row['function']] += 1
        above, at = [], row
        while at['caller'] is not None and (at['part'], at['caller']) in by_call:
            at = by_call[(at['part'], at['caller'])]
            above.append(key_of(at))
        if key not in above and key != OTHER:
            say.add('whole', key, row['instructions'])
        if row['entered'] in ('call', 'tail_call') and row['kind'] == 'function':
            if key != OTHER:
                say.add('calls', key, 1)
            if above and OTHER not in (key, above[0]):
                say.add('calls of a pair', above[0] + key, 1)
        if capture.recording and row['process'] is not None:
            say.add('instructions of a process', row['process'], row['own_instructions'])
            say.add('instructions of a thread', row['thread'], row['own_instructions'])
    for quantity in ('self', 'whole', 'calls', 'calls of a pair'):
        say.cover(quantity, named)
    for name, count in frames.items():
        say.put('frames', name, count)
    say.cover('frames')


ELEMENTS = """
WITH e AS (SELECT *, sum(CASE WHEN kind = 'context' THEN 1 ELSE 0 END) OVER (
             PARTITION BY part, id ORDER BY seq ROWS UNBOUNDED PRECEDING) AS stretch
           FROM 'elements/*.parquet' WHERE record = 'element'),
     c AS (SELECT part, id, stretch, context_id, vmid, el, security FROM e WHERE kind = 'context')
SELECT e.id, e.kind, c.context_id, c.vmid, c.el, c.security, count(*) AS rows, CAST(sum(e.count) AS BIGINT) AS count
FROM e LEFT JOIN c ON c.part = e.part AND c.id = e.id AND c.stretch = e.stretch GROUP BY ALL"""


@source('export parquet, elements', export='parquet', needs={'duckdb'})
def parquet_elements(capture, say):
    for row in capture.table('elements', ELEMENTS):
        if row['kind'] == 'range_no_path':
            say.add('instructions without a path', 'all', row['count'])
        if row['kind'] == 'range':
            say.add('instructions', 'all', row['count'])
            if not capture.recording:
                key = (None if row['context_id'] is None else hex(row['context_id']),
                       None if row['vmid'] is None else hex(row['vmid']), row['el'], row['security'])
                say.add('instructions of a context', key, row['count'])
            say.add('instructions of a source', row['id'], row['count'])
        elif row['kind'] == 'exception':
            say.add('exceptions', row['id'], row['rows'])
        elif row['kind'] == 'timestamp':
            say.add('timestamps', row['id'], row['rows'])
    if not capture.recording:
        say.cover('instructions of a context')


# --- Profiles ------------------------------------------------------------------------------------

def profiles(capture, say, form):
    """A profile describes one program: (name in keys, Program, result)."""
    for option, name, program in capture.profiled():
        result = capture.result('export', form, *(['--program', option] if option else []), expect=None)
        say.put('whether a profile of a program can be made', name, result.code == 0)
        if result.code == 0:
            yield name, program, result


@source('export bolt', export='bolt', needs={'functions'})
def export_bolt(capture, say):
    for name, _, result in profiles(capture, say, 'bolt'):
        for line in result.lines:
            words = line.split()
            if words and words[0] == 'B' and words[2] != '0':
                say.add('edges', (name, int(words[1], 16), int(words[2], 16)), int(words[3]))
    say.cover('edges', capture.in_program)


def say_ranges(say, name, text, base):
    lines = text.split()
    at = 1
    for line in lines[at:at + int(lines[0])]:
        ends, count = line.split(':')
        first, last = (int(word, 16) + base for word in ends.split('-'))
        say.add('instructions of ranges', 'all', ((last - first) // 4 + 1) * int(count))
        for address in range(first, last + 4, 4):
            say.add('times of an instruction', (name, address), int(count))
    return lines[at + int(lines[0]):]


def say_branches(say, name, lines, base):
    for line in lines[1:1 + int(lines[0])]:
        ends, count = line.split(':')
        start, target = (int(word, 16) + base for word in ends.split('->'))
        say.add('edges', (name, start, target), int(count))


@source('export autofdo', export='autofdo', needs={'functions', 'a64'})
def export_autofdo(capture, say):
    for name, program, result in profiles(capture, say, 'autofdo'):
        # Addresses count from the first segment.
        base = program.segments[0][0]
        rest = say_ranges(say, name, result.out, base)
        say_branches(say, name, rest[1 + int(rest[0]):], base)
    say.cover('edges', capture.in_program)
    say.cover('times of an instruction', capture.in_program)


@source('export llvm-unsymbolized', export='llvm-unsymbolized', needs={'functions', 'a64'})
def export_unsymbolized(capture, say):
    for name, program, result in profiles(capture, say, 'llvm-unsymbolized'):
        # Addresses count from the page of the first executable segment.
        base = program.code_starts[0] & ~0xfff
        say_branches(say, name, say_ranges(say, name, result.out, base), base)
    say.cover('edges', capture.in_program)
    say.cover('times of an instruction', capture.in_program)


@source('export llvm-sample', export='llvm-sample', needs={'lines', 'a64'})
def export_llvm_sample(capture, say):
    """Heads of functions: the first number of a function without blanks before it is 4 times its instructions, the
    second one its calls."""
    for name, _, result in profiles(capture, say, 'llvm-sample'):
        program = name or None
        caller = None
        for line in result.lines:
            if found := re.match(r'^(\S+):(\d+):(\d+)$', line):
                caller = function_key(capture, found[1], program)
                say.add('calls', caller, int(found[3]))
            for called, count in re.findall(r' ([A-Za-z_][\w.$]*):(\d+)(?= |$)', line.split(':', 1)[1] if ':' in line else ''):
                callee = function_key(capture, called, program)
                if OTHER not in (callee, caller) and not line.startswith('  '):
                    say.add('calls of a pair from a line', caller + callee, int(count))


@source('export llvm-sample-binary', export='llvm-sample-binary', needs={'lines', 'a64'})
def export_llvm_sample_binary(capture, say):
    profdata = shutil.which('llvm-profdata-19') or shutil.which('llvm-profdata')
    if profdata is None:
        return
    for option, name, _ in capture.profiled():
        path = capture.file('export', 'llvm-sample-binary', *(['--program', option] if option else []))
        text = subprocess.run([profdata, 'merge', '--sample', '--text', path, '-o', '-'], check=True, capture_output=True,
                              text=True).stdout
        for line in text.splitlines():
            if found := re.match(r'^(\S+):(\d+):(\d+)$', line):
                say.add('calls', function_key(capture, found[1], name or None), int(found[3]))


def mixed(value):
    mask = (1 << 64) - 1
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & mask
    value = (value ^ value >> 27) * 0x94D049BB133111EB & mask
    return value ^ value >> 31


@source('export afl', export='afl', needs={'functions'})
def export_afl(capture, say):
    lines = capture.text('export', 'afl').splitlines()
    places = {int(place): int(count) for place, count in (line.split(':') for line in lines)}
    say.put('sum of edges of a map', 'all', sum(places.values()))
    for place, count in places.items():
        say.put('places of a map', place, min(count, 255))
    say.cover('places of a map')


@source('export afl-map', export='afl-map', needs={'functions'})
def export_afl_map(capture, say):
    data = capture.file('export', 'afl-map').read_bytes()
    for place, count in enumerate(data):
        if count:
            say.put('places of a map', place, count)
    say.cover('places of a map')


@source('the edges of count, as in a map', needs={'functions'})
def edges_of_a_map(capture, say):
    """The sum of a map is that of all edges with a known target, and of branches that were not taken."""
    total = 0
    for row in capture.json_lines('count', '--edges', '--all', '--format', 'json'):
        if row['type'] != 'count_branch' or not row.get('to') or row['last'] not in ('branch', 'indirect'):
            continue
        # Code that is in no program is left out.
        if capture.in_program(capture.places.linked(row.get('program'), int(row['from'], 16))):
            total += row['times']
    say.put('sum of edges of a map', 'all', total)


# --- Coverage ------------------------------------------------------------------------------------

@source('export lcov', export='lcov', needs={'lines'})
def export_lcov(capture, say):
    file = ''
    branches = collections.defaultdict(list)
    for line in capture.text('export', 'lcov').splitlines():
        word, _, rest = line.partition(':')
        cells = rest.split(',')
        if word == 'SF':
            file = capture.file_name(rest)
        elif word == 'DA':
            say.add('times of a line', (file, int(cells[0])), int(cells[1]))
        elif word == 'FNDA' and (key := capture.places.key(cells[1])):
            # What ran without a call, as a handler does, is counted as well.
            say.add('calls in coverage', key, int(cells[0]))
        elif word == 'BRDA':
            branches[(file, int(cells[0]))].append(0 if cells[3] == '-' else int(cells[3]))
    for line, counts in branches.items():
        say.put('outcomes of a line', line, (sum(1 for count in counts if count), len(counts)))
        say.put('branches of a line', line, sum(counts))
    say.cover('times of a line')


@source('export cobertura', export='cobertura', needs={'lines'})
def export_cobertura(capture, say):
    root = xml.etree.ElementTree.fromstring(capture.text('export', 'cobertura'))
    for one in root.iter('class'):
        file = capture.file_name(one.get('filename'))
        for line in one.findall('lines/line'):
            place = (file, int(line.get('number')))
            say.put('times of a line', place, int(line.get('hits')))
            if found := re.search(r'\((\d+)/(\d+)\)', line.get('condition-coverage') or ''):
                say.put('outcomes of a line', place, (int(found[1]), int(found[2])))
        for method in one.findall('methods/method'):
            if key := capture.places.key(method.get('name')):
                say.put('calls in coverage', key, int(method.find('lines/line').get('hits')))
    say.cover('times of a line')


@source('lines of sqlite', needs={'lines'})
def lines_of_instructions(capture, say):
    """Branches of lines, from the outcomes of their conditional branches."""
    sums = collections.Counter()
    for function in capture.json_lines('annotate', '--top', '1000000', '--format', 'json'):
        for code in function['code']:
            if code.get('file') and code.get('line') and re.match(
                    r'(b\.?(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)|cbn?z|tbn?z)(\.[nw])?\b', code['text']):
                sums[(capture.file_name(code['file']), code['line'])] += code.get('taken', 0) + code.get('not_taken', 0)
    for line, count in sums.items():
        if count:
            say.put('branches of a line', line, count)


# --- Call stacks ---------------------------------------------------------------------------------

# A file of a tree has no more levels: deeper calls count for the last one.
LEVELS = 1024


def say_stacks(capture, say, stacks):
    """`stacks`: [(functions from the outermost on, instructions)]"""
    if max((len(names) for names, _ in stacks), default=0) >= LEVELS:
        say.put('instructions', 'all', sum(count for _, count in stacks))
        return
    numbers, nodes = {}, {}
    for names, count in stacks:
        at = 0
        for depth in range(len(names)):
            path = tuple(names[:depth + 1])
            if path not in numbers:
                numbers[path] = len(numbers) + 1
                nodes[numbers[path]] = [at, names[depth], 0, None, None]
            at = numbers[path]
        if at:
            nodes[at][2] += count
    say_tree(say, capture, {number: tuple(node) for number, node in nodes.items()})


@source('export folded', export='folded', needs={'functions'}, stacks=True)
def export_folded(capture, say):
    stacks = []
    for line in capture.text('export', 'folded').splitlines():
        names, count = line.rsplit(' ', 1)
        stacks.append(([function_key(capture, name) for name in names.split(';')], int(count)))
    say_stacks(capture, say, stacks)


@source('export callgrind', export='callgrind', needs={'functions'}, stacks=True)
def export_callgrind(capture, say):
    deep = capture.depth() >= LEVELS
    names = {kind: {} for kind in ('fn', 'ob', 'fl')}

    def name(kind, text):
        found = re.match(r'\((\d+)\) ?(.*)', text)
        if found[2]:
            names[kind][found[1]] = found[2]
        return names[kind][found[1]]

    program = file = called = called_program = None
    function = None
    pending = None
    line = 0
    for row in capture.text('export', 'callgrind').splitlines():
        word, equals, rest = row.partition('=')
        if word == 'ob' and equals:
            program = called_program = name('ob', rest)
            if program in capture.places.files:
                say_file(capture, say, program)
        elif word in ('fl', 'fi', 'fe') and equals:
            file = name('fl', rest)
        elif word == 'fn' and equals:
            function = function_key(capture, name('fn', rest), program)
            called_program = program
        elif word == 'cob' and equals:
            called_program = name('ob', rest)
        elif word in ('cfi', 'cfl') and equals:
            name('fl', rest)
        elif word == 'cfn' and equals:
            called = function_key(capture, name('fn', rest), called_program)
        elif word == 'calls' and equals:
            pending = int(rest.split()[0])
        elif row.startswith('summary: '):
            say.put('instructions', 'all', int(row.split()[1]))
        elif found := re.match(r'[+*-]?\d+ (\d+)', row):
            if pending is not None:
                if OTHER not in (called, function) and not deep:
                    say.add('calls of a pair', function + called, pending)
                    say.add('calls with a caller', called, pending)
                pending = None
                called_program = program
            else:
                say.add('sum of costs', 'all', int(found[1]))
                if not deep:
                    say.add('self', function, int(found[1]))
    if not deep:
        say.cover('self', named)
        say.cover('calls of a pair', named)


@source('callers in the tree', needs={'functions'})
def calls_with_caller(capture, say):
    rows = capture.json_lines('count', '--tree', '--all', '--format', 'json')
    keys = {row['node']: function_key(capture, row['name'], row.get('program')) if row['kind'] == 'function' else OTHER
            for row in rows}
    for row in rows:
        if OTHER not in (keys[row['node']], keys.get(row['parent'], OTHER)):
            say.add('calls with a caller', keys[row['node']], row['calls'])


def decoded(message, name, data):
    return subprocess.run([PROTOC, f'--decode={message}', f'--proto_path={READERS}', READERS / name], input=data,
                          check=True, capture_output=True).stdout.decode()


@source('export pprof', export='pprof', needs={'protoc', 'functions'}, stacks=True)
def export_pprof(capture, say):
    text = capture.decoded('pprof', lambda data: decoded('perftools.profiles.Profile', 'profile.proto',
                                                         gzip.decompress(data)))
    strings = re.findall(r'^string_table: "(.*)"$', text, re.M)
    functions = {int(i): strings[int(n)] for i, n in re.findall(r'^function \{\n  id: (\d+)\n  name: (\d+)', text, re.M)}
    mappings = {}
    for body in re.findall(r'^mapping \{\n(.*?)^\}', text, re.M | re.S):
        number = re.search(r'^  id: (\d+)', body, re.M)
        file = re.search(r'^  filename: (\d+)', body, re.M)
        mappings[number[1]] = strings[int(file[1])] if file else None
    locations = {}
    for body in re.findall(r'^location \{\n(.*?)^\}', text, re.M | re.S):
        number = re.search(r'^  id: (\d+)', body, re.M)
        mapping = re.search(r'^  mapping_id: (\d+)', body, re.M)
        function = re.search(r'function_id: (\d+)', body)
        program = mappings.get(mapping[1]) if mapping else None
        locations[number[1]] = function_key(capture, functions[int(function[1])], program) if function else OTHER
    stacks = []
    for sample in re.findall(r'^sample \{\n(.*?)^\}', text, re.M | re.S):
        places = [locations[i] for i in re.findall(r'location_id: (\d+)', sample)]
        values = [int(value) for value in re.findall(r'value: (\d+)', sample)]
        stacks.append((places[::-1], values[0]))
    say_stacks(capture, say, stacks)


# --- Timelines -----------------------------------------------------------------------------------

def say_timeline(capture, say, tracks):
    """`tracks`: [[(time, name or None for an end)]], with instructions as the time."""
    frames = collections.Counter()
    own, whole = collections.Counter(), collections.Counter()
    for events in tracks:
        stack, last = [], None
        for time, name in events:
            if stack:
                own[stack[-1][0]] += time - last
            last = time
            if name is not None:
                frames[name] += 1
                stack.append((function_key(capture, name), time))
            elif stack:
                key, begun = stack.pop()
                if key not in [frame for frame, _ in stack]:
                    whole[key] += time - begun
            else:
                say.add('ends without a begin', 'all', 1)
        for key, _ in stack:
            say.add('begins without an end', 'all', 1)
    for key, count in own.items():
        say.put('self', key, count)
    for key, count in whole.items():
        if key != OTHER:
            say.put('whole', key, count)
    for name, count in frames.items():
        say.put('frames', name, count)
    say.cover('frames', lambda key: key[0] != 'gap in the trace')
    say.cover('self', named)
    say.cover('whole', named)


@source('export trace-event', export='trace-event', needs={'functions'}, stacks=True)
def export_trace_event(capture, say):
    data = json.loads(capture.text('export', 'trace-event', '--time', 'instructions'))
    tracks = collections.defaultdict(list)
    for event in data['traceEvents']:
        if event['ph'] in 'BE':
            # What happens at one instruction differs by parts of it.
            tracks[(event['pid'], event['tid'])].append((math.floor(event['ts']), event['name'] if event['ph'] == 'B' else None))
    say_timeline(capture, say, tracks.values())


@source('export speedscope', export='speedscope', needs={'functions'}, stacks=True)
def export_speedscope(capture, say):
    data = json.loads(capture.text('export', 'speedscope', '--time', 'instructions'))
    names = [frame['name'] for frame in data['shared']['frames']]
    say_timeline(capture, say, [[(event['at'], names[event['frame']] if event['type'] == 'O' else None)
                                 for event in profile['events']] for profile in data['profiles']])


def perfetto_events(text):
    names = {}
    tracks = collections.defaultdict(list)
    for packet in re.findall(r'^packet \{\n(.*?)^\}', text, re.M | re.S):
        sequence = re.search(r'trusted_packet_sequence_id: (\d+)', packet)
        sequence = sequence[1] if sequence else '0'
        for number, name in re.findall(r'event_names \{\n\s+iid: (\d+)\n\s+name: "(.*)"', packet):
            names[(sequence, number)] = name
        kind = re.search(r'type: TYPE_SLICE_(\w+)', packet)
        if kind:
            time = int(re.search(r'timestamp: (\d+)', packet)[1])
            track = re.search(r'track_uuid: (\d+)', packet)[1]
            iid = re.search(r'name_iid: (\d+)', packet)
            tracks[track].append((time, names[(sequence, iid[1])] if kind[1] == 'BEGIN' else None))
    return tracks


@source('export perfetto', export='perfetto', needs={'protoc', 'functions'}, stacks=True)
def export_perfetto(capture, say):
    text = capture.decoded('perfetto', lambda data: decoded('perfetto.protos.Trace', 'perfetto.proto', data),
                           '--time', 'instructions')
    say_timeline(capture, say, perfetto_events(text).values())


# Readers of JSON have no more bits of a number.
EXACT = 1 << 53


def moved_apart(times):
    """The last time of a track whose events are at least twice the spacing of a `double` apart."""
    following = 0
    for time in times:
        last = max(time, following)
        following = last + max(2 * int(math.ulp(float(time))), 1)
    return last


def say_times(say, tracks, unit='as chosen'):
    """`tracks`: the times of each."""
    tracks = [times for times in tracks if times]
    if tracks:
        say.put('first time of a timeline', unit, min(map(min, tracks)))
        say.put('last time of a timeline', unit, max(map(max, tracks)))
    return tracks


def say_lengths(say, tracks):
    say.put('lengths of the tracks of a timeline', 'all', tuple(sorted(max(times) - min(times) for times in tracks)))


def tracks_of_trace_event(capture):
    data = json.loads(capture.text('export', 'trace-event'))
    # If nanoseconds are known, its times are microseconds.
    unit = 1 if 'one microsecond is' in data['otherData'] else 1000
    tracks = collections.defaultdict(list)
    for event in data['traceEvents']:
        if event['ph'] in 'BE':
            time = event['ts'] * unit
            tracks[(event['pid'], event['tid'])].append(time if isinstance(time, int) else math.floor(time + 0.01))
    return tracks.values()


def is_late(capture):
    return max((time for track in tracks_of_trace_event(capture) for time in track), default=0) >= EXACT


@source('export trace-event, timestamps', export='trace-event', needs={'functions', 'timestamps'})
def times_of_trace_event(capture, say):
    tracks = tracks_of_trace_event(capture)
    if not is_late(capture):
        say_times(say, tracks)
    elif tracks:
        say.put('first time of a timeline', 'as chosen', min(map(min, tracks)))
        say.put('last time of a timeline, moved apart', 'all', max(map(max, tracks)))


@source('export speedscope, timestamps', export='speedscope', needs={'functions', 'timestamps'})
def times_of_speedscope(capture, say):
    data = json.loads(capture.text('export', 'speedscope'))
    tracks = [[event['at'] for event in profile['events']] for profile in data['profiles']]
    if not is_late(capture):
        say_times(say, tracks)
    # Later times count from the first one.
    say_lengths(say, [track for track in tracks if track])


@source('export perfetto, timestamps', export='perfetto', needs={'protoc', 'functions', 'timestamps'})
def times_of_perfetto(capture, say):
    text = capture.decoded('perfetto', lambda data: decoded('perfetto.protos.Trace', 'perfetto.proto', data))
    tracks = say_times(say, [[time for time, _ in events] for events in perfetto_events(text).values()])
    say_lengths(say, tracks)
    if is_late(capture):
        say.put('last time of a timeline, moved apart', 'all', max(map(moved_apart, tracks)))


@source('export parquet, times of calls', export='parquet', needs={'duckdb', 'functions', 'timestamps'})
def times_of_parquet(capture, say):
    rows = [row for row in capture.table('calls') if row['unit'] == 'ticks' and row['start'] is not None]
    # The table has ticks where others have the nanoseconds of a recording.
    say_times(say, [[row['start'] for row in rows], [row['end'] for row in rows if row['end'] is not None]],
              'ticks of a recording' if capture.recording else 'as chosen')


def shows_waves(element):
    """Whether an element changes a variable of waves, besides the one that says whether there is trace."""
    return element['kind'] in ('exception', 'event', 'software_trace', 'itm') or (
        element['kind'] == 'context' and 'context_id' in element)


@source('elements that waves show')
def elements_of_waves(capture, say):
    say.put('whether there are waves', 'all', any(map(shows_waves, capture.elements())))


@source('export vcd', export='vcd')
def export_vcd(capture, say):
    """Waves have no counts that others have, but the first and the last time, and the number of exceptions."""
    result = capture.result('export', 'vcd', expect=None)
    say.put('whether there are waves', 'all', result.code == 0)
    if result.code:
        assert 'there are no exceptions, events or messages' in result.err, result.err
        return
    times = [int(line[1:]) for line in result.lines if re.match(r'^#\d+$', line)]
    if times and 'ticks of the timestamp generator' in result.out:
        say.put('last timestamp of waves', 'all', max(times))
