"""Exports other than profiles: what another reader finds in them is what was executed."""
import collections
import json
import re
import shutil
import subprocess

import pytest
from support import stp, trace_bytes


@pytest.fixture(scope='module')
def walks(executed):
    return executed('walks')


# --- afl -----------------------------------------------------------------------------------------

MASK = (1 << 64) - 1


def mixed(value):
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def edges(execution):
    """{(from, to): count} of the branches that QEMU executed."""
    branches = execution.branches()
    return collections.Counter((a, b) for a, b in zip(execution.addresses, execution.addresses[1:])
                               if a in branches)


def edge_map(execution):
    key = 0
    for byte in execution.build_id():
        key = mixed((key + byte + 1) & MASK)
    places = collections.Counter()
    for (start, end), count in edges(execution).items():
        places[(mixed(key ^ end) ^ mixed(key ^ start) >> 1) & 0xFFFF] += count
    return places


def test_edges_are_those_that_qemu_executed(run, walks, tmp_path):
    lines = run('export', 'afl', walks.capture, '--symbols', walks.program).lines
    assert all(re.fullmatch(r'\d{6}:\d+', line) for line in lines)
    counts = {int(place): int(count) for place, count in (line.split(':') for line in lines)}
    assert counts == edge_map(walks)
    assert sum(counts.values()) == sum(edges(walks).values())
    run('export', 'afl-map', walks.capture, '--symbols', walks.program, '-o', 'map')
    written = (tmp_path / 'map').read_bytes()
    assert len(written) == 65536
    assert {place: count for place, count in enumerate(written) if count} == {
        place: min(count, 255) for place, count in counts.items()}


def test_two_runs_have_the_same_edges(run, walks):
    once = run('export', 'afl', walks.capture, '--symbols', walks.program).lines
    again = run('export', 'afl', walks.capture, '--symbols', walks.program, '-j', '2').lines
    assert once == again


def test_one_file_cannot_be_a_folder(run, walks):
    said = run('export', 'afl', walks.capture, '--symbols', walks.program, '-o', 'maps/', expect=2).err
    assert 'one file for all programs' in said


# --- vcd -----------------------------------------------------------------------------------------

class Dump:
    """A value change dump, read by the grammar of IEEE 1364-2005, 18.2."""

    def __init__(self, text):
        words = iter(text.split())
        self.comments, self.names, self.changes = [], {}, []
        scopes, time, self.start = [], None, {}

        def to_end():
            found = []
            for word in words:
                if word == '$end':
                    return found
                found.append(word)
            raise AssertionError('$end is missing')
        for word in words:
            if word == '$comment':
                self.comments.append(' '.join(to_end()))
            elif word == '$scope':
                kind, name = to_end()
                assert kind == 'module'
                scopes.append(name)
            elif word == '$upscope':
                assert to_end() == []
                scopes.pop()
            elif word == '$var':
                kind, size, code, name = to_end()
                assert kind in ('wire', 'reg', 'event') and int(size) >= 1 and code not in self.names
                self.names[code] = '.'.join([*scopes, name])
            elif word in ('$version', '$timescale'):
                assert to_end()
            elif word == '$enddefinitions':
                assert to_end() == [] and not scopes
                break
        else:
            raise AssertionError('$enddefinitions is missing')
        for word in words:
            if word[0] == '#':
                assert time is None or int(word[1:]) > time
                time = int(word[1:])
            elif word in ('$dumpvars', '$end'):
                pass
            elif word[0] == 'b':
                self.change(time, word[1:], next(words))
            else:
                self.change(time, word[0], word[1:])

    def change(self, time, value, code):
        assert time is not None and re.fullmatch('[01]+|x|z', value)
        self.changes.append((time, self.names[code], value if value in 'xz' else int(value, 2)))

    def of(self, name):
        return [(time, value) for time, full, value in self.changes if full.endswith('.' + name)]


def test_waves_of_an_itm(run, itm_file, tmp_path):
    run('export', 'vcd', itm_file, '-o', 'itm.vcd')
    dump = Dump((tmp_path / 'itm.vcd').read_text())
    assert 'local timestamps' in dump.comments[0]
    # Each round takes 1 + 2 + 3 + 4 ticks, and its last part is the entry of SysTick.
    stamps = json_rows(run('decode', itm_file, '--format', 'json'), 'timestamp')
    assert [value for _, value in dump.of('port_0') if value != 'x'] == [*b'Hi\n'] * 8
    assert len(dump.of('port_0_write')) == 24
    entries = [(time, value) for time, value in dump.of('exception') if value == 15]
    assert len(entries) == 8
    assert [time for time, _ in dump.of('port_0')[1:4]] == stamps[:3]


def json_rows(result, field):
    return [int(row[field]) for row in result.json_lines() if field in row]


def test_waves_of_exceptions_are_in_order_of_time(run, synth):
    capture = synth('--protocol', 'etmv4', '--size', 20000, '--timestamps', 50, '--exceptions', 20)
    dump = Dump(run('export', 'vcd', capture).out)
    assert 'timestamp generator' in dump.comments[0]
    rows = run('decode', capture, '--format', 'json').json_lines()
    entered = [row['number'] for row in rows if row.get('kind') == 'exception']
    assert entered
    # When a nested exception ends, the value is again that of the one that it interrupted.
    shown = iter(value for _, value in dump.of('exception'))
    assert all(number in shown for number in entered)


def test_waves_without_timestamps_say_so(run, stm_file, tmp_path):
    result = run('export', 'vcd', stm_file)
    assert 'no timestamps' in result.err
    dump = Dump(result.out)
    assert dump.of('m64_c0')[-1][1] == 0x2134


def test_waves_of_what_has_no_events(run, good, full_device):
    assert 'no exceptions, events' in run('export', 'vcd', good, expect=1).err


def test_waves_on_a_full_disk(run, itm_file, full_device):
    run('export', 'vcd', itm_file, stdout=full_device, expect=4)


def test_waves_of_several_inputs_are_refused(run, itm_file):
    assert 'of a single INPUT' in run('export', 'vcd', itm_file, itm_file, expect=2).err


# --- sqlite --------------------------------------------------------------------------------------

SQLITE = shutil.which('sqlite3')


def queries(repository):
    return re.findall(r'^```sql\n(.*?)^```', (repository / 'docs/sqlite.md').read_text(), re.M | re.S)


def ask(database, query):
    """The rows, as sqlite3 gives them."""
    if not SQLITE:
        pytest.skip('sqlite3 of scripts/packages.txt is missing')
    done = subprocess.run([SQLITE, '-json', '-bail', database, query], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout or '[]')


@pytest.fixture
def walked(run, walks, tmp_path):
    run('export', 'sqlite', walks.capture, '--symbols', walks.program, '-o', 'walks.sqlite')
    assert [path.name for path in tmp_path.iterdir()] == ['walks.sqlite']
    return tmp_path / 'walks.sqlite'


def test_queries_of_the_documentation_work(repository, walked):
    assert len(queries(repository)) > 8
    for query in queries(repository):
        ask(walked, query)


def test_tables_have_what_qemu_executed(walks, walked):
    rows = ask(walked, 'SELECT name, instructions FROM functions WHERE instructions > 0')
    assert {row['name']: row['instructions'] for row in rows} == walks.instructions()
    rows = ask(walked, 'SELECT address, times FROM instructions')
    assert {row['address']: row['times'] for row in rows} == walks.counts()
    for table in ('SELECT sum(instructions) AS all_of_them FROM programs', 'SELECT sum(instructions) AS all_of_them FROM blocks',
                  'SELECT sum(times) AS all_of_them FROM instructions'):
        assert ask(walked, table)[0]['all_of_them'] == len(walks.addresses)


def test_calls_are_those_that_qemu_executed(walks, walked):
    functions = walks.functions()
    owner = {at: name for name, (start, end) in functions.items() for at in range(start, end, 4)}
    calls = walks.branches('bl', 'blr')
    expected = collections.Counter((owner[a], owner[b]) for a, b in zip(walks.addresses, walks.addresses[1:])
                                   if a in calls)
    rows = ask(walked, "SELECT caller, callee, times FROM calls WHERE kind = 'call'")
    assert {(row['caller'], row['callee']): row['times'] for row in rows} == expected


def test_exceptions_and_text_of_an_itm(run, itm_file, tmp_path):
    run('export', 'sqlite', itm_file, '-o', 'itm.sqlite').quiet()
    assert ask(tmp_path / 'itm.sqlite', 'SELECT text FROM port_texts') == [{'text': 'Hi\n' * 8}]
    row, = ask(tmp_path / 'itm.sqlite', 'SELECT number, times FROM exception_times')
    assert row == {'number': 15, 'times': 8}
    assert 'local timestamps' in ask(tmp_path / 'itm.sqlite', 'SELECT time_unit FROM inputs')[0]['time_unit']


def test_durations_of_exceptions(run, tmp_path):
    def exception(number, action, time):
        return bytes([0x0e, number, action << 4, 0xC0, time])
    # SysTick from 5 to 45, interrupted by an interrupt from 15 to 25; each time is since the one before.
    trace = trace_bytes.ITM_SYNC + b''.join([exception(15, 1, 5), exception(16, 1, 10), exception(16, 2, 10),
                                             exception(15, 3, 5), exception(15, 2, 15), exception(0, 3, 1)])
    (tmp_path / 'swo.bin').write_bytes(trace)
    run('export', 'sqlite', 'swo.bin', '--protocol', 'itm', '--framing', 'none', '-o', 'swo.sqlite')
    rows = ask(tmp_path / 'swo.sqlite', 'SELECT number, depth, whole, start, end, own_time FROM exceptions ORDER BY number')
    assert rows == [{'number': 15, 'depth': 0, 'whole': 1, 'start': 5, 'end': 45, 'own_time': 30},
                    {'number': 16, 'depth': 1, 'whole': 1, 'start': 15, 'end': 25, 'own_time': 10}]


def test_a_database_needs_a_file(run, walks):
    said = run('export', 'sqlite', walks.capture, '--symbols', walks.program, expect=2).err
    assert 'name it with -o' in said


def test_a_database_on_a_full_disk_leaves_the_old_one(run, walks, tmp_path):
    (tmp_path / 'old.sqlite').write_text('old')
    small = f'ulimit -f 8; exec "$@"'
    said = run.program
    done = subprocess.run(['bash', '-c', small, 'bash', str(said), 'export', 'sqlite', walks.capture, '--symbols',
                           walks.program, '-o', 'old.sqlite'], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 4, done.stderr
    assert (tmp_path / 'old.sqlite').read_text() == 'old'
    assert [path.name for path in tmp_path.iterdir()] == ['old.sqlite']


# --- branch lists --------------------------------------------------------------------------------

PROTOC = shutil.which('protoc')
# The fields that files have, in our words.
BRANCH_LIST = """\
syntax = "proto3";
message List { repeated Binary binaries = 2; }
message Binary { string path = 1; string build_id = 2; repeated Address addresses = 3; int32 kind = 4; Kernel kernel = 5; }
message Kernel { uint64 start = 1; }
message Address { uint64 value = 1; repeated Branch branches = 2; }
message Branch { bytes bits = 1; uint32 size = 2; uint64 count = 3; }
"""


def decoded_branch_list(path, folder):
    """{(path, build ID, kind, kernel start, address, outcomes): count}, as protoc reads the file."""
    if not PROTOC:
        pytest.skip('protoc of scripts/packages.txt is missing')
    data = path.read_bytes()
    assert data[:29] == b'simpleperf:EtmBranchList\1\0\0\0\0'
    (folder / 'list.proto').write_text(BRANCH_LIST)
    found, at = collections.Counter(), 29
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], 'little')
        message, at = data[at + 4:at + 4 + size], at + 4 + size
        done = subprocess.run([PROTOC, f'-I{folder}', '--decode=List', folder / 'list.proto'], input=message,
                              capture_output=True)
        assert done.returncode == 0, done.stderr
        binary, address, branch, rows = {}, 0, {}, []
        for line in done.stdout.decode('latin-1').splitlines():
            word, _, value = line.strip().partition(': ')
            if word == 'addresses {':
                address = 0  # Zeros are not printed.
            elif word == 'branches {':
                branch = {}
            elif word == 'value':
                address = int(value)
            elif word in ('path', 'build_id', 'kind', 'start'):
                binary[word] = value.strip('"')
            elif word in ('bits', 'size', 'count'):
                branch[word] = value
                if word == 'count':
                    bits = eval(f'b{branch["bits"]}')  # protoc escapes bytes as Python does.
                    outcomes = ''.join('NE'[bits[i // 8] >> i % 8 & 1] for i in range(int(branch['size'])))
                    rows.append((address, outcomes, int(value)))
        name = binary['path'], binary.get('build_id', ''), int(binary.get('kind', 0)), int(binary.get('start', 0))
        for address, outcomes, count in rows:
            found[(*name, address, outcomes)] += count
    return found


def expected_branch_list(path):
    found = collections.Counter()
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == 'binary':
            name = words[1], words[2], int(words[3]), 0 if words[4] == '-' else int(words[4], 16)
        else:
            found[(*name, int(words[0], 16), words[1])] += int(words[2])
    return found


@pytest.fixture
def phone(repository):
    folder = repository.parent / 'shared/data/perf/simpleperf'
    if not folder.is_dir():
        pytest.skip('there is no ../shared')
    return folder


@pytest.mark.parametrize('sample', ['pixel5-user', 'pixel5-kernel'])
def test_branch_lists_of_a_phone(run, phone, tmp_path, sample):
    folder = phone / 'samples' / sample
    run('export', 'branch-list', folder / 'perf.data', '--symfs', phone / 'symdir', '-o', 'list')
    assert decoded_branch_list(tmp_path / 'list', tmp_path) == expected_branch_list(folder / 'branch-list.txt')
    # Every form that simpleperf wrote is the same list.
    for form in folder.glob('branch-list.v*'):
        run('export', 'branch-list', form, '-o', 'again')
        assert (tmp_path / 'again').read_bytes() == (tmp_path / 'list').read_bytes()
        run('export', 'branch-list', form, form, '--compress', '-o', 'twice')
        run('export', 'branch-list', 'twice', '-o', 'plain')
        twice = decoded_branch_list(tmp_path / 'plain', tmp_path)
        assert twice == {row: 2 * count for row, count in expected_branch_list(folder / 'branch-list.txt').items()}


def without_indirect(lines):
    """A BOLT profile with all targets that a branch list does not have unknown."""
    branches = collections.Counter()
    for line in lines:
        if line[0] == 'B':
            _, start, _, count, _ = line.split()
            branches[start] += int(count)
    return branches, [line for line in lines if line[0] == 'F']


@pytest.mark.parametrize('sample', ['pixel5-user', 'pixel5-kernel'])
def test_profiles_of_branch_lists_are_those_of_the_trace(run, phone, sample):
    folder = phone / 'samples' / sample
    profiles = [run('export', 'bolt', path, '--symfs', phone / 'symdir').lines
                for path in (folder / 'perf.data', folder / 'branch-list.v1')]
    assert without_indirect(profiles[0]) == without_indirect(profiles[1])


def test_counts_of_a_branch_list_are_what_qemu_executed(run, walks, tmp_path):
    names = ['--symbols', walks.program]
    run('export', 'branch-list', walks.capture, *names, '-o', 'list').quiet()
    said = run('info', 'list').out
    assert 'a branch list of simpleperf' in said and str(walks.program) in said
    info, = run('info', 'list', '--format', 'json').json_lines()
    assert [row['path'] for row in info['programs']] == [str(walks.program)]
    run('export', 'sqlite', 'list', '--elf', walks.program, '-o', 'list.sqlite')
    rows = ask(tmp_path / 'list.sqlite', 'SELECT address, times FROM instructions')
    counts = walks.counts()
    # The last instructions, after the last branch, are in no list.
    missing = collections.Counter({row['address']: row['times'] for row in rows})
    assert not missing - counts
    assert sum((counts - missing).values()) < 10


def test_damaged_branch_lists(run, walks, tmp_path):
    run('export', 'branch-list', walks.capture, '--symbols', walks.program, '-o', 'list')
    whole = (tmp_path / 'list').read_bytes()
    (tmp_path / 'cut').write_bytes(whole[:-3])
    run('export', 'bolt', 'cut', '--elf', walks.program, expect=3).one_sentence('damaged')
    run('info', 'cut', expect=3).one_sentence('damaged')
    (tmp_path / 'empty').mkdir()
    said = run('export', 'bolt', 'list', '--symfs', 'empty', expect=1).err
    assert 'was not found; name its folder' in said


def test_a_branch_list_needs_the_packets_of_a_core(run, itm_file, walks):
    run('export', 'branch-list', itm_file, '--symbols', walks.program, expect=1).one_sentence('ETMv4 or ETE')


@pytest.mark.parametrize('option', [('--from', '10'), ('--program', 'walks'), ('--pid', '1')])
def test_a_branch_list_is_made_of_everything(run, walks, option):
    run('export', 'branch-list', walks.capture, '--symbols', walks.program, *option, expect=2).one_sentence('all packets')


# --- timelines and samples of what traces no core ------------------------------------------------

def test_timeline_of_an_itm(run, tmp_path):
    def exception(number, action, time):
        return bytes([0x0e, number, action << 4, 0xC0, time])
    text = b''.join(bytes([0x01, c]) for c in b'ok\n') + b'\xc0\x02'
    (tmp_path / 'swo.bin').write_bytes(trace_bytes.ITM_SYNC + exception(15, 1, 5) + text + exception(16, 1, 10)
                                       + exception(16, 2, 10) + exception(15, 3, 5) + exception(15, 2, 15))
    raw = ('swo.bin', '--protocol', 'itm', '--framing', 'none')
    rows = json.loads(run('export', 'trace-event', *raw).out)['traceEvents']
    slices = [(row['ph'], row.get('name'), row['ts']) for row in rows if row['ph'] in 'BE']
    times = [time for _, _, time in slices]
    assert [phase for phase, _, _ in slices] == ['B', 'B', 'E', 'E']
    assert [name for phase, name, _ in slices if phase == 'B'] == ['exception 15', 'exception 16']
    assert [time - times[0] for time in times] == [0, 12, 22, 42]
    assert [row['name'] for row in rows if row['ph'] in 'iI'] == ['ok']


def test_messages_of_an_stm_are_in_its_timeline(run, stm_file):
    rows = json.loads(run('export', 'trace-event', stm_file).out)['traceEvents']
    assert [row['name'] for row in rows if row['ph'] in 'iI'] == ['0x2134']


def instants(run, *command):
    rows = json.loads(run('export', 'trace-event', *command).out)['traceEvents']
    tracks = {row['tid']: row['args']['name'] for row in rows if row['name'] == 'thread_name'}
    return [(tracks[row['tid']], row['ts'], row['name']) for row in rows if row['ph'] == 'i']


def test_messages_of_syst(run, tmp_path):
    (tmp_path / 'all.stp').write_bytes(stp.stp(
        stp.sync(1000000), stp.at(0x81, 4), stp.message(1000, '01415042', '00656E6F'),
        stp.message(2000, '01416022', '006F7774')))
    (tmp_path / 'names.xml').write_text(
        '<s:Collateral><s:Client Name="pump"><s:Guids><s:Guid ID="{00000000-0000-0000-4100-000000000000}" '
        'Mask="{00000000-0000-0000-FF00-000000000000}">g</s:Guid></s:Guids>'
        '<s:Modules><s:Module ID="65">val&lt;v&gt;</s:Module></s:Modules></s:Client></s:Collateral>')
    assert instants(run, 'all.stp', '--syst') == [
        ('messages', 1000, '129:4  INFO    module 65:5  one'), ('messages', 2000, '129:4  ERROR   module 65:6  two')]
    assert instants(run, 'all.stp', '--collateral', 'names.xml', '--frequency', 1000000)[1] == (
        'messages', 2000, '129:4  ERROR   pump/val<v>:6  two')
    run('export', 'sqlite', 'all.stp', '--syst', '-o', 'all.sqlite').quiet()
    assert ask(tmp_path / 'all.sqlite', "SELECT time, text FROM events WHERE kind = 'message'") == [
        {'time': 1000, 'text': '129:4  INFO    module 65:5  one'},
        {'time': 2000, 'text': '129:4  ERROR   module 65:6  two'}]
    run('export', 'vcd', 'all.stp', '--syst', expect=2).one_sentence('vcd does not show messages')


def test_an_stm_is_beside_the_stacks_of_cores(run):
    run('synth', '-o', 'both', '--size', '16K', '--protocol', 'etmv4,stm', '--timestamps', 100)
    shown = collections.Counter(name for track, _, name in instants(run, 'both') if 'channel' in track)
    sent = [row for row in run('decode', 'both', '--format', 'json').json_lines() if row.get('what') == 'data']
    assert sum(shown.values()) > 100
    assert shown == collections.Counter(row['value'] if 'value' in row else 'flag' for row in sent)
    run('export', 'trace-event', 'both', '--time', 'instructions').says('events of other sources are left out')


def test_samples_as_stacks(run, quicksort, tmp_path):
    (tmp_path / 'samples.bin').write_bytes(trace_bytes.ITM_SYNC + bytes.fromhex('1744034000') * 3)
    raw = ('samples.bin', '--protocol', 'itm', '--framing', 'none')
    result = run('export', 'folded', *raw, '--symbols', quicksort / 'quicksort.elf')
    assert 'samples, not instructions' in result.err
    line, = result.lines
    assert line.endswith(' 3')
    assert 'none of its sources traces a core or samples' in run('export', 'folded', 'samples.bin', '--protocol', 'itm', '--framing', 'none', '--to', '6',
                               expect=1).err
