"""Names, source lines and inlined functions: as llvm-symbolizer has them, and in the outputs."""
import csv
import io
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / 'programs'
SYMBOLIZER = shutil.which('llvm-symbolizer-19')
CLANG = [shutil.which('clang++-19'), '--target=aarch64-linux-gnu', '-fuse-ld=lld-19']
GXX = [shutil.which('aarch64-linux-gnu-g++')]
OBJCOPY = shutil.which('aarch64-linux-gnu-objcopy')
COMMON = ['-ffreestanding', '-nostdlib', '-static', '-fno-exceptions', '-fno-stack-protector']


def need(*tools):
    if not all(tools):
        pytest.skip('a compiler or tool of scripts/packages.txt is missing')


def call(*command, folder):
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def frames_program():
    path = os.environ.get('PROGRAM_FRAMES') or Path(__file__).resolve().parents[2] / 'build/dev/bin/program_frames'
    if not Path(path).is_file():
        pytest.skip(f'{path} is missing')
    return path


def build(folder, compiler, *options):
    """Compiles the program, and gives its path."""
    need(compiler[0], SYMBOLIZER)
    for source in SOURCES.glob('*.*'):
        shutil.copy(source, folder)
    objects = []
    quiet = ['-Qunused-arguments'] if 'clang' in compiler[0] else []
    for name in ('names', 'names_far'):
        objects.append(f'{name}.o')
        call(*compiler, *quiet, *COMMON, *options, '-c', f'{name}.cc', '-o', objects[-1], folder=folder)
    call(*compiler, *quiet, *COMMON, *options, *objects, '-o', 'program', folder=folder)
    return folder / 'program'


def code_addresses(program, step=4):
    """All addresses of the sections with code, except the PLT, which llvm-symbolizer does not name."""
    listing = subprocess.run(['readelf', '-SW', program], check=True, capture_output=True, text=True).stdout
    row = re.compile(r'\s*\[\s*\d+\]\s+(\S+)\s+\w+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+\w+\s+(\w+)')
    addresses = []
    for section in filter(None, map(row.match, listing.splitlines())):
        name, start, size, flags = section.groups()
        if 'X' in flags and 'plt' not in name:
            addresses += range(int(start, 16), int(start, 16) + int(size, 16), step)
    assert addresses
    return addresses


def answers(command, addresses):
    """For each address, the lines that a program writes."""
    asked = ''.join(f'{address:#x}\n' for address in addresses)
    out = subprocess.run(command, input=asked, check=True, capture_output=True, text=True).stdout
    found = out.split('\n\n')[:-1]
    assert len(found) == len(addresses)
    return found


def agree(program, reference=None, step=4, roots=(), inlines=True):
    addresses = code_addresses(reference or program, step)
    ours = answers([frames_program(), program, *roots], addresses)
    theirs = answers([SYMBOLIZER, '--no-demangle', '--inlines', f'--obj={reference or program}'], addresses)
    # Where there is no debug information, llvm-symbolizer shows a file of the symbol table.
    theirs = [re.sub(r'\n[^\n]*:0:0$', '\n??:0:0', answer)
              if own.endswith('??:0:0') else answer for own, answer in zip(ours, theirs)]
    differences = [(hex(address), own, other)
                   for address, own, other in zip(addresses, ours, theirs) if own != other]
    assert differences == []
    assert any(answer.count('\n') > 1 for answer in ours) == inlines


@pytest.mark.parametrize('compiler', [CLANG, GXX], ids=['clang', 'gxx'])
@pytest.mark.parametrize('version', [4, 5])
@pytest.mark.parametrize('level', [0, 1, 2, 3])
def test_levels_of_optimisation(tmp_path, compiler, version, level):
    agree(build(tmp_path, compiler, '-g', f'-gdwarf-{version}', f'-O{level}'), inlines=True)


@pytest.mark.parametrize('compiler', [CLANG, GXX], ids=['clang', 'gxx'])
@pytest.mark.parametrize('options', [
    ['-gdwarf-2'],
    ['-gdwarf-3'],
    ['-gdwarf-4', '-gsplit-dwarf'],
    ['-gdwarf-5', '-gsplit-dwarf'],
    ['-gdwarf-4', '-gz=zlib'],
    ['-gdwarf-5', '-gz=zlib'],
    ['-ffunction-sections', '-Wl,--gc-sections', '-gdwarf-4'],
    ['-ffunction-sections', '-Wl,--gc-sections', '-gdwarf-5'],
    ['-flto'],
    ['-gdwarf64', '-gdwarf-5'],
    ['-g1'],
], ids=' '.join)
def test_forms_of_debug_information(tmp_path, compiler, options):
    agree(build(tmp_path, compiler, '-g', '-O2', *options))


def test_addresses_of_units_that_only_aranges_have(tmp_path):
    agree(build(tmp_path, GXX, '-gdwarf-2', '-gstrict-dwarf', '-O2'))


@pytest.mark.parametrize('version', [4, 5])
def test_zstd(tmp_path, version):
    agree(build(tmp_path, CLANG, '-g', f'-gdwarf-{version}', '-O2', '-gz=zstd'))


@pytest.mark.parametrize('compiler,tool', [(CLANG, 'llvm-dwp-19'), (GXX, 'dwp')], ids=['clang', 'gxx'])
@pytest.mark.parametrize('version', [4, 5])
def test_a_package_of_split_files(tmp_path, compiler, tool, version):
    if tool == 'dwp' and version == 5:
        pytest.skip('the dwp of binutils knows only DWARF 4')
    program = build(tmp_path, compiler, '-g', f'-gdwarf-{version}', '-O2', '-gsplit-dwarf')
    need(shutil.which(tool))
    call(shutil.which(tool), '-e', program, '-o', f'{program}.dwp', folder=tmp_path)
    for file in tmp_path.glob('*.dwo'):
        file.unlink()
    agree(program)


def test_split_files_that_are_missing(tmp_path):
    program = build(tmp_path, CLANG, '-g', '-O2', '-gsplit-dwarf')
    for file in tmp_path.glob('*.dwo'):
        file.unlink()
    agree(program, inlines=False)


def test_split_files_below_a_root(tmp_path):
    program = build(tmp_path, CLANG, '-g', '-O2', '-gsplit-dwarf')
    whole = answers([frames_program(), program], code_addresses(program))
    root = tmp_path / 'root'
    for file in tmp_path.glob('*.dwo'):
        target = root / file.relative_to('/')
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)
    shutil.move(program, root / 'elsewhere')
    assert answers([frames_program(), root / 'elsewhere', root], code_addresses(root / 'elsewhere')) == whole


def strip(program, *options):
    need(OBJCOPY)
    call(OBJCOPY, '--only-keep-debug', program, f'{program}.debug', folder=program.parent)
    stripped = program.parent / 'stripped'
    call(OBJCOPY, '--strip-all', *options, program, stripped, folder=program.parent)
    return stripped


def test_a_debug_file_that_is_linked(tmp_path):
    program = build(tmp_path, GXX, '-g', '-O2', '-Wl,--build-id=none')
    stripped = strip(program, f'--add-gnu-debuglink={program}.debug')
    whole = answers([frames_program(), program], code_addresses(program))
    assert answers([frames_program(), stripped], code_addresses(program)) == whole
    agree(stripped, program)
    hidden = tmp_path / '.debug'
    hidden.mkdir()
    shutil.move(f'{program}.debug', hidden)
    agree(stripped, program)
    # Another file of that name does not belong to the program.
    with open(hidden / 'program.debug', 'ab') as file:
        file.write(b'x')
    assert '??:0:0' in answers([frames_program(), stripped], [code_addresses(program)[0]])[0]


def test_a_debug_file_with_the_build_id(tmp_path):
    program = build(tmp_path, GXX, '-g', '-O2', '-Wl,--build-id=sha1')
    stripped = strip(program)
    notes = subprocess.run(['readelf', '-nW', program], check=True, capture_output=True, text=True).stdout
    build_id = re.search(r'Build ID: ([0-9a-f]+)', notes)[1]
    folder = tmp_path / 'root/usr/lib/debug/.build-id' / build_id[:2]
    folder.mkdir(parents=True)
    shutil.move(f'{program}.debug', folder / f'{build_id[2:]}.debug')
    agree(stripped, program, roots=[tmp_path / 'root'])


def test_symbols_of_a_stripped_program(tmp_path):
    need(shutil.which('xz'))
    program = build(tmp_path, GXX, '-O2')
    call(OBJCOPY, '--only-keep-debug', program, 'mini', folder=tmp_path)
    call('xz', 'mini', folder=tmp_path)
    stripped = tmp_path / 'stripped'
    call(OBJCOPY, '--strip-all', program, stripped, folder=tmp_path)
    addresses = code_addresses(program)
    assert '_Z4worki' not in str(answers([frames_program(), stripped], addresses))
    call(OBJCOPY, '--add-section=.gnu_debugdata=mini.xz', stripped, folder=tmp_path)
    assert answers([frames_program(), stripped], addresses) == answers([frames_program(), program], addresses)


def test_kernel_modules_have_the_addresses_of_a_kernel(tmp_path):
    build(tmp_path, CLANG, '-g', '-O2')
    names = answers([frames_program(), tmp_path / 'names.o'], range(0, 0x400, 4))
    assert any('_Z4worki\n' in name and 'names.cc' in name for name in names)


def test_thumb_and_arm(tmp_path):
    need(CLANG[0], SYMBOLIZER, shutil.which('ld.lld-19'))
    (tmp_path / 'thumb.c').write_text('''
        static inline int square(int x) { return x * x; }
        __attribute__((noinline)) int narrow(int a) { return square(a) + 3; }
        __attribute__((noinline, target("arm"))) int wide(int a) { return square(a + 1) * 5; }
        int _start(int a) { return narrow(a) + wide(a); }''')
    call('clang-19', '--target=armv7-linux-gnueabihf', '-mthumb', '-g', '-O2', '-c', 'thumb.c', folder=tmp_path)
    call('ld.lld-19', 'thumb.o', '-o', 'program', folder=tmp_path)
    agree(tmp_path / 'program', step=2, inlines=True)


def test_rust(tmp_path):
    need(shutil.which('rustc'), SYMBOLIZER)
    made = subprocess.run(['rustc', '-C', 'debuginfo=2', '-O', SOURCES / 'names.rs', '-o', 'program'],
                          cwd=tmp_path, capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip('rustc cannot build for this machine')
    program = tmp_path / 'program'
    addresses = code_addresses(program, 1)
    ours = answers([frames_program(), program], addresses[:20000])
    theirs = answers([SYMBOLIZER, '--no-demangle', '--inlines', f'--obj={program}'], addresses[:20000])
    # Names of several functions that the linker made one are any of theirs.
    assert [answer.split('\n')[1::2] for answer in ours if '??:0:0' not in answer] == [
        answer.split('\n')[1::2] for own, answer in zip(ours, theirs) if '??:0:0' not in own]


def test_plt_entries_have_the_name_of_what_they_call(tmp_path):
    need(CLANG[0], SYMBOLIZER)
    for source in SOURCES.glob('*.*'):
        shutil.copy(source, tmp_path)
    for options in ([], ['-Wl,-z,force-bti', '-mbranch-protection=standard']):
        call(*CLANG, '-shared', '-fPIC', '-nostdlib', '-O2', *options, 'names_far.cc', 'names.cc', '-o', 'shared.so',
             folder=tmp_path)
        listing = subprocess.run(['llvm-objdump-19', '-d', '--section=.plt', 'shared.so'], cwd=tmp_path, check=True,
                                 capture_output=True, text=True).stdout
        plt = {int(start, 16): name for start, name in re.findall(r'^([0-9a-f]+) <(.*@plt)>:', listing, re.M)}
        assert len(plt) > 1
        for address, name in plt.items():
            assert answers([frames_program(), tmp_path / 'shared.so'], [address])[0].split('\n')[0] == name


def table_of(result):
    return list(csv.DictReader(io.StringIO(result.out, newline='')))


def ranges(run, capture, *options):
    rows = run('decode', capture, *options, '--format', 'json').json_lines()
    return [row for row in rows if row.get('kind') == 'range']


def test_lines_are_those_of_the_start_of_each_block(run, quicksort):
    rows = ranges(run, quicksort, '--lines')
    assert len(rows) > 9000
    assert {row['file'] for row in rows if 'file' in row} == {'././quicksort.c'}
    known = {row['start']: row['line'] for row in rows if 'line' in row}
    assert known['0x400598'] == 165
    if SYMBOLIZER:
        theirs = answers([SYMBOLIZER, f'--obj={quicksort}/quicksort.elf'], [int(start, 16) for start in known])
        assert [int(answer.split('\n')[1].split(':')[1]) for answer in theirs] == list(known.values())
    assert all('inlines' not in row and 'function' in row for row in rows)
    run('decode', quicksort, '--lines').has('  in run+0x94 at quicksort.c:165\n')


def test_inlined_functions(run, quicksort):
    rows = [row for row in ranges(run, quicksort, '--inlines') if row['start'] == '0x400548']
    assert [(frame['function'], frame['line']) for frame in rows[0]['inlines']] == [('flush', 42), ('run', 178)]
    assert rows[0]['function'] == 'run' and rows[0]['line'] == 42
    run('decode', quicksort, '--inlines').has('  in flush at quicksort.c:42, inlined into run+0x44 at quicksort.c:178\n')


def test_columns(run, quicksort):
    for options, columns in (['--lines'], ['file', 'line']), (['--inlines'], ['file', 'line', 'inlines']):
        rows = table_of(run('decode', quicksort, *options, '--format', 'csv'))
        assert list(rows[0])[-len(columns) - 3:] == ['function', 'demangled', 'offset', *columns]
        block = [row for row in rows if row['start'] == '0x400548'][0]
        assert (block['function'], block['file'], block['line']) == ('run', '././quicksort.c', '42')
        if '--inlines' in options:
            assert block['inlines'] == 'flush ././quicksort.c:42;run ././quicksort.c:178'
    lines = run('decode', quicksort, '--inlines', '--disassemble', '--format', 'csv').lines
    assert {len(row) for row in csv.reader(lines)} == {33}


def test_threads_and_time_show_the_same(run, quicksort):
    lines = run('decode', quicksort, '--inlines', '-j', 1).out
    assert run('decode', quicksort, '--inlines', '-j', 3).out == lines
    run('decode', quicksort, '--inlines', '--merge', 'time').has(', inlined into run+0x44 at quicksort.c:178\n')


def patched(copy, quicksort, old, new):
    """A copy of the sample whose program has other bytes somewhere."""
    capture = copy(quicksort, 'patched')
    program = capture / 'quicksort.elf'
    whole = program.read_bytes()
    assert old in whole and len(old) == len(new)
    program.write_bytes(whole.replace(old, new))
    return capture


def test_names_of_files_are_escaped(run, copy, quicksort):
    capture = patched(copy, quicksort, b'quicksort.c\0', b'a\x1b[2J\r\n,".c\0')
    result = run('decode', capture, '--lines').has(r' at a\x1b[2J\x0d\x0a,".c:165')
    assert b'\x1b' not in result.out_bytes
    rows = ranges(run, capture, '--lines')
    assert [row['file'] for row in rows if 'file' in row][0] == '././a\x1b[2J\r\n,".c'
    table = run('decode', capture, '--lines', '--format', 'csv')
    assert b'\x1b' not in table.out_bytes
    assert r'././a\x1b[2J\x0d\x0a,".c' in {row['file'] for row in table_of(table)}


@pytest.mark.parametrize('section', ['.debug_info', '.debug_abbrev', '.debug_line', '.debug_rnglists', '.debug_str'])
def test_names_still_come_from_symbols_if_debug_information_is_damaged(run, copy, quicksort, section):
    capture = copy(quicksort, 'damaged')
    program = capture / 'quicksort.elf'
    listing = subprocess.run(['readelf', '-SW', program], check=True, capture_output=True, text=True).stdout
    offset, size = re.search(rf' {re.escape(section)} +\w+ +\w+ +(\w+) +(\w+)', listing).groups()
    whole = bytearray(program.read_bytes())
    for fill in (0x00, 0xFF, 0x41):
        whole[int(offset, 16):int(offset, 16) + int(size, 16)] = bytes([fill]) * int(size, 16)
        program.write_bytes(whole)
        names = [row['function'] for row in ranges(run, quicksort, '--functions')]
        assert [row['function'] for row in ranges(run, capture, '--inlines')] == names


def test_recordings_have_lines(run, copy, synth):
    capture = synth('--protocol', 'ete', '--size', 4000, '--perf-data')
    assert run('decode', capture / 'perf.data', '--symfs', capture, '--lines').quiet().lines
