"""waymark view and waymark report, over HTTP and as files."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import threading
import time

import pytest
from support import howto
from support.hostile import FORBIDDEN
from support.programs import HANG_SECONDS, Runner
from support.stp import at, begin, data, message, stp, sync
from support.trace_bytes import ITM_SYNC
from support.viewer import viewing

REQUESTS = ('capture', 'tracks', 'timeline', 'at', 'instructions', 'step', 'code', 'functions', 'callers', 'flame',
            'measure', 'find', 'health')


@pytest.fixture(scope='module')
def runner(tmp_path_factory, home):
    return Runner(os.environ.get('WAYMARK') or 'build/dev/bin/waymark', tmp_path_factory.mktemp('view'), home)


@pytest.fixture(scope='module', autouse=True)
def built_in(runner, good):
    said = runner('view', good, '--port', 'x', expect=2).err
    if runner('report', good, '-o', '-', '--max-size', 1, expect=None).err.count('without the viewer'):
        pytest.skip('the program was built without the viewer')
    assert '--port' in said


@pytest.fixture(scope='module')
def viewer(runner, quicksort):
    with viewing(runner, quicksort) as shown:
        shown.wait()
        yield shown


@pytest.fixture(scope='module')
def thread_track(viewer):
    return next(track for track in viewer.ask('tracks')['tracks'] if track['kind'] == 'thread')


def place(viewer, track):
    """The last instruction of a track."""
    return viewer.ask('at', track=track['number'], t=track['last'])


# Starting and ending

def test_prints_one_address_and_ends_with_ctrl_c(run, quicksort):
    with viewing(run, quicksort) as viewer:
        assert re.fullmatch(r'http://127\.0\.0\.1:\d+/[0-9a-f]{32}/', viewer.address)
        assert viewer.get().status == 200
        viewer.end().empty().one_sentence('Ctrl-C ends the viewer')


def test_each_run_has_its_own_token(run, quicksort):
    with viewing(run, quicksort) as one, viewing(run, quicksort) as two:
        assert one.path != two.path
        assert one.get(two.path + 'api/1/capture', whole=True).status == 403


def test_ends_while_a_question_is_computed(run, synth):
    with viewing(run, synth('--size', '2M')) as viewer:
        with viewer.connect() as client:
            client.sendall(f'GET {viewer.path}api/1/functions HTTP/1.1\r\nHost: {viewer.host}\r\n\r\n'.encode())
            viewer.end(signal.SIGTERM)


def test_port(run, quicksort):
    with viewing(run, quicksort) as viewer:
        run('view', quicksort, '--port', viewer.port, expect=4).one_sentence(f'Port {viewer.port} is in use')
    run('view', quicksort, '--port', 70000, expect=2).one_sentence('--port')


def texts_of(viewer):
    """The messages of a whole capture, in the order of time."""
    length = viewer.wait()['axis']['length']
    return [mark[2] for track in viewer.ask('timeline', from_=0, to=length + 1, width=8000)['tracks']
            for mark in track.get('marks', [])]


def test_constant_timestamps_make_no_time_axis(run, tmp_path):
    """Some trace units send timestamps although nothing counts."""
    writes = ''.join(begin(0, f'{value:08X}') + data(f'{value:08X}') for value in range(20))
    (tmp_path / 'stm.bin').write_bytes(stp(sync(0), at(0x41, 0), writes))
    with viewing(run, 'stm.bin', '--protocol', 'stm') as viewer:
        axis = viewer.wait()['axis']
        assert axis['unit'] == 'bytes' and axis['length'] > 0
        assert len(texts_of(viewer)) > 10
        # It has no program, and needs none.
        assert '--symbols' not in viewer.end().err


def test_messages_of_syst(run, tmp_path):
    (tmp_path / 'all.stp').write_bytes(stp(sync(1000000), at(0x81, 4), message(1000, '01415042', '00656E6F'),
                                           message(2000, '01416022', '006F7774')))
    raw = ('all.stp', '--protocol', 'stm')
    wanted = ['129:4  INFO    module 65:5  one', '129:4  ERROR   module 65:6  two']
    with viewing(run, *raw) as viewer:
        assert not any('INFO' in text for text in texts_of(viewer))
    with viewing(run, *raw, '--syst') as viewer:
        assert texts_of(viewer) == wanted
        found = viewer.ask('find', what='text', text='two')
        assert [hit['text'] for hit in found['hits']] == wanted[1:]
    run('report', *raw, '--syst', '-o', 'report.html')
    assert 'module 65:6  two' in (tmp_path / 'report.html').read_text()
    run('view', *raw, '--collateral', 'none.xml', expect=3).says('none.xml')


def test_text_without_a_line_end_is_a_message(run, tmp_path):
    (tmp_path / 'itm.bin').write_bytes(ITM_SYNC + b''.join(bytes([0x01, byte]) for byte in b'one\ntwo'))
    with viewing(run, 'itm.bin', '--protocol', 'itm', '--framing', 'none') as viewer:
        assert texts_of(viewer) == ['one', 'two']


def test_inputs_that_are_not_captures_are_refused(run, tmp_path):
    run('view', tmp_path / 'none', expect=3).one_sentence('none')
    run('view', expect=2).one_sentence('INPUT')


def test_open_starts_the_browser_of_the_desktop(run, quicksort, tmp_path):
    told = tmp_path / 'told'
    program = tmp_path / 'bin/xdg-open'
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s %s" "$#" "$1" > {told}.new && mv {told}.new {told}\n')
    program.chmod(0o755)
    with viewing(run, quicksort, '--open', env={'PATH': f'{program.parent}:/bin:/usr/bin'}) as viewer:
        end = time.monotonic() + HANG_SECONDS
        while not told.exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert told.read_text() == f'1 {viewer.address}'
    with viewing(run, quicksort, '--open', env={'PATH': str(tmp_path)}) as viewer:
        viewer.end().says('xdg-open cannot be started', 'open the address yourself')
    program.write_text('#!/bin/sh\nexit 3\n')
    with viewing(run, quicksort, '--open', env={'PATH': f'{program.parent}:/bin:/usr/bin'}) as viewer:
        time.sleep(1)
        viewer.end().says('xdg-open could not open the page')


# The answers of the server

def test_the_page_is_strict(viewer):
    for name, kind in {'': 'text/html', 'app.js': 'text/javascript', 'app.css': 'text/css'}.items():
        answer = viewer.get(name)
        assert answer.status == 200 and answer.headers['Content-Type'].startswith(kind)
        policy = answer.headers['Content-Security-Policy']
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert 'unsafe' not in policy
        assert answer.headers['X-Content-Type-Options'] == 'nosniff'
        assert answer.headers['Referrer-Policy'] == 'no-referrer'
        assert answer.headers['Cross-Origin-Resource-Policy'] == 'same-origin'
    assert b'://' not in viewer.get().body


def test_every_request_answers(viewer, thread_track):
    facts = viewer.ask('capture')
    length = facts['axis']['length']
    assert facts['progress']['complete'] and length > 0
    at = place(viewer, thread_track)
    assert at['address'].startswith('0x') and at['stack']
    there = {'source': at['source'], 'n': at['n']}
    assert viewer.ask('at', **there)['address'] == at['address']
    listed = viewer.ask('instructions', **there, before=5, after=5)['instructions']
    assert at['n'] in [instruction['n'] for instruction in listed]
    back = viewer.ask('step', **there, by='instruction', direction='back')
    assert back['n'] == at['n'] - 1 and back['moved']
    assert viewer.ask('step', source=at['source'], n=back['n'], by='instruction', direction='forward')['n'] == at['n']
    functions = viewer.ask('functions', from_=0, to=length)
    assert functions['rows'] and functions['instructions'] == sum(s['instructions'] for s in facts['sources'])
    hottest = functions['rows'][0][0]
    names = {row[0]: row[1] for row in functions['functions']}
    assert viewer.ask('code', function=hottest)['instructions']
    assert viewer.ask('code', **there)['function'] == at['function']
    assert viewer.ask('callers', function=hottest)['function'] == hottest
    assert viewer.ask('flame')['nodes']
    assert viewer.ask('measure', from_=0, to=length)['instructions'] == functions['instructions']
    assert viewer.ask('find', what='function', text=names[hottest])['hits']
    assert isinstance(viewer.ask('health')['findings'], list)


def test_binary_spans_are_those_of_json(viewer):
    length = viewer.ask('capture')['axis']['length']
    window = {'from_': length / 4, 'to': length / 2, 'width': 800}
    rows = viewer.ask('timeline', **window)
    answer = viewer.get(viewer.question('timeline', **window, format='binary'))
    assert answer.headers['Content-Type'] == 'application/octet-stream'
    size, = struct.unpack_from('<I', answer.body)
    head = json.loads(answer.body[4:4 + size])
    body = answer.body[(4 + size + 7) // 8 * 8:]
    assert [track['track'] for track in head['tracks']] == [track['track'] for track in rows['tracks']]
    seen = 0
    for packed, plain in zip(head['tracks'], rows['tracks']):
        if 'spans' not in packed:
            assert packed == plain
            continue
        count, at = packed['spans']['rows'], packed['spans']['at']
        columns = struct.unpack_from(f'<{count}d{count}d{count}I{count}I{count}H{count}H', body, at)
        start, end, function, many, depth, flags = (columns[i * count:(i + 1) * count] for i in range(6))
        assert [list(row) for row in zip(start, end, depth, function, flags, many)] == plain['spans']
        seen += count
    assert seen or head['mode'] == 'summary'


def test_answers_are_the_same_again(viewer):
    length = viewer.ask('capture')['axis']['length']
    for name, parameters in {'timeline': {'width': 500}, 'functions': {}, 'flame': {}, 'measure': {}}.items():
        window = {'from_': length / 3, 'to': length / 2, **parameters}
        assert viewer.ask(name, **window) == viewer.ask(name, **window)


def test_a_connection_is_used_again(viewer):
    with viewer.connect() as client:
        one = f'GET {viewer.path}api/1/tracks HTTP/1.1\r\nHost: {viewer.host}\r\n\r\n'.encode()
        client.sendall(one * 3)
        client.sendall(one.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n'))
        text = b''
        while piece := client.recv(65536):
            text += piece
    assert text.count(b'HTTP/1.1 200 OK') == 4


# Refused requests

@pytest.mark.parametrize('headers', [
    {'Host': None}, {'Host': 'example.org'}, {'Host': '127.0.0.1'}, {'Host': '127.0.0.1:1'}, {'Host': '[::1]'},
    {'Origin': 'http://example.org'}, {'Origin': 'null'}, {'Origin': 'https://127.0.0.1'},
    {'Sec-Fetch-Site': 'cross-site'}, {'Sec-Fetch-Site': 'same-site'},
])
def test_requests_from_elsewhere(viewer, headers):
    answer = viewer.get('api/1/capture', headers=headers)
    assert answer.status == 403 and answer.error


def test_the_page_may_ask_itself(viewer):
    for host in (viewer.host, f'localhost:{viewer.port}'):
        headers = {'Host': host, 'Origin': f'http://{host}', 'Sec-Fetch-Site': 'same-origin'}
        assert viewer.get('api/1/capture', headers=headers).status == 200


def test_requests_without_the_token(viewer):
    token = viewer.path.strip('/')
    for path in ('/', '/api/1/capture', '/favicon.ico', '/' + '0' * 32 + '/', '/' + token, '/' + token[:-1] + '/',
                 '/' + token + '0/', '//' + token + '/', '/../etc/passwd', '/%2e%2e/', '/' + token.upper() + 'g/'):
        answer = viewer.get(path, whole=True)
        assert answer.status == 403, path
        assert token not in answer.error


@pytest.mark.parametrize('path', ['../etc/passwd', '../../../../etc/passwd', '%2e%2e/%2e%2e/etc/passwd', 'app.js/',
                                  '..%2fapp.js', 'app.js%00', 'api', 'api/', 'api/1/', 'api/2/capture', 'api/1/none',
                                  'api/1/capture/', 'web/src/main.ts'])
def test_there_are_no_other_files_and_requests(viewer, path):
    answer = viewer.get(path)
    assert answer.status == 404 and answer.error


@pytest.mark.parametrize('method', ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'BREW'])
def test_only_get(viewer, method):
    answer = viewer.get('api/1/capture', method=method)
    assert answer.status in (400, 405)
    if method != 'HEAD':
        assert answer.error


@pytest.mark.parametrize('question', [
    'timeline', 'timeline?width=0', 'timeline?width=8193', 'timeline?width=1&width=2', 'timeline?width=1&format=xml',
    'timeline?width=1&from=-1', 'timeline?width=1&from=1&to=1', 'timeline?width=1&from=2&to=1',
    'timeline?width=1&from=nan', 'timeline?width=1&to=inf', 'timeline?width=1&to=1e400', 'timeline?width=1&to=1e300',
    'timeline?width=1&to=99999999999999999999999', 'timeline?width=1&tracks=', 'timeline?width=1&tracks=a',
    'timeline?width=1&tracks=-1', 'timeline?width=1&tracks=' + '1,' * 4100 + '1', 'timeline?width=1&from=%zz',
    'capture?x', 'tracks?from=1', 'at', 'at?track=0', 'at?source=16', 'at?source=16&n=-1', 'at?source=999&n=1',
    'at?track=0&t=1&n=1', 'instructions?source=16&n=0&after=513', 'step?source=16&n=0&by=magic&direction=back',
    'step?source=16&n=0&by=line', 'step?source=16&n=0&by=line&direction=back&count=0', 'code', 'callers',
    'functions?limit=0', 'functions?limit=10001', 'flame?limit=9999999', 'measure?from=1e30', 'find', 'find?what=text',
    'find?what=text&text=', 'find?what=magic&text=a', 'find?what=text&text=' + 'a' * 1025, 'capture?cancel=%20',
    'capture?cancel=' + 'a' * 65,
])
def test_parameters_out_of_bounds(viewer, question):
    answer = viewer.get('api/1/' + question)
    assert answer.status in (400, 414) and answer.error


@pytest.mark.parametrize('question', ['at?source=5&n=0', 'at?source=16&n=99999999999999', 'code?function=4000000000',
                                      'callers?function=4000000000', 'at?track=4000000000&t=1'])
def test_what_is_not_there(viewer, question):
    answer = viewer.get('api/1/' + question)
    assert answer.status in (400, 404) and answer.error


def test_requests_that_are_too_long_or_no_requests(viewer):
    assert viewer.get('a' * 9000).status == 414
    assert viewer.get(headers={'X-Long': 'a' * 20000}).status == 431
    for text, status in ((b'GET / HTTP/1.1\r\n' + b'a' * 50000, b'431'), (b'\0\1\2\r\n\r\n', b'400'), (b'GET\r\n\r\n', b'400'),
                         (b'\x16\x03\x01\x02\x00\r\n\r\n', b'400')):
        with viewer.connect() as client:
            client.sendall(text)
            assert client.recv(100).split()[1] == status, text
    # A body is not taken for a request.
    with viewer.connect() as client:
        head = f'GET {viewer.path}api/1/capture HTTP/1.1\r\nHost: {viewer.host}\r\n'
        client.sendall(f'{head}Content-Length: 1000\r\n\r\n{head}\r\n'.encode())
        text = b''
        while piece := client.recv(65536):
            text += piece
    assert text.count(b'HTTP/1.1 ') == 1 and b'HTTP/1.1 400 ' in text
    assert viewer.ask('capture')


# Many clients

def test_clients_in_parallel_get_the_answers_of_one(viewer):
    length = viewer.ask('capture')['axis']['length']
    questions = [viewer.question('timeline', from_=length * i / 8, to=length * (i + 1) / 8, width=100) for i in range(8)]
    right = [viewer.get(question).body for question in questions]
    wrong, count = [], 64

    def client(number):
        for i in range(4):
            which = (number + i) % len(questions)
            answer = viewer.get(questions[which])
            if answer.status != 503 and answer.body != right[which]:
                wrong.append((questions[which], answer.status, answer.body[:200]))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_clients_that_vanish_or_stay_silent_do_not_block_others(viewer):
    request = f'GET {viewer.path}api/1/functions HTTP/1.1\r\nHost: {viewer.host}\r\n\r\n'.encode()
    silent = []
    for i in range(300):
        client = viewer.connect()
        if i % 3 == 0:
            client.sendall(request)
            client.close()
        elif i % 3 == 1:
            client.sendall(request[:30])
            silent.append(client)
        else:
            silent.append(client)
    assert viewer.ask('capture')
    assert viewer.ask('measure')
    for client in silent:
        client.close()


def test_a_newer_request_replaces_an_older_one(viewer):
    key = 'test-timeline'
    statuses = []

    def client():
        statuses.append(viewer.get(viewer.question('functions', cancel=key)).status)

    threads = [threading.Thread(target=client) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 409} and 200 in statuses


# Names from the capture

def check_text(value):
    """No string has what must not reach a terminal."""
    if isinstance(value, dict):
        for key, each in value.items():
            check_text(key)
            check_text(each)
    elif isinstance(value, list):
        for each in value:
            check_text(each)
    elif isinstance(value, str):
        assert len(value.encode()) < 5000, value[:100]


def test_hostile_names_are_text(run, hostile_capture):
    arguments = (hostile_capture.snapshot, '--symbols', hostile_capture.elf)
    with viewing(run, *arguments) as viewer:
        viewer.wait()
        for question in ('capture', 'tracks', 'timeline?width=100', 'functions', 'flame', 'health', 'measure',
                         'find?what=function&text=a'):
            answer = viewer.get('api/1/' + question)
            assert answer.status == 200, answer.body
            answer.body.decode()
            for sequence in FORBIDDEN:
                assert sequence not in answer.body, question
            assert b'<' not in answer.body
            check_text(answer.json())
    with viewing(run, hostile_capture.itm, '--protocol', 'itm') as viewer:
        viewer.wait()
        answer = viewer.get('api/1/timeline?width=100')
        assert answer.status == 200
        for sequence in FORBIDDEN:
            assert sequence not in answer.body


# Reading that fails in the middle

@pytest.fixture(scope='module')
def failing_open(repository, tmp_path_factory):
    """The environment in which a file cannot be opened any more after it was opened so many times."""
    compiler = shutil.which('cc')
    if not compiler or os.environ.get('WAYMARK_SANITIZED'):
        pytest.skip('needs a C compiler, and a program in which nothing else must be loaded first')
    library = tmp_path_factory.mktemp('failing') / 'failing_open.so'
    subprocess.run([compiler, '-shared', '-fPIC', '-o', library, repository / 'tests/cli/programs/failing_open.c'],
                   check=True)
    return lambda path, times: {'LD_PRELOAD': str(library), 'FAILING_OPEN': path, 'FAILING_OPEN_AFTER': str(times)}


def test_reading_that_fails(run, repository, quicksort, failing_open, tmp_path):
    """The program is opened again for each decoder; the one that reads the capture is among the first."""
    shutil.copy(repository / 'samples/quicksort/quicksort.elf', tmp_path / 'names.elf')
    codes = set()
    for times in range(1, 12):
        failing = failing_open('names.elf', times)
        result = run('report', quicksort, '--symbols', 'names.elf', '-o', f'{times}.html', env=failing, expect=None)
        codes.add(result.code)
        if 'The report covers the trace before it' not in result.err:
            continue
        # A report is written, but nothing takes it for a complete one.
        assert result.code == 3
        assert 'names.elf' in result.err
        assert result.err.count('\n') <= 2
        answers = data_of((tmp_path / f'{times}.html').read_text())['requests']
        assert 'names.elf' in answers['capture']['progress']['failure']
        assert not answers['capture']['progress']['complete']
        assert any(row['severity'] == 'error' and 'names.elf' in row['text'] for row in answers['health']['findings'])
        with viewing(run, quicksort, '--symbols', 'names.elf', env=failing) as viewer:
            end = time.monotonic() + HANG_SECONDS
            while not (progress := viewer.ask('capture')['progress'])['failure']:
                assert time.monotonic() < end
                time.sleep(0.02)
            assert 'names.elf' in progress['failure'] and progress['stage'] == 'overview'
        break
    else:
        pytest.fail(f'reading never failed in the middle: {codes}')


# Reports

def data_of(text):
    """The answers in a report, as a browser finds them: up to the first end of a script."""
    start = '<script type="application/json" id="waymark-data">'
    assert text.count(start) == 1
    return json.loads(text.split(start)[1].split('</script')[0])


def check_coverage(run, capture, coverage):
    """The coverage of a report is that of `waymark export lcov`."""
    sums = dict.fromkeys(('LF', 'LH', 'FNF', 'FNH', 'BRF', 'BRH'), 0)
    left = {}
    for line in run('export', 'lcov', capture).out.splitlines():
        key, _, value = line.partition(':')
        if key == 'SF':
            left[value] = lines = []
        elif key in sums:
            sums[key] += int(value)
        elif key == 'DA' and value.endswith(',0'):
            lines.append(int(value[:-2]))
    for what, (executed, whole) in {'lines': ('LH', 'LF'), 'functions': ('FNH', 'FNF'), 'branches': ('BRH', 'BRF')}.items():
        assert coverage[what] == [sums[executed], sums[whole]]
    assert {row[0] for row in coverage['rows']} == set(left)
    for row in coverage['rows']:
        ranges = [[int(end) for end in part.split('-')] for part in row[7].split(', ') if part]
        assert all(any(ends[0] <= line <= ends[-1] for ends in ranges) for line in left[row[0]])
        assert bool(ranges) == bool(left[row[0]])


def requests_of(data):
    return [re.sub(r'\?.*', '', request) for request in data['requests']]


def test_a_report_is_one_file_that_loads_nothing(run, quicksort, tmp_path):
    run('report', quicksort, '-o', 'report.html').empty().quiet()
    text = (tmp_path / 'report.html').read_text()
    assert len(text) < 10_000_000
    assert not re.search(r'<(script|link|img|iframe)[^>]*(src|href)="(?!data:)', text)
    assert "default-src 'none'" in text
    data = data_of(text)
    assert set(requests_of(data)) >= {'capture', 'tracks', 'health', 'timeline', 'functions', 'flame', 'measure', 'code',
                                      'callers'}
    assert set(requests_of(data)) <= set(REQUESTS)
    check_coverage(run, quicksort, data['coverage'])
    with viewing(run, quicksort) as viewer:
        viewer.wait()
        for request, answer in data['requests'].items():
            if request in ('capture', 'tracks') or 'function=' in request:
                continue  # The path, and numbers of functions.
            now = viewer.get('api/1/' + request).json()
            for each in (now, answer):
                each.pop('functions', None)
            assert now.keys() == answer.keys()


def test_a_report_has_the_windows_that_are_asked_for(run, quicksort, tmp_path):
    with viewing(run, quicksort) as viewer:
        axis = viewer.wait()['axis']
    middle = axis['length'] / 2
    run('report', quicksort, '-o', 'report.html', '--window', f'0..{middle}', '--window', f'{middle}..{axis["length"]}')
    requests = data_of((tmp_path / 'report.html').read_text())['requests']
    assert [f'timeline?from=0&to={middle:g}' in request for request in requests].count(True) >= 1
    for window, said in (('5', 'write FROM..TO'), ('5..', 'each end'), ('x..y', 'each end'), ('7..5', 'before'),
                         (f'{axis["length"] + 1}..{axis["length"] + 2}', 'the trace ends')):
        run('report', quicksort, '-o', 'none.html', '--window', window, expect=2).one_sentence('--window', said)
    assert not (tmp_path / 'none.html').exists()


def test_a_report_holds_the_whole_capture(run, repository, tmp_path):
    sample = repository / 'samples/quicksort'
    run('report', sample, '-o', 'report.html', '--window', 'all', '--max-size', '20M').quiet()
    requests = data_of((tmp_path / 'report.html').read_text())['requests']
    length = requests['capture']['axis']['length']
    # Windows side by side make up the axis.
    parts = sorted(tuple(float(text) for text in re.fullmatch(r'timeline\?from=(.*)&to=(.*)&width=.*', request).groups())
                   for request in requests if request.startswith('timeline?'))
    parts.remove((0, length))
    assert parts[0][0] == 0 and parts[-1][1] == length
    assert all(one[1] == other[0] for one, other in zip(parts, parts[1:]))
    # Each instruction of each source is in a list.
    held = {}
    for request, answer in requests.items():
        if request.startswith('instructions?'):
            source = int(re.search(r'source=(\d+)', request).group(1))
            held.setdefault(source, set()).update(entry['n'] for entry in answer['instructions'])
    executing = {source['id']: source['instructions'] for source in requests['capture']['sources'] if source['instructions']}
    assert executing and held == {source: set(range(count)) for source, count in executing.items()}
    run('report', sample, '-o', 'small.html', '--window', 'all', '--max-size', '700000').says('the instructions from here on')
    assert (tmp_path / 'small.html').stat().st_size <= 700000


def test_a_report_keeps_to_its_size(run, repository, synth, tmp_path):
    capture = synth('--size', '1M')
    sizes = []
    for most in (150_000, 400_000, 2_000_000):
        result = run('report', capture, '-o', f'{most}.html', '--max-size', most)
        size = (tmp_path / f'{most}.html').stat().st_size
        assert size <= most
        data = data_of((tmp_path / f'{most}.html').read_text())
        assert {'capture', 'tracks', 'health'} <= set(requests_of(data))
        sizes.append((size, 'left no room' in result.err))
    assert sizes == sorted(sizes, key=lambda row: row[0])
    run('report', repository / 'samples/quicksort', '-o', 'none.html', '--max-size', '1K', expect=2).one_sentence(
        'page alone')
    assert not (tmp_path / 'none.html').exists()


def test_two_captures_are_compared(run, quicksort, copy, tmp_path):
    other = copy(quicksort, 'other')
    run('report', quicksort, other, '-o', 'report.html')
    compared = data_of((tmp_path / 'report.html').read_text())['compare']
    assert compared['names'] == ['quicksort', 'other'] or compared['names'][1] == 'other'
    assert compared['instructions'][0] == compared['instructions'][1] > 0
    assert compared['rows']
    for row in compared['rows']:
        assert row[2:5] == row[5:8]
    assert sum(row[2] for row in compared['rows']) == compared['instructions'][0]
    assert compared['divergences'] == [] and compared['divergence_count'] == 0


def test_two_captures_that_part(run, repository, tmp_path):
    elf = repository / 'samples/quicksort/quicksort.elf'
    for seed in 1, 2:
        run('synth', '-o', f'run{seed}', '--elf', elf, '--protocol', 'etmv4', '--size', 500, '--seed', seed)
    run('report', 'run1', 'run2', '--symbols', elf, '-o', 'report.html')
    compared = data_of((tmp_path / 'report.html').read_text())['compare']
    divergences = [row for row in run('diff', 'run1', 'run2', '--symbols', elf, '--format', 'json',
                                   expect=1).json_lines()
                   if row['type'] == 'divergence']
    assert compared['divergence_count'] >= len(compared['divergences']) > 0
    assert [part[1] for part in compared['divergences']] == [row['text'] for row in divergences[:len(compared['divergences'])]]
    assert all(part[0] == 'cpu_0' for part in compared['divergences'])
    times = [part[3] for part in compared['divergences']]
    assert times == [row['times'] for row in divergences[:len(times)]] and max(times) > 1
    assert compared['divergence_count'] == sum(row['times'] for row in divergences)


def test_reports_with_hostile_names(run, hostile_capture, tmp_path):
    folder = tmp_path / '<script>alert(1)<script>'
    folder.symlink_to(hostile_capture.snapshot)
    run('report', folder, '--symbols', hostile_capture.elf, '-o', 'report.html')
    text = (tmp_path / 'report.html').read_bytes()
    for sequence in FORBIDDEN:
        assert sequence not in text
    data = data_of(text.decode())
    assert data['requests']['capture']['name'] == '<script>alert(1)<script>'
    assert text.count(b'<script') == 2


def test_report_arguments(run, quicksort, tmp_path):
    run('report', quicksort, expect=2).one_sentence('-o')
    run('report', '-o', 'x.html', expect=2).one_sentence('INPUT')
    run('report', quicksort, quicksort, quicksort, '-o', 'x.html', expect=2).one_sentence('two')
    run('report', tmp_path / 'none', '-o', 'x.html', expect=3).one_sentence('none')
    run('report', quicksort, '-o', tmp_path / 'none/x.html', expect=4).one_sentence('none')
    assert run('report', quicksort, '-o', '-').out.startswith('<!')
    assert not (tmp_path / 'x.html').exists()


def test_a_report_never_replaces_its_input(run, copy, itm_file):
    trace = copy(itm_file, 'itm.bin')
    before = trace.read_bytes()
    run('report', trace, '--protocol', 'itm', '-o', trace, expect=2).one_sentence('itm.bin')
    assert trace.read_bytes() == before


def test_report_is_interrupted(run, synth, tmp_path):
    command, process = run.start('report', synth('--size', '20M'), '-o', 'x.html', stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode in (0, 130), err
    if process.returncode == 130:
        assert not (tmp_path / 'x.html').exists() and out == b''
        # There is no message about the end; but the capture has no symbols.
        assert all(line.startswith(b'waymark: note: ') for line in err.splitlines())


# The documentation

def test_the_document_is_what_is_served(viewer, repository, run, home, tmp_path):
    text = (repository / 'docs/view_api.md').read_text()
    headings = {name for line in re.findall(r'^## (.*)$', text, re.M) for name in re.findall(r'(\w+)\?|^(\w+)$', line)
                for name in name if name}
    assert set(REQUESTS) <= headings
    # The commands, in one shell, as a reader types them; but a reader is slower than the viewer reads the capture.
    commands = [step.command for step in howto.steps('view_api.md')]
    asks = next(i for i, command in enumerate(commands) if 'curl' in command)
    wait = 'until curl -s "${base}/capture" | grep -q \'"stage": *"ready"\'; do sleep 0.05; done'
    assert commands[0].startswith('waymark view') and 'curl' in ' '.join(commands)
    start = f'waymark view {repository}/samples/quicksort > address 2> said & viewer=$!; '
    script = '\n'.join([start + 'until [ -s address ]; do sleep 0.05; done', *commands[1:asks], wait, *commands[asks:],
                        'kill -INT $viewer; wait $viewer'])
    environment = {**os.environ, 'HOME': str(home), 'PATH': f'{run.program.parent}:{os.environ["PATH"]}'}
    done = subprocess.run(['bash', '-e', '-c', script], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=HANG_SECONDS)
    assert done.returncode == 0, done.stderr
    decoder, values, rest = json.JSONDecoder(), [], done.stdout.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        assert 'error' not in value, value
        values.append(value)
        rest = rest[end:].strip()
    assert len(values) == sum('curl' in command and '-o' not in command.split() for command in commands)
    assert (tmp_path / 'spans.bin').stat().st_size > 100
