"""The code of a kernel in a recording: vmlinux with a slide, copies of /proc/kcore and /proc/kallsyms, modules."""
import json
import struct

import pytest

ID = bytes(range(0x30, 0x44))
SLIDE = 0x30000
NAMES = 'memory_0.bin', 'memory_1.bin'


def elf(segments, symbols=(), build_id=b'', kind=2):
    """An AArch64 ELF file: executable (address, bytes), and (name, address) of symbols."""
    note = struct.pack('<III', 4, len(build_id), 3) + b'GNU\0' + build_id if build_id else b''
    headers = 64 + 56 * (len(segments) + 1)
    content = bytearray(note)
    programs = struct.pack('<IIQQQQQQ', 4, 4, headers, 0, 0, len(note), len(note), 4)
    for address, code in segments:
        programs += struct.pack('<IIQQQQQQ', 1, 5, headers + len(content), address, address, len(code), len(code), 8)
        content += code
    strings = b'\0' + b''.join(name.encode() + b'\0' for name, _ in symbols)
    table = bytes(24)
    for name, address in symbols:
        table += struct.pack('<IBBHQQ', strings.index(b'\0' + name.encode() + b'\0') + 1, 0x10, 0, 0xFFF1, address, 0)
    at_strings = headers + len(content)
    at_table = at_strings + len(strings)
    at_sections = at_table + len(table)
    sections = bytes(64)
    sections += struct.pack('<IIQQQQIIQQ', 0, 2, 0, 0, at_table, len(table), 2, 1, 8, 24)
    sections += struct.pack('<IIQQQQIIQQ', 0, 3, 0, 0, at_strings, len(strings), 0, 0, 1, 0)
    header = b'\x7fELF\x02\x01\x01' + bytes(9)
    header += struct.pack('<HHIQQQIHHHHHH', kind, 183, 1, 0, 64, at_sections, 0, 64, 56, len(segments) + 1, 64, 3, 0)
    return header + programs + bytes(content) + strings + table + sections


@pytest.fixture(scope='session')
def plain(synth):
    """A recording of one process; its programs are at kernel addresses."""
    return synth('--protocol', 'etmv4', '--size', 3000, '--exceptions', 5, '--context-ids', 1, '--perf-data')


@pytest.fixture
def kernel(plain, tmp_path):
    """The same code as that of a kernel: the (address, bytes) of its segments, and perf.data without a process map."""
    data = bytearray((plain / 'perf.data').read_bytes())
    at = struct.unpack_from('<Q', data, 40)[0]
    maps = {}
    while True:
        record, _, size = struct.unpack_from('<IHH', data, at)
        if record == 71:
            break
        for name in NAMES:
            if record == 10 and f'/{name}\0'.encode() in data[at:at + size]:
                maps[name] = at, struct.unpack_from('<Q', data, at + 16)[0]
        at += size
    segments = sorted((address, (plain / name).read_bytes()) for name, (_, address) in maps.items())
    text = segments[0][0]
    end = max(address + len(code) for address, code in segments)
    (first, _), (second, _) = maps.values()
    struct.pack_into('<I', data, second, 200)  # No record that is read.
    struct.pack_into('<IH', data, first, 1, 1)
    struct.pack_into('<iIQQQ', data, first + 8, -1, 0, text, end - text, text)
    name = b'[kernel.kallsyms]_text'
    data[first + 40:first + 64] = name.ljust(24, b'\0')
    data[first + 64:first + 72] = bytes(8)
    (tmp_path / 'perf.data').write_bytes(data)
    (tmp_path / 'vmlinux').write_bytes(elf([(address - SLIDE, code) for address, code in segments],
                                           [('_text', text - SLIDE)], ID))
    (tmp_path / 'kcore').write_bytes(elf(segments, kind=4))
    (tmp_path / 'kallsyms').write_text(
        f'0000000000000000 A fixed_percpu_data\n{text:x} T _text\n{text:x} t $x\n'
        f'{segments[1][0]:x} T first_function\n{segments[1][0] + 0x100:x} t rest\t[module]\n')
    return segments


def executed(run, *options):
    rows = run('decode', 'perf.data', *options, '--format', 'json').json_lines()
    return [(row['start'], row['end']) for row in rows if row.get('kind') == 'range']


@pytest.mark.parametrize('options', [['--vmlinux', 'vmlinux'], ['--kcore', 'kcore']])
def test_the_code_of_the_kernel(run, plain, kernel, options):
    expected = [(row['start'], row['end']) for row in run('decode', plain, '--format', 'json').json_lines()
                if row.get('kind') == 'range']
    same = executed(run, *options) == expected
    assert expected and same
    run('decode', 'perf.data', *options).quiet()


def test_without_it(run, kernel):
    run('decode', 'perf.data').says('[kernel.kallsyms]_text', '--vmlinux')
    run('info', 'perf.data').matches(r'missing  \[kernel.kallsyms\]_text  [0-9]+ bytes of trace').has('--vmlinux')
    run('info', 'perf.data', '--vmlinux', 'vmlinux').lacks('missing')


def test_the_copies_beside_the_recording(run, kernel, tmp_path):
    """As `perf record --kcore` makes them."""
    (tmp_path / 'kcore_dir').mkdir()
    wanted = executed(run, '--kcore', 'kcore')
    for name in 'kcore', 'kallsyms':
        (tmp_path / name).rename(tmp_path / 'kcore_dir' / name)
    same = executed(run) == wanted
    assert same
    run('decode', 'perf.data', '--functions').quiet().has('in first_function')


def test_names(run, kernel):
    """Counts have the addresses of vmlinux, or those where the kernel ran."""
    for options in ['--vmlinux', 'vmlinux'], ['--kcore', 'kcore']:
        result = run('count', 'perf.data', *options, '--kallsyms', 'kallsyms', '--functions', '--format', 'json')
        names = {row.get('name') for row in result.json_lines() if row['type'] == 'count_function'}
        assert {'first_function', 'rest'} <= names
    blocks = run('count', 'perf.data', '--vmlinux', 'vmlinux', '--all', '--format', 'json').json_lines()
    starts = {int(row['start'], 16) for row in blocks if row['type'] == 'count_block'}
    low, high = kernel[0][0] - SLIDE, kernel[-1][0] + len(kernel[-1][1]) - SLIDE
    assert starts and all(low <= start < high for start in starts)
    run('decode', 'perf.data', '--vmlinux', 'vmlinux', '--dso', '[kernel.kallsyms]').has('insns')


def test_files_that_cannot_be_used(run, kernel, tmp_path):
    (tmp_path / 'text').write_text('text')
    for option in '--vmlinux', '--kcore':
        run('decode', 'perf.data', option, 'text', expect=3).one_sentence(f'{option}: text is not an ELF file')
        run('decode', 'perf.data', option, 'nowhere', expect=3).one_sentence(f'{option}: ', 'nowhere')


def test_names_that_were_hidden(run, kernel, tmp_path):
    (tmp_path / 'kallsyms').write_text('0000000000000000 T _text\n0000000000000000 T vfs_read\n')
    run('decode', 'perf.data', '--kcore', 'kcore', '--kallsyms', 'kallsyms').says('kptr_restrict')
    (tmp_path / 'kallsyms').write_text('some text\n')
    run('decode', 'perf.data', '--kcore', 'kcore', '--kallsyms', 'kallsyms').says('not a copy of /proc/kallsyms')


def test_a_module_with_its_branches(run, repository):
    """What ran, as the relocations of the module say it; the file alone branches to itself."""
    folder = repository.parent / 'shared/data/perf/simpleperf'
    if not folder.is_dir():
        pytest.skip('there is no ../shared')
    sample = folder / 'samples/pixel5-kernel'
    expected = json.loads((sample / 'expected.json').read_text())['relocated']
    (path, program), = expected['binaries'].items()
    rows = run('count', sample / 'perf.data', '--symfs', folder / 'symdir', '--all', '--format', 'json').json_lines()
    # A page of other sections comes before the module's code.
    counted = {(int(row['start'], 16) - 0x1000, int(row['end'], 16) - 0x1004): row['times']
               for row in rows if row['type'] == 'count_block' and row['program'] == path}
    assert counted == {(int(first, 16), int(last, 16)): times for first, last, times in program['ranges']}
    assert sum(row['instructions'] for row in rows if row['type'] == 'count') == expected['instructions']
