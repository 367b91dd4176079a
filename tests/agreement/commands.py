"""What the commands say: count, annotate, decode, interval and find."""
import csv
import io
import itertools

from model import Model
from places import NO_FUNCTION
from sources import source
import truth

OTHER = ('*', NO_FUNCTION)


def hexadecimal(text):
    return int(text, 16)


def function_key(capture, name, program=None):
    """The key of a function; code without a function has one for all."""
    return capture.places.key(name, program) or OTHER


def rows_of(result):
    return list(csv.DictReader(io.StringIO(result)))


def say_headers(say, rows):
    """The `count` objects."""
    counts = [row for row in rows if row['type'] == 'count']
    say.put('instructions', 'all', sum(row['instructions'] for row in counts))
    say.put('instructions without a path', 'all', sum(row['pathless_instructions'] for row in counts))
    say.put('blocks executed', 'all', sum(row['ranges'] for row in counts))
    say.put('calls made in all', 'all', sum(row['calls'] for row in counts))
    for row in counts:
        if 'id' in row:
            say.put('instructions of a source', row['id'], row['instructions'])
            say.put('exceptions', row['id'], row['elements'].get('exception', 0))
            say.put('timestamps', row['id'], row['elements'].get('timestamp', 0))
    say.put('taken in all', 'all', sum(row['taken'] for row in counts))


def say_blocks(say, capture, rows):
    for row in rows:
        say_path(capture, say, row.get('program'))
        key = capture.places.linked(row.get('program'), hexadecimal(row['start']), hexadecimal(row['end']))
        say.add('times of a block', key, int(row['times']))
        say.add('taken at a block', key, int(row['taken']))
        if not capture.recording:
            context = (row.get('context_id') or None, row.get('vmid') or None,
                       int(row['el']) if row.get('el') not in (None, '') else None, row.get('security') or None)
            say.add('instructions of a context', context, int(row['instructions']))
        say.add('sum of blocks', 'all', int(row['instructions']))
    for quantity in ('times of a block', 'taken at a block'):
        say.cover(quantity)
    if not capture.recording:
        say.cover('instructions of a context')


@source('count --all (json)')
def count_blocks(capture, say):
    rows = capture.json_lines('count', '--all', '--format', 'json')
    say_headers(say, rows)
    say_blocks(say, capture, [row for row in rows if row['type'] == 'count_block'])


@source('count --all (csv)')
def count_blocks_csv(capture, say):
    rows = rows_of(capture.text('count', '--all', '--format', 'csv'))
    say_blocks(say, capture, [row for row in rows if row['start']])


@source('count --all -j 4')
def count_threads(capture, say):
    rows = capture.json_lines('count', '--all', '--format', 'json', '-j', '4')
    say_headers(say, rows)
    say_blocks(say, capture, [row for row in rows if row['type'] == 'count_block'])


def say_edges(say, capture, rows):
    for row in rows:
        linked = capture.places.linked
        say_path(capture, say, row.get('program'))
        program, address = linked(row.get('program'), hexadecimal(row['from']))
        if row['taken'] in (True, '1', 'true'):
            if row.get('to'):
                to_program, to = linked(row.get('to_program', row.get('program')), hexadecimal(row['to']))
                if to_program == program:
                    say.add('edges', (program, address, to), int(row['times']))
            else:
                say.add('edges to unknown', (program, address), int(row['times']))
            say.add('taken', (program, address), int(row['times']))
        else:
            say.add('not taken', (program, address), int(row['times']))
    for quantity in ('edges', 'edges to unknown', 'taken', 'not taken'):
        say.cover(quantity)


@source('count --edges (json)')
def count_edges(capture, say):
    rows = capture.json_lines('count', '--edges', '--all', '--format', 'json')
    say_headers(say, rows)
    say_edges(say, capture, [row for row in rows if row['type'] == 'count_branch'])


@source('count --edges (csv)')
def count_edges_csv(capture, say):
    say_edges(say, capture, [row for row in rows_of(capture.text('count', '--edges', '--all', '--format', 'csv'))
                             if row['from']])


def key_of_row(capture, row):
    """Of a row of `count --functions`."""
    if not row.get('name'):
        return OTHER
    program = row.get('program')
    if program is None:
        program = capture.places.linked(None, hexadecimal(row['start']))[0] or None
    return function_key(capture, row['name'], program)


def say_functions(say, capture, rows):
    for row in rows:
        key = key_of_row(capture, row)
        say.add('self', key, int(row['instructions']))
        say.add('sum of functions', 'all', int(row['instructions']))
        if key != OTHER:
            say.add('calls', key, int(row['entered']))
        say.add('calls made', key, int(row['calls']))
    for quantity in ('self', 'calls', 'calls made'):
        say.cover(quantity, lambda key: key[1] != NO_FUNCTION)


def say_name(capture, say, quantity, path):
    if not capture.recording or not path:
        return
    program = capture.places.label(path)
    before = say.values.said[quantity][(program,)].get(say.name)
    if before is None or path not in before.split(', '):
        say.put(quantity, program, path if before is None else f'{before}, {path}')


def say_path(capture, say, path):
    """Rows of counts name a program by its path in the recording."""
    say_name(capture, say, 'path of a program', path)


def say_file(capture, say, path):
    """Call stacks and code have the file that was found."""
    say_name(capture, say, 'file of a program', path)


@source('count --functions (json)', needs={'functions'})
def count_functions(capture, say):
    rows = capture.json_lines('count', '--functions', '--all', '--format', 'json')
    say_headers(say, rows)
    say_functions(say, capture, [row for row in rows if row['type'] == 'count_function'])
    for row in rows:
        if row['type'] == 'count_function' and row.get('name'):
            key = key_of_row(capture, row)
            say.put('whether the name is known', (*key, row['name']), key != OTHER)
            say_path(capture, say, row.get('program'))


@source('count --functions (csv)', needs={'functions'})
def count_functions_csv(capture, say):
    say_functions(say, capture, rows_of(capture.text('count', '--functions', '--all', '--format', 'csv')))


@source('count --functions -j 4', needs={'functions'})
def count_functions_threads(capture, say):
    rows = capture.json_lines('count', '--functions', '--all', '--format', 'json', '-j', '4')
    say_headers(say, rows)
    say_functions(say, capture, [row for row in rows if row['type'] == 'count_function'])


@source('count --functions --by calls', needs={'functions'})
def count_by_calls(capture, say):
    rows = capture.json_lines('count', '--functions', '--by', 'times', '--all', '--format', 'json')
    rows = [row for row in rows if row['type'] == 'count_function']
    for row in rows:
        if row.get('name'):
            say.add('calls', key_of_row(capture, row), int(row['entered']))


def say_tree(say, capture, nodes):
    """`nodes`: {number: (parent, function, own, whole or None, calls or None)}, each after its parent."""
    whole = {number: own for number, (_, _, own, _, _) in nodes.items()}
    for number in sorted(nodes, reverse=True):
        parent = nodes[number][0]
        if parent in whole:
            whole[parent] += whole[number]
    above = {}  # The functions on the stack of each node.
    for number, (parent, key, own, stated, calls) in nodes.items():
        say.add('self', key, own)
        say.add('instructions', 'all', own)
        outer = above.get(parent, frozenset())
        above[number] = outer if key in outer else outer | {key}
        if key not in outer and key != OTHER:
            say.add('whole', key, whole[number] if stated is None else stated)
        if stated is not None:
            if stated != whole[number]:
                say.add('whether a tree adds up', ('node', number), stated - whole[number])
        if calls is not None:
            if key != OTHER:
                say.add('calls', key, calls)
            if parent in nodes and OTHER not in (key, nodes[parent][1]):
                say.add('calls of a pair', nodes[parent][1] + key, calls)
    for quantity in ('self', 'whole') + (('calls', 'calls of a pair') if any(n[4] for n in nodes.values()) else ()):
        say.cover(quantity, lambda key: NO_FUNCTION not in key)


def say_paths(say, nodes):
    """`nodes`: (number, parent, (name, program), own, whole), each after its parent."""
    paths = {}
    for number, parent, name, own, whole in nodes:
        path = (paths.get(parent, 0), *name)
        paths[number] = say.values.stacks.setdefault(path, len(say.values.stacks) + 1)
        say.add('own of a stack', (paths[number], name[0]), own)
        say.add('whole of a stack', (paths[number], name[0]), whole)


@source('count --tree', needs={'functions'}, stacks=True)
def count_tree(capture, say):
    rows = capture.json_lines('count', '--tree', '--all', '--format', 'json')
    say_tree(say, capture, {row['node']: (
        row['parent'], function_key(capture, row['name'], row.get('program')) if row['kind'] == 'function' else OTHER,
        row['own_instructions'], row['instructions'], row['calls']) for row in rows if row['type'] == 'count_tree'})
    say.put('exception frames', 'all', sum(row['calls'] for row in rows if row.get('kind') == 'exception'))
    say_paths(say, [(row['node'], row['parent'], (capture.readable(row['name']), row.get('program') or ''), row['own_instructions'],
                     row['instructions']) for row in rows if row['type'] == 'count_tree'])
    for row in rows:
        if row.get('kind') == 'function':
            say_file(capture, say, row.get('program'))
            say.put('name in stacks', function_key(capture, row['name'], row.get('program')), capture.readable(row['name']))


@source('count --tree (csv)', needs={'functions'}, stacks=True)
def count_tree_csv(capture, say):
    rows = rows_of(capture.text('count', '--tree', '--all', '--format', 'csv'))
    say_tree(say, capture, {int(row['node']): (
        int(row['parent']),
        function_key(capture, row['name'], row.get('program')) if row['kind'] == 'function' else OTHER,
        int(row['own_instructions']), int(row['instructions']), int(row['calls'])) for row in rows if row['node']})


def recursive_functions(capture):
    """The functions that were on the stack twice: what several callers have of them overlaps."""
    found, above = set(), []
    for row in capture.json_lines('count', '--tree', '--all', '--format', 'json'):
        del above[row['depth']:]
        key = function_key(capture, row['name'], row.get('program')) if row['kind'] == 'function' else OTHER
        if key in above:
            found.add(key)
        above.append(key)
    return found


@source('count --callers', needs={'functions'}, stacks=True)
def count_callers(capture, say):
    recursive = recursive_functions(capture)
    for name, keys in capture.top_functions(12):
        if len(keys) != 1:
            continue
        key, = keys
        result = capture.result('count', '--callers', name, '--all', '--format', 'json', expect=None)
        say.put('whether --callers knows a name', key, result.code == 0)
        if result.code:
            continue
        rows = [row for row in result.json_lines() if row.get('role') == 'caller']
        say.put('calls', key, sum(row['calls'] for row in rows))
        if key not in recursive:
            say.put('whole', key, sum(row['instructions'] for row in rows))
        for row in rows:
            if row['kind'] == 'function':
                say.put('calls of a pair', function_key(capture, row['name'], row.get('program')) + key, row['calls'])
                say.put('instructions by caller', function_key(capture, row['name'], row.get('program')) + key,
                        row['instructions'])


@source('whether names are known', needs={'functions'})
def names_known(capture, say):
    """The names that are shown are those that options take."""
    for _, keys in capture.top_functions(12):
        for key in keys:
            say.put('whether --callers knows a name', key, True)


@source('count --callees', needs={'functions'}, stacks=True)
def count_callees(capture, say):
    for name, keys in capture.top_functions(12):
        if len(keys) != 1:
            continue
        key, = keys
        result = capture.result('count', '--callees', name, '--all', '--format', 'json', expect=None)
        if result.code:
            continue
        for row in result.json_lines():
            if row.get('role') == 'own':
                say.put('self', key, row['instructions'])
                say.put('calls', key, row['calls'])
            elif row.get('role') == 'callee' and row['kind'] == 'function':
                say.put('calls of a pair', key + function_key(capture, row['name'], row.get('program')), row['calls'])
                say.put('instructions by callee', key + function_key(capture, row['name'], row.get('program')),
                        row['instructions'])


@source('annotate', needs={'functions'})
def annotate(capture, say):
    lines = {}
    for function in capture.json_lines('annotate', '--top', '1000000', '--format', 'json'):
        program = capture.places.label(function['program'])
        key = function_key(capture, function['function'], function['program'])
        say_file(capture, say, function['program'])
        say.add('self', key, function['instructions'])
        for code in function['code']:
            times = code.get('times')
            if not times:
                continue
            address = hexadecimal(code['address'])
            say.add('times of an instruction', (program, address), times)
            say.add('self, added up', key, times)
            if 'taken' in code:
                say.add('taken', (program, address), code['taken'])
                say.add('not taken', (program, address), code['not_taken'])
            for target in code.get('targets', ()):
                say.add('edges', (program, address, hexadecimal(target['address'])), target['times'])
            if code.get('file') and code.get('line'):
                line = (capture.file_name(code['file']), code['line'])
                lines[line] = lines.get(line, 0) + times
    for line, times in lines.items():
        say.put('instructions of a line', line, times)
    say.cover('self', lambda key: key[1] != NO_FUNCTION)
    say.cover('times of an instruction', capture.in_function)


@source('decode')
def decode(capture, say):
    model = Model(capture.places)
    times = []
    for element in capture.elements():
        model.feed(element)
        if element['kind'] == 'timestamp' and not element.get('partial'):
            times.append(element['timestamp'])
    model.finish()
    model.add('direct branches that led elsewhere', 'all', 0)
    say_model(capture, say, model)
    say.put('exceptions in all', 'all', sum(model.sums['exceptions'].values()))
    if times and not capture.messages:
        # An STM or ITM has timestamps of its own.
        say.put('first timestamp', 'all', min(times))
        say.put('last timestamp', 'all', max(times))


def say_model(capture, say, model):
    for quantity, sums in model.sums.items():
        named = quantity.removesuffix(', in stacks') in (
            'self', 'instructions of the blocks of a function', 'calls', 'calls made', 'calls of a pair')
        if named and not capture.places.known():
            continue
        for key, value in sums.items():
            if named and NO_FUNCTION in key:
                continue
            say.put(quantity, key, value)
        if capture.recording and quantity in ('edges to unknown', 'edges', 'times of a block', 'taken', 'not taken',
                                              'times of an instruction', 'self', 'instructions of the blocks of a function',
                                              'calls made', 'instructions of a context'):
            continue
        say.cover(quantity, lambda key: NO_FUNCTION not in key)
    if capture.places.known():
        for quantity in ('calls', 'calls of a pair'):
            for each in (quantity, f'{quantity}, in stacks'):
                say.cover(each, lambda key: NO_FUNCTION not in key)


@source('ground truth', needs={'truth'})
def ground_truth(capture, say):
    known = {}
    for element in capture.elements():
        if element['kind'] == 'range':
            known.setdefault((hexadecimal(element['end']), element['isa']), {
                name: element[name] for name in ('last', 'subtype', 'conditional', 'last_size') if name in element})
    model = Model(capture.places)
    elements = truth.elements(capture.truth, known)
    if capture.one_protocol == 'MTB':
        # Its first packet says where the first branch was, but not where execution began.
        elements = itertools.dropwhile(lambda element: element['kind'] != 'range', elements)
        next(elements)
    for element in elements:
        model.feed(element)
    model.finish()
    model.sums.pop('instructions of a context', None)
    if capture.one_protocol == 'ETMv3':
        # It states the outcome of each instruction, so that its ranges are shorter than those of the model.
        model.sums.pop('times of a block')
    say_model(capture, say, model)


def count_of(capture, *words):
    result = capture.result('count', '--format', 'json', *words, expect=None)
    return sum(row['instructions'] for row in result.json_lines()) if result.code == 0 else 0


@source('count --pid, --tid', needs={'recording'})
def count_processes(capture, say):
    """Of the processes and threads that the recording names; they run one thread each in captures of synth."""
    for process in capture.places.of_process:
        say.put('instructions of a process', process, count_of(capture, '--pid', process))
        say.put('instructions of a thread', process, count_of(capture, '--tid', process))


@source('decode --pid', needs={'recording'})
def decode_processes(capture, say):
    for process in capture.places.of_process:
        result = capture.result('decode', '--format', 'csv', '--pid', process, expect=None)
        say.put('instructions of a process', process, sum(
            int(row['count']) for row in rows_of(result.out) if row['kind'] == 'range') if result.code == 0 else 0)


@source('decode --format csv')
def decode_csv(capture, say):
    instructions, exceptions, times = {}, {}, []
    for row in rows_of(capture.text('decode', '--format', 'csv')):
        if row['record'] != 'element':
            continue
        if row['kind'] == 'range':
            instructions[row['id']] = instructions.get(row['id'], 0) + int(row['count'])
        elif row['kind'] == 'exception':
            exceptions[row['id']] = exceptions.get(row['id'], 0) + 1
        elif row['kind'] == 'timestamp' and row['timestamp']:
            times.append(int(row['timestamp']))
    say.put('instructions', 'all', sum(instructions.values()))
    for source_id in instructions:
        say.put('exceptions', int(source_id), exceptions.get(source_id, 0))


@source('packets')
def packets(capture, say):
    """Exceptions that packets state, also those that were never committed or that damage hides from decoding."""
    for trace_id, count in capture.exception_packets().items():
        say.put('exceptions in packets', trace_id, count)


@source('find')
def find_places(capture, say):
    result = capture.result('find', '--exception', 'any', '--format', 'json', expect=None)
    if result.code not in (0, 1):
        result.fail('find failed')
    found = dict.fromkeys(capture.exception_packets(), 0)
    for row in result.json_lines():
        if row.get('type') == 'found' and row['what'] == 'exception':
            found[row['id']] = found.get(row['id'], 0) + 1
    # Packets say more than was executed if some of them were cancelled, or hidden by damage.
    executed = not capture.is_damaged() and (capture.truth or not capture.speculates)
    for trace_id, count in found.items():
        say.put('exceptions in packets', trace_id, count)
        if executed:
            say.put('exceptions', trace_id, count)


@source('interval', needs={'functions'})
def interval(capture, say):
    """How often the first instruction of a function was executed."""
    for name, keys in capture.top_functions(6):
        result = capture.result('interval', '--from', name, '--to', name, '--format', 'json', expect=None)
        if result.code or len(keys) != 1:
            continue
        key, = keys
        start = capture.places.starts.get((key[0], name))
        rows = result.json_lines()
        if start is not None and rows:
            say.put('times of an instruction', (key[0], start), rows[0]['begun'])


@source('diff')
def diff_with_itself(capture, say):
    rows = capture.json_lines('diff', '--format', 'json', twice=True, expect=None)
    for row in rows:
        if row.get('type') == 'summary':
            counted = row['instructions']
            for number in counted.values() if isinstance(counted, dict) else counted:
                say.add('instructions of two runs', 'all', number)
            say.put('divergences of a capture from itself', 'all', row['divergences'])
            break


@source('the code')
def code(capture, say):
    """Direct branches lead where the code says, unless the trace is damaged or of other code."""
    if capture.true_to_code:
        say.put('direct branches that led elsewhere', 'all', 0)


@source('twice what count says')
def twice_counted(capture, say):
    rows = capture.json_lines('count', '--all', '--format', 'json')
    say.put('instructions of two runs', 'all', 2 * sum(row['instructions'] for row in rows if row['type'] == 'count'))
    say.put('divergences of a capture from itself', 'all', 0)
