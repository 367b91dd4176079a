"""--buffer all: several trace buffers of a snapshot as one trace, in the order of their timestamps."""
import json
import shutil

import pytest
from support.snapshots import append, divide, edit

ETM, STM = 0x10, 0x11


@pytest.fixture(scope='session')
def one_sink(synth):
    """An ETMv4 and an STM in one buffer."""
    return synth('--protocol', 'etmv4,stm', '--size', 12000, '--timestamps', 50)


@pytest.fixture(scope='session')
def two_cores(synth):
    return synth('--protocol', 'etmv4', '--cores', 2, '--size', 12000, '--timestamps', 50)


def ids_of(run, snapshot, *options):
    return {one['device']: one['id'] for one in run('info', snapshot, '--format', 'json', *options).json()['sources']}


def elements(run, *command):
    """{trace ID: its elements, without their places}."""
    found = {}
    for line in run('decode', *command, '--format', 'json').json_lines():
        found.setdefault(line['id'], []).append({key: line[key] for key in line if key not in ('index', 'id')})
    return found


FORMS = [('coresight', 'coresight'), ('dstream_coresight', 'coresight'), ('source_data', 'source_data'),
         ('coresight', 'source_data'), ('source_data', 'dstream_coresight')]


@pytest.mark.parametrize('forms', FORMS)
def test_each_source_gives_what_it_gives_alone(run, one_sink, tmp_path, forms):
    ids = sorted(ids_of(run, one_sink).values())
    board = divide(one_sink, tmp_path / 'board', [(f'ETB_{at}', [ids[at]], form) for at, form in enumerate(forms)])
    joined = elements(run, board, '--buffer', 'all')
    assert sorted(joined) == ids
    for at, one in enumerate(ids):
        alone = elements(run, board, '--buffer', f'ETB_{at}')
        assert [joined[one]] == list(alone.values())


@pytest.mark.parametrize('forms', FORMS)
def test_the_order_of_time_is_that_of_one_sink(run, one_sink, tmp_path, forms):
    ids = sorted(ids_of(run, one_sink).values())
    board = divide(one_sink, tmp_path / 'board', [(f'ETB_{at}', [ids[at]], form) for at, form in enumerate(forms)])

    def lines(*command):
        found = run('decode', *command, '--merge', 'time', '--format', 'json').json_lines()
        return [{key: line[key] for key in line if key != 'index'} for line in found]
    assert lines(board, '--buffer', 'all') == lines(one_sink)


def test_buffers_take_turns_as_their_timestamps_say(run, two_cores, tmp_path):
    ids = sorted(ids_of(run, two_cores).values())
    board = divide(two_cores, tmp_path / 'board', [(f'ETB_{at}', [one], 'coresight') for at, one in enumerate(ids)])
    turns = [line['id'] for line in run('decode', board, '--buffer', 'all', '--format', 'json').json_lines()]
    assert sum(a != b for a, b in zip(turns, turns[1:])) > 5


def test_other_commands(run, one_sink, tmp_path):
    ids = sorted(ids_of(run, one_sink).values())
    board = divide(one_sink, tmp_path / 'board', [('ETB_0', [ids[0]], 'source_data'), ('ETB_1', [ids[1]], 'coresight')])
    every = ('--buffer', 'all')
    assert run('count', board, *every, '--top', '5').out == run('count', one_sink, '--top', '5').out
    for command in (['packets', '--format', 'csv'], ['decode', '--format', 'csv']):
        def rows(*where, command=command):
            return sorted(line.split(',', 1)[1] for line in run(command[0], *where, *command[1:]).lines)
        assert len(rows(board, *every)) == len(rows(one_sink))
    threads = run('decode', board, *every, '-j', '4').out
    assert threads == run('decode', board, *every, '-j', '1').out
    for form in ('folded', 'counts'):
        assert run('export', form, board, *every).out == run('export', form, one_sink).out
    run('report', board, *every, '-o', 'report.html')
    assert (tmp_path / 'report.html').stat().st_size > 10000


def test_an_index_of_all_buffers_is_not_that_of_one(run, one_sink, tmp_path):
    ids = sorted(ids_of(run, one_sink).values())
    board = divide(one_sink, tmp_path / 'board', [('ETB_0', [ids[0]], 'coresight'), ('ETB_1', [ids[1]], 'coresight')])
    plain = run('find', board, '--buffer', 'all', '--exception', 'any', '--format', 'json').out
    run('index', board)
    run('index', board, '--buffer', 'all')
    assert run('find', board, '--buffer', 'all', '--exception', 'any', '--format', 'json').quiet().out == plain
    window = ('--from', '32768', '--to', '36864')
    run('decode', board, '--buffer', 'all', *window).quiet()
    # One of the buffers changes.
    append(board / 'ETB_1.bin', bytes(16))
    run('find', board, '--buffer', 'all', '--exception', 'any').says('index')


@pytest.mark.parametrize('form', ['coresight', 'source_data'])
def test_places_say_which_buffer(run, two_cores, tmp_path, form):
    ids = sorted(ids_of(run, two_cores).values())
    board = divide(two_cores, tmp_path / 'board', [('ETB_0', [ids[0]], form), ('ETB_1', [ids[1]], form)])
    info = run('info', board, '--buffer', 'all', '--format', 'json').json()
    assert info['buffer'] == 'all'
    assert {one['id']: one['buffer'] for one in info['sources']} == {ids[0]: 'ETB_0', ids[1]: 'ETB_1'}
    assert len(info['parts']) > 4
    run('info', board, '--buffer', 'all').has('ETB_0 (ETB_0.bin) joined: ', f'IDs 0x{ids[1]:02x}')

    def found(buffer):
        lines = run('find', board, '--buffer', buffer, '--context', 'any', '--format', 'json').json_lines()
        return [line for line in lines if buffer != 'all' or line['buffer'] == 'ETB_0']
    alone = [line['index'] for line in found('ETB_0')]
    assert len(alone) > 3
    assert [line['buffer_index'] for line in found('all')] == alone
    run('find', board, '--buffer', 'all', '--context', 'any').has(f'(byte {alone[0]} of ETB_0)')


def test_messages_name_the_snapshot_and_its_buffers(run, one_sink, tmp_path):
    """No file has the joined trace, so no message may name one."""
    ids = sorted(ids_of(run, one_sink).values())
    board = divide(one_sink, tmp_path / 'board', [('ETB_0', [ids[0]], 'coresight'), ('ETB_1', [ids[1]], 'coresight')])
    name = f'{board}/ (buffers ETB_0 and ETB_1)'
    run('info', board, '--buffer', 'all').has(f'trace     {name}, ').lacks('all-buffers')
    assert run('info', board, '--buffer', 'all', '--format', 'json').json()['trace'] == name
    selected = ('--buffer', 'all', '--id', ids[1])
    run('decode', board, *selected, '--pid', '1', expect=2).says(f'{name}: --pid')
    run('find', board, *selected, '--exception', 'any', expect=1).says(f'{name}: ', 'contains nothing of this kind')


def test_two_devices_with_one_trace_id(run, two_cores, tmp_path):
    ids = sorted(ids_of(run, two_cores).values())
    board = divide(two_cores, tmp_path / 'board', [('ETB_0', [ids[0]], 'source_data'), ('ETB_1', [ids[1]], 'source_data')])
    # Both units now have the ID of the first.
    edit(board / 'ETM_1.ini', (f'TRCTRACEIDR=0x{ids[1]:08x}', f'TRCTRACEIDR=0x{ids[0]:08x}'))
    result = run('decode', board, '--buffer', 'all', '--format', 'json')
    result.says(f'has the trace ID 0x{ids[0]:02x} of', 'ETB_0', 'ETB_1', 'here its ID is')
    joined = elements(run, board, '--buffer', 'all')
    assert len(joined) == 2 and ids[0] in joined
    other = next(one for one in joined if one != ids[0])
    assert [joined[ids[0]]] == list(elements(run, board, '--buffer', 'ETB_0').values())
    assert [joined[other]] == list(elements(run, board, '--buffer', 'ETB_1').values())
    assert list(elements(run, board, '--buffer', 'all', '--id', other)) == [other]


def test_ids_in_frames_are_changed_too(run, two_cores, tmp_path):
    """The second buffer has the same frames as the first, of other devices."""
    ids = sorted(ids_of(run, two_cores).values())
    board = divide(two_cores, tmp_path / 'board', [('ETB_0', ids, 'coresight'), ('ETB_1', ids[1:], 'coresight')])
    shutil.copyfile(board / 'ETB_0.bin', board / 'ETB_1.bin')
    joined = elements(run, board, '--buffer', 'all')
    # The second ID has its source in the second buffer.
    alone = elements(run, board, '--buffer', 'ETB_0') | elements(run, board, '--buffer', 'ETB_1')
    assert sorted(map(json.dumps, joined.values())) == sorted(map(json.dumps, alone.values()))


def test_a_buffer_that_cannot_be_joined_is_left_out(run, one_sink, tmp_path):
    ids = sorted(ids_of(run, one_sink).values())
    board = divide(one_sink, tmp_path / 'board', [('ETB_0', [ids[0]], 'coresight'), ('ETB_1', [ids[1]], 'coresight')])
    (board / 'ETB_1.bin').write_bytes(b'')
    run('decode', board, '--buffer', 'all').says('the buffer ETB_1 is left out', 'is empty').has('insns')
    run('info', board, '--buffer', 'all').has('ETB_1 (ETB_1.bin) left out')
    (board / 'ETB_0.bin').unlink()
    run('decode', board, '--buffer', 'all', expect=3).says('ETB_0')


def test_one_buffer_and_a_buffer_of_that_name(run, one_sink, tmp_path):
    ids = sorted(ids_of(run, one_sink).values())
    assert elements(run, one_sink, '--buffer', 'all') == elements(run, one_sink)
    board = divide(one_sink, tmp_path / 'board', [('ETB_0', [ids[0]], 'coresight'), ('all', [ids[1]], 'coresight')])
    assert list(elements(run, board, '--buffer', 'all')) == [ids[1]]
    run('decode', board, '--buffer', 'ETB_7', expect=3).says('ETB_0, all')


def test_registers_of_the_command_line_may_be_those_of_one_buffer(run, one_sink, tmp_path):
    ids = sorted(ids_of(run, one_sink).values())
    board = divide(one_sink, tmp_path / 'board', [('ETB_0', [ids[0]], 'coresight'), ('ETB_1', [ids[1]], 'coresight')])
    run('packets', board, '--buffer', 'all', '--reg', 'STMTCSR=0x00110005')
    run('packets', board, '--buffer', 'all', '--reg', 'TRCCONFIG=1', expect=3).says('did you mean TRCCONFIGR?')


SNAPSHOTS = 'shared/data/snapshots'
CAPTURES = ['infrastructure', 'juno_r1_1', 'pauth_lr', 'q_elem', 'ss_ib_el1ns', 'ete-ite-instr', 'ete-wfet']


@pytest.mark.parametrize('name', CAPTURES)
def test_recorded_captures(run, repository, name):
    board = repository.parent / SNAPSHOTS / name
    if not board.is_dir():
        pytest.skip('recorded captures are not part of the repository')
    info = run('info', board, '--buffer', 'all', '--format', 'json').json()
    joined = elements(run, board, '--buffer', 'all')
    for buffer in info['buffers']:
        of_buffer = [one for one in info['sources'] if one.get('buffer') == buffer['name']]
        if not of_buffer:
            continue
        alone = elements(run, board, '--buffer', buffer['name'])
        own = {joined_id['id'] for joined_id in of_buffer}
        assert sorted(json.dumps(joined.get(one, [])) for one in own if one in joined) == \
            sorted(map(json.dumps, alone.values()))
