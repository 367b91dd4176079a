"""What INPUT can be: files, standard input and pipes; programs; and the errors for everything else."""
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.device_tree import make_tree
from support.elf import make_elf
from support.frames import last_frame
from support.programs import HANG_SECONDS
from support.snapshots import edit, make_good, make_snapshot
from support.trace_bytes import (ATOM_E, ETMV4_REGISTERS, ETMV4_START, ITM_ROUND, ITM_SYNC, LOOP_PROGRAM, STM_START,
                                 framed)

ETMV4 = ('--protocol', 'etmv4', *ETMV4_REGISTERS)
RANGE = '+2  insns'
COPIED = 'is copied to a temporary file'


@pytest.fixture
def stream_file(tmp_path):
    """A stream without frames; the options ETMV4 read it."""
    (tmp_path / 'stream.bin').write_bytes(ETMV4_START + ATOM_E * 2)
    return tmp_path / 'stream.bin'


@pytest.fixture
def program(tmp_path):
    """LOOP_PROGRAM as an ELF file, linked for 0x80000, with the function `loop`."""
    (tmp_path / 'loop.elf').write_bytes(make_elf(LOOP_PROGRAM, [(b'loop', 0x80000, 8)]))
    return 'loop.elf'


# -- Standard input and pipes ---------------------------------------------------------------------

@pytest.mark.parametrize('command', [['decode'], ['packets'], ['info'], ['count'], ['find', '--exception', '1'],
                                     ['index', '-o', 'x.index']])
def test_standard_input(run, stream_file, program, command):
    options = ('--framing', 'none', *ETMV4, '--elf', program)
    expected = run(*command, stream_file, *options, expect=None)
    given = run(*command, '-', *options, stdin=stream_file.read_bytes(), expect=expected.code)
    # These decode the trace as it arrives.
    if command[0] in ('decode', 'packets', 'count'):
        given.never_says(COPIED)
    else:
        given.says('standard input ' + COPIED)
    if command[0] not in ('info', 'index'):
        assert given.out == expected.out


def test_a_redirected_file_needs_no_copy(run, stream_file, program):
    with open(stream_file, 'rb') as file:
        run('decode', '-', *ETMV4, '--elf', program, stdin=file).quiet().has(RANGE)


def test_a_redirected_file_is_not_replaced_by_the_output(run, stream_file, program):
    with open(stream_file, 'rb') as file:
        run('decode', '-', *ETMV4, '--elf', program, '-o', 'stream.bin', stdin=file, expect=2).says('input file')
    assert stream_file.read_bytes() == ETMV4_START + ATOM_E * 2


def test_a_fifo(run, stream_file, program, tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    with subprocess.Popen(['sh', '-c', 'cat stream.bin > pipe'], cwd=tmp_path):
        run('decode', 'pipe', *ETMV4, '--elf', program).quiet().has(RANGE)


def test_a_pipe_as_descriptor(run, stream_file, program):
    with subprocess.Popen(['cat', str(stream_file)], stdout=subprocess.PIPE) as cat:
        run('decode', '/dev/stdin', *ETMV4, '--elf', program, stdin=cat.stdout).quiet().has(RANGE)


def test_standard_input_decodes_on_any_number_of_threads_and_from_any_place(run, stream_file, program):
    for option in (['-j', '4'], ['--from', '0']):
        run('decode', '-', *ETMV4, '--elf', program, *option, stdin=stream_file.read_bytes()).has(RANGE)


def test_the_copy_is_in_the_temporary_folder_and_leaves_nothing(run, stream_file, program, tmp_path):
    (tmp_path / 'tmp').mkdir()
    data = stream_file.read_bytes()
    whole = ('decode', '-', '--from', '0', *ETMV4, '--elf', program)
    run(*whole, stdin=data, env={'TMPDIR': tmp_path / 'tmp'}).says(str(tmp_path / 'tmp'))
    assert not list((tmp_path / 'tmp').iterdir())
    run(*whole, stdin=data, env={'TMPDIR': tmp_path / 'none'}, expect=3).one_sentence('TMPDIR', 'none').empty()


def test_a_pipe_has_no_index_beside_it(run, stream_file):
    run('index', '-', '--framing', 'none', *ETMV4, stdin=stream_file.read_bytes(), expect=2).one_sentence(
        'standard input', '-o')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_a_pipe_is_read(run, tmp_path, number):
    os.mkfifo(tmp_path / 'pipe')
    process = run.start('decode', 'pipe', '--from', '0', *ETMV4, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, start_new_session=True)[1]
    line = process.stderr.readline()
    assert COPIED.encode() in line, line
    process.send_signal(number)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, out, err) == (130, b'', b'')


@pytest.mark.parametrize('command', [['info', '--framing', 'mem', *ETMV4], ['info', '--framing', 'dstream', *ETMV4],
                                     ['index', '--framing', 'mem', *ETMV4], ['syst'],
                                     ['decode', '--framing', 'none', '--protocol', 'stm']])
def test_an_interrupt_in_the_first_pass(run, tmp_path, command):
    """A signal ends the program before it has read a sparse file of 1 TiB."""
    path = tmp_path / 'sparse.bin'
    path.write_bytes(framed(0x10, ETMV4_START + ATOM_E * 2))
    os.truncate(path, 1 << 40)
    process = run.start(command[0], 'sparse.bin', *command[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, start_new_session=True)[1]
    maps = Path(f'/proc/{process.pid}/maps')
    while process.poll() is None and 'sparse.bin' not in maps.read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130


def test_an_interrupt_of_a_check(run, synth, copy):
    checked = copy(synth('--size', '4000'), 'checked')
    os.truncate(checked / 'trace.bin', 1 << 40)
    process = run.start('synth', '--check', 'checked', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, start_new_session=True)[1]
    maps = Path(f'/proc/{process.pid}/maps')
    while process.poll() is None and 'checked/trace.bin' not in maps.read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, out, err) == (130, b'', b'')


@pytest.mark.parametrize('command', [
    ['assemble', 'huge', '-o', 'made'], ['etm4', 'plan', 'huge', '--root', 'tree'], ['etm4', 'simulate', 'huge'],
    ['etm4', 'apply', 'huge', '--root', 'tree', '--dry-run'], ['synth', '--graph', 'huge', '-o', 'made'],
    ['decode', 'board', '--data-layouts', 'huge'], ['decode', 'huge_ini'], ['syst', 'syst.txt', '--collateral', 'huge']])
def test_a_text_file_has_a_limit(run, tmp_path, command):
    """40 GiB are not read into memory."""
    make_tree(tmp_path / 'tree')
    make_good(tmp_path / 'board')
    make_good(tmp_path / 'huge_ini')
    (tmp_path / 'syst.txt').write_bytes(b'SYS-T RAW DATA: 4250410148656c6c6f00\n')
    for path in tmp_path / 'huge', tmp_path / 'huge_ini/snapshot.ini':
        path.touch()
        os.truncate(path, 40 << 30)
    run(*command, expect=(2, 3)).one_sentence('huge', 'more than').empty()


# -- What cannot be read ---------------------------------------------------------------------------

@pytest.mark.parametrize('command', ['info', 'decode', 'packets', 'count', 'index', 'syst'])
def test_inputs_that_cannot_be_read(run, tmp_path, command):
    (tmp_path / 'folder').mkdir()
    run(command, 'folder', expect=3).one_sentence('folder', 'snapshot.ini').empty()
    run(command, '/dev/zero', expect=3).one_sentence('/dev/zero', 'device').empty()
    with open('/dev/zero', 'rb') as device:
        run(command, '-', *(['-o', 'x.index'] if command == 'index' else []), stdin=device, expect=3).says(
            'tandard input', 'device').empty()


def test_an_input_without_permission(run, tmp_path):
    (tmp_path / 'x.bin').write_bytes(b'x' * 64)
    (tmp_path / 'x.bin').chmod(0)
    if os.access(tmp_path / 'x.bin', os.R_OK):
        pytest.skip('this user may read everything')
    run('info', 'x.bin', expect=3).one_sentence('x.bin', 'ermission').empty()


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def folder(path):
    path.unlink()
    path.mkdir()


def device(path):
    path.unlink()
    path.symlink_to('/dev/zero')


@pytest.mark.parametrize('action', [pipe, folder, device])
@pytest.mark.parametrize('name', ['trace.bin', 'program.bin', 'etm.ini', 'trace.ini', 'snapshot.ini'])
def test_a_snapshot_whose_file_is_not_a_regular_file(run, tmp_path, action, name):
    make_good(tmp_path / 'x')
    action(tmp_path / 'x' / name)
    result = run('decode', 'x', expect=(0, 3)).says(name)
    if name in ('trace.bin', 'snapshot.ini'):
        assert result.code == 3


def test_a_capture_that_becomes_shorter_while_it_is_read(run, tmp_path):
    trace = ETMV4_START + ATOM_E * 5
    capture = make_snapshot(tmp_path / 'x', trace * (1 << 18))
    process = run.start('decode', 'x', '-j', '1', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE)[1]
    process.stdout.read(1)
    os.truncate(capture / 'trace.bin', 4096)
    err = process.communicate(timeout=HANG_SECONDS)[1]
    assert process.returncode == 3
    assert b'became shorter' in err


def test_a_capture_of_the_lister_that_becomes_shorter(lister, tmp_path):
    capture = make_snapshot(tmp_path / 'x', (ETMV4_START + ATOM_E * 5) * (1 << 18))
    process = lister.start('-logstdout', '-decode', '-ss_dir', 'x', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)[1]
    while b'Idx:' not in process.stdout.readline():
        pass
    os.truncate(capture / 'trace.bin', 4096)
    err = process.communicate(timeout=HANG_SECONDS)[1]
    assert process.returncode not in (0, -signal.SIGBUS)
    assert err.startswith(b'trc_pkt_lister: ') and b'became shorter' in err


def test_a_perf_data_that_is_only_a_magic_number(run, tmp_path):
    (tmp_path / 'perf.data').write_bytes(b'PERFILE2' + bytes(200))
    run('decode', 'perf.data', expect=3).one_sentence('perf.data is cut short or damaged').empty()
    run('decode', '-', stdin=b'PERFILE2' + bytes(200), expect=3).says('cut short or damaged').empty()


# -- Programs ----------------------------------------------------------------------------------------

def test_a_program(run, stream_file, program):
    options = ('decode', stream_file, *ETMV4)
    run(*options, '--elf', program).quiet().has('0x0000000000080000', RANGE)
    run(*options, '--elf', program, '--functions').quiet().has('in loop')
    run(*options, '--elf', program + '@0x80000').quiet().lacks(RANGE)
    run(*options, '--elf', program + '@there', expect=2).one_sentence('--elf', 'FILE@ADDRESS')
    run(*options, '--elf', 'stream.bin', expect=3).one_sentence('stream.bin', 'ELF')


def test_a_program_moved_to_where_it_ran(run, tmp_path):
    (tmp_path / 'pie.elf').write_bytes(make_elf(LOOP_PROGRAM, [(b'loop', 0, 8)], address=0))
    (tmp_path / 'stream.bin').write_bytes(ETMV4_START + ATOM_E * 2)
    run('decode', 'stream.bin', *ETMV4, '--elf', 'pie.elf@0x80000').quiet().has(RANGE)


@pytest.mark.parametrize('address, is_there', [('0x80000', True), ('0x80004', True), ('0x90000', False)])
def test_an_elf_file_given_as_image_is_loaded_as_a_program(run, stream_file, program, address, is_there):
    result = run('decode', stream_file, *ETMV4, '--image', f'{address}={program}').one_sentence(
        f'--image {address}=loop.elf', 'ELF file', '--elf loop.elf')
    assert (RANGE in result.out) == is_there


def test_a_program_goes_before_the_memory_of_a_snapshot(run, tmp_path, program):
    make_good(tmp_path / 'x')
    (tmp_path / 'x/program.bin').write_bytes(bytes(8))
    run('decode', 'x').has('no code image at this address')
    run('decode', 'x', '--elf', program).one_sentence('loop.elf at 0x80000..0x80008').has(RANGE).lacks('no code image')


def test_a_program_is_not_replaced_by_the_output(run, stream_file, program):
    run('decode', stream_file, *ETMV4, '--elf', program, '-o', program, expect=2).one_sentence(program)


# -- Registers -----------------------------------------------------------------------------------------

@pytest.mark.parametrize('given, meant', [('TRCCONFIG', 'TRCCONFIGR'), ('TRCIDR22', 'TRCIDR2'), ('TCRIDR0', 'TRCIDR0')])
def test_an_unknown_register_is_an_error(run, stream_file, given, meant):
    run('decode', stream_file, *ETMV4, '--reg', given + '=1', expect=3).one_sentence(
        given, f'did you mean {meant}?').empty()


def test_a_program_on_standard_input(run, quicksort):
    # The sample has no catalog messages, so that only the name of the input differs.
    run('collateral', '-', stdin=(quicksort / 'quicksort.elf').read_bytes(), expect=3).says(
        'standard input is copied', 'standard input: The ELF file has no section')


def test_an_unknown_function_names_the_nearest(run, quicksort):
    run('find', quicksort, '--address', 'quicksrt', expect=2).one_sentence("did you mean 'quicksort'?")


def test_a_program_whose_name_has_an_at_sign_is_not_replaced(run, quicksort, copy):
    program = copy(quicksort / 'quicksort.elf', 'quick@sort.elf')
    before = program.read_bytes()
    run('decode', quicksort, '--functions', '--symbols', program, '-o', program, expect=2)
    run('count', quicksort, '--functions', '--symbols', program, '-o', program, expect=2)
    assert program.read_bytes() == before


def test_registers_of_a_snapshot_are_checked_by_its_sources(run, good):
    run('decode', good, '--reg', 'TRCCONFIGR=0x1').has(RANGE)
    run('decode', good, '--reg', 'trcconfigr=0x1').has(RANGE)
    run('decode', good, '--reg', 'STMTCSR=0x1', expect=3).one_sentence('STMTCSR', 'TRCIDR0').empty()


def test_packets_and_info_need_fewer_registers(run, stream_file, tmp_path):
    some = ('--protocol', 'etmv4', '--reg', 'TRCIDR0=0x28000EA1', '--reg', 'TRCIDR2=0x488')
    run('packets', stream_file, *some).quiet().has('I_TRACE_INFO')
    run('info', stream_file, *some).quiet().has('ETMv4')
    run('decode', stream_file, *some, expect=3).says('TRCCONFIGR', 'with --reg', 'trcidr/', 'mgmt/trcconfig')
    make_good(tmp_path / 'x')
    edit(tmp_path / 'x/etm.ini', ('TRCCONFIGR=0x1\n', ''))
    run('packets', 'x').quiet().has('I_TRACE_INFO')
    run('decode', 'x', expect=3).says('has no TRCCONFIGR', 'with --reg')


@pytest.mark.parametrize('protocol, there, absent', [
    ('etmv4', ['TRCIDR0', 'trcidr/'], ['ETMCR']), ('ete', ['TRCIDR0', 'ete0'], ['ETMCR']),
    ('ptm', ['ETMCR', 'ptm0/mgmt/'], ['TRC', 'trcidr']), ('etmv3', ['ETMCR', 'etm0/mgmt/'], ['TRC', 'trcidr'])])
def test_missing_registers_are_those_of_the_protocol(run, stream_file, protocol, there, absent):
    run('decode', stream_file, '--framing', 'none', '--protocol', protocol, expect=3).one_sentence(*there).never_says(
        *absent)


@pytest.mark.parametrize('protocol, data, expected_texts, absent', [
    ('itm', ITM_SYNC * 8, ['ITM'], ['address', 'TRC']),
    ('stm', STM_START, ['STM'], ['address', 'TRC'])])
def test_nothing_decoded_is_explained_by_protocol(run, tmp_path, protocol, data, expected_texts, absent):
    (tmp_path / 'x.bin').write_bytes(data)
    run('decode', 'x.bin', '--framing', 'none', '--protocol', protocol, expect=1).one_sentence(
        'nothing could be decoded', *expected_texts).never_says(*absent)


@pytest.mark.parametrize('protocol, registers, expected_texts, absent', [
    ('ptm', ['ETMCR', 'ETMIDR', 'ETMCCER'], ['ETMSYNCFR'], ['TRC', 'probe']),
    ('etmv3', ['ETMCR', 'ETMIDR', 'ETMCCER'], ['ETMSYNCFR'], ['TRC', 'probe']),
    ('etmv4', ['TRCCONFIGR', 'TRCIDR0', 'TRCIDR2'], ['TRCSYNCPR'], ['ETMCR', 'probe']),
    ('stm', [], ['STMSYNCR'], ['TRC', 'probe'])])
def test_info_gives_advice_by_protocol(run, tmp_path, protocol, registers, expected_texts, absent):
    (tmp_path / 'x.bin').write_bytes(b'\x11' * 64)
    values = [word for name in registers for word in ('--reg', name + '=0')]
    run('info', 'x.bin', '--framing', 'none', '--protocol', protocol, *values).has(*expected_texts).lacks(*absent)


# -- info -------------------------------------------------------------------------------------------------

@pytest.fixture
def damaged_frames(tmp_path):
    """Frames of ID 0x10, and one frame of each ID from 0x20 to 0x5f."""
    trace = ETMV4_START + ATOM_E * 2000
    strays = b''.join(framed(number, b'\x01') for number in range(0x20, 0x60))
    (tmp_path / 'frames.bin').write_bytes(framed(0x10, trace) + strays)
    return 'frames.bin'


def test_info_sums_up_trace_ids_that_are_damage(run, damaged_frames):
    options = ('info', damaged_frames, '--framing', 'mem', *ETMV4)
    result = run(*options).has('  0x10 ', 'and 64 more IDs with 896 bytes in total', '64 more trace IDs').lacks(
        '  0x20 ', 'Trace ID 0x20')
    assert len(result.lines) < 20
    run(*options, '--all-ids').has('  0x10 ', '  0x20 ', '  0x5f ').lacks('more IDs')
    assert len(run(*options, '--format', 'json').json()['sources']) == 65


def test_info_counts_the_markers_of_frames(run, tmp_path):
    frames = last_frame(0x10, ITM_SYNC + ITM_ROUND[:2]) + last_frame(0x7D, b'\1\1\1') + last_frame(0x7B, b'\1')
    (tmp_path / 'x.bin').write_bytes(frames)
    options = ('info', 'x.bin', '--framing', 'mem', '--source', '0x10=itm')
    run(*options).has('3 trigger markers', '1 flush marker').lacks('reserved')
    value = run(*options, '--format', 'json').json()
    assert (value['trigger_markers'], value['flush_markers']) == (3, 1)


def test_info_as_json_has_what_the_text_has(run, quicksort, damaged_frames):
    value = run('info', quicksort, '--format', 'json').json()
    assert value['description'] == 'quicksort, a small program on one core'
    assert value['buffers'] == [{'name': 'ETB_0', 'file': 'trace.bin'}]
    assert value['buffer'] == 'ETB_0' and value['index'] == ''
    assert value['ids_without_source'] == [] and value['doubts'] == []
    value = run('info', damaged_frames, '--framing', 'mem', *ETMV4, '--id', '0x10', '--format', 'json').json()
    assert [source['id'] for source in value['sources']] == [0x10]
    assert value['buffers'] == [] and value['description'] == ''


def test_one_byte_is_not_several(run, tmp_path):
    (tmp_path / 'one.bin').write_bytes(b'\x11')
    options = ('--framing', 'none', '--protocol', 'itm', '--assume-sync')
    run('info', 'one.bin', *options).has('1 byte,').lacks('1 bytes')
    (tmp_path / 'frames.bin').write_bytes(framed(0x10, ETMV4_START + ATOM_E * 2) + b'\x01')
    run('info', 'frames.bin', '--framing', 'mem', *ETMV4).has('the last 1 of them is ignored')


@pytest.mark.parametrize('name', ['info', 'etm4', 'help'])
def test_an_input_named_like_a_command(run, copy, good, name):
    copy(good, name)
    assert run('decode', name).out == run('decode', good).out
