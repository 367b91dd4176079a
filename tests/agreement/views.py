"""What the viewer, its report and the Python module say."""
import json
import os
import re
import sys

from commands import OTHER, function_key, say_file, say_paths
from places import NO_FUNCTION
from sources import source


def named(key):
    return NO_FUNCTION not in key


class Functions:
    """The functions of an answer, by number."""

    def __init__(self, capture, answer):
        self.rows = {row[0]: row for row in answer['functions']}
        self.capture = capture

    def key(self, number):
        _, name, program, kind = self.rows[number]
        return function_key(self.capture, name, program) if kind == 'function' else OTHER


def say_functions(capture, say, answer):
    functions = Functions(capture, answer)
    say.put('instructions', 'all', answer['instructions'])
    for number, own, whole, calls, _ in answer['rows']:
        key = functions.key(number)
        say.add('self', key, own)
        if key != OTHER:
            say.put('whole', key, whole)
            say.put('calls', key, calls)
            say.put('name in stacks', key, functions.rows[number][1])
            say_file(capture, say, functions.rows[number][2])
        elif functions.rows[number][3] == 'exception':
            say.add('exception frames', 'all', calls)
    for quantity in ('self', 'whole', 'calls'):
        say.cover(quantity, named)


def say_flame(capture, say, answer):
    functions = Functions(capture, answer)
    nodes = answer['nodes']
    say.put('instructions', 'all', nodes[0][3])
    # Small nodes are left out, so it does not cover anything.
    say_paths(say, [(number, parent or None, tuple(functions.rows[function][1:3]), own, whole)
                    for number, (parent, function, own, whole) in enumerate(nodes) if number])


def say_measure(say, answer):
    say.put('instructions', 'all', answer['instructions'])
    say.put('calls in stacks', 'all', answer['calls'])
    say.put('exceptions in all', 'all', answer['exceptions'])


def say_callers(capture, say, answer):
    functions = Functions(capture, answer)
    own = functions.key(answer['function']) if answer['function'] in functions.rows else OTHER
    if own == OTHER:
        return
    for role, rows in (('caller', answer['callers']), ('callee', answer['callees'])):
        for number, calls, instructions in rows:
            key = functions.key(number)
            if key == OTHER:
                continue
            pair = key + own if role == 'caller' else own + key
            say.put('calls of a pair', pair, calls)
            # In a recursion, they are divided in another way.
            say.put(f'instructions by {role}', pair, instructions)


def say_code(capture, say, answer):
    functions = Functions(capture, answer)
    if answer['function'] not in functions.rows or functions.key(answer['function']) == OTHER:
        return
    program = capture.places.label(functions.rows[answer['function']][2])
    if capture.moved(program):
        return  # These addresses are those of memory.
    for row in answer['instructions']:
        place = (program, int(row['address'], 16))
        say.put('times of an instruction', place, row['count'])
        if row['taken'] is not None:
            say.put('taken', place, row['taken'])
            say.put('not taken', place, row['not_taken'])


@source('view', needs={'functions'}, stacks=True)
def view(capture, say):
    answer = capture.answer('functions', limit=10000)
    say_functions(capture, say, answer)
    numbers = [row[0] for row in answer['rows'] if answer['functions']][:60]
    for number in numbers:
        say_callers(capture, say, capture.answer('callers', function=number))
        say_code(capture, say, capture.answer('code', function=number))


@source('view, tracks', needs={'functions'}, stacks=True)
def view_of_tracks(capture, say):
    """All threads chosen one by one are the same as none chosen."""
    numbers = [str(track['number']) for track in capture.answer('tracks')['tracks'] if track['kind'] == 'thread']
    if 0 < len(numbers) <= 64:
        answer = capture.answer('functions', limit=10000, tracks=','.join(numbers))
        if answer['exact']:
            say_functions(capture, say, answer)
        answer = capture.answer('measure', tracks=','.join(numbers))
        if answer['exact']:
            say_measure(say, answer)


@source('view, flame', needs={'functions'})
def view_flame(capture, say):
    say_flame(capture, say, capture.answer('flame', limit=4000))


@source('view, measure')
def view_measure(capture, say):
    say_measure(say, capture.answer('measure'))


@source('view, facts')
def view_facts(capture, say):
    answer = capture.answer('capture')
    for row in answer['sources']:
        if row['executes']:
            say.put('instructions of a source', row['id'], row['instructions'])
    axis = answer['axis']
    if axis['unit'] == 'ticks':
        say.put('first timestamp', 'all', int(axis['origin']))
        say.put('last timestamp', 'all', int(axis['origin']) + round(axis['length']))


@source('calls of the functions in stacks', needs={'functions'})
def calls_in_stacks(capture, say):
    rows = capture.json_lines('count', '--tree', '--all', '--format', 'json')
    say.put('calls in stacks', 'all', sum(row['calls'] for row in rows if row.get('kind') != 'exception'))


@source('report', needs={'functions'}, stacks=True)
def report(capture, say):
    text = capture.file('report', program='report').read_text()
    data = json.loads(re.search(r'id="?waymark-data"?[^>]*>(.*?)</script>', text, re.S)[1])
    requests = data['requests']
    whole = next((key.split('?')[1].split('&limit')[0] for key in requests if key.startswith('functions?')), '')
    for key, answer in requests.items():
        name, _, words = key.partition('?')
        if whole not in words:
            continue
        if name == 'functions' and answer['exact']:
            say_functions(capture, say, answer)
        elif name == 'flame' and answer['exact']:
            say.put('instructions', 'all', answer['nodes'][0][3])
        elif name == 'measure' and answer['exact']:
            say_measure(say, answer)
        elif name == 'callers' and answer['exact']:
            say_callers(capture, say, answer)
        elif name == 'code' and answer['exact']:
            say_code(capture, say, answer)
    if 'coverage' in data and data['coverage']:
        for quantity in ('lines', 'functions', 'branches'):
            say.put('coverage', quantity, tuple(data['coverage'][quantity]))


@source('coverage of lcov', needs={'lines'})
def coverage_of_lcov(capture, say):
    sums = {}
    for line in capture.text('export', 'lcov').splitlines():
        word, _, rest = line.partition(':')
        if word in ('LH', 'LF', 'FNH', 'FNF', 'BRH', 'BRF'):
            sums[word] = sums.get(word, 0) + int(rest)
    for quantity, letters in (('lines', 'L'), ('functions', 'FN'), ('branches', 'BR')):
        say.put('coverage', quantity, (sums.get(letters + 'H', 0), sums.get(letters + 'F', 0)))


# The module may need another Python than the one that runs this: WAYMARK_PYTHON_PROGRAM.
PYTHON_PROGRAM = '''
import json, sys
import waymark
path, options, symbols = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
def rows(frame, *names):
    return [[value.item() if hasattr(value, "item") else value for value in row]
            for row in zip(*(list(frame[name]) for name in names))]
with waymark.open(path, **options) as capture:
    counts = capture.counts()
    print(json.dumps({
        "instructions": int(counts.totals["instructions"]),
        "functions": rows(counts.functions(symbols), "symbol", "program", "instructions", "entered", "calls"),
        "stacks": int(capture.stacks(symbols)["instructions"].sum()),
        "elements": int(sum(e["count"].sum() for e in [capture.elements()[capture.elements()["kind"] == waymark.Kind.RANGE]]))}))
'''


@source('Python', needs={'functions', 'python'})
def python_module(capture, say):
    options, symbols = {}, []
    for name, value in zip(capture.options[::2], capture.options[1::2]):
        if name == '--symbols':
            symbols.append(str(value))
        else:
            options.setdefault(name.lstrip('-'), []).append(str(value))
    program = os.environ.get('WAYMARK_PYTHON_PROGRAM') or sys.executable
    answer = json.loads(capture.other('Python', [program, '-c', PYTHON_PROGRAM, str(capture.inputs[0]),
                                                 json.dumps(options), json.dumps(symbols)],
                                      {'PYTHONPATH': os.environ['WAYMARK_PYTHON']}))
    say.put('instructions', 'all', answer['instructions'])
    say.put('instructions of stacks', 'all', answer['stacks'])
    say.put('instructions of elements', 'all', answer['elements'])
    for name, program, own, entered, calls in answer['functions']:
        key = function_key(capture, name, program) if name else OTHER
        say.add('self', key, own)
        if key != OTHER:
            say.add('calls', key, entered)
        say.add('calls made', key, calls)
    say.cover('self', named)
