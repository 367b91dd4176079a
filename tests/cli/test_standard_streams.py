"""Standard streams that are closed, full, or without a reader; and output files that are inputs."""
import os
import resource
import select
import shutil
import signal
import subprocess
import time

import pytest
from conftest import program
from support.device_tree import make_tree
from support.programs import Runner
from support.snapshots import make_snapshot
from support.trace_bytes import ATOM_E, ETMV4_START, ITM_TRACE


@pytest.fixture(scope='session')
def long(made):
    """20,000 ranges, much more than a pipe can hold."""
    return made('long', lambda path: make_snapshot(path, ETMV4_START + ATOM_E * 20000))


@pytest.fixture(scope='session')
def long_itm(made):
    return made('long_itm.bin', lambda path: path.write_bytes(ITM_TRACE * 1000))


@pytest.fixture(scope='session')
def long_console(made):
    line = b'SYS-T RAW DATA: 42504101 48656c6c6f00\n'.replace(b' 4865', b'4865')
    return made('long.txt', lambda path: path.write_bytes(line * 10000))


@pytest.fixture(scope='session')
def places(good, long, long_itm, long_console, quicksort, made):
    """What LONG and other words in a command line stand for.  No test changes them."""
    plan = made('good.plan', lambda path: path.write_text('etm4-plan 1\ninclude 0x80000..0x80008\n'))
    return {'GOOD': good, 'LONG': long, 'ITM': long_itm, 'CONSOLE': long_console, 'SORT': quicksort,
            'TREE': made('tree', make_tree), 'PLAN': plan}


def filled(args, places):
    return [places.get(arg, arg) for arg in args]


LONG_OUTPUT = [
    *(['decode', 'LONG', '--format', format] for format in ('text', 'json', 'csv')),
    ['decode', 'LONG', '-j', '2'], ['decode', 'LONG', '--stats'], ['decode', 'LONG', '--merge', 'time'],
    ['decode', 'ITM'],
    *(['packets', 'LONG', '--format', format] for format in ('text', 'json', 'csv')),
    *(['find', 'LONG', '--address', '0x80000..0x80008', '--format', format] for format in ('text', 'json', 'csv')),
    ['syst', 'CONSOLE'], ['syst', 'CONSOLE', '--format', 'json'],
]
SHORT_OUTPUT = [
    ['info', 'GOOD'], ['info', 'GOOD', '--format', 'json'], ['count', 'GOOD'], ['count', 'SORT', '--functions'],
    ['count', 'GOOD', '--format', 'json'], ['count', 'GOOD', '--format', 'csv'],
    ['decode', 'GOOD'], ['decode', 'GOOD', '--format', 'json'], ['decode', 'GOOD', '--format', 'csv'],
    ['packets', 'GOOD'], ['packets', 'GOOD', '--format', 'json'], ['packets', 'GOOD', '--format', 'csv'],
    ['find', 'GOOD', '--address', '0x80000..0x80008'], ['index', 'GOOD', '-o', 'index'],
    ['synth', '-o', 'made', '--size', '4000'],
    ['etm4', 'caps', '--root', 'TREE'], ['etm4', 'plan', 'PLAN', '--root', 'TREE'],
    ['etm4', 'explain', '--root', 'TREE'], ['etm4', 'apply', 'PLAN', '--root', 'TREE', '--dry-run'],
]


@pytest.mark.parametrize('sigpipe', ['default', 'ignored'])
@pytest.mark.parametrize('args', LONG_OUTPUT)
def test_a_reader_that_leaves_is_silence(run, places, args, sigpipe):
    result = run.and_leave(*filled(args, places), sigpipe=sigpipe)
    result.never_says('closed it', 'annot write')
    if '--merge' not in args:  # It tells before the first line which sources have no time.
        result.quiet()


@pytest.mark.parametrize('args', SHORT_OUTPUT)
def test_a_reader_that_has_left(run, places, args):
    result = run.and_leave(*filled(args, places), lines=0)
    result.never_says('closed it', 'annot write')


def test_the_lister_and_a_reader_that_leaves(lister, systprint, long, long_console):
    lister.and_leave('-logstdout', '-ss_dir', long).quiet()
    systprint.and_leave(long_console).quiet()


def test_a_pipe_that_does_not_block(run, places):
    """As another program may have left it: what does not fit waits."""
    expected = run('decode', places['LONG'], '--to', 12000).out_bytes
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    process = run.start('decode', places['LONG'], '--to', 12000, stdout=write_end, stderr=subprocess.PIPE)[1]
    # Until the pipe is full.
    while process.poll() is None and select.select([], [write_end], [], 0)[1]:
        time.sleep(0.01)
    os.close(write_end)
    with open(read_end, 'rb', buffering=0) as reader:
        assert reader.readall() == expected
    assert (process.wait(), process.stderr.read()) == (0, b'')


@pytest.mark.parametrize('args', LONG_OUTPUT + SHORT_OUTPUT)
def test_a_full_disk(run, places, full_device, args):
    result = run(*filled(args, places), stdout=full_device, expect=4)
    result.says('standard output', 'the disk is full')


@pytest.mark.parametrize('args', [args for args in LONG_OUTPUT + SHORT_OUTPUT if args[0] not in ('index', 'synth',
                                                                                               'etm4')])
def test_an_output_file_on_a_full_disk(run, places, args):
    run(*filled(args, places), '-o', '/dev/full', expect=4).says('/dev/full', 'the disk is full')


def test_programs_with_a_full_disk(lister, systprint, good, long_console, full_device):
    lister('-logstdout', '-ss_dir', good, stdout=full_device, expect=1).says('cannot write the listing')
    systprint(long_console, stdout=full_device, expect=1).says('unable to write the output')


@pytest.mark.parametrize('options', [{'closed': [2]}, {'stderr': 'full'}, {'closed': [0, 1, 2]}])
@pytest.mark.parametrize('args', [['decode', 'GOOD', '--stats'], ['count', 'GOOD', '--stats'],
                                  ['packets', 'GOOD', '--stats'], ['decode', 'GOOD', '--merge', 'time']])
def test_standard_error_that_takes_nothing(run, places, tmp_path, full_device, args, options):
    expected = run(*filled(args, places)).out_bytes
    if options.get('stderr') == 'full':
        options = {'stderr': full_device}
    run(*filled(args, places), '-o', 'output', **options)
    assert (tmp_path / 'output').read_bytes() == expected, 'only the output is in the file'


def test_programs_whose_standard_error_takes_nothing(lister, systprint, good, long_console, tmp_path, full_device):
    for options in {'closed': [2]}, {'stderr': full_device}, {'closed': [0, 1, 2]}:
        lister('-logfilename', 'log', '-ss_dir', good, **options)
        assert (tmp_path / 'log').read_bytes().startswith(b'Trace Packet Lister')
        os.remove(tmp_path / 'log')
        systprint('-o', 'out', '-c', 'missing.xml', long_console, expect=1, **options)
        systprint('-o', 'out', long_console, **options)
        assert (tmp_path / 'out').read_bytes().count(b'\n') == 10001


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob('*') if path.is_file()}


@pytest.fixture
def inputs(tmp_path, quicksort, good):
    """A capture with everything that a command can read: index, program, collateral, layouts, messages."""
    shutil.copytree(good, tmp_path / 'board')
    shutil.copyfile(quicksort / 'quicksort.elf', tmp_path / 'program.elf')
    (tmp_path / 'collateral.xml').write_text(
        '<?xml version="1.0"?><syst:Collateral xmlns:syst="http://www.mipi.org/1.0/sys-t"></syst:Collateral>')
    (tmp_path / 'layouts').write_text('D_P1_F1 fixed=2\n')
    (tmp_path / 'itm.bin').write_bytes(ITM_TRACE)
    (tmp_path / 'console.txt').write_bytes(b'SYS-T RAW DATA: 4250410148656c6c6f00\n')
    (tmp_path / 'good.plan').write_text('etm4-plan 1\ninclude 0x80000..0x80008\n')
    make_tree(tmp_path / 'tree')
    return tmp_path


@pytest.mark.parametrize('args, target', [
    (['decode', 'board', '--index', 'index', '--from', '16'], 'index'),
    (['decode', 'board', '--from', '16'], 'board/trace.bin.waymark-index'),
    (['packets', 'board', '--index', 'index', '--from', '16'], 'index'),
    (['find', 'board', '--index', 'index', '--context', 'any'], 'index'),
    (['find', 'board', '--context', 'any'], 'board/trace.bin.waymark-index'),
    (['info', 'board', '--index', 'index'], 'index'),
    (['info', 'board'], 'board/trace.bin.waymark-index'),
    *(([*args, '--format', 'csv'], 'board/trace.bin.waymark-index') for args in (
        ['decode', 'board'], ['packets', 'board'], ['count', 'board'], ['decode', 'itm.bin'])),
    (['decode', 'board', '--functions', '--symbols', 'program.elf'], 'program.elf'),
    (['decode', 'board', '--functions', '--symbols', 'program.elf@0x1000'], 'program.elf'),
    (['count', 'board', '--functions', '--symbols', 'program.elf@0x1000'], 'program.elf'),
    (['decode', 'board', '--collateral', 'collateral.xml'], 'collateral.xml'),
    (['syst', 'itm.bin', '--collateral', 'collateral.xml'], 'collateral.xml'),
    (['syst', 'console.txt'], 'console.txt'),
    (['packets', 'itm.bin'], 'itm.bin'),
    (['count', 'board', '--data-layouts', 'layouts'], 'layouts'),
    (['find', 'board', '--address', '0x80000..0x80008'], 'board/trace.bin'),
    (['index', 'board'], 'board/trace.bin'),
])
def test_an_output_file_that_is_read(run, inputs, args, target):
    run('index', 'board', '-o', 'index')
    run('index', 'board')
    before = contents(inputs)
    run(*args, '-o', target, expect=2).says(f'-o {target}', 'would be overwritten')
    assert contents(inputs) == before


@pytest.mark.parametrize('target', ['good.plan', 'program.elf'])
def test_a_script_that_is_read(run, inputs, target):
    before = contents(inputs)
    run('etm4', 'plan', 'good.plan', '--root', 'tree', '--elf', 'program.elf@0x1000', '--script', target,
        expect=2).says('would be overwritten')
    assert contents(inputs) == before


def test_a_snapshot_over_its_own_trace(run, inputs):
    before = contents(inputs)
    for trace, images in ('board/trace.bin', []), ('itm.bin', ['--image', '0x80000=board/program.bin']):
        run('etm4', 'snapshot', '--root', 'tree', '--trace', trace, *images, '-o', 'board', expect=2).says(
            'would be overwritten')
    assert contents(inputs) == before


@pytest.mark.parametrize('flags', [os.O_WRONLY | os.O_APPEND, os.O_RDWR], ids=['append', 'update'])
@pytest.mark.parametrize('args, target', [
    (['decode', 'itm.bin'], 'itm.bin'), (['packets', 'itm.bin'], 'itm.bin'), (['count', 'board'], 'board/trace.bin'),
    (['find', 'board', '--context', 'any'], 'board/trace.bin'), (['info', 'board'], 'board/trace.bin'),
    (['syst', 'console.txt'], 'console.txt'), (['syst', '--as', 'lines', 'console.txt'], 'console.txt'),
    (['syst', '--sort', 'console.txt'], 'console.txt'), (['syst', 'itm.bin'], 'itm.bin'),
    (['syst', 'console.txt', '--collateral', 'collateral.xml'], 'collateral.xml')])
def test_standard_output_that_is_read(run, inputs, args, target, flags):
    before = contents(inputs)
    for output in [], ['-o', '-'], ['-o', '/dev/stdout'], ['-o', '/proc/self/fd/1']:
        descriptor = os.open(inputs / target, flags)
        try:
            run(*args, *output, stdout=descriptor, expect=2).says('would be overwritten', target)
        finally:
            os.close(descriptor)
        assert contents(inputs) == before


@pytest.mark.parametrize('args', [['syst', '-'], ['syst', '--as', 'lines', '-'], ['syst', '/dev/stdin'], ['decode', '-']])
@pytest.mark.parametrize('output', [[], ['-o', '/dev/stdout']], ids=['default', '/dev/stdout'])
def test_standard_output_that_is_standard_input(run, inputs, args, output):
    before = contents(inputs)
    target = inputs / ('itm.bin' if args[0] == 'decode' else 'console.txt')
    with open(target, 'rb') as read, open(target, 'ab') as written:
        run(*args, *output, stdin=read, stdout=written, expect=2).says('would be overwritten')
    assert contents(inputs) == before


@pytest.mark.parametrize('target', ['board/trace.bin', 'board/snapshot.ini', 'board/cpu.ini', 'board/program.bin',
                                    'hard_link'])
def test_a_log_of_the_lister_that_is_read(lister, inputs, target):
    os.link(inputs / 'board/trace.bin', inputs / 'hard_link')
    before = contents(inputs)
    lister('-ss_dir', 'board', '-logfilename', target, expect=254).one_sentence(target)
    assert contents(inputs) == before


def test_a_standard_output_of_other_programs_that_is_read(lister, systprint, inputs):
    before = contents(inputs)
    with open(inputs / 'board/trace.bin', 'ab') as target:
        lister('-ss_dir', 'board', '-logstdout', stdout=target, expect=254).one_sentence('standard output')
    with open(inputs / 'console.txt', 'ab') as target:
        systprint('console.txt', stdout=target, expect=1).one_sentence('console.txt')
    assert contents(inputs) == before


def test_an_output_of_systprint_that_is_read(systprint, inputs):
    before = contents(inputs)
    systprint('-o', 'console.txt', 'console.txt', expect=1).one_sentence('console.txt')
    systprint('-o', 'collateral.xml', '-c', 'collateral.xml', 'console.txt', expect=1)
    assert contents(inputs) == before


@pytest.fixture(scope='session')
def smallest(home, sanitized):
    """The smallest limit on the address space, in MiB, with which the program starts.

    Below it, the kernel (a signal) or the loader (127) gives up.
    """
    if sanitized:
        pytest.skip('a sanitizer needs memory without limits')
    run = Runner(program('WAYMARK', 'waymark'), home, home)
    outcomes = (0, 5, 127, -signal.SIGSEGV, -signal.SIGKILL)
    return next(megabytes for megabytes in range(2, 1000, 2)
                if run('--version', limits={resource.RLIMIT_AS: megabytes << 20}, expect=outcomes).code == 0)


@pytest.mark.parametrize('more', [0, 4, 10, 50], ids=lambda more: f'{more} MiB')
@pytest.mark.parametrize('args', [
    ['decode', 'LONG', '-j', '8', '--format', 'json'], ['decode', 'LONG', '-j', '1', '--format', 'csv'],
    ['decode', 'LONG', '-j', '3'], ['decode', 'LONG', '--merge', 'time'], ['packets', 'LONG', '--format', 'json'],
    ['count', 'LONG', '-j', '8', '--all'], ['syst', 'CONSOLE', '--format', 'json'], ['info', 'LONG']])
def test_memory_that_runs_out(run, places, smallest, args, more):
    limit = {resource.RLIMIT_AS: (smallest + more) << 20}
    result = run(*filled(args, places), limits=limit, expect=(0, 5))
    result.whole_lines().never_says('std::')
    if result.code == 5:
        result.one_sentence()
